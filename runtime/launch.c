/* launch.c - checks the arguments of a launch, and gives it to its stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* Code for CPUs loads at any place, and may store past the caches at multiples of this. */
enum { STORE_ALIGNMENT = 64 };

tsr_status_t launch_check_buffer(const kernel_launch *request, uint32_t index) {
    const metadata *m = request->kernel->metadata;
    const metadata_parameter *p = &m->parameters[index];
    tsr_context_t context = request->kernel->module->context;
    const void *buffer = request->buffers[index];
    const device_memory *memory = memory_find(context, buffer);
    size_t size_bytes = (size_t)request->sizes[index];
    request->memories[index] = memory;
    if (!buffer)
        return error_set(TSR_EINVAL, "buffer %u ('%s') is NULL", index, p->name);
    const bool loaded = index < m->inputs && context->device->info.host_addressable;
    const size_t alignment = loaded ? dtype_size(p->type) : STORE_ALIGNMENT;
    if ((uintptr_t)buffer % alignment != 0)
        return error_set(TSR_EINVAL, "buffer %u ('%s') at %p is not aligned to %zu bytes", index,
                         p->name, buffer, alignment);
    if (!memory)
        return context->device->info.host_addressable
                   ? TSR_SUCCESS /* memory of the caller's own */
                   : error_set(TSR_EINVAL,
                               "buffer %u ('%s') at %p is no memory of this context, and its "
                               "device reaches no other",
                               index, p->name, buffer);
    size_t left = memory->size_bytes - ((uintptr_t)buffer - (uintptr_t)memory->address);
    if (size_bytes > left)
        return error_set(TSR_EINVAL, "buffer %u ('%s') needs %zu bytes; its allocation has %zu",
                         index, p->name, size_bytes, left);
    return TSR_SUCCESS;
}

static bool overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) {
    return a_bytes && b_bytes && (a == b || (a < b ? b - a < a_bytes : a - b < b_bytes));
}

bool launch_is_in_place(const metadata *m, void *const *buffers, uint32_t input) {
    return m->donated && m->donated[input] != METADATA_NOT_DONATED &&
           buffers[input] == buffers[m->inputs + m->donated[input]];
}

static bool is_shared(const kernel_launch *request, uint32_t input) {
    return launch_is_in_place(request->kernel->metadata, request->buffers, input);
}

/* Phases that copy an input to where it lies have no workgroups. */
static void leave_out_copies(kernel_launch *request) {
    const metadata_image *code = request->code->description;
    int64_t *workgroups = request->room.workgroups;
    if (!code->copies)
        return;
    memmove(workgroups, request->workgroups, code->phase_count * sizeof *workgroups);
    for (uint32_t i = 0; i < code->phase_count; i++)
        if (code->phases[i].copies >= 0 && is_shared(request, (uint32_t)code->phases[i].copies))
            workgroups[i] = 0;
    request->workgroups = workgroups;
}

static bool may_overlap(const kernel_launch *request, uint32_t out, uint32_t other) {
    const metadata *m = request->kernel->metadata;
    return other < m->inputs && is_shared(request, other) && m->donated[other] == out - m->inputs;
}

static tsr_status_t refuse_overlap(const metadata *m, uint32_t out, uint32_t other) {
    return error_set(TSR_EINVAL, "the output '%s' overlaps '%s'", m->parameters[out].name,
                     m->parameters[other].name);
}

/* A heap in place: the C library's sort may allocate. */
static void sift(void *const *buffers, uint32_t *heap, uint32_t at, uint32_t count) {
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && buffers[heap[child]] < buffers[heap[child + 1]])
            child++;
        if (buffers[heap[child]] <= buffers[heap[at]])
            return;
        uint32_t swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
    }
}

static void sort_by_address(void *const *buffers, uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        list[i] = i;
    for (uint32_t i = count / 2; i-- > 0;)
        sift(buffers, list, i, count);
    for (uint32_t last = count; last-- > 1;) {
        uint32_t highest = list[0];
        list[0] = list[last];
        list[last] = highest;
        sift(buffers, list, 0, last);
    }
}

/* Compares each of many buffers with those that end last of the ones before it in memory. */
static tsr_status_t check_overlaps_sorted(const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    uint32_t *list = request->large->by_address, count = m->inputs + m->outputs;
    uint32_t last = UINT32_MAX, last_output = UINT32_MAX;
    uintptr_t end = 0, output_end = 0;
    sort_by_address(request->buffers, list, count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = list[k];
        uintptr_t from = (uintptr_t)request->buffers[i], to = from + (uintptr_t)request->sizes[i];
        bool is_output = i >= m->inputs;
        if (from == to || (!is_output && is_shared(request, i)))
            continue;
        if (is_output && from < end)
            return refuse_overlap(m, i, last);
        if (from < output_end)
            return refuse_overlap(m, last_output, i);
        last = to > end ? i : last;
        end = to > end ? to : end;
        last_output = is_output ? i : last_output;
        output_end = is_output ? to : output_end;
    }
    return TSR_SUCCESS;
}

