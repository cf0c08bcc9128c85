/* module_kind.c - a module of Tessera, of this build or another: through the C ABI, on the CPU. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "guest/guest.h"
#include "tessera/tessera.h"

enum { DIMS_MAX = 64 };
static const size_t module_bytes_max = (size_t)1 << 30;

typedef struct loaded {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    int64_t dims[DIMS_MAX];
    void **arguments; /* tensors, then dimensions */
    size_t count;
} loaded;

static bool held(tsr_status_t code, const char *doing, status *st) {
    status_code kind = code == TSR_EVERSION ? STATUS_UNAVAILABLE : STATUS_INVALID;
    return code == TSR_SUCCESS || status_set(st, kind, "%s: %s", doing, tsrGetLastError());
}

static bool bind(guest_function *s, loaded *l, status *st) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (!held(tsrGetKernelInfo(l->kernel, &info), "reading the kernel's metadata", st))
        return false;
    if (info.inputs != s->inputs || info.outputs != s->count - s->inputs || info.dims > DIMS_MAX)
        return status_set(st, STATUS_INVALID,
                          "the module's %s has %u inputs and %u outputs, the "
                          "kernel has %u and %u",
                          s->symbol, info.inputs, info.outputs, s->inputs, s->count - s->inputs);
    const json_t *dims = json_object_get(s->description, "dims");
    for (uint32_t i = 0; i < s->count; i++)
        l->arguments[i] = &s->tensors[i].data;
    for (uint32_t i = 0; i < info.dims; i++) {
        const char *name = NULL;
        if (!held(tsrGetKernelDimName(l->kernel, i, &name), "reading a dimension's name", st))
            return false;
        const json_t *value = json_object_get(dims, name);
        if (!value)
            return status_set(st, STATUS_INVALID, "the module wants the dimension %s", name);
        l->dims[i] = json_integer_value(value);
        l->arguments[s->count + i] = &l->dims[i];
    }
    l->count = s->count + info.dims;
    return true;
}

/* A buffer of another size would be read or written past its end. */
static bool same_shapes(const guest_function *s, const loaded *l, status *st) {
    for (uint32_t i = 0; i < s->count; i++) {
        const char *name, *type;
        const int64_t *dims;
        uint32_t rank;
        if (!held(tsrGetKernelParameter(l->kernel, i, &name, &type, &rank, &dims),
                  "reading a parameter", st))
            return false;
        bool same = strcmp(type, dtype_name(s->types[i])) == 0 && (int)rank == s->tensors[i].ndim;
        for (uint32_t axis = 0; axis < rank && same && dims && !l->count; axis++)
            same = dims[axis] == s->shapes[i][axis];
        if (!same)
            return status_set(st, STATUS_INVALID,
                              "the module's tensor '%s' has another type or "
                              "shape than the kernel's",
                              name);
    }
    return true;
}

bool module_kind_open(guest_function *s, status *st) {
    loaded *l = base_calloc(1, sizeof *l);
    l->arguments = base_calloc((size_t)s->count + DIMS_MAX, sizeof *l->arguments);
    char *image = NULL;
    size_t size = 0;
    s->own = l;
    bool ok = file_read(s->path, module_bytes_max, &image, &size, st) &&
              held(tsrCreateContextOn(0, s->threads, 0, &l->context), "opening the CPU", st) &&
              held(tsrLoadModule(l->context, image, size, &l->module), "loading it", st) &&
              held(tsrGetKernel(l->module, s->symbol, &l->kernel), "finding the kernel", st) &&
              same_shapes(s, l, st) && bind(s, l, st);
    free(image);
    return ok;
}

bool module_kind_call(guest_function *s, status *st) {
    loaded *l = s->own;
    const tsr_launch_t grid = {0};
    return held(tsrLaunch(l->kernel, NULL, grid, l->arguments, l->count), "launching", st);
}
