/* spec_launch.c - buffers for one launch. */
#include "gate/spec_launch.h"

#include <string.h>

#include "common/abi_status.h"

enum { POISON = 0xA5 };

bool spec_dims(tsr_kernel_t kernel, const json_t *spec, int64_t dims[SPEC_DIMS_MAX],
               uint32_t *count, status *st) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    const json_t *values = json_object_get(spec, "dims");
    bool ok = abi_ok(tsrGetKernelInfo(kernel, &info), "reading the metadata", st) &&
              (info.dims <= SPEC_DIMS_MAX ||
               status_set(st, STATUS_INVALID, "the module wants %u dimensions", info.dims));
    *count = ok ? info.dims : 0;
    for (uint32_t i = 0; i < *count && ok; i++) {
        const char *name;
        if (!abi_ok(tsrGetKernelDimName(kernel, i, &name), "reading a dimension's name", st))
            return false;
        const json_t *value = json_object_get(values, name);
        ok = json_is_integer(value) ||
             status_set(st, STATUS_INVALID,
                        "the module wants the dimension %s, which no case gives", name);
        dims[i] = json_integer_value(value);
    }
    return ok;
}

static bool fill(spec_launch *l, const unsigned char *from, const json_t *sizes, status *st) {
    const json_t *size;
    json_array_foreach(sizes, l->count, size) {
        size_t bytes = (size_t)json_integer_value(size);
        void **buffer = &l->buffers[l->count];
        if (!abi_ok(tsrAlloc(l->context, bytes ? bytes : 1, TSR_ALLOC_DEFAULT, buffer),
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
    return true;
}

bool spec_launch_open(spec_launch *l, tsr_context_t context, tsr_kernel_t kernel,
                      const unsigned char *data, const json_t *spec, status *st) {
    *l = (spec_launch){.context = context, .kernel = kernel};
    l->inputs = (size_t)json_integer_value(json_object_get(spec, "inputs"));
    const json_t *first = json_array_get(json_object_get(spec, "sets"), 0);
    if (!fill(l, data + json_integer_value(first), json_object_get(spec, "sizes"), st) ||
        !spec_dims(kernel, spec, l->dims, &l->dim_count, st))
        return false;
    for (uint32_t i = 0; i < l->dim_count; i++)
        l->args[l->count + i] = &l->dims[i];
    return true;
}

bool spec_launch_run(spec_launch *l, status *st) {
    tsr_launch_t grid = {0};
    return abi_ok(tsrLaunch(l->kernel, NULL, grid, l->args, l->count + l->dim_count), "launching",
                  st);
}

void spec_launch_close(spec_launch *l) {
    for (size_t i = 0; i < SPEC_BUFFERS_MAX; i++)
        if (l->buffers[i])
            tsrFree(l->context, l->buffers[i]);
    memset(l->buffers, 0, sizeof l->buffers);
}
