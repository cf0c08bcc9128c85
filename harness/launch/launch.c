/* launch.c - a kernel's life on a device. */
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "common/abi_status.h"
#include "launch/ranks.h"
#include "state/part.h"

static size_t buffer_bytes(const struct compiler_buffer *buffer) {
    size_t bytes = dtype_size(buffer->type);
    for (int axis = 0; axis < buffer->rank; axis++)
        bytes *= (size_t)buffer->dims[axis];
    return bytes;
}

void launch_request_buffers(launch_request *request, const compiler_signature *signature) {
    request->input_count = signature->input_count;
    request->output_count = signature->output_count;
    request->signature = signature;
}

void launch_request_artifact(launch_request *request, const compiler_artifact *artifact) {
    request->image = artifact->image;
    request->image_size = artifact->image_size;
}

/* ---- opening ---- */

static bool load(launch *l, const launch_request *request, status *st) {
    tsr_status_t code = tsrLoadModule(l->context, request->image, request->image_size, &l->module);
    if (code == TSR_SUCCESS && request->stored)
        code = tsrGetKernel(l->module, request->kernel, &l->kernel);
    bool wrong = code == TSR_ECORRUPT || code == TSR_ENOTFOUND || code == TSR_EVERSION;
    if ((request->foreign || request->stored) && wrong)
        return status_set(st, STATUS_CORRUPT, "loading the module: %s", tsrGetLastError());
    return abi_ok(code, request->foreign ? NULL : "loading the module", st) &&
           abi_ok(tsrGetKernel(l->module, request->kernel, &l->kernel), "finding the kernel", st);
}

static bool bind_dim(const launch_request *request, const char *name, int64_t *value, status *st) {
    for (uint32_t i = 0; i < request->dim_count; i++)
        if (strcmp(request->dims[i].name, name) == 0) {
            *value = request->dims[i].value;
            return true;
        }
    return status_set(st, request->foreign ? STATUS_INVALID : STATUS_INTERNAL,
                      "the module of %s wants the dimension %s, which has no value",
                      request->kernel, name);
}

static bool bind_dims(launch *l, const launch_request *request, uint32_t count, status *st) {
    bool ok = count <= LAUNCH_DIMS_MAX ||
              status_set(st, request->foreign ? STATUS_INVALID : STATUS_INTERNAL,
                         "the module of %s wants %u dimensions; the most are %d", request->kernel,
                         count, LAUNCH_DIMS_MAX);
    for (uint32_t i = 0; i < count && ok; i++) {
        const char *name;
        ok = abi_ok(tsrGetKernelDimName(l->kernel, i, &name), "reading a dimension's name", st) &&
             bind_dim(request, name, &l->dims[i], st);
    }
    l->dim_count = count;
    return ok;
}

static bool has_buffers(const launch *l, const launch_request *request,
                        const tsr_kernel_info_t *info, status *st) {
    if (info->inputs == l->input_count && info->outputs == l->output_count &&
        (request->signature || request->sizes))
        return true;
    return status_set(
        st, STATUS_INTERNAL, "the module of %s has %u inputs and %u outputs, its graph %u and %u",
        request->kernel, info->inputs, info->outputs, l->input_count, l->output_count);
}

static bool find_constant(launch *l, const char *word, size_t length, status *st) {
    text inputs;
    const char *name;
    bool found = false;
    text_init(&inputs);
    for (uint32_t i = 0; i < l->input_count && !found; i++) {
        if (!abi_ok(tsrGetKernelParameter(l->kernel, i, &name, NULL, NULL, NULL),
                    "reading an input's name", st))
            break;
        text_printf(&inputs, "%s%s", i ? ", " : "", name);
        found = strlen(name) == length && memcmp(name, word, length) == 0;
        if (found && l->constant_count < l->input_count)
            l->constants[l->constant_count++] = i;
    }
    if (!found && st->code == STATUS_OK)
        status_set(st, STATUS_INVALID, "no input is called '%.*s'; there are: %.500s",
                   length < 60 ? (int)length : 60, word, inputs.data);
    text_release(&inputs);
    return found;
}

static bool find_constants(launch *l, const char *names, status *st) {
    bool ok = true;
    for (const char *p = names; p && *p && ok;) {
        size_t length = strcspn(p, ",");
        ok = find_constant(l, p, length, st);
        p += length + (p[length] == ',');
    }
    return ok;
}

static void bind_args(launch *l) {
    uint32_t buffers = l->input_count + l->output_count;
    for (uint32_t i = 0; i < buffers; i++)
        l->args[i] = &l->buffers[i];
    for (uint32_t i = 0; i < l->dim_count; i++)
        l->args[buffers + i] = &l->dims[i];
}

static bool is_async_device(uint32_t device) {
    tsr_device_info_t info = {.struct_size = sizeof info};
    return tsrGetDeviceInfo(device, &info) == TSR_SUCCESS && !info.host_addressable;
}

