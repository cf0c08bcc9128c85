/* level_zero_queue.c - queues: copies and fills, and how anything runs.
 *
 * Commands are appended to a list, which is closed and given to the queue as a whole when it
 * is waited for, with a fence that tells its end. Lists that run each command when it is appended
 * (immediate ones) would submit the phases of a launch one by one, and have begun when a later
 * phase cannot be appended; of these, and of what stood before them, nothing runs then.
 *
 * The device need not reach memory of the program, and after a loss nobody knows when a copy ends.
 * So copies between the two go through memory of the driver's. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/level_zero/level_zero_parts.h"

static const size_t stage_bytes = (size_t)4 << 20;
static const uint64_t wait_ns = 1000000; /* for the fence, before the limit is looked at */

static level_zero_queue *of(const gpu_queue *q) {
    return q->handle;
}

/* ---- queues ---- */

bool level_zero_make_list(level_zero_device *d, void **list_out, status *st) {
    const zero_list_wish wish = {.type = ZERO_TYPE_LIST, .group = d->unit->queue_group};
    uint32_t result = level_zero.list_create(d->context, d->unit->handle, &wish, list_out);
    return level_zero_check(d, result, "making a list of commands", st);
}

static bool make(level_zero_device *d, level_zero_queue *z, status *st) {
    const zero_queue_wish queue = {
        .type = ZERO_TYPE_QUEUE, .group = d->unit->queue_group, .mode = ZERO_QUEUE_ASYNCHRONOUS};
    const zero_wish fence = {.type = ZERO_TYPE_FENCE};
    void *handle = d->unit->handle;
    return level_zero_check(d, level_zero.queue_create(d->context, handle, &queue, &z->queue),
                            "making a queue", st) &&
           level_zero_make_list(d, &z->list, st) &&
           level_zero_check(d, level_zero.fence_create(z->queue, &fence, &z->fence),
                            "making a fence", st);
}

static void release(level_zero_device *d, level_zero_queue *z) {
    for (int i = 0; i < DEVICE_TIMED_PHASES; i++)
        if (z->events[i])
            level_zero.event_destroy(z->events[i]);
    if (z->pool)
        level_zero.pool_destroy(z->pool);
    if (z->stage.size_bytes)
        level_zero_free(&d->gpu, &z->stage);
    if (z->fence)
        level_zero.fence_destroy(z->fence);
    if (z->list)
        level_zero.list_destroy(z->list);
    if (z->queue)
        level_zero.queue_destroy(z->queue);
    free(z);
}

bool level_zero_queue_open(gpu_device *g, gpu_queue *q, status *st) {
    level_zero_device *d = (level_zero_device *)g;
    level_zero_queue *z = base_calloc(1, sizeof *z);
    atomic_init(&z->runs, false);
    bool ok = make(d, z, st);
    q->handle = ok ? z : NULL;
    if (!ok)
        release(d, z);
    return ok;
}

void level_zero_queue_close(gpu_device *g, gpu_queue *q) {
    release((level_zero_device *)g, q->handle);
}

/* ---- running ---- */

bool level_zero_idle(gpu_queue *q) {
    level_zero_queue *z = of(q);
    return !atomic_load(&z->runs) || level_zero.fence_query(z->fence) != ZERO_NOT_READY;
}

/* Where the driver cannot tell whether it ended, nothing can be relied on. */
static bool finish(gpu_queue *q, const char *doing, status *st) {
    status why = STATUS_INIT;
    uint32_t result;
    while ((result = level_zero.fence_wait(of(q)->fence, wait_ns)) == ZERO_NOT_READY)
        if (!gpu_may_wait(&level_zero_device_of(q)->gpu, st))
            return false;
    atomic_store(&of(q)->runs, false);
    return result == ZERO_OK || (level_zero_failed(result, doing, &why),
                                 gpu_lose(&level_zero_device_of(q)->gpu, why.message, st));
}

static bool submit(gpu_queue *q, void *list, const char *doing, status *st) {
    level_zero_queue *z = of(q);
    atomic_store(&z->runs, true);
    uint32_t result = level_zero.queue_execute(z->queue, 1, &list, z->fence);
    if (result == ZERO_OK)
        return true;
    atomic_store(&z->runs, false);
    return level_zero_check(level_zero_device_of(q), result, doing, st);
}

/* The fence of what still runs stays; its device is lost. */
bool level_zero_execute(gpu_queue *q, void *list, const char *doing, status *st) {
    bool ok = submit(q, list, doing, st) && finish(q, doing, st);
    return (atomic_load(&of(q)->runs) ||
            level_zero_check(level_zero_device_of(q), level_zero.fence_reset(of(q)->fence),
                             "resetting a fence", ok ? st : NULL)) &&
           ok;
}

bool level_zero_barrier(gpu_queue *q, status *st) {
    return level_zero_check(level_zero_device_of(q),
                            level_zero.append_barrier(of(q)->list, NULL, 0, NULL), "a barrier", st);
}

