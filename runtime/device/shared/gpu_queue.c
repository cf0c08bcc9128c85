/* gpu_queue.c - what a queue is given: commands go to the device one behind the other, and are
 * waited for where somebody wants to know that they ended.
 *
 * A command is alone, with nothing under way before it and after it, where the host takes part in
 * it (memory of the program, or of the host on both sides), where it has a limit or is timed, and
 * under debug, which names the kernel that fails. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/shared/gpu.h"

enum { ADDRESSES_MOST = 1024, UNDER_WAY_MOST = 512 };

static bool is_recording(const gpu_queue *q) {
    return q->recorded_workspace != NULL;
}

static bool given(gpu_queue *q, bool ok, const char *label) {
    if (is_recording(q))
        return ok;
    q->under_way++; /* a part of it may run even where not all of it could be given */
    q->commands++;
    q->label = label ? label : q->label;
    return ok;
}

/* ---- recordings ---- */

struct gpu_moment {
    struct gpu_moment *next;
    soft_recording *recording;
    device_event *event;
    void *mark; /* the device's; NULL: it has none, and comes before the next that has */
};

static const gpu_functions *functions_of(const gpu_queue *q) {
    return ((const gpu_device *)q->base.device)->functions;
}

/* The first moments, up to `last`, have come. */
static void come(gpu_queue *q, const struct gpu_moment *last, uint64_t ns) {
    soft_device *d = q->base.device;
    for (struct gpu_moment *m = q->moments; m; m = q->moments) {
        bool is_last = m == last;
        q->moments = m->next;
        pthread_mutex_lock(&d->mutex);
        soft_recording_done(d, m->recording, m->event, ns - d->clock_start_ns);
        soft_recording_drop(m->recording);
        pthread_mutex_unlock(&d->mutex);
        if (m->mark)
            functions_of(q)->unmark((gpu_device *)d, m->mark);
        free(m);
        if (is_last)
            break;
    }
    if (!q->moments)
        q->last = &q->moments;
}

/* Tells which moments have come; `wait`: until the last one that has a mark. */
static void look(gpu_queue *q, bool wait) {
    gpu_device *g = (gpu_device *)q->base.device;
    for (struct gpu_moment *m = q->moments, *next; m; m = next) {
        uint64_t ns;
        next = m->next;
        if (m->mark && !g->functions->reached(g, m->mark, wait, &ns))
            return;
        if (m->mark)
            come(q, m, ns);
    }
}

static bool reached(soft_device *d, void *mark, bool wait, uint64_t *time_ns) {
    gpu_device *g = (gpu_device *)d;
    bool has = g->functions->reached(g, mark, wait, time_ns);
    if (has)
        *time_ns -= d->clock_start_ns;
    return has;
}

static void *mark(gpu_queue *q, bool untimed) {
    const gpu_functions *f = functions_of(q);
    return untimed && f->mark_untimed ? f->mark_untimed(q) : f->mark ? f->mark(q) : NULL;
}

static bool record(device_queue *queue, soft_recording *r, const device_command *c) {
    gpu_queue *q = (gpu_queue *)queue;
    soft_device *d = queue->device;
    void *made = NULL;
    pthread_mutex_lock(&q->turn);
    bool later = q->under_way > 0;
    if (later && (!c->untimed || c->awaitable)) {
        made = mark(q, c->untimed);
        later = made != NULL;
    }
    if (later) {
        struct gpu_moment *m = base_calloc(1, sizeof *m);
        *m = (struct gpu_moment){.recording = r, .event = c->event, .mark = made};
        pthread_mutex_lock(&d->mutex);
        soft_recording_keep(r);
        if (made)
            soft_recording_mark(d, r, queue, made);
        pthread_mutex_unlock(&d->mutex);
        *q->last = m;
        q->last = &m->next;
    }
    pthread_mutex_unlock(&q->turn);
    return later;
}

