/* timing_check.c - one launch, held against reference and bound. */
#include "gate/timing_check.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/tensor.h"
#include "check/compare.h"

static tensor as_tensor(dtype type, int64_t count, const void *data) {
    return (tensor){type, 1, {count}, (void *)(uintptr_t)data};
}

bool timing_check_output(const timing_check_request *r, uint32_t set, uint32_t output,
                         const void *data, status *st) {
    const json_t *sets = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    const json_t *places = json_array_get(json_array_get(sets, set), output);
    if (!json_is_array(places))
        return true;
    const json_t *types = json_object_get(r->spec, "types");
    dtype type = dtype_from_name(json_string_value(json_array_get(types, output)));
    size_t slot = (size_t)json_integer_value(json_object_get(r->spec, "inputs")) + output;
    const json_t *bytes = json_array_get(json_object_get(r->spec, "sizes"), slot);
    int64_t count = json_integer_value(bytes) / (int64_t)dtype_size(type);
    tensor got = as_tensor(type, count, data);
    tensor reference =
        as_tensor(DTYPE_F64, count, r->data + json_integer_value(json_array_get(places, 0)));
    tensor bound =
        as_tensor(DTYPE_F64, count, r->data + json_integer_value(json_array_get(places, 1)));
    bound_check c = compare_bound(&reference, &bound, &got);
    if (c.beyond == 0)
        return true;
    return status_set(st, STATUS_MISMATCH,
                      "element %lld of output %u is %.3g times its error bound away from the f64 "
                      "reference; %lld of %lld are outside",
                      (long long)c.first, output, c.worst, (long long)c.beyond, (long long)c.count);
}

static bool check_all(const timing_check_request *r, status *st) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->launch->output_count; i++) {
        size_t bytes = r->launch->sizes[r->launch->input_count + i];
        void *output = base_malloc(bytes + 1);
        ok = launch_read(r->launch, i, output, st) && timing_check_output(r, 0, i, output, st);
        free(output);
    }
    return ok;
}

bool timing_check(const timing_check_request *r, const void *const *inputs, status *st) {
    const json_t *bounds = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    if (!json_is_array(bounds))
        return true;
    bool ok = launch_allocate(r->launch, st) && spec_launch_run(r->launch, inputs, st) &&
              check_all(r, st);
    launch_free_buffers(r->launch);
    return ok;
}
