/* timing_check.c - one launch, held against reference and bound. */
#include "gate/timing_check.h"

#include "base/tensor.h"
#include "check/compare.h"

static tensor as_tensor(dtype type, int64_t count, const void *data) {
    return (tensor){type, 1, {count}, (void *)(uintptr_t)data};
}

static bool hold(const timing_check_request *r, const spec_launch *l, const json_t *bounds,
                 status *st) {
    size_t i;
    const json_t *places;
    json_array_foreach(bounds, i, places) {
        const char *name = json_string_value(json_array_get(json_object_get(r->spec, "types"), i));
        dtype type = dtype_from_name(name);
        size_t slot = l->inputs + i;
        int64_t count = (int64_t)(l->sizes[slot] / dtype_size(type));
        tensor got = as_tensor(type, count, l->buffers[slot]);
        tensor reference =
            as_tensor(DTYPE_F64, count, r->data + json_integer_value(json_array_get(places, 0)));
        tensor bound =
            as_tensor(DTYPE_F64, count, r->data + json_integer_value(json_array_get(places, 1)));
        bound_check c = compare_bound(&reference, &bound, &got);
        if (c.beyond)
            return status_set(st, STATUS_MISMATCH,
                              "element %lld of output %zu is %.3g times its error bound away from "
                              "the f64 reference; %lld of %lld are outside",
                              (long long)c.first, i, c.worst, (long long)c.beyond,
                              (long long)c.count);
    }
    return true;
}

bool timing_check(const timing_check_request *r, status *st) {
    const json_t *bounds = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    spec_launch l;
    if (!json_is_array(bounds))
        return true;
    bool ok = spec_launch_open(&l, r->context, r->module, r->kernel, r->data, r->spec, st) &&
              spec_launch_run(&l, st) && hold(r, &l, bounds, st);
    spec_launch_close(&l);
    return ok;
}