/* Nobody borrows a mark and waits for a turn: who has the turn may be waiting for the mark. */
static bool follow(device_queue *queue, soft_recording *r, status *st) {
    gpu_queue *q = (gpu_queue *)queue;
    soft_device *d = queue->device;
    bool ok = true;
    pthread_mutex_lock(&q->turn);
    pthread_mutex_lock(&d->mutex);
    /* NULL: it is done, or comes first anyway */
    void *mark = soft_recording_is_of(r, queue) ? NULL : soft_recording_borrow(r);
    pthread_mutex_unlock(&d->mutex);
    if (mark) {
        ok = given(q, functions_of(q)->follow(q, mark, st), NULL);
        pthread_mutex_lock(&d->mutex);
        soft_recording_give_back(d, r);
        pthread_mutex_unlock(&d->mutex);
    }
    pthread_mutex_unlock(&q->turn);
    return ok;
}

/* ---- what is under way ---- */

bool gpu_finish(gpu_queue *q, status *st) {
    const char *label = q->label;
    uint64_t count = q->commands;
    if (q->under_way == 0)
        return true;
    look(q, true);
    bool ok = functions_of(q)->finish(q, st);
    come(q, NULL, clock_now_ns());
    q->under_way = 0;
    q->commands = 0;
    q->label = NULL;
    if (ok)
        return true;
    if (!label)
        return false;
    return count == 1 ? status_context(st, "kernel '%s'", label)
                      : status_context(st, "kernel '%s' or one of the %llu commands before it",
                                       label, (unsigned long long)count - 1);
}

/* ---- copies and fills ---- */

static unsigned char *host_of(gpu_place p) {
    if (!p.block)
        return p.host;
    return p.block->host && !p.block->migrates ? p.block->host + p.offset : NULL;
}

static bool is_idle(const gpu_queue *q) {
    return q->under_way == 0 && !is_recording(q);
}

bool gpu_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st) {
    if (!is_idle(q) || !host_of(to) || !host_of(from))
        return given(q, functions_of(q)->copy(q, to, from, size_bytes, st), NULL);
    memmove(host_of(to), host_of(from), size_bytes);
    return true;
}

bool gpu_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st) {
    if (!is_idle(q) || !host_of(to))
        return given(q, functions_of(q)->fill(q, to, byte, size_bytes, st), NULL);
    memset(host_of(to), byte, size_bytes);
    return true;
}

static bool transfer(gpu_queue *q, const device_command *c, status *st) {
    size_t bytes = c->range.size_bytes;
    gpu_place to = gpu_place_of(c->range.to);
    if (bytes == 0)
        return true;
    return c->kind == DEVICE_FILL ? gpu_fill(q, to, c->byte, bytes, st)
                                  : gpu_copy(q, to, gpu_place_of(c->range.from), bytes, st);
}

/* ---- launches ---- */

/* Finishes first: commands under way may use the workspace that goes. */
static bool grow(gpu_device *g, gpu_queue *q, size_t size_bytes, status *st) {
    if (q->workspace.size_bytes >= size_bytes)
        return true;
    if (q->workspace.block && !gpu_finish(q, st))
        return false;
    gpu_pool_give(&g->pool, &q->workspace);
    return gpu_pool_take(&g->pool, size_bytes, DEVICE_MEMORY_DEVICE, &q->workspace, st) ||
           status_context(st, "allocating the workspace of %zu bytes", size_bytes);
}

/* The workspace, and behind it what is prepared for this launch alone; under debug poisoned. */
static bool supply_workspace(gpu_device *g, gpu_queue *q, size_t size_bytes, uint64_t *address_out,
                             status *st) {
    const gpu_piece *room = is_recording(q) ? q->recorded_workspace : &q->workspace;
    /* One that is recorded is large enough for all. */
    if (!is_recording(q) && !grow(g, q, size_bytes, st))
        return false;
    *address_out = room->block ? gpu_piece_address(room) : 0;
    const gpu_place place = {.block = q->workspace.block, .offset = q->workspace.offset};
    return size_bytes == 0 || !g->soft.options.debug ||
           gpu_fill(q, place, GPU_POISON, size_bytes, st);
}

