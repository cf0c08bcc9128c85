/* memory.c - allocations of a context: a list sorted by address, so that any pointer finds its
 * allocation; and copies and fills. */
#include <string.h>

#include "runtime.h"

enum { POISON = 0xCB, ALIGNMENT = 64 };

/* Index of the first allocation above `address`. The context's mutex is held. */
static size_t upper_bound(tsr_context_t context, uintptr_t address) {
    const allocation *items = context->memories.items;
    size_t low = 0, count = context->memories.count;
    while (count > 0) { /* without a branch that depends on the address */
        size_t half = count / 2;
        bool right = items[low + half].address <= address;
        low = right ? low + half + 1 : low;
        count = right ? count - half - 1 : half;
    }
    return low;
}

const device_memory *memory_find(tsr_context_t context, const void *address) {
    const device_memory *found = allocation_find(context, address);
    return found || !context->imports ? found : import_find(context, address);
}

const device_memory *allocation_find(tsr_context_t context, const void *address) {
    size_t at = upper_bound(context, (uintptr_t)address);
    if (at == 0)
        return NULL;
    const allocation *a = &context->memories.items[at - 1];
    size_t offset = (uintptr_t)address - a->address;
    return offset < a->memory->size_bytes || offset == 0 ? a->memory : NULL;
}

tsr_status_t memory_span(tsr_context_t context, void *address, size_t size_bytes, const char *what,
                         device_span *span_out) {
    const device_memory *memory = memory_find(context, address);
    *span_out = (device_span){address, memory};
    if (!memory)
        return TSR_SUCCESS;
    size_t left = memory->size_bytes - ((uintptr_t)address - (uintptr_t)memory->address);
    return size_bytes <= left
               ? TSR_SUCCESS
               : error_set(TSR_EINVAL, "%zu bytes run past the end of %s", size_bytes, what);
}

/* The allocation that begins at the pointer; NULL: none does. The context's lock is held. */
static allocation *allocation_at(tsr_context_t context, const void *pointer) {
    size_t at = upper_bound(context, (uintptr_t)pointer);
    allocation *a = at ? &context->memories.items[at - 1] : NULL;
    return a && a->address == (uintptr_t)pointer ? a : NULL;
}

static tsr_status_t no_allocation(const void *pointer) {
    return error_set(TSR_EINVAL, "%p is not an allocation of this context (freed already?)",
                     pointer);
}

/* ---- allocating ---- */

static void insert(tsr_context_t context, device_memory *memory) {
    const allocation a = {(uintptr_t)memory->address, memory, false};
    pthread_mutex_lock(&context->mutex);
    size_t at = upper_bound(context, a.address);
    vec_push(&context->memories, a);
    allocation *items = context->memories.items;
    memmove(items + at + 1, items + at, (context->memories.count - 1 - at) * sizeof *items);
    items[at] = a;
    pthread_mutex_unlock(&context->mutex);
}

static bool fill(tsr_context_t context, const device_memory *memory, unsigned char byte,
                 status *st) {
    const device_command command = {
        .kind = DEVICE_FILL,
        .byte = byte,
        .limit_ns = atomic_load(&context->watchdog_ns),
        .range = {.to = {memory->address, memory}, .size_bytes = memory->size_bytes}};
    return context->device->driver->submit(context->default_stream.queue, &command, 1, st);
}

static tsr_status_t check_flags(tsr_context_t context, uint32_t flags, device_memory_kind *kind) {
    uint32_t kinds = flags & (TSR_ALLOC_HOST_VISIBLE | TSR_ALLOC_PINNED);
    *kind = kinds == TSR_ALLOC_HOST_VISIBLE ? DEVICE_MEMORY_HOST_VISIBLE
            : kinds == TSR_ALLOC_PINNED     ? DEVICE_MEMORY_PINNED
                                            : DEVICE_MEMORY_DEVICE;
    if (flags & ~(kinds | TSR_ALLOC_ZERO))
        return error_set(TSR_EINVAL, "unknown allocation flags 0x%x", flags);
    if (kinds == (TSR_ALLOC_HOST_VISIBLE | TSR_ALLOC_PINNED))
        return error_set(TSR_EINVAL, "allocation flags 0x%x: memory is of one kind", flags);
    if (!(context->device->info.memory_kinds & 1u << *kind))
        return error_set(TSR_EUNAVAILABLE, "the device has no memory of the kind 0x%x", kinds);
    return TSR_SUCCESS;
}

