/* timing_check.c - one launch, held against reference and bound. */
#include "gate/timing_check.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/tensor.h"
#include "check/compare.h"

static tensor as_tensor(dtype type, int64_t count, const void *data) {
    return (tensor){type, 1, {count}, (void *)(uintptr_t)data};
}

typedef struct judged_output {
    bound_check found;
    bool known; /* there was something to hold it against */
} judged_output;

static judged_output judge(const timing_check_request *r, uint32_t set, uint32_t output,
                           const void *data) {
    const json_t *sets = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    const json_t *places = json_array_get(json_array_get(sets, set), output);
    if (!json_is_array(places))
        return (judged_output){.known = false};
    const json_t *types = json_object_get(r->spec, "types");
    dtype type = dtype_from_name(json_string_value(json_array_get(types, output)));
    size_t slot = (size_t)json_integer_value(json_object_get(r->spec, "inputs")) + output;
    const json_t *bytes = json_array_get(json_object_get(r->spec, "sizes"), slot);
    int64_t count = json_integer_value(bytes) / (int64_t)dtype_size(type);
    tensor got = as_tensor(type, count, data), kept[4];
    const dtype types_kept[] = {DTYPE_F64, DTYPE_F64, DTYPE_F64, type};
    size_t have = json_array_size(places);
    for (size_t i = 0; i < have && i < 4; i++)
        kept[i] = as_tensor(types_kept[i], count,
                            r->data + json_integer_value(json_array_get(places, i)));
    const bound_reference reference = {.values = &kept[0],
                                       .bounds = &kept[1],
                                       .limits = have > 2 ? &kept[2] : NULL,
                                       .strict = have > 3 ? &kept[3] : NULL};
    return (judged_output){compare_bound(&reference, &got), true};
}

static bool holds(const judged_output *j, uint32_t output, status *st) {
    const bound_check *c = &j->found;
    if (!j->known || c->beyond == 0)
        return true;
    return status_set(st, STATUS_MISMATCH,
                      "element %lld of output %u is %.3g times its error bound away from the f64 "
                      "reference; %lld of %lld are outside",
                      (long long)c->first, output, c->worst, (long long)c->beyond,
                      (long long)c->count);
}

bool timing_check_output(const timing_check_request *r, uint32_t set, uint32_t output,
                         const void *data, status *st) {
    const judged_output j = judge(r, set, output, data);
    return holds(&j, output, st);
}

static bool check_all(const timing_check_request *r, bool *not_judged, status *st) {
    bool ok = true;
    int64_t unjudged = 0, judged = 0;
    for (uint32_t i = 0; ok && i < r->launch->output_count; i++) {
        size_t bytes = r->launch->sizes[r->launch->input_count + i];
        void *output = base_malloc(bytes + 1);
        ok = launch_read(r->launch, i, output, st);
        if (ok) {
            const judged_output j = judge(r, 0, i, output);
            ok = holds(&j, i, st);
            unjudged += j.found.unjudged;
            judged += j.known ? j.found.count - j.found.unjudged : 1;
        }
        free(output);
    }
    *not_judged = ok && unjudged > 0 && judged == 0;
    return *not_judged ? status_set(st, STATUS_UNAVAILABLE,
                                    "none of its %lld elements has an error bound, nor the bits "
                                    "of the interpreter",
                                    (long long)unjudged)
                       : ok;
}

bool timing_check(const timing_check_request *r, const void *const *inputs, bool *not_judged,
                  status *st) {
    const json_t *bounds = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    *not_judged = false;
    if (!json_is_array(bounds))
        return true;
    bool ok = launch_allocate(r->launch, st) && spec_launch_run(r->launch, inputs, st) &&
              check_all(r, not_judged, st);
    launch_free_buffers(r->launch);
    return ok;
}
