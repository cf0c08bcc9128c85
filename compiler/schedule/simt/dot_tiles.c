/* dot_tiles.c - tiles of a contraction for targets with threads: one tile is a workgroup's, its
 * sums are in the threads' registers.
 *
 * Where there are rows enough, both sides go through the workgroup's memory in stages of a few
 * steps, so that each element is read from far once for a tile. A few rows are read as they lie.
 *
 * A matrix unit multiplies where the order is its own, where its sums are exact or one fma after
 * the other, as those of threads are, or outside of strict any other; its tiles are larger, because
 * it takes from the workgroup's memory what threads would take from registers.
 */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"
#include "schedule/simt/simt.h"

enum {
    MOST_SUMS = 64,       /* of a thread: with them fit in its registers what they are made from */
    FEW_ROWS_THREADS = 8, /* rows of a thread without stages; so few columns are not worth them */
    STAGE_STEPS = 16,
    COPIED_STEPS = 32,     /* where they are copied and there is room */
    EDGE_STEPS = 8,        /* where tiles are cut: their elements are loaded one by one */
    STAGED_DEPTH = 2,      /* stages at once, where they are copied */
    ALONE_DEPTH = 3,       /* ... of a workgroup that has its unit for itself */
    STAGED_WORKGROUPS = 3, /* that have room beside each other: their registers have, too */
    LOADED_WORKGROUPS = 2, /* ... with a loader each, which has registers as well */
    GROUP_WARPS = 4,       /* that an instruction of a unit takes */
    MOST_GROUPS = 2,       /* that share stages: with a loader beside them they fill a unit */
    LEAST_COPY = 4,        /* bytes that a chip copies at once */
    SMALLEST_TILE = 1024,  /* sums of a workgroup that is worth its barriers */
    UNSTAGED_COLUMNS = 4,  /* of a thread */
    UNSTAGED_LOADS = 64,
    UNIT_TILE = 128,  /* rows and columns of a matrix unit's tile at most: 128 sums of a thread */
    UNIT_BYTES = 128, /* of a line in a stage of it, at most */
    UNIT_STAGES = 4,
    UNIT_PADDING = 16, /* bytes that rows of a stage are longer than they need to be */
    BOX_STRIDE = 16,   /* bytes of which rows of what is copied by boxes are multiples */
    BOX_LINES = 256    /* of a box, at most */
};

typedef struct stages {
    int64_t steps, depth;
} stages;

/* ---- matrix units ---- */

static bool is_known(const contraction *c) {
    return ir_dim_is_static(c->shape.m) && ir_dim_is_static(c->shape.n) &&
           ir_dim_is_static(c->shape.k);
}

/* Is at least half an instruction needed, and one's steps? */
static bool is_worth(const contraction *c, const schedule_unit *u) {
    return c->shape.rows >= u->m / 2 && c->shape.columns >= u->n / 2 && c->shape.k >= u->k;
}

/* Whole instructions make each chain of the order. */
static bool is_chained(const contraction *c, const schedule_unit *u) {
    const int64_t chunk = order_info_of(c->order)->chunk;
    return c->order != ORDER_PAIRS512 && (chunk || c->order == ORDER_SEQ) && chunk % u->k == 0 &&
           c->shape.k % u->k == 0;
}

/* May it take the place of threads? */
static bool may_multiply(const contraction *c, const schedule_unit *u) {
    bool free = c->order != ORDER_PAIRS512 && strcmp(c->s->request->profile, "strict") != 0;
    return u->exact || (u->chain ? (free || u->equal) && is_chained(c, u) : free && u->stands_in);
}

/* Chooses by the type in memory: a wider type computes with more than the unit reads. Where an
 * order is asked for, an instruction of a subgroup does it whatever there is of it. */
static const schedule_unit *unit_for(const contraction *c, const char *order) {
    const schedule_target *t = c->s->target;
    dtype left = contraction_element(c, c->lhs.buffer),
          right = contraction_element(c, c->rhs.buffer);
    for (uint32_t i = 0; i < t->unit_count; i++) {
        const schedule_unit *u = &t->units[i];
        bool fits = u->factor == left && left == right && u->sum == c->element &&
                    (order ? strcmp(order, u->name) == 0 : may_multiply(c, u));
        if (fits && (is_worth(c, u) || (order && (!u->in_memory || u->alone))))
            return u;
    }
    return NULL;
}

