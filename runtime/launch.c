/* launch.c - checks the arguments of a launch, and runs its phases in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

enum { BUFFER_ALIGNMENT = 64, POISON = 0xCB };

static tsr_status_t check_grid(const launch_request *request, const tsr_launch_t *l) {
    uint32_t phases = request->code->description->phase_count;
    int64_t first = phases ? request->cells[0] : 0;
    bool plain = l->grid_y <= 1 && l->grid_z <= 1 && l->block_x <= 1 && l->block_y <= 1 &&
                 l->block_z <= 1 && l->smem_bytes == 0;
    bool same = l->grid_x == 0 || (phases == 1 && l->grid_x == first);
    if (plain && same)
        return TSR_SUCCESS;
    return error_set(
        TSR_EINVAL,
        "kernel '%s' brings its own grid (%lld cells in the first of %u phases); pass an all-zero "
        "tsr_launch_t",
        request->kernel->metadata->name, (long long)first, phases);
}

static tsr_status_t check_buffer(tsr_kernel_t kernel, uint32_t index, const void *buffer,
                                 size_t size_bytes) {
    const metadata_parameter *p = &kernel->metadata->parameters[index];
    device_memory memory;
    if (!buffer)
        return error_set(TSR_EINVAL, "buffer %u ('%s') is NULL", index, p->name);
    if ((uintptr_t)buffer % BUFFER_ALIGNMENT != 0)
        return error_set(TSR_EINVAL, "buffer %u ('%s') at %p is not aligned to %d bytes", index,
                         p->name, buffer, BUFFER_ALIGNMENT);
    if (!memory_find(kernel->module->context, buffer, &memory))
        return TSR_SUCCESS; /* memory of the caller's own */
    size_t left = memory.size_bytes - (size_t)((const unsigned char *)buffer - memory.data);
    if (size_bytes > left)
        return error_set(TSR_EINVAL, "buffer %u ('%s') needs %zu bytes; its allocation has %zu",
                         index, p->name, size_bytes, left);
    return TSR_SUCCESS;
}

static bool overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) {
    return a_bytes && b_bytes && (a == b || (a < b ? b - a < a_bytes : a - b < b_bytes));
}

/* Outputs overlap nothing; inputs may share memory, since nobody writes them. */
static tsr_status_t check_overlaps(const metadata *m, void *const *buffers, const int64_t *sizes) {
    uint32_t count = m->inputs + m->outputs;
    for (uint32_t out = m->inputs; out < count; out++) {
        for (uint32_t i = 0; i < count; i++) {
            const metadata_parameter *a = &m->parameters[out], *b = &m->parameters[i];
            if (i != out && overlap((uintptr_t)buffers[out], (size_t)sizes[out],
                                    (uintptr_t)buffers[i], (size_t)sizes[i]))
                return error_set(TSR_EINVAL, "the output '%s' overlaps '%s'", a->name, b->name);
        }
    }
    return TSR_SUCCESS;
}

static tsr_status_t check_buffers(tsr_kernel_t kernel, void *const *buffers, const int64_t *sizes) {
    const metadata *m = kernel->metadata;
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++) {
        tsr_status_t s = check_buffer(kernel, i, buffers[i], (size_t)sizes[i]);
        if (s != TSR_SUCCESS)
            return s;
    }
    return check_overlaps(m, buffers, sizes);
}

static uint32_t most_phases(const struct tsr_module *module) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < module->code_count; i++)
        if (module->codes[i].description->phase_count > most)
            most = module->codes[i].description->phase_count;
    return most;
}

/* One block, which `request->buffers` owns: buffers, dimensions, cells; *sizes: room for the bytes
 * of each buffer. */
static void make_room(tsr_kernel_t kernel, launch_request *request, int64_t **sizes) {
    const metadata *m = kernel->metadata;
    size_t buffers = m->inputs + m->outputs, phases = most_phases(kernel->module);
    request->kernel = kernel;
    request->buffers =
        base_malloc(buffers * sizeof(void *) + (m->dims + phases + buffers) * sizeof(int64_t));
    int64_t *numbers = (int64_t *)(request->buffers + buffers);
    request->dims = m->dims ? numbers : NULL;
    request->cells = numbers + m->dims;
    *sizes = request->cells + phases;
}

/* Copies the arguments. */
static tsr_status_t gather(tsr_kernel_t kernel, void **args, size_t nargs, launch_request *request,
                           int64_t **sizes) {
    const metadata *m = kernel->metadata;
    size_t buffers = m->inputs + m->outputs;
    if (nargs != buffers + m->dims)
        return error_set(
            TSR_EINVAL,
            "kernel '%s' takes %zu arguments (%u inputs, %u outputs, %u dimensions), not %zu",
            m->name, buffers + m->dims, m->inputs, m->outputs, m->dims, nargs);
    if (nargs && !args)
        return error_null("args");
    for (size_t i = 0; i < nargs; i++)
        if (!args[i])
            return error_set(TSR_EINVAL,
                             "args[%zu] is NULL; it must hold the address of the argument", i);
    make_room(kernel, request, sizes);
    for (size_t i = 0; i < buffers; i++)
        request->buffers[i] = *(void **)args[i];
    for (size_t i = 0; i < m->dims; i++)
        request->dims[i] = *(const int64_t *)args[buffers + i];
    return TSR_SUCCESS;
}

