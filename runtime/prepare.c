/* prepare.c - prepared kernels: phases that depend on inputs which stay as they are have run once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

/* ---- making one ---- */

static tsr_status_t check_inputs(const metadata *m, const uint32_t *inputs, size_t count,
                                 bool *given) {
    if (count && !inputs)
        return error_null("inputs");
    for (size_t i = 0; i < count; i++) {
        if (inputs[i] >= m->inputs)
            return error_set(TSR_EINVAL, "kernel '%s' has no input %u; it has %u", m->name,
                             inputs[i], m->inputs);
        given[inputs[i]] = true;
    }
    for (uint32_t i = 0; i < m->inputs; i++)
        if (m->constant[i] && !given[i])
            return error_set(TSR_EINVAL,
                             "kernel '%s' was compiled for the constant '%s', which is not among "
                             "the inputs to prepare",
                             m->name, m->parameters[i].name);
    return TSR_SUCCESS;
}

static tsr_status_t check_given(const kernel_launch *request, const bool *given) {
    const metadata *m = request->kernel->metadata;
    pthread_mutex_t *mutex = &request->kernel->module->context->mutex;
    tsr_status_t result = TSR_SUCCESS;
    pthread_mutex_lock(mutex);
    for (uint32_t i = 0; i < m->inputs && result == TSR_SUCCESS; i++)
        if (given[i])
            result = launch_check_buffer(request, i);
    pthread_mutex_unlock(mutex);
    return result;
}

static void *copy_of(const void *items, size_t count, size_t item_bytes) {
    void *copy = base_calloc(count + 1, item_bytes);
    if (count)
        memcpy(copy, items, count * item_bytes);
    return copy;
}

/* The request's answers, and what a launch still has to run. */
static tsr_prepared_t keep(const kernel_launch *request, const bool *given) {
    const metadata *m = request->kernel->metadata;
    const metadata_image *code = request->code->description;
    tsr_prepared_t p = base_calloc(1, sizeof *p);
    p->kernel = request->kernel;
    p->code = request->code;
    p->constant = copy_of(given, m->inputs, sizeof *given);
    p->buffers = copy_of(request->buffers, m->inputs, sizeof *request->buffers);
    p->dims = copy_of(request->dims, m->dims, sizeof *request->dims);
    p->sizes = copy_of(request->sizes, m->inputs + m->outputs, sizeof *request->sizes);
    p->workgroups = copy_of(request->workgroups, code->phase_count, sizeof *request->workgroups);
    p->workspace_bytes = request->workspace_bytes;
    p->scratch_bytes = request->scratch_bytes;
    for (uint32_t i = 0; i < code->phase_count; i++)
        if (code->phases[i].constant >= 0) {
            p->workgroups[i] = 0;
            p->phases++;
        }
    return p;
}

/* Runs the marked phases alone. */
static tsr_status_t run_phases(tsr_prepared_t p, kernel_launch *request) {
    tsr_context_t context = p->kernel->module->context;
    const metadata_image *code = p->code->description;
    device *d = context->device;
    status st = STATUS_INIT;
    if (p->phases == 0)
        return TSR_SUCCESS;
    if (!d->driver->alloc(d, code->prepared_bytes, DEVICE_MEMORY_DEVICE, &p->memory, &st))
        return error_from(&st);
    int64_t *workgroups = copy_of(request->workgroups, code->phase_count, sizeof *workgroups);
    for (uint32_t i = 0; i < code->phase_count; i++)
        workgroups[i] = code->phases[i].constant >= 0 ? workgroups[i] : 0;
    request->workgroups = workgroups;
    request->workspace_bytes = 0;
    request->prepared = p;
    const device_command command = launch_command(request, context);
    tsr_status_t result =
        context->debug ? launch_debugged(&context->default_stream, &command, p->kernel->metadata)
                       : stream_submit(&context->default_stream, &command, 1);
    free(workgroups);
    return result;
}

/* ---- contents, under debug ---- */

static bool hash_input(const struct tsr_prepared *p, uint32_t input, const device_memory *memory,
                       sha256 *out, status *st) {
    tsr_context_t context = p->kernel->module->context;
    size_t bytes = (size_t)p->sizes[input];
    void *room = base_malloc(bytes + 1);
    const device_command command = {
        .kind = DEVICE_COPY,
        .range = {.to = {room, NULL}, .from = {p->buffers[input], memory}, .size_bytes = bytes}};
    bool ok = bytes == 0 ||
              context->device->driver->submit(context->default_stream.queue, &command, 1, st);
    if (ok)
        *out = sha256_of(room, bytes);
    free(room);
    return ok;
}

static const device_memory *memory_of(const struct tsr_prepared *p, uint32_t input) {
    tsr_context_t context = p->kernel->module->context;
    pthread_mutex_lock(&context->mutex);
    const device_memory *memory = memory_find(context, p->buffers[input]);
    pthread_mutex_unlock(&context->mutex);
    return memory;
}

static tsr_status_t note_contents(tsr_prepared_t p) {
    const metadata *m = p->kernel->metadata;
    status st = STATUS_INIT;
    if (!p->kernel->module->context->debug)
        return TSR_SUCCESS;
    p->contents = base_calloc(m->inputs + 1, sizeof *p->contents);
    for (uint32_t i = 0; i < m->inputs; i++)
        if (p->constant[i] && !hash_input(p, i, memory_of(p, i), &p->contents[i], &st))
            return error_from(&st);
    return TSR_SUCCESS;
}

