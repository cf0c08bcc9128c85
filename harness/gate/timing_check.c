/* timing_check.c - one launch, held against reference and bound. */
#include "gate/timing_check.h"

#include <string.h>

#include "abi_status.h"
#include "base/tensor.h"
#include "check/compare.h"

enum { BUFFERS_MAX = 32, DIMS_MAX = 64, POISON = 0xA5 };

typedef struct launch {
    void *buffers[BUFFERS_MAX];
    void *args[BUFFERS_MAX + DIMS_MAX];
    int64_t dims[DIMS_MAX];
    size_t sizes[BUFFERS_MAX];
    size_t inputs, count;
} launch;

static bool fill(const timing_check_request *r, launch *l, status *st) {
    const unsigned char *from =
        r->data + json_integer_value(json_array_get(json_object_get(r->spec, "sets"), 0));
    const json_t *size;
    l->inputs = (size_t)json_integer_value(json_object_get(r->spec, "inputs"));
    json_array_foreach(json_object_get(r->spec, "sizes"), l->count, size) {
        size_t bytes = (size_t)json_integer_value(size);
        void **buffer = &l->buffers[l->count];
        if (!abi_ok(tsrAlloc(r->context, bytes ? bytes : 1, TSR_ALLOC_DEFAULT, buffer),
                    "allocating a buffer", st))
            return false;
        l->sizes[l->count] = bytes;
        l->args[l->count] = buffer;
        if (l->count < l->inputs)
            memcpy(*buffer, from, bytes);
        else
            memset(*buffer, POISON, bytes);
        from += (bytes + 63) / 64 * 64;
    }
    for (uint32_t i = 0; i < r->dim_count; i++) {
        l->dims[i] = r->dims[i];
        l->args[l->count + i] = &l->dims[i];
    }
    return true;
}

static tensor as_tensor(dtype type, int64_t count, const void *data) {
    return (tensor){type, 1, {count}, (void *)(uintptr_t)data};
}

static bool hold(const timing_check_request *r, const launch *l, const json_t *bounds, status *st) {
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
    launch l = {.count = 0};
    tsr_launch_t grid = {0};
    const json_t *bounds = json_array_get(json_object_get(r->spec, "bounds"), (size_t)r->side);
    if (!json_is_array(bounds))
        return true;
    bool ok =
        fill(r, &l, st) &&
        abi_ok(tsrLaunch(r->kernel, NULL, grid, l.args, l.count + r->dim_count), "launching", st) &&
        hold(r, &l, bounds, st);
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (l.buffers[i])
            tsrFree(r->context, l.buffers[i]);
    return ok;
}