void launch_request_sizes(const launch_request *request, size_t *out) {
    const compiler_signature *s = request->signature;
    const uint32_t inputs = request->input_count, buffers = inputs + request->output_count;
    for (uint32_t i = 0; i < buffers && s; i++) {
        const struct compiler_buffer *b = i < inputs ? &s->inputs[i] : &s->outputs[i - inputs];
        out[i] = request->parts ? part_bytes(&request->parts[i]) : buffer_bytes(b);
    }
    if (!s && request->sizes)
        memcpy(out, request->sizes, buffers * sizeof *out);
}

static void make_room(launch *l, const launch_request *request) {
    uint32_t inputs = l->input_count, buffers = inputs + l->output_count;
    l->buffers = base_calloc((size_t)buffers + 1, sizeof *l->buffers);
    l->sizes = base_calloc((size_t)buffers + 1, sizeof *l->sizes);
    l->dims = base_calloc(LAUNCH_DIMS_MAX, sizeof *l->dims);
    l->args = base_calloc((size_t)buffers + LAUNCH_DIMS_MAX, sizeof *l->args);
    l->constants = base_calloc((size_t)inputs + 1, sizeof *l->constants);
    launch_request_sizes(request, l->sizes);
}

/* The last device that is not the host stays open from case to case: CUDA takes a second to make
 * its context, and another to end it. A context that a launch uses is not replaced. */
static struct kept {
    tsr_context_t context;
    uint32_t device, threads, users;
} kept;

static bool own_context(launch *l, const launch_request *request, status *st) {
    l->owns_context = true;
    return abi_ok(tsrCreateContextOn(request->device, request->threads, 0, &l->context),
                  "opening the device", st);
}

static bool fits_kept(const launch_request *request) {
    return kept.context && kept.device == request->device && kept.threads == request->threads;
}

static bool use_kept(launch *l, const launch_request *request, status *st) {
    if (!fits_kept(request)) {
        if (kept.users)
            return own_context(l, request, st);
        if (kept.context)
            tsrDestroyContext(kept.context);
        kept = (struct kept){.device = request->device, .threads = request->threads};
        if (!abi_ok(tsrCreateContextOn(kept.device, kept.threads, 0, &kept.context),
                    "opening the device", st))
            return false;
    }
    kept.users++;
    l->uses_kept = true;
    l->context = kept.context;
    return true;
}

static bool open_context(launch *l, const launch_request *request, status *st) {
    if (l->context)
        return true;
    return l->is_async && !request->apart ? use_kept(l, request, st) : own_context(l, request, st);
}

static bool open_ranks(launch *l, const launch_request *request, status *st) {
    launch_request *each = base_calloc(request->rank_count, sizeof *each);
    for (uint32_t i = 0; i < request->rank_count; i++) {
        each[i] = *request;
        launch_request_artifact(&each[i], &request->rank_modules[i]);
        each[i].rank_count = 0;
        each[i].constants = NULL;
        each[i].apart = true;
        each[i].parts = compiler_parts(each[i].image, each[i].image_size);
    }
    l->ranks = launch_ranks_open(each, request->rank_count, request->transport, st);
    for (uint32_t i = 0; i < request->rank_count; i++)
        free((shard_part *)each[i].parts);
    free(each);
    return l->ranks != NULL;
}

bool launch_open(launch *l, const launch_request *request, status *st) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    const launch *beside = request->beside;
    *l = (launch){.context = beside ? beside->context : request->context,
                  .input_count = request->input_count,
                  .output_count = request->output_count,
                  .foreign = request->foreign,
                  .is_async = beside ? beside->is_async : is_async_device(request->device)};
    make_room(l, request);
    if (request->rank_count)
        return open_ranks(l, request, st);
    if (!open_context(l, request, st) || !load(l, request, st) ||
        !abi_ok(tsrGetKernelInfo(l->kernel, &info), "reading the kernel's metadata", st) ||
        !has_buffers(l, request, &info, st) || !bind_dims(l, request, info.dims, st) ||
        !find_constants(l, request->constants, st))
        return false;
    bind_args(l);
    if (beside)
        memcpy(l->buffers, beside->buffers,
               (l->input_count + l->output_count) * sizeof *l->buffers);
    return beside || request->bare || launch_allocate(l, st);
}

bool launch_allocate(launch *l, status *st) {
    l->owns_buffers = true;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++)
        if (!abi_ok(tsrAlloc(l->context, l->sizes[i] ? l->sizes[i] : 1, TSR_ALLOC_DEFAULT,
                             &l->buffers[i]),
                    "allocating a buffer", st))
            return false;
    return true;
}

static void forget_prepared(launch *l) {
    if (l->prepared)
        (void)tsrDestroyPrepared(l->prepared);
    l->prepared = NULL;
}

void launch_free_buffers(launch *l) {
    forget_prepared(l);
    for (uint32_t i = 0; l->buffers && i < l->input_count + l->output_count; i++) {
        if (l->buffers[i] && l->owns_buffers)
            tsrFree(l->context, l->buffers[i]);
        l->buffers[i] = NULL;
    }
}

