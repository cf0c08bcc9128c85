/* emulate_slots.c - slots of shared memory that one thread fills and others read: mbarrier, and
 * boxes of tensors that arrive there (cp.async.bulk.tensor).
 *
 * Bytes arrive at once, but may be read only by who is behind them: each subgroup knows how far
 * each other one had come when it last passed a barrier that this one had arrived at. A fetch has
 * to know of all products that read what it overwrites, and they have to know of it. A subgroup is
 * one here, since what reads slots is done by all of its threads together (wgmma and its wait). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/emulate/emulate_parts.h"

enum { UNIT = 16, PARITY = 1, SWIZZLE_SHIFT = 3 };

typedef struct clocks {
    uint32_t of[SUBGROUPS_MAX];
} clocks;

typedef struct slot_barrier {
    const void *at;
    uint32_t arrivals, missing; /* of a round; of this one */
    int64_t bytes;              /* that have not arrived */
    uint32_t rounds;            /* that are complete */
    clocks arrived, passed;     /* what is known by who arrives now; of the last round */
} slot_barrier;

/* 16 bytes, and who fetched and reads them. */
typedef struct slot_unit {
    uint64_t stamp;       /* of the cell, while they are what was fetched; 0: nothing was */
    uint32_t clock, site; /* of the fetch */
    uint32_t thread;
    uint16_t under_way[SUBGROUPS_MAX]; /* reads that nobody has waited for */
    uint32_t read[SUBGROUPS_MAX];      /* clock of the last one that was */
    uint32_t read_site;
} slot_unit;

typedef struct emulate_slots {
    VEC(slot_barrier) barriers;
    clocks knows[SUBGROUPS_MAX];
    slot_unit *units; /* of the workgroup's memory */
    size_t unit_count;
} emulate_slots;

static uint32_t subgroup_of(const emulate_thread *t) {
    return t->base.thread / t->engine->subgroup;
}

static uint32_t *clock_of(const emulate_thread *t) {
    uint32_t own = subgroup_of(t);
    return &t->engine->slots->knows[own].of[own];
}

static void learn(clocks *to, const clocks *from) {
    for (int i = 0; i < SUBGROUPS_MAX; i++)
        to->of[i] = from->of[i] > to->of[i] ? from->of[i] : to->of[i];
}

/* ---- barriers ---- */

static slot_barrier *find(emulate *e, const void *at) {
    for (size_t i = 0; e->slots && i < e->slots->barriers.count; i++)
        if (e->slots->barriers.items[i].at == at)
            return &e->slots->barriers.items[i];
    return NULL;
}

/* That one at which a thread arrives or waits: its memory is read, as far as races go. */
static slot_barrier *meet(emulate_thread *t, const void *at, uint32_t site) {
    emulate_access(&t->base, at, sizeof(uint64_t), site | EMULATED_SHARED);
    slot_barrier *b = find(t->engine, at);
    if (!b)
        emulate_fail_without(t->engine, STATUS_CORRUPT,
                             "the image waits at a barrier of a slot that it has not opened");
    return b;
}

static emulate_slots *slots_of(emulate *e) {
    if (e->slots)
        return e->slots;
    e->slots = base_calloc(1, sizeof *e->slots);
    e->slots->unit_count = (size_t)(e->shared.size_bytes / UNIT);
    e->slots->units = base_calloc(e->slots->unit_count + 1, sizeof *e->slots->units);
    for (int i = 0; i < SUBGROUPS_MAX; i++)
        e->slots->knows[i].of[i] = 1;
    return e->slots;
}

void emulate_slot_open(emulated_thread *base, void *barrier, uint32_t arrivals, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    slot_barrier b = {.at = barrier, .arrivals = arrivals, .missing = arrivals};
    emulate_access(base, barrier, sizeof(uint64_t), site | EMULATED_SHARED | EMULATED_WRITE);
    emulate_slots *s = slots_of(t->engine);
    slot_barrier *there = find(t->engine, barrier);
    if (there)
        *there = b;
    else
        vec_push(&s->barriers, b);
}

