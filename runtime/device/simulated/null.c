/* null.c - the null driver: real memory, any module, dispatches that are recorded and compute
 * nothing. */
#include "device/simulated/null.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/shared/soft.h"

enum { KEPT = 64 };

typedef struct null_device {
    soft_device soft;
    null_launch launches[KEPT];
    size_t count; /* of all dispatches; the last KEPT are kept, at index modulo KEPT */
} null_device;

extern const device_driver null_driver;

static bool enumerate(uint32_t index, device_info *info_out) {
    *info_out = (device_info){.backend = "null",
                              .name = "records dispatches",
                              .isa = "none",
                              .compute_units = 1,
                              .memory_kinds = 1u << DEVICE_MEMORY_DEVICE,
                              .mappable_kinds = 1u << DEVICE_MEMORY_DEVICE,
                              .host_addressable = true,
                              .timestamp_ns = 1};
    return index == 0;
}

static bool execute(device_queue *queue, const device_command *c, status *st) {
    null_device *n = (null_device *)queue->device;
    const device_dispatch *p = &c->dispatch;
    (void)st;
    if (c->kind == DEVICE_COPY)
        memmove(c->range.to.address, c->range.from.address, c->range.size_bytes);
    if (c->kind == DEVICE_FILL)
        memset(c->range.to.address, c->byte, c->range.size_bytes);
    if (c->kind != DEVICE_DISPATCH)
        return true;
    pthread_mutex_lock(&n->soft.mutex);
    n->launches[n->count++ % KEPT] =
        (null_launch){p->image->phase_count, p->image->phase_count ? p->workgroups[0] : 0,
                      p->buffer_count ? p->buffers[0] : NULL};
    pthread_mutex_unlock(&n->soft.mutex);
    return true;
}

static const soft_functions functions = {.execute = execute, .inline_execution = true};

size_t null_launches(device *d, null_launch *out, size_t capacity) {
    null_device *n = (null_device *)d;
    pthread_mutex_lock(&n->soft.mutex);
    size_t kept = n->count < KEPT ? n->count : KEPT, given = kept < capacity ? kept : capacity;
    for (size_t i = 0; i < given; i++)
        out[i] = n->launches[(n->count - kept + i) % KEPT];
    pthread_mutex_unlock(&n->soft.mutex);
    return given;
}

static bool open_null(uint32_t index, const device_options *options, device **device_out,
                      status *st) {
    null_device *n = base_calloc(1, sizeof *n);
    (void)st;
    soft_device_init(&n->soft, &null_driver, &functions, options);
    enumerate(index, &n->soft.base.info);
    *device_out = &n->soft.base;
    return true;
}

static void close_null(device *d) {
    soft_device_release((soft_device *)d);
    free(d);
}

static bool load(device *d, const device_source *source, device_image **image_out, status *st) {
    (void)d, (void)st;
    *image_out = base_calloc(1, sizeof **image_out);
    (*image_out)->phase_count = source->phase_count;
    return true;
}

static void unload(device *d, device_image *image) {
    (void)d;
    free(image);
}

const device_driver null_driver = {
    .name = "null",
    .listed = false,
    .enumerate = enumerate,
    .open = open_null,
    .close = close_null,
    SOFT_DRIVER_FUNCTIONS,
    SOFT_MEMORY_FUNCTIONS,
    .load = load,
    .unload = unload,
    SOFT_QUEUE_FUNCTIONS,
};
