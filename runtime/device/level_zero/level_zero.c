/* level_zero.c - see level_zero.h: devices and memory. */
#include <stdlib.h>

#include "base/arena.h"
#include "device/level_zero/level_zero_parts.h"
#include "device/shared/spirv_probe.h"

extern const device_driver level_zero_driver;

static level_zero_device *of(gpu_device *g) {
    return (level_zero_device *)g;
}

bool level_zero_check(level_zero_device *d, uint32_t result, const char *doing, status *st) {
    status why = STATUS_INIT;
    if (result == ZERO_OK)
        return true;
    level_zero_failed(result, doing, &why);
    if (why.code == STATUS_DEVICE_LOST)
        return gpu_lose(&d->gpu, why.message, st);
    return status_set(st, why.code, "%s", why.message);
}

static bool enumerate(uint32_t index, device_info *info_out) {
    const level_zero_unit *u = level_zero_unit_at(index);
    if (u)
        *info_out = u->info;
    return u != NULL;
}

/* ---- memory ---- */

static uint32_t take(level_zero_device *d, size_t size_bytes, device_memory_kind kind,
                     void **memory) {
    enum { LINE = 64 };
    const zero_memory_wish wish = {.type = ZERO_TYPE_DEVICE_MEMORY};
    const zero_wish host_wish = {.type = ZERO_TYPE_HOST_MEMORY};
    void *handle = d->unit->handle;
    switch (kind) {
    case DEVICE_MEMORY_PINNED:
        return level_zero.alloc_host(d->context, &host_wish, size_bytes, LINE, memory);
    case DEVICE_MEMORY_HOST_VISIBLE:
        return level_zero.alloc_shared(d->context, &wish, &host_wish, size_bytes, LINE, handle,
                                       memory);
    default:
        return level_zero.alloc_device(d->context, &wish, size_bytes, LINE, handle, memory);
    }
}

bool level_zero_alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind,
                      gpu_block *block_out, status *st) {
    const level_zero_unit *u = of(g)->unit;
    void *memory = NULL;
    if (!(u->info.memory_kinds >> kind & 1))
        return status_set(st, STATUS_UNAVAILABLE, "device '%s' has no memory of that kind",
                          u->name);
    if (size_bytes > u->allocation_bytes)
        return status_set(st, STATUS_OUT_OF_MEMORY,
                          "%zu bytes are more than device '%s' gives at once (%llu)", size_bytes,
                          u->name, (unsigned long long)u->allocation_bytes);
    if (!level_zero_check(of(g), take(of(g), size_bytes, kind, &memory), "allocating memory", st))
        return status_context(st, "%zu bytes", size_bytes);
    *block_out = (gpu_block){.address = (uint64_t)(uintptr_t)memory,
                             .host = kind == DEVICE_MEMORY_DEVICE ? NULL : memory,
                             .size_bytes = size_bytes};
    return true;
}

void level_zero_free(gpu_device *g, gpu_block *block) {
    level_zero.memory_free(of(g)->context, (void *)(uintptr_t)block->address);
}

/* ---- devices ---- */

static const gpu_functions functions = {.alloc = level_zero_alloc,
                                        .free = level_zero_free,
                                        .queue_open = level_zero_queue_open,
                                        .queue_close = level_zero_queue_close,
                                        .copy = level_zero_copy,
                                        .fill = level_zero_fill,
                                        .launch = level_zero_launch,
                                        .finish = level_zero_finish,
                                        .settled = level_zero_settled,
                                        .mark = level_zero_mark,
                                        .reached = level_zero_reached,
                                        .follow = level_zero_follow,
                                        .unmark = level_zero_unmark,
                                        .idle = level_zero_idle,
                                        .record_begin = level_zero_record_begin,
                                        .record_end = level_zero_record_end,
                                        .replay = level_zero_replay,
                                        .forget = level_zero_forget};

static void release(level_zero_device *d) {
    level_zero_marks_release(d);
    level_zero.context_destroy(d->context);
    free(d);
}

static void close_device(device *base) {
    level_zero_device *d = (level_zero_device *)base;
    gpu_device_release(&d->gpu);
    release(d);
}

static bool make_context(level_zero_device *d, status *st) {
    const zero_wish wish = {.type = ZERO_TYPE_CONTEXT};
    uint32_t result = level_zero.context_create(d->unit->driver, &wish, &d->context);
    return result == ZERO_OK || level_zero_failed(result, "taking the device", st);
}

static bool open_device(uint32_t index, const device_options *options, device **device_out,
                        status *st) {
    level_zero_device *d = base_calloc(1, sizeof *d);
    d->unit = level_zero_unit_at(index);
    if (!make_context(d, st)) {
        free(d);
        return false;
    }
    level_zero_marks_init(d);
    d->gpu.soft.base.info = d->unit->info;
    d->gpu.soft.base.own_addresses = true; /* unified shared memory is one space with the host's */
    if (!gpu_device_init(&d->gpu, &level_zero_driver, &functions, options, st)) {
        release(d);
        return false;
    }
    if (!spirv_probe(&d->unit->spirv, &d->gpu, SPIRV_PROBE_F32, st)) {
        close_device(&d->gpu.soft.base);
        return false;
    }
    *device_out = &d->gpu.soft.base;
    return true;
}

const device_driver level_zero_driver = {.name = "level_zero",
                                         .listed = true,
                                         .enumerate = enumerate,
                                         .absent = level_zero_absent,
                                         .open = open_device,
                                         .close = close_device,
                                         .load = level_zero_load,
                                         .unload = level_zero_unload,
                                         GPU_SEQUENCE_FUNCTIONS,
                                         GPU_DRIVER_FUNCTIONS};
