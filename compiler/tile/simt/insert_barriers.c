/* insert_barriers.c - where the threads of a workgroup have to wait for each other.
 *
 * What has been touched since the last barrier is kept in a list; an operation that would meet one
 * of those in another thread (access.h) gets a barrier before it. A loop is looked at by itself
 * first, then with what its last trip leaves, and then with what stands before it: there the
 * barrier goes before the loop and not into each trip. */
#include <stdlib.h>

#include "base/vec.h"
#include "tile/simt/access.h"
#include "tile/simt/simt.h"

typedef VEC(access) access_list;

typedef struct barrier_state {
    ir_module *m;
    int64_t *written; /* memories that the phase writes: opcode and name */
    size_t written_count;
    bool changed;
} barrier_state;

static void copy_list(access_list *to, const access_list *from) {
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        vec_push(to, from->items[i]);
}

static void insert_before(barrier_state *w, ir_op op) {
    ir_builder b = {w->m, ir_op_get(w->m, op)->block, op, ir_op_get(w->m, op)->location};
    ir_op_spec spec = {.opcode = TILE_BARRIER};
    ir_build(&b, &spec);
    w->changed = true;
}

/* One row, and columns that are left once its parts are added to each other. */
bool simt_fold_waits(const ir_module *m, ir_op fold) {
    const ir_op_data *d = ir_op_get(m, fold);
    const ir_type_data *part = ir_type_of(m, d->operands[0]);
    return part->dims[0] == 1 && part->dims[1] > 1;
}

static bool is_exchange(const ir_module *m, ir_op op) {
    return ir_op_get(m, op)->opcode == TILE_FOLD && simt_fold_waits(m, op);
}

/* ---- bodies of which one is run ---- */

static bool is_constant_or(const ir_module *m, ir_value index, int opcode, ir_value with,
                           int64_t *constant) {
    ir_builder b = {.m = (ir_module *)m};
    ir_op op = ir_value_get(m, index)->op;
    if (!op || ir_op_get(m, op)->opcode != opcode)
        return false;
    const ir_op_data *d = ir_op_get(m, op);
    for (int i = 0; i < 2; i++)
        if (tile_constant_index(&b, d->operands[i], constant) &&
            (!with || d->operands[1 - i] == with))
            return true;
    return false;
}

/* A loop over whole steps from x on, up to a number F of them, and one over what is left behind F,
 * at most a step from x: where the first has a trip, x is at most F less a step. */
static bool excludes(const ir_module *m, ir_op whole, ir_op rest) {
    const ir_op_data *w = ir_op_get(m, whole), *r = ir_op_get(m, rest);
    int64_t end, from, step = ir_op_int(m, whole, "step", 1);
    ir_value x = w->operands[0];
    return is_constant_or(m, w->operands[1], TILE_INDEX_MIN, 0, &end) &&
           is_constant_or(m, r->operands[0], TILE_INDEX_MAX, x, &from) && end <= from &&
           from % step == 0 && access_index_divisor(m, x) % step == 0 &&
           access_is_within(m, r->operands[1], x, step);
}

static ir_op parent_of(const ir_module *m, ir_op op) {
    return ir_block_parent(m, ir_op_get(m, op)->block);
}

/* Tells that the two are in loops side by side of which only one has a trip. */
static bool is_either(const ir_module *m, ir_op before, ir_op now) {
    for (ir_op x = before; ir_op_get(m, x)->opcode != TILE_PHASE; x = parent_of(m, x))
        for (ir_op y = now; ir_op_get(m, y)->opcode != TILE_PHASE; y = parent_of(m, y))
            if (x != y && ir_op_get(m, x)->block == ir_op_get(m, y)->block)
                return ir_op_get(m, x)->opcode == TILE_FOR && ir_op_get(m, y)->opcode == TILE_FOR &&
                       excludes(m, x, y);
    return false;
}

static bool meets(const barrier_state *w, const access_list *pending, const access *a) {
    for (size_t i = 0; i < pending->count; i++) {
        const access *before = &pending->items[i];
        if (access_conflicts(w->m, before, a) &&
            (before->earlier || !is_either(w->m, before->op, a->op)))
            return true;
    }
    return false;
}

/* Memory that nothing writes in this phase is of no interest. */
static bool is_written(const barrier_state *w, const access *a) {
    for (size_t i = 0; i < w->written_count; i += 2)
        if (w->written[i] == a->opcode && w->written[i + 1] == a->memory)
            return true;
    return false;
}

enum { MOST_ACCESSES = 2 };

/* Returns how many there are, of memory that is written. */
static int find_accesses(const barrier_state *w, ir_op op, access a[MOST_ACCESSES]) {
    int count = access_of(w->m, op, &a[0]) && is_written(w, &a[0]);
    count += access_of_left(w->m, op, &a[count]) && is_written(w, &a[count]);
    return count;
}