tsr_status_t prepared_check_contents(tsr_prepared_t p) {
    const metadata *m = p->kernel->metadata;
    device *d = p->kernel->module->context->device;
    status st = STATUS_INIT;
    sha256 now;
    for (uint32_t i = 0; p->contents && i < m->inputs; i++) {
        if (!p->constant[i])
            continue;
        if (!hash_input(p, i, memory_of(p, i), &now, &st))
            return error_from(&st);
        if (memcmp(&now, &p->contents[i], sizeof now) != 0)
            return error_set(TSR_EINVAL,
                             "the input '%s' of kernel '%s' was changed since it was prepared; "
                             "destroy the prepared kernel and prepare it again",
                             m->parameters[i].name, m->name);
    }
    if (p->memory && !d->driver->intact(d, p->memory, &st))
        return error_set(TSR_EINTERNAL, "what was prepared of kernel '%s': %s", m->name,
                         st.message);
    return TSR_SUCCESS;
}

/* ---- launches ---- */

static tsr_status_t check_same(const kernel_launch *request) {
    const struct tsr_prepared *p = request->prepared;
    const metadata *m = p->kernel->metadata;
    for (uint32_t i = 0; i < m->inputs; i++)
        if (p->constant[i] && p->buffers[i] != request->buffers[i])
            return error_set(TSR_EINVAL, "the input '%s' of kernel '%s' was prepared at %p, not %p",
                             m->parameters[i].name, m->name, p->buffers[i], request->buffers[i]);
    for (uint32_t i = 0; i < m->dims; i++)
        if (p->dims[i] != request->dims[i])
            return error_set(TSR_EINVAL, "kernel '%s' was prepared for %s=%lld, not %lld", m->name,
                             m->dim_names[i], (long long)p->dims[i], (long long)request->dims[i]);
    return TSR_SUCCESS;
}

tsr_status_t prepared_find_needs(kernel_launch *request) {
    tsr_prepared_t p = request->prepared;
    tsr_status_t result = check_same(request);
    if (result == TSR_SUCCESS && p->contents)
        result = prepared_check_contents(p);
    request->code = p->code;
    request->sizes = p->sizes;
    request->workgroups = p->workgroups;
    request->workspace_bytes = p->workspace_bytes;
    request->scratch_bytes = p->scratch_bytes;
    return result;
}

/* ---- the handle ---- */

void prepared_free(tsr_prepared_t p) {
    device *d = p->kernel->module->context->device;
    if (p->memory)
        d->driver->free(d, p->memory);
    free(p->constant);
    free(p->buffers);
    free(p->dims);
    free(p->sizes);
    free(p->workgroups);
    free(p->contents);
    free(p);
}

static tsr_status_t make(kernel_launch *request, const bool *given, tsr_prepared_t *prepared) {
    tsr_module_t module = request->kernel->module;
    tsr_prepared_t p = keep(request, given);
    tsr_status_t result = run_phases(p, request);
    if (result == TSR_SUCCESS)
        result = note_contents(p);
    if (result != TSR_SUCCESS) {
        prepared_free(p);
        return result;
    }
    context_add(module->context, &module->context->prepared, &p->link);
    pthread_mutex_lock(&module->context->mutex);
    module->prepared++;
    pthread_mutex_unlock(&module->context->mutex);
    *prepared = p;
    return TSR_SUCCESS;
}

tsr_status_t tsrPrepareKernel(tsr_kernel_t kernel, const uint32_t *inputs, size_t input_count,
                              void **args, size_t nargs, tsr_prepared_t *prepared) {
    if (!kernel || !prepared)
        return error_null(kernel ? "prepared" : "kernel");
    tsr_status_t result = context_usable(kernel->module->context);
    if (result != TSR_SUCCESS)
        return result;
    bool *given = base_calloc(kernel->metadata->inputs + 1, sizeof *given);
    kernel_launch request;
    launch_begin(&request, kernel, NULL);
    result = check_inputs(kernel->metadata, inputs, input_count, given);
    if (result == TSR_SUCCESS)
        result = launch_gather(&request, args, nargs, given);
    if (result == TSR_SUCCESS)
        result = launch_find_needs(&request);
    if (result == TSR_SUCCESS)
        result = check_given(&request, given);
    if (result == TSR_SUCCESS)
        result = make(&request, given, prepared);
    launch_end(&request);
    free(given);
    return result;
}

tsr_status_t tsrDestroyPrepared(tsr_prepared_t prepared) {
    status st = STATUS_INIT;
    device_event_state state;
    uint64_t time_ns;
    if (!prepared)
        return error_null("prepared");
    tsr_module_t module = prepared->kernel->module;
    tsr_context_t context = module->context;
    device *d = context->device;
    pthread_mutex_lock(&context->mutex);
    size_t graphs = prepared->graphs;
    pthread_mutex_unlock(&context->mutex);
    if (!d->driver->event_query(d, module->used, true, &state, &time_ns, &st))
        return error_from(&st);
    if (graphs)
        return error_set(TSR_EINVAL,
                         "%zu launches in graphs use the prepared kernel; destroy "
                         "those graphs first",
                         graphs);
    context_remove(context, &context->prepared, &prepared->link);
    pthread_mutex_lock(&context->mutex);
    module->prepared--;
    pthread_mutex_unlock(&context->mutex);
    prepared_free(prepared);
    return TSR_SUCCESS;
}

tsr_status_t tsrGetPreparedInfo(tsr_prepared_t prepared, tsr_prepared_info_t *info) {
    if (!prepared)
        return error_null("prepared");
    tsr_status_t usable = error_check_size(info, info ? info->struct_size : 0, sizeof *info);
    if (usable == TSR_SUCCESS)
        usable = context_usable(prepared->kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    *info = (tsr_prepared_info_t){.struct_size = info->struct_size,
                                  .phases = prepared->phases,
                                  .bytes = prepared->memory ? prepared->memory->size_bytes : 0};
    return TSR_SUCCESS;
}
