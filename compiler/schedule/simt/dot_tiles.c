/* dot_tiles.c - tiles of a contraction for targets with threads: one tile is a workgroup's, its
 * sums are in the threads' registers.
 *
 * Where there are rows enough, both sides go through the workgroup's memory in stages of a few
 * steps, so that each element is read from far once for a tile. A few rows are read as they lie.
 *
 * A matrix unit multiplies where the order is its own, or outside of strict any other; its tiles
 * are larger, because it takes from the workgroup's memory what threads would take from registers.
 */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"
#include "schedule/simt/simt.h"

enum {
    MOST_SUMS = 64,       /* of a thread: with them fit in its registers what they are made from */
    FEW_ROWS_THREADS = 8, /* rows up to which nothing is read twice that is worth a stage */
    STAGE_STEPS = 16,
    COPIED_STEPS = 32,     /* where they are copied and there is room */
    EDGE_STEPS = 8,        /* where tiles are cut: their elements are loaded one by one */
    STAGED_DEPTH = 2,      /* stages at once, where they are copied */
    ALONE_DEPTH = 3,       /* ... of a workgroup that has its unit for itself */
    STAGED_WORKGROUPS = 3, /* that have room beside each other: their registers have, too */
    LEAST_COPY = 4,        /* bytes that a chip copies at once */
    SMALLEST_TILE = 1024,  /* sums of a workgroup that is worth its barriers */
    UNSTAGED_COLUMNS = 4,  /* of a thread */
    UNSTAGED_LOADS = 64,
    UNIT_TILE = 128,  /* rows and columns of a matrix unit's tile at most: 128 sums of a thread */
    UNIT_BYTES = 128, /* of a line in a stage of it, at most */
    UNIT_STAGES = 4,
    UNIT_PADDING = 16 /* bytes that rows of a stage are longer than they need to be */
};

/* ---- matrix units ---- */

static bool is_known(const contraction *c) {
    return ir_dim_is_static(c->shape.m) && ir_dim_is_static(c->shape.n) &&
           ir_dim_is_static(c->shape.k);
}

/* Is at least half an instruction needed, and one's steps? */
static bool is_worth(const contraction *c, const schedule_unit *u) {
    return c->shape.rows >= u->m / 2 && c->shape.columns >= u->n / 2 && c->shape.k >= u->k;
}

/* Chooses by the type in memory: a wider type computes with more than the unit reads. Where an
 * order is asked for, an instruction of a subgroup does it whatever there is of it. */
static const schedule_unit *unit_for(const contraction *c, const char *order) {
    const schedule_target *t = c->s->target;
    dtype left = contraction_element(c, c->lhs.buffer),
          right = contraction_element(c, c->rhs.buffer);
    for (uint32_t i = 0; i < t->unit_count; i++) {
        const schedule_unit *u = &t->units[i];
        bool fits = u->factor == left && left == right &&
                    (order ? strcmp(order, u->name) == 0 : u->stands_in);
        if (fits && (is_worth(c, u) || (order && !u->in_memory)))
            return u;
    }
    return NULL;
}

/* NULL: threads multiply. */
static const schedule_unit *choose_unit(const contraction *c) {
    const char *order = ir_op_string(c->s->p->g, c->op, "order", "");
    bool plain =
        c->counts.of == COUNTS_NONE && !c->windows && is_known(c) && c->element == DTYPE_F32;
    if (!plain || c->shape.k == 0)
        return NULL;
    if (c->order == ORDER_UNIT)
        return unit_for(c, order);
    bool free = c->order != ORDER_PAIRS512 && strcmp(c->s->request->profile, "strict") != 0;
    return free ? unit_for(c, NULL) : NULL;
}

/* Bytes of a slot; what whole stages leave over has its own beside those of `depth`. */
static int64_t slot_bytes(const contraction *c, int64_t rows, int64_t columns, int64_t steps) {
    int64_t padding = c->unit->in_memory ? 0 : UNIT_PADDING;
    return (rows + columns) * (steps * (int64_t)dtype_size(c->unit->factor) + padding);
}

/* As many as leave room for other workgroups; of what does not fit, fewer steps. */
static void unit_stages(const contraction *c, int64_t rows, int64_t columns, int64_t *steps,
                        int64_t *depth) {
    int64_t room = c->s->target->l1_bytes, beside;
    *steps = UNIT_BYTES / (int64_t)dtype_size(c->unit->factor);
    while (*steps > c->unit->k &&
           (2 + (c->shape.k % *steps != 0)) * slot_bytes(c, rows, columns, *steps) > room)
        *steps /= 2;
    beside = c->shape.k % *steps != 0;
    *depth = room / STAGED_WORKGROUPS / slot_bytes(c, rows, columns, *steps) - beside;
    *depth = clamp(*depth, 2, UNIT_STAGES);
}

/* Squares, and smaller ones where that leaves units of the chip without work. */
static void unit_tile(const contraction *c, int64_t *rows, int64_t *columns) {
    int64_t units = c->s->target->threads;
    *rows = clamp(power_at_least(c->shape.rows, UNIT_TILE), c->unit->m, UNIT_TILE);
    *columns = clamp(power_at_least(c->shape.columns, UNIT_TILE), c->unit->n, UNIT_TILE);
    while (*rows * *columns > SMALLEST_TILE && contraction_workgroups(c, *rows, *columns) < units)
        *(*rows < *columns || *rows <= c->unit->m ? columns : rows) /= 2;
}

/* ---- stages ---- */

/* Tells why an order of a unit cannot be kept. */
static void refuse_unit(contraction *c) {
    if (!c->s->failed)
        status_set(c->s->st, STATUS_UNAVAILABLE,
                   "a matrix unit's order is compiled for the dimensions of a case: leave out "
                   "--generic");
    c->s->failed = true;
}