uint64_t launch_bytes(const launch *l) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++)
        sum += l->sizes[i];
    return sum;
}

void launch_close(launch *l) {
    launch_ranks_close(l->ranks);
    launch_free_buffers(l);
    if (l->module)
        tsrUnloadModule(l->module);
    if (l->context && l->owns_context)
        tsrDestroyContext(l->context);
    kept.users -= l->uses_kept;
    free(l->buffers);
    free(l->sizes);
    free(l->dims);
    free(l->args);
    free(l->constants);
    *l = (launch){0};
}

/* ---- running ---- */

/* An empty tensor has nothing to copy. */
static bool copy(launch *l, void *to, const void *from, size_t size_bytes, const char *doing,
                 status *st) {
    return size_bytes == 0 || abi_ok(tsrCopy(l->context, to, from, size_bytes), doing, st);
}

bool launch_write(launch *l, uint32_t input, const void *data, status *st) {
    forget_prepared(l);
    return l->ranks ? launch_ranks_write(l->ranks, input, data, l->sizes[input], st)
                    : copy(l, l->buffers[input], data, l->sizes[input], "copying an input", st);
}

bool launch_write_inputs(launch *l, const tensor *inputs, status *st) {
    for (uint32_t i = 0; i < l->input_count; i++)
        if (!launch_write(l, i, inputs[i].data, st))
            return false;
    return true;
}

bool launch_poison_outputs(launch *l, status *st) {
    if (l->ranks)
        return launch_ranks_poison(l->ranks, st);
    for (uint32_t i = l->input_count; i < l->input_count + l->output_count; i++)
        if (l->sizes[i] &&
            !abi_ok(tsrFillAsync(l->context, NULL, l->buffers[i], LAUNCH_POISON, l->sizes[i]),
                    "poisoning an output", st))
            return false;
    return true;
}

bool launch_prepare(const launch *l, tsr_kernel_t kernel, void **args, tsr_prepared_t *out,
                    status *st) {
    size_t count = l->input_count + l->output_count + l->dim_count;
    tsr_status_t code = tsrPrepareKernel(kernel, l->constants, l->constant_count, args, count, out);
    if (code == TSR_EINVAL) /* a user's names or dimensions */
        return status_set(st, STATUS_INVALID, "%s", tsrGetLastError());
    return abi_ok(code, "preparing constants", st);
}

bool launch_run(launch *l, status *st) {
    return l->ranks ? launch_ranks_run(l->ranks, 1, NULL, st) : launch_queue(l, NULL, st);
}

bool launch_queue(launch *l, tsr_stream_t stream, status *st) {
    tsr_launch_t grid = {0};
    size_t count = l->input_count + l->output_count + l->dim_count;
    if (l->constant_count && !l->prepared &&
        !launch_prepare(l, l->kernel, l->args, &l->prepared, st))
        return false;
    tsr_status_t code = l->prepared ? tsrLaunchPrepared(l->prepared, stream, grid, l->args, count)
                                    : tsrLaunch(l->kernel, stream, grid, l->args, count);
    if (code == TSR_EINVAL && l->dim_count) /* a user's dimensions */
        return status_set(st, STATUS_INVALID, "%s", tsrGetLastError());
    return abi_ok(code, l->foreign ? NULL : "launching", st);
}

bool launch_share_donated(launch *l, bool shared) {
    bool any = false;
    if (l->ranks)
        return launch_ranks_share(l->ranks, shared);
    for (uint32_t i = 0; i < l->input_count; i++) {
        uint32_t output;
        if (tsrGetDonatedOutput(l->kernel, i, &output) != TSR_SUCCESS || output == TSR_NOT_DONATED)
            continue;
        any = true;
        l->args[l->input_count + output] = &l->buffers[shared ? i : l->input_count + output];
    }
    return any;
}

bool launch_read_input(launch *l, uint32_t input, void *to, status *st) {
    return l->ranks ? launch_ranks_read_input(l->ranks, input, to, l->sizes[input], st)
                    : copy(l, to, l->buffers[input], l->sizes[input], "copying an input", st);
}

bool launch_read(launch *l, uint32_t output, void *to, status *st) {
    uint32_t slot = l->input_count + output;
    if (l->ranks)
        return launch_ranks_read(l->ranks, 0, output, to, l->sizes[slot], st);
    return copy(l, to, *(void **)l->args[slot], l->sizes[slot], "copying an output", st);
}

bool launch_read_outputs(launch *l, const compiler_signature *signature, tensor *outputs,
                         status *st) {
    for (uint32_t i = 0; i < l->output_count; i++) {
        const struct compiler_buffer *buffer = &signature->outputs[i];
        bool made = tensor_init(&outputs[i], buffer->type, buffer->rank, buffer->dims, st);
        if (made && launch_read(l, i, outputs[i].data, st))
            continue;
        tensor_release_all(outputs, made ? i + 1 : i);
        return false;
    }
    return true;
}
