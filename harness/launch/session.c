/* session.c - a kernel's life on a device. */
#include "launch/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/abi_status.h"

/* An empty tensor has nothing to copy. */
static bool copy(session *l, void *to, const void *from, size_t size_bytes, const char *doing,
                 status *st) {
    return size_bytes == 0 || abi_ok(tsrCopy(l->context, to, from, size_bytes), doing, st);
}

static size_t buffer_bytes(const struct compiler_buffer *buffer) {
    size_t bytes = dtype_size(buffer->type);
    for (int axis = 0; axis < buffer->rank; axis++)
        bytes *= (size_t)buffer->dims[axis];
    return bytes;
}

static void borrow(session *l, const session *from) {
    memcpy(l->buffers, from->buffers, sizeof l->buffers);
    memcpy(l->sizes, from->sizes, sizeof l->sizes);
    l->input_count = from->input_count;
    l->output_count = from->output_count;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++)
        l->args[i] = &l->buffers[i];
}

static bool allocate(session *l, const compiler_signature *signature, status *st) {
    l->input_count = signature->input_count;
    l->output_count = signature->output_count;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++) {
        bool input = i < l->input_count;
        l->sizes[i] =
            buffer_bytes(input ? &signature->inputs[i] : &signature->outputs[i - l->input_count]);
        if (!abi_ok(tsrAlloc(l->context, l->sizes[i] ? l->sizes[i] : 1, TSR_ALLOC_DEFAULT,
                             &l->buffers[i]),
                    "allocating a buffer", st))
            return false;
        l->args[i] = &l->buffers[i];
    }
    return true;
}

static bool load(session *l, const session_request *request, status *st) {
    tsr_status_t code = tsrLoadModule(l->context, request->artifact->image,
                                      request->artifact->image_size, &l->module);
    bool wrong = code == TSR_ECORRUPT || code == TSR_ENOTFOUND || code == TSR_EVERSION;
    if (request->foreign && wrong)
        return status_set(st, STATUS_CORRUPT, "loading the module: %s", tsrGetLastError());
    return abi_ok(code, "loading the module", st);
}

static bool bind_dim(const session_request *request, const char *name, int64_t *value, status *st) {
    for (uint32_t i = 0; i < request->dim_count; i++)
        if (strcmp(request->dims[i].name, name) == 0) {
            *value = request->dims[i].value;
            return true;
        }
    return status_set(st, STATUS_INTERNAL, "the module of %s wants the dimension %s",
                      request->kernel, name);
}

static bool bind_dims(session *l, const session_request *request, const tsr_kernel_info_t *info,
                      status *st) {
    bool ok = info->dims <= SESSION_DIMS_MAX ||
              status_set(st, STATUS_INTERNAL, "the module of %s wants %u dimensions",
                         request->kernel, info->dims);
    for (uint32_t i = 0; i < info->dims && ok; i++) {
        const char *name;
        ok = abi_ok(tsrGetKernelDimName(l->kernel, i, &name), "reading a dimension's name", st) &&
             bind_dim(request, name, &l->dims[i], st);
        l->args[info->inputs + info->outputs + i] = &l->dims[i];
    }
    l->dim_count = info->dims;
    return ok;
}

bool session_open(session *l, const session_request *request, status *st) {
    *l = (session){0};
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (request->beside) {
        l->beside = true;
        l->context = request->beside->context;
    }
    if ((!l->beside &&
         !abi_ok(tsrCreateContextOn(request->device, request->threads, 0, &l->context),
                 "opening the device", st)) ||
        !load(l, request, st) ||
        !abi_ok(tsrGetKernel(l->module, request->kernel, &l->kernel), "finding the kernel", st) ||
        !abi_ok(tsrGetKernelInfo(l->kernel, &info), "reading the kernel's metadata", st))
        return false;
    if (info.inputs != request->signature->input_count ||
        info.outputs != request->signature->output_count)
        return status_set(st, STATUS_INTERNAL,
                          "the module of %s has %u inputs and %u outputs, its graph %u and %u",
                          request->kernel, info.inputs, info.outputs,
                          request->signature->input_count, request->signature->output_count);
    if (info.dims > 0 && !bind_dims(l, request, &info, st))
        return false;
    if (!l->beside)
        return allocate(l, request->signature, st);
    borrow(l, request->beside);
    return true;
}

void session_close(session *l) {
    for (uint32_t i = 0; i < SESSION_BUFFERS_MAX; i++)
        if (l->buffers[i] && !l->beside)
            tsrFree(l->context, l->buffers[i]);
    if (l->module)
        tsrUnloadModule(l->module);
    if (l->context && !l->beside)
        tsrDestroyContext(l->context);
    *l = (session){0};
}

bool session_write_inputs(session *l, const tensor *inputs, status *st) {
    for (uint32_t i = 0; i < l->input_count; i++)
        if (!copy(l, l->buffers[i], inputs[i].data, l->sizes[i], "copying an input", st))
            return false;
    return true;
}

bool session_poison_outputs(session *l, status *st) {
    for (uint32_t i = l->input_count; i < l->input_count + l->output_count; i++) {
        void *pattern = malloc(l->sizes[i] ? l->sizes[i] : 1);
        if (!pattern)
            return status_set(st, STATUS_OUT_OF_MEMORY, "no memory to poison an output");
        memset(pattern, SESSION_POISON, l->sizes[i]);
        bool ok = copy(l, l->buffers[i], pattern, l->sizes[i], "poisoning an output", st);
        free(pattern);
        if (!ok)
            return false;
    }
    return true;
}

bool session_run(session *l, status *st) {
    tsr_launch_t grid = {0};
    size_t count = l->input_count + l->output_count + l->dim_count;
    tsr_status_t code = tsrLaunch(l->kernel, NULL, grid, l->args, count);
    if (code == TSR_EINVAL && l->dim_count) /* a user's dimensions */
        return status_set(st, STATUS_INVALID, "%s", tsrGetLastError());
    return abi_ok(code, "launching", st);
}

bool session_read_outputs(session *l, const compiler_signature *signature, tensor *outputs,
                          status *st) {
    for (uint32_t i = 0; i < l->output_count; i++) {
        const struct compiler_buffer *buffer = &signature->outputs[i];
        bool made = tensor_init(&outputs[i], buffer->type, buffer->rank, buffer->dims, st);
        uint32_t slot = l->input_count + i;
        if (made &&
            copy(l, outputs[i].data, l->buffers[slot], l->sizes[slot], "copying an output", st))
            continue;
        session_release_tensors(outputs, made ? i + 1 : i);
        return false;
    }
    return true;
}

void session_release_tensors(tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        tensor_release(&tensors[i]);
}