bool simt_stages_dot(contraction *c) {
    if (c->order == ORDER_UNIT && !is_known(c))
        refuse_unit(c);
    c->unit = choose_unit(c);
    if (c->unit)
        return true;
    bool plain = c->counts.of == COUNTS_NONE && !c->windows && c->order != ORDER_PAIRS512;
    return plain && ir_dim_is_static(c->shape.k) && c->shape.k > 1 &&
           c->shape.rows > FEW_ROWS_THREADS && c->shape.columns > FEW_ROWS_THREADS;
}

/* As large as registers allow, and smaller where that leaves more than a quarter of the chip's
 * units without work. */
static void staged_tile(const contraction *c, int64_t *rows, int64_t *columns) {
    int64_t threads = c->s->target->vector_lanes, units = c->s->target->threads;
    int64_t limit = MOST_SUMS * threads * 4 / (int64_t)dtype_size(c->element);
    *rows = power_at_least(clamp(c->shape.rows, 1, threads), threads);
    *columns = power_at_least(clamp(c->shape.columns, 1, threads), threads);
    while (*rows * *columns > limit)
        *(*rows < *columns ? columns : rows) /= 2;
    while (*rows * *columns > SMALLEST_TILE &&
           4 * contraction_workgroups(c, *rows, *columns) < 3 * units)
        *(*rows < *columns ? columns : rows) /= 2;
}

/* Checks that both sides could be copied: as they are in memory they are multiplied. */
static bool is_copyable(const contraction *c) {
    return c->s->target->copies && dtype_size(c->element) >= LEAST_COPY &&
           contraction_element(c, c->lhs.buffer) == c->element &&
           contraction_element(c, c->rhs.buffer) == c->element;
}

typedef struct stages {
    int64_t steps, depth;
} stages;

/* Several workgroups of a unit load while others multiply, and long stages have fewer barriers; one
 * that is alone there has more stages under way. */
static stages staged_by(const contraction *c, int64_t rows, int64_t columns) {
    const schedule_target *t = c->s->target;
    bool cut = c->shape.rows % rows != 0 || c->shape.columns % columns != 0,
         several = contraction_workgroups(c, rows, columns) >= STAGED_WORKGROUPS * t->threads;
    int64_t step = (rows + columns) * (int64_t)dtype_size(c->element),
            room = t->l1_bytes / STAGED_WORKGROUPS;
    stages s = {cut ? EDGE_STEPS : STAGE_STEPS, ALONE_DEPTH};
    if (several && !cut && is_copyable(c) && STAGED_DEPTH * COPIED_STEPS * step <= room)
        s.steps = COPIED_STEPS;
    if (several || ALONE_DEPTH * s.steps * step > room)
        s.depth = STAGED_DEPTH;
    return s;
}

static void unstaged_tile(const contraction *c, int64_t *rows, int64_t *columns) {
    int64_t threads = c->s->target->vector_lanes;
    *rows = clamp(c->shape.rows, 1, FEW_ROWS_THREADS);
    *columns = clamp(round_up(c->shape.columns, threads), threads, UNSTAGED_COLUMNS * threads);
    while (*columns > threads && contraction_workgroups(c, *rows, *columns) < c->s->target->threads)
        *columns /= 2;
}

/* Steps whose loads are under way at once: what a thread has registers for. */
static int64_t unstaged_steps(const contraction *c, int64_t rows, int64_t columns) {
    int64_t each = rows + columns / c->s->target->vector_lanes, steps = UNSTAGED_LOADS;
    while (steps > 1 && steps * each > UNSTAGED_LOADS)
        steps /= 2;
    return steps;
}

/* They are read as they lie, through the workgroup's memory where that helps. */
void simt_dot_operands(contraction *c) {
    (void)c;
}

void simt_dot_tiles(contraction *c) {
    scheduler *s = c->s;
    int64_t rows, columns;
    contraction_tiles *t = &c->tiles;
    (c->unit ? unit_tile : c->staged ? staged_tile : unstaged_tile)(c, &rows, &columns);
    t->mr.size = scheduler_parameter(s, IN_DOT, MR, rows, &t->mr.name);
    t->nr.size = scheduler_parameter(s, IN_DOT, NR, columns, &t->nr.name);
    t->bm.size = scheduler_parameter(s, IN_DOT, BM, t->mr.size, &t->bm.name);
    t->bn.size = scheduler_parameter(s, IN_DOT, BN, t->nr.size, &t->bn.name);
    if (c->unit) {
        int64_t steps, depth;
        unit_stages(c, t->mr.size, t->nr.size, &steps, &depth);
        scheduler_parameter(s, IN_DOT, STAGE, steps, &t->stage);
        scheduler_parameter(s, IN_DOT, DEPTH, depth, &t->depth);
    } else if (c->staged) {
        stages staged = staged_by(c, t->mr.size, t->nr.size);
        scheduler_parameter(s, IN_DOT, STAGE, staged.steps, &t->stage);
        if (is_copyable(c))
            scheduler_parameter(s, IN_DOT, DEPTH, staged.depth, &t->depth);
    }
    int64_t unroll = 1;
    if (!c->staged && c->counts.of == COUNTS_NONE && ir_dim_is_static(c->shape.k))
        unroll =
            scheduler_parameter(s, IN_DOT, UNROLL, unstaged_steps(c, t->mr.size, t->nr.size), NULL);
    t->unroll = scheduler_int(s, contraction_whole_steps(c, unroll));
    t->prefetch = scheduler_int(s, 0);
}
