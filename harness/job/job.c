/* job.c - jobs as JSON. */
#include "job/job.h"

#include "base/escape.h"
#include "case/backend.h"
#include "common/json_text.h"
#include "implementation/implementation.h"
#include "job/fault.h"

void job_key(const job *j, text *out) {
    text_printf(out, "%s/%s@%s,%s,%u", j->kernel, j->case_name, j->backend, j->profile, j->threads);
    if (j->ranks > 1)
        text_printf(out, ",ranks=%u,%s%s%s", j->ranks, j->transport, j->layout ? "," : "",
                    j->layout ? j->layout : "");
}

bool job_is_of_product(const job *j) {
    return j->implementation
               ? implementation_is_backend((implementation_kind)j->implementation_kind)
               : backend_named(j->backend)->product;
}

compiler_options job_compiler_options(const job *j, const compiler_kernel *kernel) {
    return (compiler_options){.profile = profile_from_name(j->profile),
                              .isa = j->isa,
                              .threads = j->threads,
                              .unoptimised = j->unoptimised,
                              .check_bounds = j->check_bounds,
                              .generic = j->generic,
                              .constants = j->constants,
                              .schedule = j->schedule,
                              .source_schedule = kernel ? kernel->schedule : NULL,
                              .fault = fault_of_code(j->fault)};
}

json_t *job_to_json(const job *j) {
    json_t *object = json_object();
#define OWN(kind, name) json_object_set_new(object, #name, job_json_##kind(j->name));
#define CHOSEN(kind, name, scope) OWN(kind, name)
#include "job/job.def"
#undef OWN
#undef CHOSEN
    json_object_set_new(object, "mode", json_integer(j->mode));
    return object;
}

#define value_TEXT(object, name) json_string_value(json_object_get(object, name))
#define value_BYTES(object, name) json_bytes_value(object, name)
#define value_COUNT(object, name) (uint32_t) json_integer_value(json_object_get(object, name))
#define value_SEED(object, name) (uint64_t) json_integer_value(json_object_get(object, name))
#define value_FLAG(object, name) json_is_true(json_object_get(object, name))

bool job_from_json(json_t *object, job *out) {
    *out = (job){.mode = (job_mode)json_integer_value(json_object_get(object, "mode"))};
#define OWN(kind, name) out->name = value_##kind(object, #name);
#define CHOSEN(kind, name, scope) OWN(kind, name)
#include "job/job.def"
#undef OWN
#undef CHOSEN
    return out->path && out->kernel && out->case_name && out->backend && out->profile &&
           out->threads;
}