tsr_status_t tsrAlloc(tsr_context_t context, size_t bytes, uint32_t flags, void **pointer) {
    status st = STATUS_INIT;
    device_memory *memory;
    device_memory_kind kind;
    if (!context || !pointer)
        return error_null(context ? "pointer" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable == TSR_SUCCESS)
        usable = check_flags(context, flags, &kind);
    if (usable != TSR_SUCCESS)
        return usable;
    device *d = context->device;
    if (!d->driver->alloc(d, bytes, kind, &memory, &st))
        return error_from(&st);
    bool ok = (uintptr_t)memory->address % ALIGNMENT == 0 ||
              status_set(&st, STATUS_INTERNAL, "driver '%s' gives memory that is not aligned to %d",
                         d->driver->name, ALIGNMENT);
    if (flags & TSR_ALLOC_ZERO || context->debug)
        ok = ok && fill(context, memory, flags & TSR_ALLOC_ZERO ? 0 : POISON, &st);
    if (!ok) {
        d->driver->free(d, memory);
        return error_from(&st);
    }
    insert(context, memory);
    *pointer = memory->address;
    return TSR_SUCCESS;
}

static bool take_out(tsr_context_t context, const void *pointer, allocation *taken) {
    pthread_mutex_lock(&context->mutex);
    allocation *a = allocation_at(context, pointer);
    if (a) {
        size_t after = (size_t)(context->memories.items + context->memories.count - (a + 1));
        *taken = *a;
        memmove(a, a + 1, after * sizeof *a);
        context->memories.count--;
    }
    pthread_mutex_unlock(&context->mutex);
    return a != NULL;
}

static void release(tsr_context_t context, const allocation *a) {
    device *d = context->device;
    if (a->mapped)
        d->driver->unmap(d, a->memory);
    d->driver->free(d, a->memory);
}

tsr_status_t tsrFree(tsr_context_t context, void *pointer) {
    status st = STATUS_INIT;
    allocation a;
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS || !pointer)
        return usable;
    if (!take_out(context, pointer, &a))
        return no_allocation(pointer);
    bool intact = context->device->driver->intact(context->device, a.memory, &st);
    release(context, &a);
    return intact ? TSR_SUCCESS : error_set(TSR_EINTERNAL, "freeing %p: %s", pointer, st.message);
}

void memory_free_all(tsr_context_t context) {
    for (size_t i = 0; i < context->memories.count; i++)
        release(context, &context->memories.items[i]);
    context->memories.count = 0;
}

/* ---- mapping ---- */

/* Maps where `host` is not NULL. */
static tsr_status_t set_mapped(tsr_context_t context, void *pointer, void **host) {
    status st = STATUS_INIT;
    device *d = context->device;
    allocation *a = allocation_at(context, pointer);
    if (!a)
        return no_allocation(pointer);
    if (a->mapped == (host != NULL))
        return error_set(TSR_EINVAL, "the allocation at %p is %s", pointer,
                         host ? "mapped already" : "not mapped");
    if (host && !(d->info.mappable_kinds & 1u << a->memory->kind))
        return error_set(TSR_EINVAL, "the host cannot map this memory; allocate it with "
                                     "TSR_ALLOC_HOST_VISIBLE or TSR_ALLOC_PINNED");
    if (host && !d->driver->map(d, a->memory, host, &st))
        return error_from(&st);
    if (!host)
        d->driver->unmap(d, a->memory);
    a->mapped = host != NULL;
    return TSR_SUCCESS;
}

static tsr_status_t set_mapped_locked(tsr_context_t context, void *pointer, void **host) {
    tsr_status_t result = context_usable(context);
    if (result != TSR_SUCCESS)
        return result;
    pthread_mutex_lock(&context->mutex);
    result = set_mapped(context, pointer, host);
    pthread_mutex_unlock(&context->mutex);
    return result;
}