static bool has_shared(const gpu_device *g, const device_dispatch *p, status *st) {
    uint64_t most = g->soft.base.info.workgroup_memory_bytes;
    return p->workgroup_bytes <= most ||
           status_set(st, STATUS_OUT_OF_MEMORY,
                      "a workgroup needs %zu bytes of shared memory; device '%s' has %llu",
                      p->workgroup_bytes, g->soft.base.info.name, (unsigned long long)most);
}

static bool give_launch(gpu_device *g, gpu_queue *q, const device_dispatch *p, device_times *times,
                        status *st) {
    uint64_t addresses[ADDRESSES_MOST], phase_ns[DEVICE_TIMED_PHASES] = {0};
    size_t lines = gpu_round_up(p->workspace_bytes),
           own = p->prepared.address ? 0 : p->prepared_bytes;
    uint64_t workspace = (uint64_t)(uintptr_t)p->workspace.address;
    if (p->buffer_count + 2 + p->dim_count > ADDRESSES_MOST)
        return status_set(st, STATUS_INVALID, "%u buffers are too many", p->buffer_count);
    if (!has_shared(g, p, st) ||
        !(workspace || supply_workspace(g, q, lines + own, &workspace, st)))
        return false;
    for (uint32_t i = 0; i < p->buffer_count; i++)
        addresses[i] = (uint64_t)(uintptr_t)p->buffers[i];
    addresses[p->buffer_count] = workspace;
    addresses[p->buffer_count + 1] =
        own ? workspace + lines : (uint64_t)(uintptr_t)p->prepared.address;
    for (uint32_t i = 0; i < p->dim_count; i++)
        addresses[p->buffer_count + 2 + i] = (uint64_t)p->dims[i];
    const bool wanted = times && p->image->phase_count <= DEVICE_TIMED_PHASES;
    const gpu_launch l = {.image = p->image,
                          .addresses = addresses,
                          .address_count = p->buffer_count + 2 + p->dim_count,
                          .dim_count = p->dim_count,
                          .workgroups = p->workgroups,
                          .workgroup_bytes = p->workgroup_bytes,
                          .phase_ns = wanted ? phase_ns : NULL};
    if (!given(q, functions_of(q)->launch(q, &l, st), p->label))
        return false;
    if (times)
        memcpy(times->phase_ns, phase_ns, sizeof phase_ns);
    return true;
}

static bool launch(gpu_device *g, gpu_queue *q, const device_dispatch *p, device_times *times,
                   status *st) {
    return give_launch(g, q, p, times, st) || status_context(st, "kernel '%s'", p->label);
}

static bool dispatch_timed(gpu_device *g, gpu_queue *q, const device_dispatch *p, status *st) {
    uint64_t start = clock_now_ns(), phases = 0;
    device_times times = {.label = p->label,
                          .start_ns = start - g->soft.clock_start_ns,
                          .phases = p->image->phase_count};
    bool ok = launch(g, q, p, &times, st);
    ok = gpu_finish(q, ok ? st : NULL) && ok;
    if (!ok)
        return false;
    for (int i = 0; i < DEVICE_TIMED_PHASES; i++)
        phases += times.phase_ns[i];
    times.total_ns = clock_now_ns() - start;
    times.total_ns = times.total_ns < phases ? phases : times.total_ns; /* two clocks */
    g->soft.options.timed(g->soft.options.timed_context, &times);
    return true;
}

static bool dispatch(gpu_device *g, gpu_queue *q, const device_dispatch *p, status *st) {
    return p->timed ? dispatch_timed(g, q, p, st) : launch(g, q, p, NULL, st);
}

/* ---- commands ---- */

bool gpu_is_own(device_span span) {
    return span.memory && span.memory->kind == DEVICE_MEMORY_DEVICE;
}

static bool takes_host(const device_command *c) {
    if (c->kind == DEVICE_DISPATCH)
        return false;
    if (c->kind == DEVICE_FILL)
        return !gpu_is_own(c->range.to);
    return !c->range.to.memory || !c->range.from.memory ||
           (!gpu_is_own(c->range.to) && !gpu_is_own(c->range.from));
}