/* Keeps the module loaded; says whether the watchdog is on. */
static bool launch_started(tsr_kernel_t kernel) {
    tsr_context_t context = kernel->module->context;
    pthread_mutex_lock(&context->mutex);
    kernel->module->launches++;
    bool watched = context->watchdog_ns != 0;
    pthread_mutex_unlock(&context->mutex);
    return watched;
}

void launch_finished(tsr_kernel_t kernel) {
    tsr_context_t context = kernel->module->context;
    pthread_mutex_lock(&context->mutex);
    if (--kernel->module->launches == 0)
        pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->mutex);
}

static bool prepare_workspace(tsr_stream_t stream, size_t size_bytes, status *st) {
    tsr_context_t context = stream->context;
    const device_driver *driver = context->device->driver;
    /* Under debug it fits exactly, so that the guard page begins where the kernel's right to write
     * ends. */
    bool fits = context->debug ? stream->workspace.size_bytes == size_bytes
                               : stream->workspace.size_bytes >= size_bytes;
    if (!fits || !stream->workspace.data) {
        if (stream->workspace.data)
            driver->release(context->device, &stream->workspace);
        if (!driver->alloc(context->device, size_bytes, context->debug, &stream->workspace, st))
            return status_set(st, STATUS_OUT_OF_MEMORY, "allocating the workspace");
    }
    if (context->debug)
        memset(stream->workspace.data, POISON, size_bytes);
    return true;
}

static bool run_phases(tsr_stream_t stream, const launch_request *request, telemetry_record *record,
                       status *st) {
    const metadata_image *m = request->code->description;
    device *d = stream->context->device;
    tsr_kernel_frame frame = {request->buffers, request->dims, stream->workspace.data, NULL};
    bool ok = true;
    for (uint32_t i = 0; i < m->phase_count && ok; i++) {
        uint64_t start = record ? telemetry_now_ns() : 0;
        device_phase phase = {request->code->image,   i,
                              request->cells[i],      (size_t)request->scratch_bytes,
                              stream->context->debug, &frame};
        ok = d->driver->run(d, &phase, st);
        if (record && i < TELEMETRY_PHASES)
            record->phase_ns[i] = telemetry_now_ns() - start;
    }
    return ok || status_set(st, STATUS_INTERNAL, "kernel '%s'", request->kernel->metadata->name);
}

static bool run_and_record(tsr_stream_t stream, const launch_request *request, status *st) {
    telemetry *t = &stream->context->telemetry;
    if (!atomic_load(&t->on))
        return run_phases(stream, request, NULL, st);
    telemetry_record record = {.start_ns = telemetry_now_ns(),
                               .phases = request->code->description->phase_count};
    snprintf(record.kernel, sizeof record.kernel, "%s", request->kernel->metadata->name);
    bool ok = run_phases(stream, request, &record, st);
    record.total_ns = telemetry_now_ns() - record.start_ns;
    if (ok)
        telemetry_add(t, &record);
    return ok;
}

static bool check_after(tsr_stream_t stream, const launch_request *request, status *st) {
    tsr_context_t context = stream->context;
    status why = STATUS_INIT;
    bool ok = memory_check_all(context, request, st);
    if (!context->device->driver->intact(context->device, &stream->workspace, &why))
        ok = status_set(st, STATUS_INTERNAL, "kernel '%s' broke its bounds: workspace: %s",
                        request->kernel->metadata->name, why.message);
    return ok;
}

bool launch_run(tsr_stream_t stream, const launch_request *request, bool watched, status *st) {
    tsr_context_t context = stream->context;
    if (!turn_take(context, request->kernel->metadata->name, watched, st))
        return false;
    bool ok = prepare_workspace(stream, (size_t)request->workspace_bytes, st) &&
              run_and_record(stream, request, st) &&
              (!context->debug || check_after(stream, request, st));
    return turn_give(context, st) && ok;
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

static tsr_status_t check_launch(launch_request *request, const tsr_launch_t *launch,
                                 int64_t *sizes) {
    tsr_status_t result = launch_find_needs(request, sizes);
    if (result == TSR_SUCCESS)
        result = check_grid(request, launch);
    return result == TSR_SUCCESS ? check_buffers(request->kernel, request->buffers, sizes) : result;
}

/* On the default stream: here, or, so that this thread can leave in time, on the stream's own
 * thread. Takes over the request's memory. */
static tsr_status_t run_to_end(tsr_context_t context, const launch_request *request, bool watched) {
    status st = STATUS_INIT;
    if (watched)
        return stream_push_and_wait(&context->default_stream, request, &st) ? TSR_SUCCESS
                                                                            : error_from(&st);
    bool ok = launch_run(&context->default_stream, request, false, &st);
    launch_finished(request->kernel);
    free(request->buffers);
    return ok ? TSR_SUCCESS : error_from(&st);
}

tsr_status_t tsrLaunch(tsr_kernel_t kernel, tsr_stream_t stream, tsr_launch_t launch, void **args,
                       size_t nargs) {
    launch_request request = {0};
    int64_t *sizes = NULL;
    tsr_status_t result = check_handles(kernel, stream);
    if (result == TSR_SUCCESS)
        result = gather(kernel, args, nargs, &request, &sizes);
    if (result == TSR_SUCCESS)
        result = check_launch(&request, &launch, sizes);
    if (result != TSR_SUCCESS) {
        free(request.buffers);
        return result;
    }
    bool watched = launch_started(kernel);
    if (!stream)
        return run_to_end(kernel->module->context, &request, watched);
    stream_push_launch(stream, &request);
    return TSR_SUCCESS;
}