tsr_status_t tsrMap(tsr_context_t context, void *pointer, void **host) {
    if (!context || !host)
        return error_null(context ? "host" : "context");
    return set_mapped_locked(context, pointer, host);
}

tsr_status_t tsrUnmap(tsr_context_t context, void *pointer) {
    if (!context)
        return error_null("context");
    return set_mapped_locked(context, pointer, NULL);
}

/* ---- copies and fills ---- */

static tsr_status_t check_range(tsr_context_t context, device_command *c, void *to,
                                const void *from, size_t bytes) {
    pthread_mutex_lock(&context->mutex);
    tsr_status_t result = memory_span(context, to, bytes, "its destination", &c->range.to);
    if (result == TSR_SUCCESS && from)
        result = memory_span(context, (void *)(uintptr_t)from, bytes, "its source", &c->range.from);
    pthread_mutex_unlock(&context->mutex);
    c->range.size_bytes = bytes;
    if (result == TSR_SUCCESS && !c->range.to.memory)
        result = owner_check(context, to);
    return result == TSR_SUCCESS && from && !c->range.from.memory ? owner_check(context, from)
                                                                  : result;
}

/* A copy, or where `from` is NULL a fill. */
static tsr_status_t transfer(tsr_context_t context, tsr_stream_t stream, device_command command,
                             void *to, const void *from, size_t bytes) {
    tsr_status_t result = check_range(context, &command, to, from, bytes);
    if (result != TSR_SUCCESS)
        return result;
    if (stream && stream->captured) {
        graph_add_range(stream->captured, &command);
        return TSR_SUCCESS;
    }
    command.limit_ns = atomic_load(&context->watchdog_ns);
    const profile_call call = profile_begin(context->profile, "copy", from ? "copy" : "fill");
    result = stream_submit(stream_or_default(context, stream), &command, 1);
    profile_end(&call, bytes);
    return result;
}

static tsr_status_t check_transfer(tsr_context_t context, tsr_stream_t stream) {
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    return usable == TSR_SUCCESS && stream && stream->context != context
               ? error_set(TSR_EINVAL, "the stream belongs to another context")
               : usable;
}

tsr_status_t tsrCopyAsync(tsr_context_t context, tsr_stream_t stream, void *to, const void *from,
                          size_t bytes) {
    tsr_status_t usable = check_transfer(context, stream);
    if (usable != TSR_SUCCESS || bytes == 0)
        return usable;
    if (!to || !from)
        return error_null(to ? "from" : "to");
    return transfer(context, stream, (device_command){.kind = DEVICE_COPY}, to, from, bytes);
}

tsr_status_t tsrCopy(tsr_context_t context, void *to, const void *from, size_t bytes) {
    return tsrCopyAsync(context, NULL, to, from, bytes);
}

tsr_status_t tsrFillAsync(tsr_context_t context, tsr_stream_t stream, void *to, uint8_t byte,
                          size_t bytes) {
    tsr_status_t usable = check_transfer(context, stream);
    if (usable != TSR_SUCCESS || bytes == 0)
        return usable;
    if (!to)
        return error_null("to");
    return transfer(context, stream, (device_command){.kind = DEVICE_FILL, .byte = byte}, to, NULL,
                    bytes);
}

/* ---- checks ---- */

static const char *parameter_at(const metadata *m, void *const *buffers, const void *address) {
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++)
        if (buffers[i] == address)
            return m->parameters[i].name;
    return NULL;
}

bool memory_check_all(tsr_context_t context, const metadata *m, void *const *buffers, status *st) {
    bool sound = true;
    pthread_mutex_lock(&context->mutex);
    for (size_t i = 0; i < context->memories.count; i++) {
        const device_memory *memory = context->memories.items[i].memory;
        status why = STATUS_INIT;
        if (context->device->driver->intact(context->device, memory, &why))
            continue;
        const char *name = parameter_at(m, buffers, memory->address);
        sound =
            status_set(st, STATUS_INTERNAL, "kernel '%s' broke its bounds: buffer %s%s%s (%p): %s",
                       m->name, name ? "'" : "", name ? name : "that is no argument",
                       name ? "'" : "", memory->address, why.message);
    }
    pthread_mutex_unlock(&context->mutex);
    return sound;
}