/* Outputs overlap nothing but the input that was donated to them; inputs may share memory, since
 * nobody writes them. */
static tsr_status_t check_overlaps(const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    uint32_t count = m->inputs + m->outputs;
    if (request->large)
        return check_overlaps_sorted(request);
    for (uint32_t out = m->inputs; out < count; out++)
        for (uint32_t i = 0; i < out; i++)
            if (overlap((uintptr_t)request->buffers[out], (size_t)request->sizes[out],
                        (uintptr_t)request->buffers[i], (size_t)request->sizes[i]) &&
                !may_overlap(request, out, i))
                return refuse_overlap(m, out, i);
    return TSR_SUCCESS;
}

static tsr_status_t check_buffers(const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    pthread_mutex_t *mutex = &request->kernel->module->context->mutex;
    tsr_status_t result = TSR_SUCCESS;
    pthread_mutex_lock(mutex);
    for (uint32_t i = 0; i < m->inputs + m->outputs && result == TSR_SUCCESS; i++)
        result = launch_check_buffer(request, i);
    pthread_mutex_unlock(mutex);
    for (uint32_t i = 0; i < m->inputs + m->outputs && result == TSR_SUCCESS; i++)
        if (!request->memories[i])
            result = owner_check(request->kernel->module->context, request->buffers[i]);
    return result == TSR_SUCCESS ? check_overlaps(request) : result;
}

static void leave_out(kernel_launch *request, uint32_t buffer) {
    request->buffers[buffer] = NULL;
    request->memories[buffer] = NULL;
}

tsr_status_t launch_gather(kernel_launch *request, void **args, size_t nargs, const bool *given) {
    const metadata *m = request->kernel->metadata;
    uint32_t buffers = m->inputs + m->outputs;
    if (nargs != buffers + m->dims)
        return error_set(
            TSR_EINVAL,
            "kernel '%s' takes %u arguments (%u inputs, %u outputs, %u dimensions), not %zu",
            m->name, buffers + m->dims, m->inputs, m->outputs, m->dims, nargs);
    if (nargs && !args)
        return error_null("args");
    request->buffers = request->large ? request->large->buffers : request->room.buffers;
    request->memories = request->large ? request->large->memories : request->room.memories;
    request->dims = m->dims ? request->room.dims : NULL;
    for (uint32_t i = 0; i < nargs; i++) {
        if (given && i < buffers && !(i < m->inputs && given[i])) {
            leave_out(request, i);
            continue;
        }
        if (!args[i])
            return error_set(TSR_EINVAL,
                             "args[%u] is NULL; it must hold the address of the argument", i);
        if (i < buffers)
            request->buffers[i] = *(void **)args[i];
        else
            request->dims[i - buffers] = *(const int64_t *)args[i];
    }
    return TSR_SUCCESS;
}

static device_span prepared_span(const struct tsr_prepared *p) {
    const device_memory *memory = p ? p->memory : NULL;
    return (device_span){memory ? memory->address : NULL, memory};
}

device_command launch_command(const kernel_launch *request, tsr_context_t context) {
    const metadata *m = request->kernel->metadata;
    device_command c; /* not filled with zeros first */
    c.kind = DEVICE_DISPATCH;
    c.byte = 0;
    c.limit_ns = atomic_load_explicit(&context->watchdog_ns, memory_order_relaxed);
    c.dispatch = (device_dispatch){
        .image = request->code->image,
        .label = m->name,
        .buffers = request->buffers,
        .memories = request->memories,
        .buffer_bytes = request->sizes,
        .dims = request->dims,
        .workgroups = request->workgroups,
        .buffer_count = m->inputs + m->outputs,
        .dim_count = m->dims,
        .workspace_bytes = (size_t)request->workspace_bytes,
        .workgroup_bytes = (size_t)request->scratch_bytes,
        .prepared_bytes = request->code->description->prepared_bytes,
        .prepared = prepared_span(request->prepared),
        .timed = atomic_load_explicit(&context->telemetry.on, memory_order_relaxed)};
    return c;
}

