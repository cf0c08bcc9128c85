/* emulate_threads.c - the threads of a workgroup: whose turn it is, barriers, and what a subgroup
 * does together. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/emulate/emulate_parts.h"

/* ---- turns ---- */

static void make_ready(emulate *e, emulate_thread *t) {
    t->state = STATE_READY;
    e->ready[t->place / 64] |= UINT64_C(1) << t->place % 64;
}

static void make_wait(emulate *e, emulate_thread *t, emulate_state state) {
    t->state = state;
    e->ready[t->place / 64] &= ~(UINT64_C(1) << t->place % 64);
}

static void make_all_ready(emulate *e) {
    for (uint32_t i = 0; i < THREAD_WORDS; i++) {
        uint32_t places = e->thread_count > i * 64 ? e->thread_count - i * 64 : 0;
        e->ready[i] = places >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << places) - 1;
    }
}

static bool is_ready(const emulate *e, const emulate_thread *t) {
    return e->ready[t->place / 64] >> t->place % 64 & 1;
}

/* The first after `t` in the order, and then from its beginning, that can go on; NULL: none. */
static emulate_thread *find_ready(const emulate *e, const emulate_thread *t) {
    uint32_t place = t->next->place, word = place / 64;
    uint64_t bits = e->ready[word] & ~UINT64_C(0) << place % 64;
    for (uint32_t i = 0; i < THREAD_WORDS && !bits; i++) {
        word = (word + 1) % THREAD_WORDS;
        bits = e->ready[word];
    }
    return bits ? &e->threads[e->order[word * 64 + (uint32_t)__builtin_ctzll(bits)]] : NULL;
}

_Noreturn static void fail_stuck(emulate *e);

/* `t` has to wait, or has ended: another takes its turn. Returns when `t` goes on. Mostly that is
 * the next in the order, and then a processor knows where to go before it knows that it may. */
static inline void give_turn(emulate_thread *t) {
    emulate *e = t->engine;
    emulate_thread *next = t->next;
    if (!is_ready(e, next))
        next = find_ready(e, t);
    if (next) {
        e->running = next;
        if (next != t)
            emulate_fiber_switch(&t->fiber, &next->fiber);
    } else if (e->ended == e->thread_count) {
        emulate_fiber_switch(&t->fiber, &e->main);
    } else {
        fail_stuck(e);
    }
}

/* ---- failures ---- */

/* Abandons the running thread and all others that have not ended. */
_Noreturn static void leave(emulate *e) {
    e->failed = true;
    e->running->state = STATE_READY;
    emulate_fiber_switch(&e->running->fiber, &e->main);
    abort(); /* nobody goes back */
}

/* Blames an earlier read of garbage, if there was one. */
void emulate_fail(emulate *e, const emulate_finding *finding) {
    bool earlier = e->unwritten.fault != EMULATE_NO_FAULT && finding->fault != EMULATE_RACE;
    e->finding = earlier ? e->unwritten : *finding;
    leave(e);
}

void emulate_fail_without(emulate *e, status_code code, const char *why) {
    if (e->unwritten.fault != EMULATE_NO_FAULT)
        emulate_fail(e, &e->unwritten);
    status_set(&e->why, code, "%s", why);
    leave(e);
}

static emulate_deed deed_of(const emulate_thread *t) {
    static const emulate_act acts[] = {[STATE_READY] = EMULATE_WAITS,
                                       [STATE_BARRIER] = EMULATE_WAITS,
                                       [STATE_SUBGROUP] = EMULATE_JOINS,
                                       [STATE_SLOT] = EMULATE_AWAITS,
                                       [STATE_ENDED] = EMULATE_ENDED};
    return (emulate_deed){.act = acts[t->state],
                          .workgroup = t->base.workgroup,
                          .thread = t->base.thread,
                          .site = t->state == STATE_ENDED ? 0 : t->site};
}

_Noreturn static void fail_divergent(emulate *e, const emulate_thread *t,
                                     const emulate_thread *other) {
    const emulate_finding f = {.fault = EMULATE_DIVERGENT_BARRIER,
                               .phase = e->phase,
                               .now = deed_of(t),
                               .before = deed_of(other),
                               .memory = EMULATE_NOWHERE};
    emulate_fail(e, &f);
}

