/* null.c - the null driver: real memory, any module, launches that are recorded and compute
 * nothing. */
#include "device/null.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/host_memory.h"

enum { KEPT = 64 };

typedef struct null_device {
    device base;
    pthread_mutex_t mutex;
    null_launch launches[KEPT];
    size_t count; /* of all launches; the last KEPT are kept, at index modulo KEPT */
} null_device;

struct device_image {
    size_t phase_count;
};

extern const device_driver null_driver;

static void probe(tsr_device_info_t *info) {
    *info = (tsr_device_info_t){
        .backend = "null", .name = "records launches", .isa = "none", .compute_units = 1};
}

static bool open_null(uint32_t threads, device **device_out, status *st) {
    (void)threads, (void)st;
    null_device *d = base_calloc(1, sizeof *d);
    d->base.driver = &null_driver;
    pthread_mutex_init(&d->mutex, NULL);
    *device_out = &d->base;
    return true;
}

static void close_null(device *d) {
    pthread_mutex_destroy(&((null_device *)d)->mutex);
    free(d);
}

static bool load_null(device *d, const device_load *load, device_code *code_out, status *st) {
    (void)d, (void)st;
    device_image *image = base_calloc(1, sizeof *image);
    *code_out = (device_code){image, &load->metadata->images[0], "none"};
    image->phase_count = code_out->description->phase_count;
    return true;
}

static void unload(device *d, device_image *image) {
    (void)d;
    free(image);
}

static bool alloc(device *d, size_t size_bytes, bool guarded, device_memory *memory_out,
                  status *st) {
    (void)d;
    return host_memory_map(size_bytes, guarded, memory_out, st);
}

static void release(device *d, device_memory *memory) {
    (void)d;
    host_memory_unmap(memory);
}

static bool intact(device *d, const device_memory *memory, status *st) {
    (void)d;
    return host_memory_intact(memory, st);
}

static bool copy(device *d, void *to, const void *from, size_t size_bytes, status *st) {
    (void)d, (void)st;
    memmove(to, from, size_bytes);
    return true;
}

static bool run(device *d, const device_phase *phase, status *st) {
    null_device *n = (null_device *)d;
    (void)st;
    pthread_mutex_lock(&n->mutex);
    n->launches[n->count++ % KEPT] = (null_launch){
        phase->phase, phase->cells, phase->frame->buffers ? phase->frame->buffers[0] : NULL};
    pthread_mutex_unlock(&n->mutex);
    return true;
}

static void cancel(device *d) {
    (void)d; /* its launches end at once */
}

size_t null_launches(device *d, null_launch *out, size_t capacity) {
    null_device *n = (null_device *)d;
    pthread_mutex_lock(&n->mutex);
    size_t kept = n->count < KEPT ? n->count : KEPT, given = kept < capacity ? kept : capacity;
    for (size_t i = 0; i < given; i++)
        out[i] = n->launches[(n->count - kept + i) % KEPT];
    pthread_mutex_unlock(&n->mutex);
    return given;
}

const device_driver null_driver = {
    .name = "null",
    .listed = false,
    .probe = probe,
    .open = open_null,
    .close = close_null,
    .load = load_null,
    .unload = unload,
    .alloc = alloc,
    .release = release,
    .intact = intact,
    .copy = copy,
    .run = run,
    .cancel = cancel,
};