static bool close_and_execute(gpu_queue *q, const char *doing, status *st) {
    uint32_t result = level_zero.list_close(of(q)->list);
    return level_zero_check(level_zero_device_of(q), result, doing, st) &&
           level_zero_execute(q, of(q)->list, doing, st);
}

/* An empty list is kept open. */
bool level_zero_finish(gpu_queue *q, status *st) {
    bool appended = of(q)->appended;
    of(q)->appended = false;
    if (!appended)
        return true;
    bool ok =
        gpu_may_wait(&level_zero_device_of(q)->gpu, st) && close_and_execute(q, "running", st);
    return (atomic_load(&of(q)->runs) ||
            level_zero_check(level_zero_device_of(q), level_zero.list_reset(of(q)->list),
                             "emptying a list", ok ? st : NULL)) &&
           ok;
}

bool level_zero_given(gpu_queue *q, bool appended, status *st) {
    if (of(q)->resting)
        return appended && level_zero_barrier(q, st);
    of(q)->appended = appended && level_zero_barrier(q, st);
    if (!of(q)->appended)
        (void)level_zero.list_reset(of(q)->list); /* what was told already is its failure */
    return of(q)->appended;
}

/* ---- copies ---- */

static void *address_of(gpu_place p) {
    return (void *)(uintptr_t)(p.block->address + p.offset);
}

static bool copy_within(gpu_queue *q, void *to, const void *from, size_t bytes, status *st) {
    uint32_t result = level_zero.append_copy(of(q)->list, to, from, bytes, NULL, 0, NULL);
    bool ok = level_zero_check(level_zero_device_of(q), result, "copying", st);
    return level_zero_given(q, ok, st);
}

static bool copy_part(gpu_queue *q, gpu_place to, gpu_place from, size_t bytes, status *st) {
    unsigned char *stage = of(q)->stage.host;
    if (!from.block) {
        memcpy(stage, from.host, bytes);
        return copy_within(q, address_of(to), stage, bytes, st) && level_zero_finish(q, st);
    }
    bool ok = copy_within(q, stage, address_of(from), bytes, st) && level_zero_finish(q, st);
    if (ok)
        memcpy(to.host, stage, bytes);
    return ok;
}

static bool make_stage(level_zero_device *d, level_zero_queue *z, status *st) {
    const uint64_t most = d->unit->allocation_bytes;
    return z->stage.size_bytes ||
           level_zero_alloc(&d->gpu, most < stage_bytes ? (size_t)most : stage_bytes,
                            DEVICE_MEMORY_PINNED, &z->stage, st);
}

static gpu_place further(gpu_place p, size_t by) {
    return (gpu_place){p.block, p.offset + by, p.host ? p.host + by : NULL};
}

static bool copy_staged(gpu_queue *q, gpu_place to, gpu_place from, size_t bytes, status *st) {
    const gpu_block *stage = &of(q)->stage;
    bool ok = make_stage(level_zero_device_of(q), of(q), st);
    for (size_t done = 0; done < bytes && ok; done += stage->size_bytes) {
        size_t part = bytes - done < stage->size_bytes ? bytes - done : stage->size_bytes;
        ok = copy_part(q, further(to, done), further(from, done), part, st);
    }
    return ok;
}

bool level_zero_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st) {
    if (!gpu_may_wait(&level_zero_device_of(q)->gpu, st))
        return false;
    return to.block && from.block ? copy_within(q, address_of(to), address_of(from), size_bytes, st)
                                  : copy_staged(q, to, from, size_bytes, st);
}

bool level_zero_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes,
                     status *st) {
    uint32_t result = level_zero.append_fill(of(q)->list, address_of(to), &byte, sizeof byte,
                                             size_bytes, NULL, 0, NULL);
    bool ok = level_zero_check(level_zero_device_of(q), result, "filling", st);
    return level_zero_given(q, ok, st);
}

/* ---- events ---- */

static bool make_pool(level_zero_device *d, level_zero_queue *z, status *st) {
    const zero_pool_wish wish = {.type = ZERO_TYPE_EVENT_POOL,
                                 .flags = ZERO_POOL_HOST_VISIBLE | ZERO_POOL_TIMESTAMPS,
                                 .count = DEVICE_TIMED_PHASES};
    void *handle = d->unit->handle;
    return z->pool ||
           level_zero_check(d, level_zero.pool_create(d->context, &wish, 1, &handle, &z->pool),
                            "making a pool of events", st);
}

bool level_zero_event(gpu_queue *q, uint32_t phase, void **event_out, status *st) {
    level_zero_device *d = level_zero_device_of(q);
    level_zero_queue *z = of(q);
    const zero_event_wish wish = {
        .type = ZERO_TYPE_EVENT, .index = phase, .signal_scope = ZERO_SCOPE_HOST};
    bool ok =
        make_pool(d, z, st) &&
        (z->events[phase] ||
         level_zero_check(d, level_zero.event_create(z->pool, &wish, &z->events[phase]),
                          "making an event", st)) &&
        level_zero_check(d, level_zero.event_reset(z->events[phase]), "resetting an event", st);
    *event_out = ok ? z->events[phase] : NULL;
    return ok;
}