/* NULL: threads multiply. */
static const schedule_unit *choose_unit(const contraction *c) {
    const char *order = ir_op_string(c->s->p->g, c->op, "order", "");
    if (c->counts.of != COUNTS_NONE || c->windows || !is_known(c) || c->shape.k == 0)
        return NULL;
    return unit_for(c, c->order == ORDER_UNIT ? order : NULL);
}

/* Bytes of a slot; what whole stages leave over has its own beside those of `depth`. */
static int64_t slot_bytes(const contraction *c, int64_t steps) {
    int64_t padding = c->unit->in_memory ? 0 : UNIT_PADDING;
    return (c->tiles.mr.size + c->tiles.nr.size) *
           (steps * (int64_t)dtype_size(c->unit->factor) + padding);
}

static bool slots_fit(const void *of, const int64_t *steps) {
    const contraction *c = of;
    int64_t slots = 2 + (c->shape.k % *steps != 0);
    return slots * slot_bytes(c, *steps) <= c->s->target->l1_bytes;
}

static int64_t stages_beside(const contraction *c, int64_t steps, int64_t workgroups) {
    int64_t room = c->s->target->l1_bytes / workgroups / slot_bytes(c, steps);
    return clamp(room - (c->shape.k % steps != 0), 2, UNIT_STAGES);
}

/* As many as leave room for other workgroups; of what does not fit, fewer steps. */
static stages unit_stages(const contraction *c) {
    int64_t most = UNIT_BYTES / (int64_t)dtype_size(c->unit->factor);
    int64_t steps = size_search_one((size_search){.rule = SIZES_FIT, .fits = slots_fit, .of = c},
                                    (size_dim){.most = most, .least = c->unit->k});
    return (stages){steps, stages_beside(c, steps, STAGED_WORKGROUPS)};
}

/* ---- loaders ---- */

/* Elements of a row that outer indices, which have numbers, reach beyond its first; -1: they end
 * between multiples of `unit`. Others go by whole rows. */
static int64_t reach_in_row(const contraction *c, const affine *access, ir_dim row, int64_t unit) {
    int64_t reach = 0;
    for (int i = 0; i < c->shape.outer; i++) {
        ir_dim along = access->coefficient[contraction_outer_axis(c, i)],
               extent = c->shape.map.extent[i];
        if (!ir_dim_is_static(extent) || !ir_dim_is_static(along) || along < 0 ||
            along % row % unit != 0)
            return -1;
        reach += along % row ? (extent - 1) * along : 0;
    }
    return reach;
}

/* Are the rows of a side of an argument such that boxes of them are copied at once? `lines`: the
 * axis beside k, of that extent. */
static bool is_boxes(const contraction *c, const contraction_operand *side, contraction_axis lines,
                     int64_t extent) {
    const ir_dim along_k = contraction_along(c, &side->access, AXIS_K),
                 along = contraction_along(c, &side->access, lines),
                 row = along_k == 1 ? along : along_k, from = side->access.constant;
    const int64_t unit = BOX_STRIDE / (int64_t)dtype_size(c->unit->factor),
                  length = along_k == 1 ? c->shape.k : extent;
    bool known = ir_dim_is_static(row) && ir_dim_is_static(from) && row > 0,
         beside = along_k == 1 || (along == 1 && c->unit->reads_lines &&
                                   !(lines == AXIS_M && c->tiles.mr.size > c->unit->m)),
         argument = !ir_value_get(c->s->m, side->buffer)->op && side->packing == PACK_NOT;
    if (!known || !beside || !argument || row % unit != 0 || from % unit != 0)
        return false;
    int64_t reach = reach_in_row(c, &side->access, row, unit);
    return reach >= 0 && from % row + reach + length <= row;
}

/* Can a thread beside the workgroup's load the stages of its only tile, all of them whole? */
static bool is_loadable(const contraction *c, int64_t steps) {
    const contraction_tiles *t = &c->tiles;
    bool whole = t->bm.size == t->mr.size && t->bn.size == t->nr.size &&
                 c->shape.m % t->mr.size == 0 && c->shape.n % t->nr.size == 0;
    return c->unit && c->unit->in_memory && c->stageable && whole && t->mr.size % c->unit->m == 0 &&
           t->nr.size % c->unit->n == 0 && t->nr.size <= BOX_LINES && steps > 0 &&
           steps % c->unit->k == 0 && c->shape.k % steps == 0 && c->shape.k > 2 * steps &&
           is_boxes(c, &c->lhs, AXIS_M, c->shape.m) && is_boxes(c, &c->rhs, AXIS_N, c->shape.n);
}

