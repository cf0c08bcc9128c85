/* level_zero_mark.c - marks: an event of the device's, which its queue signals when it has written
 * the time, and lists of other queues wait for.
 *
 * Such a list may be under way when the mark is gone. So an event is used again when its mark and
 * the last of these lists have ended. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/level_zero/level_zero_parts.h"

enum { POOL_MARKS = 64 };

typedef struct level_zero_moment {
    struct level_zero_moment *next; /* the next free one */
    void *event;
    const uint64_t *ticks; /* the device writes them */
    uint64_t given_ns;
    uint32_t references; /* the mark's and those of lists that wait; under marks_mutex */
} level_zero_moment;

typedef struct level_zero_pool {
    void *handle;
    gpu_block ticks;
    level_zero_moment moments[POOL_MARKS];
} level_zero_pool;

/* ---- pools ---- */

static bool read_clock(gpu_device *g, uint64_t *ticks_out) {
    uint64_t host;
    return level_zero.read_clocks(((level_zero_device *)g)->unit->handle, &host, ticks_out) ==
           ZERO_OK;
}

void level_zero_marks_init(level_zero_device *d) {
    d->clock.tick_ns = d->unit->tick_ns;
    d->clock.mask = d->unit->clock_mask;
    d->clock.read = read_clock;
    gpu_clock_init(&d->clock);
    pthread_mutex_init(&d->marks_mutex, NULL);
}

static void release_pool(level_zero_device *d, level_zero_pool *p) {
    for (int i = 0; i < POOL_MARKS; i++)
        if (p->moments[i].event)
            level_zero.event_destroy(p->moments[i].event);
    if (p->handle)
        level_zero.pool_destroy(p->handle);
    if (p->ticks.size_bytes)
        level_zero_free(&d->gpu, &p->ticks);
    free(p);
}

void level_zero_marks_release(level_zero_device *d) {
    for (size_t i = 0; i < d->pools.count; i++)
        release_pool(d, d->pools.items[i]);
    vec_release(&d->pools);
    pthread_mutex_destroy(&d->marks_mutex);
    gpu_clock_release(&d->clock);
}

static bool make_pool(level_zero_device *d, level_zero_pool *p) {
    const zero_pool_wish wish = {
        .type = ZERO_TYPE_EVENT_POOL, .flags = ZERO_POOL_HOST_VISIBLE, .count = POOL_MARKS};
    void *handle = d->unit->handle;
    return level_zero_alloc(&d->gpu, POOL_MARKS * sizeof(uint64_t), DEVICE_MEMORY_PINNED, &p->ticks,
                            NULL) &&
           level_zero.pool_create(d->context, &wish, 1, &handle, &p->handle) == ZERO_OK;
}

static bool make_events(level_zero_pool *p) {
    bool ok = true;
    for (uint32_t i = 0; i < POOL_MARKS && ok; i++) {
        const zero_event_wish wish = {.type = ZERO_TYPE_EVENT,
                                      .index = i,
                                      .signal_scope = ZERO_SCOPE_HOST,
                                      .wait_scope = ZERO_SCOPE_HOST};
        p->moments[i].ticks = (const uint64_t *)(void *)p->ticks.host + i;
        ok = level_zero.event_create(p->handle, &wish, &p->moments[i].event) == ZERO_OK;
    }
    return ok;
}

/* With the lock held. */
static bool grow(level_zero_device *d) {
    level_zero_pool *p = base_calloc(1, sizeof *p);
    if (!make_pool(d, p) || !make_events(p)) {
        release_pool(d, p);
        return false;
    }
    vec_push(&d->pools, p);
    for (int i = 0; i < POOL_MARKS; i++) {
        p->moments[i].next = d->free;
        d->free = &p->moments[i];
    }
    return true;
}

static level_zero_moment *take(level_zero_device *d) {
    pthread_mutex_lock(&d->marks_mutex);
    level_zero_moment *m = d->free || grow(d) ? d->free : NULL;
    if (m) {
        d->free = m->next;
        m->references = 1;
    }
    pthread_mutex_unlock(&d->marks_mutex);
    return m;
}

static void drop(level_zero_device *d, level_zero_moment *m) {
    pthread_mutex_lock(&d->marks_mutex);
    if (--m->references == 0) {
        m->next = d->free;
        d->free = m;
    }
    pthread_mutex_unlock(&d->marks_mutex);
}

void level_zero_drop_followed(level_zero_device *d, level_zero_slot *slot) {
    while (slot->followed.count)
        drop(d, vec_pop(&slot->followed));
}

/* ---- marks ---- */

/* Leaves the list as it was where it cannot be marked; a failure of what stands in it is told by
 * level_zero_finish. */
static bool submit(gpu_queue *q, const level_zero_moment *m) {
    level_zero_queue *z = q->handle;
    status *st = &z->failure;
    return st->code == STATUS_OK && level_zero_begin(q, st) &&
           level_zero.event_reset(m->event) == ZERO_OK &&
           level_zero.append_time(level_zero_list(q), (uint64_t *)(uintptr_t)m->ticks, m->event, 0,
                                  NULL) == ZERO_OK &&
           level_zero_given(q, true, st) && level_zero_flush(q, st);
}

void *level_zero_mark(gpu_queue *q) {
    level_zero_device *d = level_zero_device_of(q);
    level_zero_moment *m = gpu_may_wait(&d->gpu, NULL) ? take(d) : NULL;
    if (!m)
        return NULL;
    if (!gpu_clock_keep(&d->clock, &d->gpu, &m->given_ns)) {
        drop(d, m);
        return NULL;
    }
    if (submit(q, m))
        return m;
    level_zero_unmark(&d->gpu, m);
    return NULL;
}

void level_zero_unmark(gpu_device *g, void *mark) {
    level_zero_device *d = (level_zero_device *)g;
    gpu_clock_drop(&d->clock);
    drop(d, mark);
}

bool level_zero_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out) {
    level_zero_device *d = (level_zero_device *)g;
    const level_zero_moment *m = mark;
    const uint64_t start = clock_now_ns();
    uint32_t result;
    while ((result = level_zero.event_query(m->event)) == ZERO_NOT_READY) {
        if (!wait || !gpu_may_wait(g, NULL))
            return false;
        gpu_pause_after(clock_now_ns() - start);
    }
    if (!level_zero_check(d, result, "asking for an event", NULL))
        return false;
    *ns_out = gpu_clock_tell(&d->clock, *m->ticks, m->given_ns);
    return true;
}

bool level_zero_follow(gpu_queue *q, void *mark, status *st) {
    level_zero_device *d = level_zero_device_of(q);
    level_zero_queue *z = q->handle;
    level_zero_moment *m = mark;
    if (!gpu_may_wait(&d->gpu, st) || !level_zero_begin(q, st))
        return false;
    pthread_mutex_lock(&d->marks_mutex);
    m->references++;
    pthread_mutex_unlock(&d->marks_mutex);
    vec_push(&z->slots[z->next].followed, m);
    uint32_t result = level_zero.append_wait(level_zero_list(q), 1, &m->event);
    bool ok = level_zero_check(d, result, "waiting for an event", st);
    return level_zero_given(q, ok, st);
}
