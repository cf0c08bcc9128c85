/* level_zero_queue.c - queues: copies and fills, and how anything runs.
 *
 * Commands are appended to the list of a slot, which is closed and given to the queue as a whole
 * when it is waited for or marked, with a fence that tells its end. Lists that run each command
 * when it is appended (immediate ones) would submit the phases of a launch one by one, and have
 * begun when a later phase cannot be appended; of these, and of what stood before them in the list,
 * nothing runs then. Each command is behind a barrier, which waits for earlier lists, too.
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

static bool make_fence(level_zero_device *d, void *queue, void **fence_out, status *st) {
    const zero_wish wish = {.type = ZERO_TYPE_FENCE};
    return level_zero_check(d, level_zero.fence_create(queue, &wish, fence_out), "making a fence",
                            st);
}

static void release_slot(level_zero_device *d, level_zero_slot *s) {
    level_zero_drop_followed(d, s);
    vec_release(&s->followed);
    if (s->fence)
        level_zero.fence_destroy(s->fence);
    if (s->list)
        level_zero.list_destroy(s->list);
}

static void release(level_zero_device *d, level_zero_queue *z) {
    for (int i = 0; i < DEVICE_TIMED_PHASES; i++)
        if (z->events[i])
            level_zero.event_destroy(z->events[i]);
    if (z->pool)
        level_zero.pool_destroy(z->pool);
    if (z->stage.size_bytes)
        level_zero_free(&d->gpu, &z->stage);
    for (int i = 0; i < LEVEL_ZERO_SLOTS; i++)
        release_slot(d, &z->slots[i]);
    if (z->queue)
        level_zero.queue_destroy(z->queue);
    free(z);
}

bool level_zero_queue_open(gpu_device *g, gpu_queue *q, status *st) {
    level_zero_device *d = (level_zero_device *)g;
    const zero_queue_wish wish = {
        .type = ZERO_TYPE_QUEUE, .group = d->unit->queue_group, .mode = ZERO_QUEUE_ASYNCHRONOUS};
    level_zero_queue *z = base_calloc(1, sizeof *z);
    for (int i = 0; i < LEVEL_ZERO_SLOTS; i++)
        atomic_init(&z->slots[i].runs, false);
    q->handle = z;
    if (level_zero_check(d, level_zero.queue_create(d->context, d->unit->handle, &wish, &z->queue),
                         "making a queue", st))
        return true;
    level_zero_queue_close(g, q);
    return false;
}

void level_zero_queue_close(gpu_device *g, gpu_queue *q) {
    release((level_zero_device *)g, q->handle);
    q->handle = NULL;
}

/* ---- running ---- */

static bool has_ended(level_zero_slot *s) {
    return !atomic_load(&s->runs) || level_zero.fence_query(s->fence) != ZERO_NOT_READY;
}

bool level_zero_idle(gpu_queue *q) {
    bool idle = true;
    for (int i = 0; i < LEVEL_ZERO_SLOTS && idle; i++)
        idle = has_ended(&of(q)->slots[i]);
    return idle;
}

/* Waits for the fence; loses the device where the driver cannot tell whether it ended. */
static bool await_fence(gpu_queue *q, level_zero_slot *s, const char *doing, status *st) {
    status why = STATUS_INIT;
    uint32_t result;
    while ((result = level_zero.fence_wait(s->fence, wait_ns)) == ZERO_NOT_READY)
        if (!gpu_may_wait(&level_zero_device_of(q)->gpu, st))
            return false;
    atomic_store(&s->runs, false);
    return result == ZERO_OK || (level_zero_failed(result, doing, &why),
                                 gpu_lose(&level_zero_device_of(q)->gpu, why.message, st));
}

/* The fence of what still runs stays; its device is lost. */
static bool await_slot(gpu_queue *q, level_zero_slot *s, const char *doing, status *st) {
    level_zero_device *d = level_zero_device_of(q);
    if (!atomic_load(&s->runs))
        return true;
    bool ok = await_fence(q, s, doing, st);
    if (atomic_load(&s->runs))
        return false;
    level_zero_drop_followed(d, s);
    uint32_t result = level_zero.fence_reset(s->fence);
    return level_zero_check(d, result, "resetting a fence", ok ? st : NULL) && ok;
}