static bool is_alone(const gpu_device *g, const device_command *c) {
    return c->limit_ns || g->soft.options.debug || takes_host(c) ||
           (c->kind == DEVICE_DISPATCH && c->dispatch.timed);
}

static bool run(gpu_queue *q, const device_command *c, bool alone, status *st) {
    gpu_device *g = (gpu_device *)q->base.device;
    if (!soft_begin(&q->base, c, st))
        return false;
    bool ok = c->kind == DEVICE_DISPATCH ? dispatch(g, q, &c->dispatch, st) : transfer(q, c, st);
    if (alone)
        ok = gpu_finish(q, ok ? st : NULL) && ok;
    soft_end(&q->base, c);
    return ok;
}

bool gpu_run(gpu_queue *q, const device_command *c, status *st) {
    if (is_recording(q))
        return run(q, c, false, st); /* what is under way is not asked for then */
    const bool alone = is_alone((const gpu_device *)q->base.device, c);
    look(q, false);
    bool before = (!alone && q->under_way < UNDER_WAY_MOST) || gpu_finish(q, st);
    return run(q, c, alone, before ? st : NULL) && before;
}

bool gpu_give_recording(gpu_queue *q, void *recording, const char *label, size_t count,
                        status *st) {
    look(q, false);
    bool before = q->under_way < UNDER_WAY_MOST || gpu_finish(q, st);
    bool ok = given(q, functions_of(q)->replay(q, recording, before ? st : NULL), label);
    q->commands += count - 1;
    return ok && before;
}

static bool execute(device_queue *queue, const device_command *c, status *st) {
    gpu_queue *q = (gpu_queue *)queue;
    pthread_mutex_lock(&q->turn);
    bool ok = gpu_run(q, c, st);
    pthread_mutex_unlock(&q->turn);
    return ok;
}

static bool finish(device_queue *queue, status *st) {
    gpu_queue *q = (gpu_queue *)queue;
    pthread_mutex_lock(&q->turn);
    bool ok = gpu_finish(q, st);
    pthread_mutex_unlock(&q->turn);
    return ok;
}

static bool settled(device_queue *queue) {
    gpu_queue *q = (gpu_queue *)queue;
    pthread_mutex_lock(&q->turn);
    look(q, false);
    bool ended = q->under_way == 0 || !functions_of(q)->settled || functions_of(q)->settled(q);
    pthread_mutex_unlock(&q->turn);
    return ended;
}

/* ---- queues ---- */

static bool gone(soft_device *d, status *why) {
    gpu_device *g = (gpu_device *)d;
    return g->functions->gone && g->functions->gone(g, why);
}

const soft_functions *gpu_soft_functions(const gpu_functions *functions) {
#define COMMON                                                                                     \
    .execute = execute, .finish = finish, .settled = settled, .record = record, .follow = follow,  \
    .reached = reached, .replay = gpu_replay, .inline_execution = true
    static const soft_functions with_gone = {COMMON, .gone = gone}, without = {COMMON};
#undef COMMON
    return functions->gone ? &with_gone : &without;
}

bool gpu_queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    gpu_device *g = (gpu_device *)d;
    gpu_queue *q = base_calloc(1, sizeof *q);
    if (!g->functions->queue_open(g, q, st)) {
        free(q);
        return false;
    }
    pthread_mutex_init(&q->turn, NULL);
    q->last = &q->moments;
    soft_queue_init(&q->base, &g->soft, synchronous);
    *queue_out = &q->base;
    return true;
}

void gpu_queue_close(gpu_device *g, gpu_queue *q) {
    gpu_pool_give(&g->pool, &q->workspace);
    g->functions->queue_close(g, q);
}

void gpu_queue_destroy(device *d, device_queue *queue) {
    soft_queue_release(queue);
    gpu_queue_close((gpu_device *)d, (gpu_queue *)queue);
    pthread_mutex_destroy(&((gpu_queue *)queue)->turn);
    free(queue);
}
