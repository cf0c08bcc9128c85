/* job.c - jobs and results as JSON. */
#include "case/job.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "case/backend.h"
#include "case/fault.h"
#include "common/json_text.h"

void job_key(const job *j, text *out) {
    text_printf(out, "%s/%s@%s,%s,%u", j->kernel, j->case_name, j->backend, j->profile, j->threads);
}

compiler_options job_compiler_options(const job *j, const compiler_kernel *kernel) {
    return (compiler_options){.profile = profile_from_name(j->profile),
                              .isa = j->isa,
                              .threads = j->threads,
                              .unoptimised = j->unoptimised,
                              .generic = j->generic,
                              .schedule = j->schedule,
                              .written = kernel ? kernel->schedule : NULL,
                              .fault = fault_of_code(j->fault)};
}

json_t *job_to_json(const job *j) {
    return json_pack("{s:o, s:s, s:s, s:o, s:s, s:s, s:s?, s:I, s:I, s:b, s:i, s:s?, s:o, s:o, "
                     "s:b, s:b, s:b, s:b, s:o, s:b, s:o, s:b}",
                     "path", json_bytes(j->path), "kernel", j->kernel, "case", j->case_name,
                     "golden", json_bytes(j->golden_path), "backend", j->backend, "profile",
                     j->profile, "isa", j->isa, "threads", (json_int_t)j->threads, "seed",
                     (json_int_t)j->seed, "quick", j->quick, "mode", (int)j->mode, "fault",
                     j->fault, "source", json_bytes(j->source), "staging", json_bytes(j->staging),
                     "launches", j->launches, "sandbox", j->sandbox, "unoptimised", j->unoptimised,
                     "order_probe", j->order_probe, "schedule", json_bytes(j->schedule), "tuned",
                     j->tuned, "cache", json_bytes(j->cache), "generic", j->generic);
}

bool job_from_json(json_t *object, job *out) {
    json_int_t threads = 0, seed = 0;
    int quick = 0, mode = 0, launches = 0, sandbox = 0;
    *out = (job){0};
    json_bytes_value(object, "path");
    if (json_unpack(object, "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:b, s:i, s:b, s:b}", "path",
                    &out->path, "kernel", &out->kernel, "case", &out->case_name, "backend",
                    &out->backend, "profile", &out->profile, "threads", &threads, "seed", &seed,
                    "quick", &quick, "mode", &mode, "launches", &launches, "sandbox",
                    &sandbox) != 0)
        return false;
    out->golden_path = json_bytes_value(object, "golden");
    out->isa = json_string_value(json_object_get(object, "isa"));
    out->fault = json_string_value(json_object_get(object, "fault"));
    out->source = json_bytes_value(object, "source");
    out->staging = json_bytes_value(object, "staging");
    out->order_probe = json_is_true(json_object_get(object, "order_probe"));
    out->unoptimised = json_is_true(json_object_get(object, "unoptimised"));
    out->schedule = json_bytes_value(object, "schedule");
    out->cache = json_bytes_value(object, "cache");
    out->generic = json_is_true(json_object_get(object, "generic"));
    out->tuned = json_is_true(json_object_get(object, "tuned"));
    out->threads = (uint32_t)threads;
    out->seed = (uint64_t)seed;
    out->quick = quick;
    out->launches = launches;
    out->sandbox = sandbox;
    out->mode = (job_mode)mode;
    return true;
}

json_t *job_result_new(const job *j, const char *outcome, const char *why) {
    json_t *check = json_pack("{s:s, s:b, s:[], s:n, s:n, s:n}", "against", "none", "bitwise", 0,
                              "sha256", "max_ulp", "max_error_over_bound", "max_ulp_f64");
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:n, s:n, s:n, s:s, s:o, s:o, s:n, s:n, s:n, s:n, "
                     "s:n, s:n, s:{}, s:n, s:s?, s:n, s:[], s:n, s:n, s:o, s:n, s:n}",
                     "kernel", j->kernel, "case", j->case_name, "backend", j->backend, "profile",
                     j->profile, "threads", (json_int_t)j->threads, "order_probe", "schedule_hash",
                     "module_hash", "status", outcome, "why", json_text(why), "check", check,
                     "time_ns", "flops", "bytes", "rate", "roofline", "compile_ns", "counters",
                     "pack", "fault", j->fault, "case_key", "fallbacks", "type", "schedule",
                     "schedule_values", json_text(j->schedule), "compile_cached", "input_sets");
}

const char *job_result_text(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value ? value : "";
}

void job_result_key(const json_t *result, text *out) {
    text_printf(out, "%s/%s@%s,%s,%" JSON_INTEGER_FORMAT, job_result_text(result, "kernel"),
                job_result_text(result, "case"), job_result_text(result, "backend"),
                job_result_text(result, "profile"),
                json_integer_value(json_object_get(result, "threads")));
}

bool job_status_is_known(const char *outcome) {
    static const char *const known[] = {"ok",      "mismatch",    "error",  "crash",
                                        "timeout", "unsupported", "skipped"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(outcome, known[i]) == 0)
            return true;
    return false;
}

bool job_status_is_failure(const char *outcome) {
    return strcmp(outcome, "ok") != 0 && strcmp(outcome, "skipped") != 0 &&
           strcmp(outcome, "unsupported") != 0;
}

exit_code job_result_exit(const json_t *result) {
    const char *outcome = json_string_value(json_object_get(result, "status"));
    if (!outcome)
        return EXIT_BUG;
    if (!job_status_is_failure(outcome))
        return EXIT_DONE;
    json_t *code = json_object_get(json_object_get(result, "internal"), "exit");
    return json_is_integer(code) ? (exit_code)json_integer_value(code) : EXIT_CHECK;
}

json_t *job_result_take_internal(json_t *result) {
    json_t *internal = json_incref(json_object_get(result, "internal"));
    json_object_del(result, "internal");
    return internal;
}