/* Ends the round where all that was to come has; those that wait for it may go on. */
static void settle(emulate *e, slot_barrier *b) {
    if (b->missing || b->bytes)
        return;
    b->passed = b->arrived;
    b->missing = b->arrivals;
    b->rounds++;
    for (uint32_t i = 0; i < e->thread_count; i++)
        if (e->threads[i].state == STATE_SLOT)
            emulate_thread_wake(&e->threads[i]);
}

/* Lets those that pass the barrier know of all that its subgroup has done until now. */
static void arrive(emulate_thread *t, slot_barrier *b) {
    learn(&b->arrived, &t->engine->slots->knows[subgroup_of(t)]);
    ++*clock_of(t);
}

void emulate_slot_expect(emulated_thread *base, void *barrier, uint32_t bytes, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    slot_barrier *b = meet(t, barrier, site);
    b->bytes += bytes;
    arrive(t, b);
    b->missing -= b->missing > 0;
    settle(t->engine, b);
}

void emulate_slot_free(emulated_thread *base, void *barrier, uint32_t lane, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    if (lane)
        return;
    slot_barrier *b = meet(t, barrier, site);
    arrive(t, b);
    b->missing -= b->missing > 0;
    settle(t->engine, b);
}

void emulate_slot_wait(emulated_thread *base, void *barrier, uint32_t parity, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    while ((meet(t, barrier, site)->rounds & PARITY) == (parity & PARITY)) {
        t->site = site & EMULATED_SITE_MASK;
        emulate_thread_wait(t, STATE_SLOT);
    }
    learn(&t->engine->slots->knows[subgroup_of(t)], &find(t->engine, barrier)->passed);
}

/* ---- what is fetched, and read ---- */

static slot_unit *unit_at(const emulate *e, const void *shared) {
    size_t i = (size_t)((uintptr_t)shared - e->shared.base) / UNIT;
    return e->slots && i < e->slots->unit_count ? &e->slots->units[i] : NULL;
}

_Noreturn static void fail(emulate_thread *t, const void *shared, emulate_deed now,
                           emulate_deed before) {
    const emulate *e = t->engine;
    const emulate_finding f = {.fault = EMULATE_RACE,
                               .phase = e->phase,
                               .now = now,
                               .before = before,
                               .memory = EMULATE_SHARED,
                               .offset = (int64_t)((uintptr_t)shared - e->shared.base),
                               .memory_bytes = e->shared.size_bytes,
                               .bytes = UNIT};
    emulate_fail(t->engine, &f);
}

static emulate_deed deed(const emulate *e, emulate_act act, uint32_t thread, uint32_t site) {
    return (emulate_deed){act, e->group, thread, site};
}

bool emulate_slot_read(emulate_thread *t, const void *shared, uint32_t site) {
    emulate *e = t->engine;
    slot_unit *u = unit_at(e, shared);
    if (!u || !u->stamp || emulate_written(e, shared) != u->stamp)
        return false;
    const uint32_t own = subgroup_of(t);
    if (e->slots->knows[own].of[u->thread / e->subgroup] < u->clock)
        fail(t, shared, deed(e, EMULATE_MULTIPLIES, t->base.thread, site),
             deed(e, EMULATE_FETCHES, u->thread, u->site));
    u->under_way[own]++;
    u->read_site = site;
    return true;
}

bool emulate_slot_settle(emulate_thread *t, const void *shared) {
    slot_unit *u = unit_at(t->engine, shared);
    const uint32_t own = subgroup_of(t);
    if (!u || !u->under_way[own])
        return false;
    u->under_way[own]--;
    u->read[own] = *clock_of(t);
    return true;
}

