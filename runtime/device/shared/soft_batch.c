/* soft_batch.c - see soft_batch.h. */
#include "device/shared/soft_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SPARE_BYTES_MOST = 4 << 20 /* that a queue keeps */ };

/* ---- copies ---- */

static void *resolve(const soft_device *d, device_span span) {
    return d->functions->resolve ? d->functions->resolve(span) : span.address;
}

/* Arrays of a dispatch: buffers, their bytes, dimensions and workgroups, 8 bytes each. */
static size_t payload_bytes(const device_command *c) {
    const device_dispatch *p = &c->dispatch;
    _Static_assert(sizeof(void *) == sizeof(int64_t), "addresses are as long as numbers");
    return c->kind == DEVICE_DISPATCH ? sizeof(int64_t) * (2 * (size_t)p->buffer_count +
                                                           p->dim_count + p->image->phase_count)
                                      : 0;
}

/* Bytes of a buffer: as given, or what is left of its memory; 0 of one that is not there. */
static int64_t bytes_of(const device_dispatch *given, uint32_t buffer) {
    const device_memory *memory = given->memories[buffer];
    const unsigned char *address = given->buffers[buffer];
    if (!address)
        return 0;
    if (given->buffer_bytes)
        return given->buffer_bytes[buffer];
    return memory ? (int64_t)memory->size_bytes - (address - (unsigned char *)memory->address)
                  : INT64_MAX;
}

static void copy_buffers(const soft_device *d, const device_dispatch *given, void **buffers,
                         int64_t *bytes) {
    for (uint32_t i = 0; i < given->buffer_count; i++) {
        buffers[i] = resolve(d, (device_span){given->buffers[i], given->memories[i]});
        bytes[i] = bytes_of(given, i);
    }
}

/* Puts its arrays into the payload. */
static void copy_dispatch(const soft_device *d, device_dispatch *p, void *payload) {
    const device_dispatch given = *p;
    void **buffers = payload;
    int64_t *bytes = (int64_t *)(buffers + given.buffer_count);
    int64_t *dims = bytes + given.buffer_count, *workgroups = dims + given.dim_count;
    copy_buffers(d, &given, buffers, bytes);
    for (uint32_t i = 0; i < given.dim_count; i++)
        dims[i] = given.dims[i];
    for (uint32_t i = 0; i < given.image->phase_count; i++)
        workgroups[i] = given.workgroups[i];
    if (given.prepared.address)
        p->prepared.address = resolve(d, given.prepared);
    p->prepared.memory = NULL;
    p->buffers = buffers;
    p->memories = NULL;
    p->buffer_bytes = bytes;
    p->dims = given.dim_count ? dims : NULL;
    p->workgroups = workgroups;
}

static void copy_command(const soft_device *d, device_command *c, void *payload) {
    if (c->kind == DEVICE_DISPATCH) {
        copy_dispatch(d, &c->dispatch, payload);
    } else if (c->kind == DEVICE_COPY || c->kind == DEVICE_FILL) {
        c->range.to.address = resolve(d, c->range.to);
        if (c->kind == DEVICE_COPY)
            c->range.from.address = resolve(d, c->range.from);
    }
}

/* ---- pieces ---- */

/* Unlinks the first of the queue's spares that is large enough; with the lock held. */
static soft_batch *find(device_queue *queue, size_t bytes) {
    soft_batch **at = &queue->spares;
    while (*at && (*at)->room_bytes < bytes)
        at = &(*at)->next;
    soft_batch *b = *at;
    if (b) {
        *at = b->next;
        queue->spare_bytes -= b->room_bytes;
    }
    return b;
}

/* With the lock held. */
static void keep(device_queue *queue, soft_batch *b) {
    if (b->room_bytes > SPARE_BYTES_MOST - queue->spare_bytes) {
        free(b);
        return;
    }
    b->next = queue->spares;
    queue->spares = b;
    queue->spare_bytes += b->room_bytes;
}

/* The next batch takes it without the lock; with the lock held. */
static void make_ready(device_queue *queue) {
    soft_batch *b = atomic_load(&queue->ready) ? NULL : find(queue, 0), *none = NULL;
    if (b && !atomic_compare_exchange_strong(&queue->ready, &none, b))
        keep(queue, b);
}

/* Returns a piece that was kept, if one is large enough; else a new one. */
static soft_batch *take(device_queue *queue, size_t bytes) {
    soft_batch *b = atomic_exchange(&queue->ready, NULL);
    if (b && b->room_bytes >= bytes)
        return b;
    if (b || atomic_load_explicit(&queue->spare_bytes, memory_order_relaxed) >= bytes) {
        pthread_mutex_lock(&queue->device->mutex);
        if (b)
            keep(queue, b);
        b = find(queue, bytes);
        pthread_mutex_unlock(&queue->device->mutex);
    }
    if (b)
        return b;
    b = base_malloc(bytes);
    b->room_bytes = bytes;
    return b;
}

soft_batch *soft_batch_new(device_queue *queue, const device_command *commands, size_t count) {
    size_t bytes = sizeof(soft_batch) + count * (sizeof *commands + sizeof(soft_recording *));
    for (size_t i = 0; i < count; i++)
        bytes += payload_bytes(&commands[i]);
    soft_batch *b = take(queue, bytes);
    b->next = NULL;
    b->awaited = b->done = false;
    status_clear(&b->result);
    b->count = count;
    b->recordings = (soft_recording **)(b->commands + count);
    unsigned char *payload = (unsigned char *)(b->recordings + count);
    if (count) /* else there may be none at all */
        memcpy(b->commands, commands, count * sizeof *commands);
    memset(b->recordings, 0, count * sizeof *b->recordings);
    for (size_t i = 0; i < count; i++) {
        size_t own = payload_bytes(&b->commands[i]);
        copy_command(queue->device, &b->commands[i], payload);
        payload += own;
    }
    return b;
}

void soft_batch_free(device_queue *queue, soft_batch *b) {
    for (size_t i = 0; i < b->count; i++) {
        if (b->commands[i].kind == DEVICE_HOST)
            b->commands[i].host.drop(b->commands[i].host.argument);
        if (b->recordings[i])
            soft_recording_drop(b->recordings[i]);
    }
    keep(queue, b);
    make_ready(queue);
}

void soft_batches_release(device_queue *queue) {
    free(atomic_exchange(&queue->ready, NULL));
    for (soft_batch *b; (b = queue->spares);) {
        queue->spares = b->next;
        free(b);
    }
}