/* The first from `begin` on that is, or is not, in a state. */
static const emulate_thread *find_state(const emulate *e, uint32_t begin, uint32_t end,
                                        emulate_state state, bool is) {
    for (uint32_t i = begin; i < end && i < e->thread_count; i++)
        if ((e->threads[i].state == state) == is)
            return &e->threads[i];
    return NULL;
}

/* One of those that should have come to where it waits for them. */
static const emulate_thread *find_missing(const emulate *e, const emulate_thread *t) {
    uint32_t lanes = t->joins->lanes, first = t->base.thread / lanes * lanes;
    for (uint32_t i = first; i < first + lanes && i < e->thread_count; i++)
        if (e->threads[i].state != STATE_SUBGROUP || e->threads[i].joins != t->joins)
            return &e->threads[i];
    return NULL;
}

/* Nobody can go on. Either some wait at the barrier and others elsewhere, or nowhere any more; or a
 * subgroup waits for some of its own; or slots are waited for. */
static void fail_stuck(emulate *e) {
    const emulate_thread *t = find_state(e, 0, e->thread_count, STATE_BARRIER, true);
    if (t)
        fail_divergent(e, t, find_state(e, 0, e->thread_count, STATE_BARRIER, false));
    t = find_state(e, 0, e->thread_count, STATE_SUBGROUP, true);
    if (t)
        fail_divergent(e, t, find_missing(e, t));
    t = find_state(e, 0, e->thread_count, STATE_SLOT, true);
    const emulate_thread *other = find_state(e, 0, e->thread_count, STATE_SLOT, false);
    fail_divergent(e, t, other ? other : t);
}

/* ---- barriers ---- */

bool emulate_begin_epoch(emulate *e) {
    e->epoch += STAMP_EPOCH;
    if (!emulate_reads_settle(e, false))
        return false;
    return e->epoch < STAMP_UNDER_WAY ||
           status_set(&e->why, STATUS_UNAVAILABLE,
                      "the launch has more than 2^30 workgroups and barriers, which is more than "
                      "the emulator can tell apart; launch it on smaller dimensions");
}

void emulate_barrier(emulated_thread *base, uint32_t site) {
    emulate_barrier_of(base, emulate_thread_of(base)->engine->thread_count, site);
}

void emulate_barrier_of(emulated_thread *base, uint32_t threads, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    emulate *e = t->engine;
    t->site = site & EMULATED_SITE_MASK;
    if (e->at_barrier == 0) {
        e->barrier_site = t->site;
        e->first_at_barrier = base->thread;
    } else if (t->site != e->barrier_site) {
        fail_divergent(e, t, &e->threads[e->first_at_barrier]);
    }
    if (atomic_load_explicit(&e->cancelled, memory_order_relaxed))
        emulate_fail_without(e, STATUS_INTERRUPTED, "the launch was given up");
    make_wait(e, t, STATE_BARRIER);
    if (++e->at_barrier == threads) {
        e->at_barrier = 0;
        if (!emulate_begin_epoch(e))
            leave(e);
        if (threads == e->thread_count)
            make_all_ready(e);
        for (uint32_t i = 0; i < threads && threads < e->thread_count; i++)
            make_ready(e, &e->threads[i]);
    }
    give_turn(t);
    t->state = STATE_READY;
}

void emulate_thread_wait(emulate_thread *t, emulate_state state) {
    if (atomic_load_explicit(&t->engine->cancelled, memory_order_relaxed))
        emulate_fail_without(t->engine, STATUS_INTERRUPTED, "the launch was given up");
    make_wait(t->engine, t, state);
    give_turn(t);
}

void emulate_thread_wake(emulate_thread *t) {
    make_ready(t->engine, t);
}

/* ---- subgroups ---- */

void emulate_join_lanes(emulate_thread *t, uint32_t site, uint32_t lanes, emulate_together what) {
    emulate *e = t->engine;
    uint32_t begin = t->base.thread / lanes * lanes;
    uint32_t left = e->thread_count - begin, count = left < lanes ? left : lanes;
    bool several = lanes > e->subgroup; /* which may meet while some of them wait by themselves */
    emulate_gathering *g = &e->gatherings[several][begin / e->subgroup];
    t->joins = g;
    t->site = site & EMULATED_SITE_MASK;
    make_wait(e, t, STATE_SUBGROUP);
    if (g->arrived == 0) {
        g->first = t->base.thread;
        g->lanes = lanes;
        g->what = what;
    } else if (g->what != what || e->threads[g->first].site != t->site) {
        fail_divergent(e, t, &e->threads[g->first]);
    }
    if (++g->arrived < count) {
        give_turn(t);
        return;
    }
    g->arrived = 0;
    what(&e->threads[begin], count);
    for (uint32_t i = 0; i < count; i++)
        make_ready(e, &e->threads[begin + i]);
}