/* Nothing reads the unit that the thread does not know to be done. */
static void take(emulate_thread *t, unsigned char *shared, uint32_t site) {
    emulate *e = t->engine;
    emulate_access(&t->base, shared, UNIT, site | EMULATED_SHARED | EMULATED_WRITE);
    slot_unit *u = unit_at(e, shared);
    for (uint32_t i = 0; i < SUBGROUPS_MAX; i++)
        if (u->under_way[i] || u->read[i] > e->slots->knows[subgroup_of(t)].of[i])
            fail(t, shared, deed(e, EMULATE_FETCHES, t->base.thread, site),
                 deed(e, EMULATE_MULTIPLIES, i * e->subgroup, u->read_site));
    /* As if before this epoch: who knows of it says the clock. */
    uint64_t before = e->epoch > e->group_start ? e->epoch - STAMP_EPOCH : e->epoch;
    *u = (slot_unit){.stamp = before | t->stamp | site,
                     .clock = *clock_of(t),
                     .site = site,
                     .thread = t->base.thread};
    emulate_mark(t, shared, UNIT, u->stamp);
}

/* ---- boxes ---- */

typedef struct box_place {
    unsigned char *to;
    const unsigned char *from; /* of its row; NULL: it is outside */
} box_place;

/* Copies 16 bytes of a row, or zeros, to where the swizzle of rows of so many bytes has them. */
static void copy_unit(emulate_thread *t, const box_place *p, uint64_t byte, uint64_t row_bytes,
                      uint32_t site) {
    uintptr_t to = (uintptr_t)p->to + byte, offset = to - t->engine->shared.base;
    offset ^= offset >> SWIZZLE_SHIFT & (row_bytes - UNIT);
    unsigned char *at = (unsigned char *)t->engine->shared.base + offset;
    if (p->from)
        emulate_access(&t->base, p->from + byte, UNIT, site);
    take(t, at, site);
    if (p->from)
        memcpy(at, p->from + byte, UNIT);
    else
        memset(at, 0, UNIT);
}

/* The beginning of row `number` of the box; NULL: it is not in the tensor. */
static const unsigned char *row_of(const emulate_thread *t, const emulated_map *map,
                                   const int32_t *coordinates, int64_t number) {
    int64_t offset = coordinates[0];
    for (uint32_t i = 1; i < map->rank; i++) {
        int64_t at = coordinates[i] + number % map->box[i];
        number /= map->box[i];
        offset += at * map->strides[i];
        if (at < 0 || at >= map->dims[i])
            return NULL;
    }
    return (const unsigned char *)t->base.buffers[map->buffer] + offset * map->element_bytes;
}

void emulate_fetch(emulated_thread *base, void *shared, const emulated_map *map,
                   const int32_t *coordinates, void *barrier, uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    emulate *e = t->engine;
    const uint32_t number = site & EMULATED_SITE_MASK;
    const uint64_t row_bytes = (uint64_t)map->box[0] * map->element_bytes;
    int64_t rows = 1;
    emulate_need_fence(t, barrier, sizeof(uint64_t), number);
    slot_barrier *b = meet(t, barrier, number);
    for (uint32_t i = 1; i < map->rank; i++)
        rows *= map->box[i];
    if (coordinates[0] < 0 || coordinates[0] + map->box[0] > map->dims[0])
        emulate_fail_without(e, STATUS_CORRUPT, "the image fetches past a row's end");
    for (int64_t i = 0; i < rows; i++) {
        const box_place p = {(unsigned char *)shared + (uint64_t)i * row_bytes,
                             row_of(t, map, coordinates, i)};
        for (uint64_t byte = 0; byte < row_bytes; byte += UNIT)
            copy_unit(t, &p, byte, row_bytes, number);
    }
    b->bytes -= rows * (int64_t)row_bytes;
    learn(&b->arrived, &e->slots->knows[subgroup_of(t)]);
    ++*clock_of(t);
    settle(e, b);
}

/* ---- a workgroup ---- */

void emulate_slots_drop(emulate *e) {
    if (!e->slots)
        return;
    vec_release(&e->slots->barriers);
    free(e->slots->units);
    free(e->slots);
    e->slots = NULL;
}
