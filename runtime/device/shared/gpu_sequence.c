/* gpu_sequence.c - commands that come again and again: recorded by the driver when they come for
 * the first time, or with other arguments than last; then replayed. What it does not record is done
 * one by one.
 *
 * What was recorded has a workspace of its own, unless its dispatches bring one: that of a queue
 * moves when it grows. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "device/shared/gpu.h"

typedef VEC(uint64_t) words;

struct device_sequence {
    pthread_mutex_t turn; /* queues are given it one at a time */
    words recorded;       /* the commands that `recording` is of, or that cannot be recorded */
    words asked;          /* those of a replay; kept for its room */
    void *recording;      /* the driver's; NULL: there is none */
    gpu_piece workspace;
};

device_sequence *gpu_sequence_create(device *d) {
    device_sequence *s = base_calloc(1, sizeof *s);
    (void)d;
    pthread_mutex_init(&s->turn, NULL);
    return s;
}

/* ---- what commands are ---- */

static void add(words *w, uint64_t word) {
    vec_push(w, word);
}

static void add_place(words *w, device_span span) {
    gpu_place place = gpu_place_of(span);
    add(w, place.block ? place.block->serial : 0);
    add(w, place.offset);
}

static void add_dispatch(words *w, const device_dispatch *p) {
    add(w, (uint64_t)(uintptr_t)p->image);
    add(w, p->workspace_bytes);
    add(w, (uint64_t)(uintptr_t)p->workspace.address);
    add(w, p->workgroup_bytes);
    add(w, p->prepared_bytes);
    add(w, (uint64_t)(uintptr_t)p->prepared.address);
    add(w, p->buffer_count);
    for (uint32_t i = 0; i < p->buffer_count; i++)
        add(w, (uint64_t)(uintptr_t)p->buffers[i]);
    for (uint32_t i = 0; i < p->image->phase_count; i++)
        add(w, (uint64_t)p->workgroups[i]);
    for (uint32_t i = 0; i < p->dim_count; i++)
        add(w, (uint64_t)p->dims[i]);
}

/* Two with the same words are the same to the driver. */
static void describe(words *w, const device_command *commands, size_t count) {
    w->count = 0;
    for (size_t i = 0; i < count; i++) {
        const device_command *c = &commands[i];
        add(w, (uint64_t)c->kind << 8 | c->byte);
        if (c->kind == DEVICE_DISPATCH) {
            add_dispatch(w, &c->dispatch);
            continue;
        }
        add(w, c->range.size_bytes);
        add_place(w, c->range.to);
        if (c->kind == DEVICE_COPY)
            add_place(w, c->range.from);
    }
}

static bool are_same(const words *a, const words *b) {
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

/* Limits, times and checks are of each command by itself. */
static bool can_be_recorded(const gpu_device *g, const device_command *commands, size_t count) {
    bool can = g->functions->replay && !g->soft.options.debug;
    for (size_t i = 0; i < count && can; i++) {
        const device_command *c = &commands[i];
        can = c->limit_ns == 0;
        if (c->kind == DEVICE_DISPATCH)
            can = can && !c->dispatch.timed;
        else
            can = can && gpu_is_own(c->range.to) &&
                  (c->kind == DEVICE_FILL || gpu_is_own(c->range.from));
    }
    return can;
}

/* ---- recording ---- */

static void forget(gpu_device *g, device_sequence *s) {
    if (s->recording)
        g->functions->forget(g, s->recording);
    s->recording = NULL;
    gpu_pool_give(&g->pool, &s->workspace);
}

void gpu_sequence_destroy(device *d, device_sequence *s) {
    forget((gpu_device *)d, s);
    vec_release(&s->recorded);
    vec_release(&s->asked);
    pthread_mutex_destroy(&s->turn);
    free(s);
}

static bool provide_workspace(gpu_device *g, device_sequence *s, const device_command *commands,
                              size_t count, status *st) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const device_dispatch *p = &commands[i].dispatch;
        if (commands[i].kind != DEVICE_DISPATCH || p->workspace.address)
            continue;
        size_t bytes =
            gpu_round_up(p->workspace_bytes) + (p->prepared.address ? 0 : p->prepared_bytes);
        most = bytes > most ? bytes : most;
    }
    return gpu_pool_take(&g->pool, most, DEVICE_MEMORY_DEVICE, &s->workspace, st);
}

/* False where it cannot be recorded, which is tried again when other commands come. */
static bool record(gpu_queue *q, device_sequence *s, const device_command *commands, size_t count) {
    gpu_device *g = (gpu_device *)q->base.device;
    const words recorded = s->recorded;
    status why = STATUS_INIT;
    forget(g, s);
    s->recorded = s->asked;
    s->asked = recorded;
    if (!provide_workspace(g, s, commands, count, &why) || !g->functions->record_begin(q, &why))
        return false;
    bool ok = true;
    q->recorded_workspace = &s->workspace;
    for (size_t i = 0; i < count && ok; i++)
        ok = gpu_run(q, &commands[i], &why);
    q->recorded_workspace = NULL;
    ok = g->functions->record_end(q, ok, &s->recording, &why) && ok;
    atomic_fetch_add(&g->recordings, ok);
    return ok;
}

/* ---- replaying ---- */

static bool run_each(gpu_queue *q, const device_command *commands, size_t count, status *st) {
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok &= gpu_run(q, &commands[i], ok ? st : NULL);
    return ok;
}

static const char *last_label(const device_command *commands, size_t count) {
    while (count-- > 0)
        if (commands[count].kind == DEVICE_DISPATCH)
            return commands[count].dispatch.label;
    return NULL;
}

/* Records them, unless it has: what was recorded before may be under way yet. */
static bool renew(gpu_queue *q, device_sequence *s, const device_command *commands, size_t count,
                  status *st) {
    describe(&s->asked, commands, count);
    if (are_same(&s->asked, &s->recorded))
        return true;
    bool before = !s->recording || gpu_finish(q, st);
    if (!record(q, s, commands, count))
        forget((gpu_device *)q->base.device, s);
    return before;
}

static bool run(gpu_queue *q, device_sequence *s, const device_command *commands, size_t count,
                status *st) {
    gpu_device *g = (gpu_device *)q->base.device;
    if (!s || !can_be_recorded(g, commands, count))
        return run_each(q, commands, count, st);
    bool before = renew(q, s, commands, count, st);
    st = before ? st : NULL;
    if (!s->recording)
        return run_each(q, commands, count, st) && before;
    atomic_fetch_add(&g->replays, 1);
    return gpu_give_recording(q, s->recording, last_label(commands, count), count, st) && before;
}

bool gpu_replay(device_queue *queue, const device_command *command, status *st) {
    gpu_queue *q = (gpu_queue *)queue;
    device_sequence *s = command->replay.sequence;
    if (s)
        pthread_mutex_lock(&s->turn);
    pthread_mutex_lock(&q->turn);
    bool ok = run(q, s, command + 1, command->replay.count, st);
    pthread_mutex_unlock(&q->turn);
    if (s)
        pthread_mutex_unlock(&s->turn);
    return ok;
}