/* All phases have as many threads, so that there may be several groups of warps where it is the
 * only one. */
static bool may_be_groups(const contraction *c) {
    return c->s->p->group_count == 1;
}

/* Would a loader bring what several groups of warps multiply, were the tile of this size, and is
 * nothing else asked for? */
static bool is_shared(const contraction *c, const int64_t sizes[2]) {
    contraction of = *c;
    contraction_tiles *t = &of.tiles;
    t->mr.size = t->bm.size = sizes[0];
    t->nr.size = t->bn.size = sizes[1];
    const setting *asked = scheduler_fetch(c->s, true);
    return may_be_groups(c) && c->unit->in_memory &&
           scheduler_foresee(c->s, "MR", sizes[0]) == sizes[0] &&
           scheduler_foresee(c->s, "WARPS", MOST_GROUPS * GROUP_WARPS) != GROUP_WARPS &&
           scheduler_foresee(c->s, "LOADER", !asked || asked->overlaps) &&
           is_loadable(&of, UNIT_BYTES / (int64_t)dtype_size(c->unit->factor));
}

/* Registers of a thread for its sums: of chunks, for the total, too. */
static int64_t sum_registers(const contraction *c, const size_dim dims[2]) {
    enum { REGISTER = 4 };
    const int64_t chunk = contraction_chunk(c), each = (int64_t)dtype_size(c->unit->sum) / REGISTER;
    const bool chunks = c->unit->chain && chunk && c->shape.k > chunk;
    return dims[0].most * dims[1].most / c->s->target->vector_lanes * each * (chunks ? 2 : 1);
}

/* Squares, and smaller ones where that leaves units of the chip without work. Where squares would
 * be more than the units, two groups of warps share what is loaded for twice the columns, so that
 * one side is fetched half as often. */
static void unit_tile(const contraction *c, size_search *z) {
    const int64_t shared[] = {UNIT_TILE, MOST_GROUPS * UNIT_TILE};
    z->rule = SIZES_UNIT_TILE;
    z->worth = SMALLEST_TILE;
    for (int i = 0; i < 2; i++) {
        size_dim *d = &z->dims[i];
        d->least = i ? c->unit->n : c->unit->m;
        d->most = clamp(power_at_least(d->extent, UNIT_TILE), d->least, UNIT_TILE);
    }
    for (int larger = 1; sum_registers(c, z->dims) > (c->s->target->vector_registers + 1) / 2;
         larger = z->dims[1].most >= z->dims[0].most)
        z->dims[larger].most /= 2;
    if (is_shared(c, shared) && MOST_GROUPS * size_workgroups(z, shared) > z->threads)
        for (int i = 0; i < 2; i++)
            z->dims[i].most = z->dims[i].least = shared[i];
}

/* Workgroups of a unit beside each other: several groups of warps share the stages of one. There
 * are as many as hold the sums of what one group multiplies at most. */