static bool any_meets(const barrier_state *w, const access_list *pending, const access *a,
                      int count) {
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= meets(w, pending, &a[i]);
    return found;
}

/* ---- loops ---- */

static int64_t trips_of(const ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    int64_t length, step = ir_op_int(m, loop, "step", 1);
    if (!access_distance(m, d->operands[1], d->operands[0], &length))
        return -1;
    return length > 0 ? (length + step - 1) / step : 0;
}

/* Tells that whoever goes through the block certainly waits. */
static bool certainly_waits(const ir_module *m, ir_block block) {
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next) {
        int opcode = ir_op_get(m, op)->opcode;
        if (opcode == TILE_BARRIER || is_exchange(m, op) ||
            (opcode == TILE_FOR && trips_of(m, op) > 0 &&
             certainly_waits(m, ir_op_block(m, op, 0))))
            return true;
    }
    return false;
}

/* Tells that the block meets what is pending before it waits. *waits: it did. */
static bool block_meets(const barrier_state *w, ir_block block, const access_list *pending,
                        bool *waits) {
    const ir_module *m = w->m;
    access a[MOST_ACCESSES];
    for (ir_op op = ir_block_get(m, block)->first; op && !*waits; op = ir_op_get(m, op)->next) {
        int opcode = ir_op_get(m, op)->opcode;
        if (opcode == TILE_BARRIER || is_exchange(m, op)) {
            *waits = true;
        } else if (opcode == TILE_FOR) {
            bool inside = false;
            if (block_meets(w, ir_op_block(m, op, 0), pending, &inside))
                return true;
            *waits = inside && trips_of(m, op) > 0;
        } else if (any_meets(w, pending, a, find_accesses(w, op, a))) {
            return true;
        }
    }
    return false;
}

static void go_through(barrier_state *w, ir_block block, access_list *pending);

/* Brings what the last trip left to the next one. */
static void go_around(barrier_state *w, ir_op loop, access_list *left) {
    ir_block body = ir_op_block(w->m, loop, 0);
    access_list around = {0};
    bool before = w->changed;
    do {
        w->changed = false;
        copy_list(&around, left);
        for (size_t i = 0; i < around.count; i++)
            around.items[i].earlier = loop;
        go_through(w, body, &around);
        before |= w->changed;
        left->count = 0;
        go_through(w, body, left);
    } while (w->changed);
    w->changed = before;
    vec_release(&around);
}

static void go_through_loop(barrier_state *w, ir_op loop, access_list *pending) {
    ir_block body = ir_op_block(w->m, loop, 0);
    access_list left = {0};
    bool waits = false;
    go_through(w, body, &left);
    int64_t trips = trips_of(w->m, loop);
    if (!access_runs_once(w->m, loop) && left.count)
        go_around(w, loop, &left);
    if (pending->count && block_meets(w, body, pending, &waits)) {
        insert_before(w, loop);
        pending->count = 0;
    }
    if (trips > 0 && certainly_waits(w->m, body))
        pending->count = 0;
    for (size_t i = 0; i < left.count; i++)
        vec_push(pending, left.items[i]);
    vec_release(&left);
}

static void go_through(barrier_state *w, ir_block block, access_list *pending) {
    access a[MOST_ACCESSES];
    for (ir_op op = ir_block_get(w->m, block)->first; op; op = ir_op_get(w->m, op)->next) {
        int opcode = ir_op_get(w->m, op)->opcode;
        if (opcode == TILE_FOR) {
            go_through_loop(w, op, pending);
        } else if (opcode == TILE_BARRIER || is_exchange(w->m, op)) {
            pending->count = 0;
        } else {
            int count = find_accesses(w, op, a);
            if (any_meets(w, pending, a, count)) {
                insert_before(w, op);
                pending->count = 0;
            }
            for (int i = 0; i < count; i++)
                vec_push(pending, a[i]);
        }
    }
}

/* ---- phases ---- */

typedef struct written_list {
    VEC(int64_t) items;
} written_list;

static void note_written(const ir_module *m, ir_op op, written_list *list) {
    access a;
    if (!access_of(m, op, &a) || !a.writes)
        return;
    vec_push(&list->items, (int64_t)a.opcode);
    vec_push(&list->items, a.memory);
}

void simt_more_barriers(ir_module *m) {
    barrier_state w = {.m = m};
    access a;
    for (ir_walk walk = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&walk);)
        if (access_of(m, walk.op, &a) && ir_op_get(m, parent_of(m, walk.op))->opcode != TILE_LOADER)
            insert_before(&w, walk.op);
}

bool simt_insert_barriers(ir_module *m, status *st) {
    (void)st;
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        written_list written = {0};
        access_list pending = {0};
        for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
            note_written(m, w.op, &written);
        barrier_state w = {m, written.items.items, written.items.count, false};
        go_through(&w, ir_op_block(m, op, 0), &pending);
        vec_release(&pending);
        vec_release(&written.items);
    }
    return true;
}