bool launch_watched(tsr_stream_t stream, const device_command *command, const metadata *m,
                    status *st) {
    tsr_context_t context = stream->context;
    const device_driver *driver = context->device->driver;
    status lost = STATUS_INIT;
    pthread_mutex_lock(&context->debugging);
    bool ok = driver->submit(stream->queue, command, 1, st) && driver->await(stream->queue, st);
    if (driver->usable(context->device, &lost))
        ok = memory_check_all(context, m, command->dispatch.buffers, st) && ok;
    pthread_mutex_unlock(&context->debugging);
    return ok;
}

tsr_status_t launch_debugged(tsr_stream_t stream, const device_command *command,
                             const metadata *m) {
    status st = STATUS_INIT;
    bool ok = launch_watched(stream, command, m, &st);
    if (ok || stream == &stream->context->default_stream)
        return ok ? TSR_SUCCESS : error_from(&st);
    stream_fail(stream, &st);
    return TSR_SUCCESS;
}

static tsr_status_t check_handles(tsr_kernel_t kernel, tsr_stream_t stream) {
    if (!kernel)
        return error_null("kernel");
    tsr_status_t usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (stream && stream->context != kernel->module->context)
        return error_set(TSR_EINVAL, "the stream belongs to another context than kernel '%s'",
                         kernel->metadata->name);
    return TSR_SUCCESS;
}

static bool is_default(const tsr_launch_t *l) {
    return !(l->grid_x | l->grid_y | l->grid_z | l->block_x | l->block_y | l->block_z |
             l->smem_bytes);
}

/* The launch may go on after tsrLaunch, so its module must know when it has ended. */
static tsr_status_t submit_noted(tsr_stream_t stream, const device_command *command,
                                 device_event *ended) {
    const device_command commands[] = {*command,
                                       {.kind = DEVICE_RECORD, .event = ended, .untimed = true}};
    return stream_submit(stream, commands, 2);
}

static tsr_status_t submit(tsr_stream_t stream, const kernel_launch *request) {
    tsr_kernel_t kernel = request->kernel;
    tsr_context_t context = kernel->module->context;
    if (kernel->module->program)
        return program_launch(request, stream);
    if (stream && stream->captured) {
        graph_add_launch(stream->captured, request);
        return TSR_SUCCESS;
    }
    const device_command command = launch_command(request, context);
    if (context->debug)
        return launch_debugged(stream_or_default(context, stream), &command, kernel->metadata);
    return stream ? submit_noted(stream, &command, kernel->module->used)
                  : stream_submit(&context->default_stream, &command, 1);
}

static tsr_status_t launch(tsr_kernel_t kernel, tsr_prepared_t prepared, tsr_stream_t stream,
                           const tsr_launch_t *spec, void **args, size_t nargs) {
    kernel_launch request;
    launch_begin(&request, kernel, prepared);
    tsr_status_t result = launch_gather(&request, args, nargs, NULL);
    if (result == TSR_SUCCESS)
        result = prepared ? prepared_find_needs(&request) : launch_find_needs(&request);
    if (result == TSR_SUCCESS && !is_default(spec))
        result = launch_check_spec(&request, spec);
    if (result == TSR_SUCCESS)
        result = check_buffers(&request);
    if (result == TSR_SUCCESS)
        leave_out_copies(&request);
    if (result == TSR_SUCCESS)
        result = submit(stream, &request);
    launch_end(&request);
    return result;
}

/* Parameters: those of a launch. */
static tsr_status_t launch_told(tsr_kernel_t kernel, tsr_prepared_t prepared, tsr_stream_t stream,
                                const tsr_launch_t *spec, void **args, size_t nargs) {
    profile *p = kernel->module->context->profile;
    if (__builtin_expect(p == NULL, 1))
        return launch(kernel, prepared, stream, spec, args, nargs);
    const profile_call call = profile_begin(p, "host", kernel->metadata->name);
    tsr_status_t result = launch(kernel, prepared, stream, spec, args, nargs);
    profile_end(&call, 0);
    return result;
}

tsr_status_t tsrLaunch(tsr_kernel_t kernel, tsr_stream_t stream, tsr_launch_t spec, void **args,
                       size_t nargs) {
    tsr_status_t result = check_handles(kernel, stream);
    return result == TSR_SUCCESS ? launch_told(kernel, NULL, stream, &spec, args, nargs) : result;
}

tsr_status_t tsrLaunchPrepared(tsr_prepared_t prepared, tsr_stream_t stream, tsr_launch_t spec,
                               void **args, size_t nargs) {
    if (!prepared)
        return error_null("prepared");
    tsr_status_t result = check_handles(prepared->kernel, stream);
    return result == TSR_SUCCESS
               ? launch_told(prepared->kernel, prepared, stream, &spec, args, nargs)
               : result;
}