static bool submit(gpu_queue *q, level_zero_slot *s, void *list, const char *doing, status *st) {
    atomic_store(&s->runs, true);
    uint32_t result = level_zero.queue_execute(of(q)->queue, 1, &list, s->fence);
    if (result == ZERO_OK)
        return true;
    atomic_store(&s->runs, false);
    return level_zero_check(level_zero_device_of(q), result, doing, st);
}

static bool provide(gpu_queue *q, level_zero_slot *s, status *st) {
    level_zero_device *d = level_zero_device_of(q);
    return (s->list || level_zero_make_list(d, &s->list, st)) &&
           (s->fence || make_fence(d, of(q)->queue, &s->fence, st));
}

/* The list is emptied when it is used again, and not before all of it has ended. */
bool level_zero_begin(gpu_queue *q, status *st) {
    level_zero_queue *z = of(q);
    level_zero_slot *s = &z->slots[z->next];
    if (z->recorded || z->open)
        return true;
    z->open = provide(q, s, st) && await_slot(q, s, "running", st) &&
              level_zero_check(level_zero_device_of(q), level_zero.list_reset(s->list),
                               "emptying a list", st);
    return z->open;
}

bool level_zero_barrier(gpu_queue *q, status *st) {
    return level_zero_check(level_zero_device_of(q),
                            level_zero.append_barrier(level_zero_list(q), NULL, 0, NULL),
                            "a barrier", st);
}

/* Drops what cannot be given: nothing of it runs. */
static bool discard(gpu_queue *q) {
    level_zero_queue *z = of(q);
    level_zero_drop_followed(level_zero_device_of(q), &z->slots[z->next]);
    z->open = z->appended = false;
    return false;
}

bool level_zero_flush(gpu_queue *q, status *st) {
    level_zero_queue *z = of(q);
    level_zero_slot *s = &z->slots[z->next];
    if (!z->appended)
        return true;
    bool ok =
        gpu_may_wait(&level_zero_device_of(q)->gpu, st) &&
        level_zero_check(level_zero_device_of(q), level_zero.list_close(s->list), "running", st) &&
        submit(q, s, s->list, "running", st);
    if (!ok)
        return discard(q);
    z->open = z->appended = false;
    z->next = (z->next + 1) % LEVEL_ZERO_SLOTS;
    return true;
}

bool level_zero_execute(gpu_queue *q, void *list, const char *doing, status *st) {
    level_zero_queue *z = of(q);
    if (!level_zero_flush(q, st))
        return false;
    level_zero_slot *s = &z->slots[z->next];
    z->open = false; /* its own list is empty, and is opened again */
    return provide(q, s, st) && await_slot(q, s, "running", st) && submit(q, s, list, doing, st) &&
           await_slot(q, s, doing, st);
}

/* A failure is told by level_zero_finish, which does not wait then. */
bool level_zero_settled(gpu_queue *q) {
    return !level_zero_flush(q, &of(q)->failure) || level_zero_idle(q);
}

bool level_zero_finish(gpu_queue *q, status *st) {
    level_zero_queue *z = of(q);
    bool ok = z->failure.code == STATUS_OK
                  ? level_zero_flush(q, st)
                  : status_set(st, z->failure.code, "%s", z->failure.message);
    z->failure = (status)STATUS_INIT;
    for (uint32_t i = 0; i < LEVEL_ZERO_SLOTS; i++)
        ok &= await_slot(q, &z->slots[(z->next + i) % LEVEL_ZERO_SLOTS], "running", ok ? st : NULL);
    if (!z->open)
        z->next = 0; /* the slots are free, from the first one */
    return ok;
}

bool level_zero_given(gpu_queue *q, bool appended, status *st) {
    level_zero_queue *z = of(q);
    bool ok = appended && level_zero_barrier(q, st);
    if (z->recorded)
        return ok;
    z->appended = ok;
    return ok || discard(q);
}

/* ---- copies ---- */

static void *address_of(gpu_place p) {
    return (void *)(uintptr_t)(p.block->address + p.offset);
}

static bool copy_within(gpu_queue *q, void *to, const void *from, size_t bytes, status *st) {
    if (!level_zero_begin(q, st))
        return false;
    uint32_t result = level_zero.append_copy(level_zero_list(q), to, from, bytes, NULL, 0, NULL);
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
    if (!level_zero_begin(q, st))
        return false;
    uint32_t result = level_zero.append_fill(level_zero_list(q), address_of(to), &byte, sizeof byte,
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