static int64_t loaded_workgroups(contraction *c) {
    int64_t groups = c->tiles.mr.size * c->tiles.nr.size > UNIT_TILE * UNIT_TILE ? MOST_GROUPS : 1,
            warps = GROUP_WARPS;
    if (may_be_groups(c))
        warps = scheduler_parameter(c->s, IN_DOT, WARPS, groups * GROUP_WARPS, &c->tiles.warps);
    return clamp(LOADED_WORKGROUPS * GROUP_WARPS / warps, 1, LOADED_WORKGROUPS);
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

/* One row by columns that lie side by side, as what threads read does, and nothing is read twice.
 */
static bool reads_once(const contraction *c) {
    return c->shape.rows <= 1 && contraction_along(c, &c->rhs.access, AXIS_N) == 1;
}

bool simt_stages_dot(contraction *c) {
    if (c->order == ORDER_UNIT && !is_known(c))
        refuse_unit(c);
    c->unit = choose_unit(c);
    if (c->unit)
        return true;
    bool plain = c->counts.of == COUNTS_NONE && !c->windows && c->order != ORDER_PAIRS512;
    return plain && ir_dim_is_static(c->shape.k) && c->shape.k > 1 &&
           c->shape.columns > FEW_ROWS_THREADS && (!reads_once(c) || scheduler_fetch(c->s, true));
}

/* As large as registers allow, and smaller where that leaves more than a quarter of the chip's
 * units without work. */
static void staged_tile(const contraction *c, size_search *z) {
    int64_t threads = c->s->target->vector_lanes;
    z->rule = SIZES_STAGED_TILE;
    z->each = (int64_t)dtype_size(c->element);
    z->room = MOST_SUMS * threads * 4;
    z->worth = SMALLEST_TILE;
    for (int i = 0; i < 2; i++)
        z->dims[i].most = power_at_least(clamp(z->dims[i].extent, 1, threads), threads);
}

/* Checks that both sides could be copied: as they are in memory they are multiplied. */
static bool is_copyable(const contraction *c) {
    return c->s->target->copies && dtype_size(c->element) >= LEAST_COPY &&
           contraction_element(c, c->lhs.buffer) == c->element &&
           contraction_element(c, c->rhs.buffer) == c->element;
}

/* Several workgroups of a unit load while others multiply, and long stages have fewer barriers; one
 * that is alone there has more stages under way. */
static stages staged_by(const contraction *c) {
    int64_t rows = c->tiles.mr.size, columns = c->tiles.nr.size;
    const schedule_target *t = c->s->target;
    size_search z = contraction_sizes(c, SIZES_STAGED_TILE);
    bool cut = c->shape.rows % rows != 0 || c->shape.columns % columns != 0,
         several =
             size_workgroups(&z, (int64_t[]){rows, columns}) >= STAGED_WORKGROUPS * t->threads;
    int64_t step = (rows + columns) * (int64_t)dtype_size(c->element),
            room = t->l1_bytes / STAGED_WORKGROUPS;
    stages s = {cut ? EDGE_STEPS : STAGE_STEPS, ALONE_DEPTH};
    if (several && !cut && is_copyable(c) && STAGED_DEPTH * COPIED_STEPS * step <= room)
        s.steps = COPIED_STEPS;
    if (several || ALONE_DEPTH * s.steps * step > room)
        s.depth = STAGED_DEPTH;
    return s;
}

static void unstaged_tile(const contraction *c, size_search *z) {
    int64_t threads = c->s->target->vector_lanes, rows = clamp(c->shape.rows, 1, FEW_ROWS_THREADS),
            columns = round_up(c->shape.columns, threads);
    z->rule = SIZES_PLAIN_TILE;
    z->dims[0].most = z->dims[0].least = rows;
    z->dims[1].most = clamp(columns, threads, UNSTAGED_COLUMNS * threads);
    z->dims[1].least = threads;
}

/* Steps whose loads are under way at once: what a thread has registers for. */
static int64_t unstaged_steps(const contraction *c, int64_t rows, int64_t columns) {
    int64_t each = rows + columns / c->s->target->vector_lanes;
    return size_that_fits(UNSTAGED_LOADS, 1, each, UNSTAGED_LOADS);
}

void simt_dot_tiles(contraction *c) {
    scheduler *s = c->s;
    int64_t sizes[2];
    contraction_tiles *t = &c->tiles;
    size_search z = contraction_sizes(c, SIZES_FIT);
    (c->unit ? unit_tile : c->staged ? staged_tile : unstaged_tile)(c, &z);
    size_search_run(&z, sizes);
    contraction_ask(c, MR, sizes[0], &t->mr);
    contraction_ask(c, NR, sizes[1], &t->nr);
    contraction_ask(c, BM, t->mr.size, &t->bm);
    contraction_ask(c, BN, t->nr.size, &t->bn);
    if (c->staged) {
        stages staged = (c->unit ? unit_stages : staged_by)(c);
        const setting *asked = scheduler_fetch(s, true);
        bool alone = asked && !asked->overlaps;
        if (asked)
            scheduler_use_fetch(s);
        int64_t steps = scheduler_parameter(s, IN_DOT, STAGE, staged.steps, &t->stage);
        if (is_loadable(c, steps) && scheduler_parameter(s, IN_DOT, LOADER, !alone, &t->loader))
            staged.depth = stages_beside(c, steps, loaded_workgroups(c));
        if (alone)
            staged.depth = 1;
        if (c->unit || is_copyable(c))
            scheduler_parameter(s, IN_DOT, DEPTH, staged.depth, &t->depth);
        else if (staged.depth == 1)
            t->depth = scheduler_int(s, 1);
    }
    int64_t unroll = 1;
    if (!c->staged && c->counts.of == COUNTS_NONE && ir_dim_is_static(c->shape.k))
        unroll =
            scheduler_parameter(s, IN_DOT, UNROLL, unstaged_steps(c, t->mr.size, t->nr.size), NULL);
    t->unroll = scheduler_int(s, contraction_whole_steps(c, unroll));
}
