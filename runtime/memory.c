/* memory.c - allocations of a context: a list sorted by address, so that any pointer finds its
 * allocation. */
#include <string.h>

#include "runtime.h"

enum { POISON = 0xCB };

/* Index of the first allocation above `address`. The context's mutex is held. */
static size_t upper_bound(tsr_context_t context, uintptr_t address) {
    size_t low = 0, high = context->memories.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)context->memories.items[middle].data <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(tsr_context_t context, device_memory memory) {
    pthread_mutex_lock(&context->mutex);
    size_t at = upper_bound(context, (uintptr_t)memory.data);
    vec_push(&context->memories, memory);
    device_memory *items = context->memories.items;
    memmove(items + at + 1, items + at, (context->memories.count - 1 - at) * sizeof *items);
    items[at] = memory;
    pthread_mutex_unlock(&context->mutex);
}

static bool take_out(tsr_context_t context, const void *pointer, device_memory *memory_out) {
    pthread_mutex_lock(&context->mutex);
    size_t at = upper_bound(context, (uintptr_t)pointer);
    device_memory *items = context->memories.items;
    bool found = at > 0 && items[at - 1].data == pointer;
    if (found) {
        *memory_out = items[at - 1];
        memmove(items + at - 1, items + at, (context->memories.count - at) * sizeof *items);
        context->memories.count--;
    }
    pthread_mutex_unlock(&context->mutex);
    return found;
}

bool memory_find(tsr_context_t context, const void *pointer, device_memory *memory_out) {
    pthread_mutex_lock(&context->mutex);
    size_t at = upper_bound(context, (uintptr_t)pointer);
    bool found = false;
    if (at > 0) {
        *memory_out = context->memories.items[at - 1];
        found = (uintptr_t)pointer - (uintptr_t)memory_out->data < memory_out->size_bytes ||
                pointer == memory_out->data;
    }
    pthread_mutex_unlock(&context->mutex);
    return found;
}

tsr_status_t tsrAlloc(tsr_context_t context, size_t bytes, uint32_t flags, void **pointer) {
    status st = STATUS_INIT;
    device_memory memory;
    if (!context)
        return error_null("context");
    if (!pointer)
        return error_null("pointer");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (flags & ~(uint32_t)TSR_ALLOC_ZERO)
        return error_set(TSR_EINVAL, "unknown allocation flags 0x%x", flags);
    const device_driver *driver = context->device->driver;
    if (!driver->alloc(context->device, bytes, context->debug, &memory, &st))
        return error_from(&st);
    if (flags & TSR_ALLOC_ZERO)
        memset(memory.data, 0, bytes);
    else if (context->debug)
        memset(memory.data, POISON, bytes);
    insert(context, memory);
    *pointer = memory.data;
    return TSR_SUCCESS;
}

tsr_status_t tsrFree(tsr_context_t context, void *pointer) {
    status st = STATUS_INIT;
    device_memory memory;
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (!pointer)
        return TSR_SUCCESS;
    if (!take_out(context, pointer, &memory))
        return error_set(TSR_EINVAL, "%p is not an allocation of this context (freed already?)",
                         pointer);
    const device_driver *driver = context->device->driver;
    bool intact = driver->intact(context->device, &memory, &st);
    driver->release(context->device, &memory);
    return intact ? TSR_SUCCESS : error_set(TSR_EINTERNAL, "freeing %p: %s", pointer, st.message);
}

/* A range that starts in an allocation must end in it. */
static bool range_fits(tsr_context_t context, const void *pointer, size_t bytes) {
    device_memory memory;
    if (!memory_find(context, pointer, &memory))
        return true;
    return bytes <= memory.size_bytes - (size_t)((const unsigned char *)pointer - memory.data);
}

tsr_status_t tsrCopy(tsr_context_t context, void *to, const void *from, size_t bytes) {
    status st = STATUS_INIT;
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (bytes == 0)
        return TSR_SUCCESS;
    if (!to || !from)
        return error_null(to ? "from" : "to");
    if (!range_fits(context, to, bytes) || !range_fits(context, from, bytes))
        return error_set(TSR_EINVAL, "a copy of %zu bytes runs past the end of %s", bytes,
                         range_fits(context, to, bytes) ? "its source" : "its destination");
    if (!context->device->driver->copy(context->device, to, from, bytes, &st))
        return error_from(&st);
    return TSR_SUCCESS;
}

static const char *parameter_at(const launch_request *request, const unsigned char *data) {
    const metadata *m = request->kernel->metadata;
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++)
        if (request->buffers[i] == data)
            return m->parameters[i].name;
    return NULL;
}

bool memory_check_all(tsr_context_t context, const launch_request *request, status *st) {
    bool sound = true;
    pthread_mutex_lock(&context->mutex);
    for (size_t i = 0; i < context->memories.count; i++) {
        const device_memory *memory = &context->memories.items[i];
        status why = STATUS_INIT;
        if (context->device->driver->intact(context->device, memory, &why))
            continue;
        const char *name = parameter_at(request, memory->data);
        sound = status_set(
            st, STATUS_INTERNAL, "kernel '%s' broke its bounds: buffer %s%s%s (%p): %s",
            request->kernel->metadata->name, name ? "'" : "", name ? name : "that is no argument",
            name ? "'" : "", (void *)memory->data, why.message);
    }
    pthread_mutex_unlock(&context->mutex);
    return sound;
}