void emulate_join(emulate_thread *t, uint32_t site, emulate_together what) {
    emulate_join_lanes(t, site, t->engine->subgroup, what);
}

/* ---- a workgroup ---- */

static void run_threads(void *argument) {
    emulate_thread *t = argument;
    emulate *e = t->engine;
    emulate_fiber_begun(&t->fiber);
    for (;;) {
        e->function(&t->base);
        make_wait(e, t, STATE_ENDED);
        e->ended++;
        give_turn(t);
    }
}

bool emulate_group_run(emulate *e) {
    e->at_barrier = e->ended = 0;
    for (uint32_t i = 0; i < e->thread_count; i++) {
        e->threads[i].base.workgroup = e->group;
        e->threads[i].state = STATE_READY;
    }
    make_all_ready(e);
    e->running = &e->threads[e->order[0]];
    emulate_fiber_switch(&e->main, &e->running->fiber);
    for (uint32_t i = 0; i < e->thread_count; i++)
        if (e->threads[i].copies.count)
            emulate_copies_drop(&e->threads[i]);
    for (uint32_t i = 0; i < e->thread_count && e->stage; i++)
        emulate_products_drop(&e->threads[i]);
    emulate_slots_drop(e);
    return !e->failed;
}

void emulate_threads_prepare(emulate *e) {
    const emulate_launch *l = e->launch;
    uint32_t count = l->threads[e->phase];
    e->thread_count = count;
    e->subgroup = l->subgroup;
    e->function = l->phases[e->phase];
    memset(e->gatherings, 0, sizeof e->gatherings);
    for (uint32_t place = 0; place < count; place++)
        e->order[place] = (uint16_t)emulate_order_at(&e->how, place, count);
    for (uint32_t place = 0; place < count; place++)
        e->threads[e->order[place]].place = place;
    for (uint32_t place = 0; place < count; place++)
        e->threads[e->order[place]].next = &e->threads[e->order[(place + 1) % count]];
    for (uint32_t i = 0; i < count; i++) /* a launch begins with the first epoch again */
        e->threads[i].fenced = e->threads[i].fenced_before = 0;
}

/* ---- stacks ---- */

static void begin_anew(emulate *e, uint32_t index) {
    emulate_thread *t = &e->threads[index];
    emulate_fiber_reset(&t->fiber, e->stacks[index / STACKS_AT_ONCE], index % STACKS_AT_ONCE, index,
                        run_threads, t);
}

bool emulate_threads_grow(emulate *e, uint32_t count, status *st) {
    while (e->stack_count < count) {
        void *stacks = emulate_stacks_map(STACKS_AT_ONCE, st);
        if (!stacks)
            return false;
        e->stacks[e->stack_count / STACKS_AT_ONCE] = stacks;
        for (uint32_t i = e->stack_count; i < e->stack_count + STACKS_AT_ONCE; i++) {
            emulate_thread *t = &e->threads[i];
            *t = (emulate_thread){.engine = e, .stamp = (uint64_t)i << STAMP_THREAD_SHIFT};
            begin_anew(e, i);
        }
        e->stack_count += STACKS_AT_ONCE;
    }
    return true;
}

void emulate_threads_reset(emulate *e) {
    for (uint32_t i = 0; i < e->thread_count; i++) {
        if (e->threads[i].state == STATE_ENDED)
            continue;
        emulate_fiber_abandon(&e->threads[i].fiber, &e->main);
        begin_anew(e, i);
    }
}

void emulate_threads_release(emulate *e) {
    e->main = (emulate_fiber){0};
    for (uint32_t i = 0; i < e->stack_count; i++) {
        emulate_fiber_abandon(&e->threads[i].fiber, &e->main);
        vec_release(&e->threads[i].copies);
        vec_release(&e->threads[i].products);
        vec_release(&e->threads[i].sums);
    }
    for (uint32_t i = 0; i < e->stack_count / STACKS_AT_ONCE; i++)
        emulate_stacks_unmap(e->stacks[i], STACKS_AT_ONCE);
    free(e->threads);
}
