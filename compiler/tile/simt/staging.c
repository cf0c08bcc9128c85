/* staging.c - see staging.h. */
#include "tile/simt/staging.h"

int64_t staging_up(int64_t n, int64_t by) {
    return (n + by - 1) / by * by;
}

int staging_threads(const ir_module *m) {
    return (int)ir_op_int(m, ir_module_kernel(m), "threads", SIMT_THREADS);
}

void staging_op(ir_builder *b, int opcode, const char *name, int64_t value) {
    ir_named_attr attr = {name, ir_attr_int(b->m, value)};
    ir_op_spec spec = {.opcode = opcode, .attrs = &attr, .attr_count = name != NULL};
    ir_build(b, &spec);
}

/* ---- sides ---- */

void staging_sides(staging *g) {
    const frame *f = &g->t->f;
    g->sides[0] = (stage_side){.number = 0,
                               .access = g->t->lhs,
                               .lines = f->rows,
                               .padded = f->rows,
                               .line_stride = frame_row_stride(f, g->t->lhs),
                               .step_stride = g->t->lhs[1 + g->t->k]};
    g->sides[1] = (stage_side){.number = 1,
                               .access = g->t->rhs,
                               .lines = f->columns,
                               .padded = f->columns,
                               .line_stride = frame_column_stride(f, g->t->rhs),
                               .step_stride = g->t->rhs[1 + g->t->k]};
}

void staging_pad(staging *g, ir_builder *b) {
    frame *f = &g->t->f;
    int64_t rows = f->rows, columns = f->columns;
    mma_round_up(g->unit, staging_threads(b->m), &f->rows, &f->columns);
    g->sides[0].padded = f->rows;
    g->sides[1].padded = f->columns;
    f->padded = true;
    if (rows < f->rows)
        f->valid_rows = tile_index(b, rows);
    if (columns < f->columns)
        f->valid_columns = tile_index(b, columns);
}

ir_value staging_far_offset(const staging *g, const stage_side *s, ir_builder *b, ir_value k) {
    frame *f = &g->t->f;
    f->index[g->t->k] = k;
    return frame_offset(f, b, s->access);
}

int64_t staging_piece(const staging *g, const stage_side *s, ir_builder *b, int64_t steps,
                      int64_t rest) {
    ir_value memory = frame_memory(&g->t->f, s->number);
    ir_op made = ir_value_get(b->m, memory)->op;
    int64_t rows = s->by_step ? s->lines : steps, columns = s->by_step ? steps : s->lines,
            along = s->by_step ? s->step_stride : s->line_stride,
            other = s->by_step ? s->line_stride : s->step_stride,
            size = (int64_t)dtype_size(g->element), piece = COPY_BYTES / size,
            aligned = access_index_divisor(b->m, staging_far_offset(g, s, b, tile_index(b, steps)));
    if (along != 1 || (made && ir_op_get(b->m, made)->opcode == TILE_SCRATCH))
        return 0;
    while (piece > 1 && (columns % piece != 0 || aligned % piece != 0 ||
                         (s->by_step && rest % piece != 0) || (rows > 1 && other % piece != 0)))
        piece /= 2;
    return piece * size < LEAST_COPY_BYTES ? 0 : piece;
}

/* ---- copies ---- */

/* An operation on the slot of a stage. Parameters: `names` and `values` are `n` attributes behind
 * the number of slots. */
static void slot_op(const staging *g, ir_builder *b, int opcode, ir_value number,
                    const char *const *names, const int64_t *values, uint32_t n) {
    ir_value operands[] = {g->barriers, number};
    ir_named_attr attrs[3] = {{"count", ir_attr_int(b->m, g->slots)}};
    for (uint32_t i = 0; i < n; i++)
        attrs[1 + i] = (ir_named_attr){names[i], ir_attr_int(b->m, values[i])};
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands,
                       .operand_count = 2,
                       .attrs = attrs,
                       .attr_count = n + 1};
    ir_build(b, &spec);
}

static void fetch(const staging *g, const stage_side *s, ir_builder *b, ir_value to, ir_value from,
                  const stage_rows *r) {
    ir_value operands[] = {g->memory, to,          frame_memory(&g->t->f, s->number),
                           from,      g->barriers, g->number};
    ir_module *m = b->m;
    ir_named_attr attrs[] = {
        {"count", ir_attr_int(m, g->slots)},     {"rows", ir_attr_int(m, r->rows)},
        {"columns", ir_attr_int(m, r->columns)}, {"from_stride", ir_attr_int(m, r->from_stride)},
        {"blocks", ir_attr_int(m, r->blocks)},   {"block_stride", ir_attr_int(m, r->block_stride)}};
    ir_op_spec spec = {.opcode = TILE_FETCH,
                       .operands = operands,
                       .operand_count = 6,
                       .attrs = attrs,
                       .attr_count = r->blocks ? 6 : 4};
    ir_build(b, &spec);
}

void staging_copy(const staging *g, const stage_side *s, ir_builder *b, ir_value to, ir_value from,
                  const stage_rows *r) {
    if (g->fetches) {
        fetch(g, s, b, to, from, r);
        return;
    }
    ir_value operands[] = {g->memory, to, frame_memory(&g->t->f, s->number), from};
    ir_module *m = b->m;
    ir_named_attr attrs[8] = {{"rows", ir_attr_int(m, r->rows)},
                              {"columns", ir_attr_int(m, r->columns)},
                              {"to_stride", ir_attr_int(m, r->to_stride)},
                              {"from_stride", ir_attr_int(m, r->from_stride)},
                              {"piece", ir_attr_int(m, s->piece)}};
    uint32_t n = 5;
    if (r->to_step)
        attrs[n++] = (ir_named_attr){"to_step", ir_attr_int(m, r->to_step)};
    if (r->swizzle)
        attrs[n++] = (ir_named_attr){"swizzle", ir_attr_int(m, r->swizzle)};
    if (r->at)
        attrs[n++] = (ir_named_attr){"at", ir_attr_int(m, r->at)};
    ir_op_spec spec = {.opcode = TILE_COPY,
                       .operands = operands,
                       .operand_count = 4,
                       .attrs = attrs,
                       .attr_count = n};
    ir_build(b, &spec);
}

void staging_copy_stage(const staging *g, ir_builder *b, ir_value slot, ir_value k) {
    for (int i = 0; i < 2; i++) {
        const stage_side *s = &g->sides[i];
        bool by_line = s->by_step || s->turned;
        const stage_rows rows = {.rows = by_line ? s->lines : g->steps,
                                 .columns = by_line ? g->steps : s->lines,
                                 .to_stride = s->turned ? 1 : s->pitch,
                                 .from_stride = by_line ? s->line_stride : s->step_stride,
                                 .to_step = s->turned ? s->pitch : 0};
        ir_value to = tile_index_plus(b, slot, s->at);
        staging_copy(g, s, b, to, staging_far_offset(g, s, b, k), &rows);
    }
}

/* All stages, one after the other, as their slots are given back. */
static void begin_loader(const staging *g, ir_builder *b) {
    static const char *const names[] = {"bytes", "behind"};
    const int64_t size = (int64_t)dtype_size(g->element),
                  bytes = (g->sides[0].padded + g->sides[1].padded) * g->steps * size;
    ir_named_attr count = {"count", ir_attr_int(b->m, g->slots)};
    ir_op_spec spec = {.opcode = TILE_LOADER,
                       .operands = &g->barriers,
                       .operand_count = 1,
                       .attrs = &count,
                       .attr_count = 1,
                       .region_count = 1};
    ir_op op = ir_build(b, &spec), loop;
    ir_builder in = {b->m, ir_op_block(b->m, op, 0), 0, b->location};
    staging at = *g;
    ir_value k;
    ir_builder each = tile_for(&in, tile_index(&in, 0), tile_index(&in, g->whole * g->steps),
                               g->steps, NULL, 0, &loop, &k);
    at.number = tile_index_by(&each, TILE_INDEX_DIV, k, g->steps);
    slot_op(g, &each, TILE_SLOT_CLAIM, at.number, names, (int64_t[]){bytes, g->behind}, 2);
    g->does->copy(&at, &each, staging_slot(g, &each, at.number, 0), k);
    tile_yield(&each, NULL, 0);
}

void staging_begin_copies(const staging *g, ir_builder *b) {
    if (g->fetches) {
        begin_loader(g, b);
        return;
    }
    for (int64_t i = 0; i < g->distance; i++) {
        g->does->copy(g, b, staging_slot(g, b, 0, i), tile_index(b, i * g->steps));
        staging_op(b, TILE_COPY_COMMIT, NULL, 0);
    }
}

/* Those of the stage `distance` further on, if there is one. */
static void copy_ahead(const staging *g, ir_builder *b, ir_value k, ir_value number) {
    ir_op guard;
    ir_value next, ahead = tile_index_plus(b, k, g->distance * g->steps);
    int64_t end = g->whole * g->steps;
    ir_builder more = tile_for(b, ahead, tile_index(b, end), end, NULL, 0, &guard, &next);
    g->does->copy(g, &more, staging_slot(g, &more, number, g->distance), next);
    tile_yield(&more, NULL, 0);
}

void staging_move_stage(const staging *g, ir_builder *b, ir_value slot, ir_value k) {
    const stage_tiles now = g->does->load(g, b, k, g->steps);
    g->does->store(g, b, slot, &now);
}

void staging_begin(const staging *g, ir_builder *b) {
    staging_begin_copies(g, b);
    if (!g->copies && g->whole && !staging_is_alone(g))
        staging_move_stage(g, b, tile_index(b, 0), tile_index(b, 0));
}

bool staging_is_alone(const staging *g) {
    return g->slots == 1 && g->whole > 1;
}

/* In the only slot: brought there when the stage before it is multiplied. */
static ir_value trip_alone(const staging *g, ir_builder *b, ir_value k, ir_value sum) {
    ir_value slot = tile_index(b, 0);
    staging_op(b, TILE_BARRIER, NULL, 0);
    g->does->copy(g, b, slot, k);
    if (g->copies) {
        staging_op(b, TILE_COPY_COMMIT, NULL, 0);
        staging_op(b, TILE_COPY_WAIT, "left", 0);
    }
    staging_op(b, TILE_BARRIER, NULL, 0);
    sum = g->does->multiply(g, b, slot, g->steps, sum);
    if (g->overlaps)
        staging_op(b, TILE_MMA_WAIT, "left", 0);
    return sum;
}

/* One trip beside a loader: nobody waits for other threads. */
static ir_value loaded_trip(const staging *g, ir_builder *b, ir_value number, ir_value sum) {
    static const char *const behind[] = {"behind"};
    slot_op(g, b, TILE_SLOT_WAIT, number, NULL, NULL, 0);
    sum = g->does->multiply(g, b, staging_slot(g, b, number, 0), g->steps, sum);
    staging_op(b, TILE_MMA_WAIT, "left", g->behind);
    slot_op(g, b, TILE_SLOT_FREE, number, behind, &g->behind, 1);
    return sum;
}

ir_value staging_trip(const staging *g, ir_builder *b, ir_value k, ir_value sum) {
    ir_value number = g->fetches || g->distance ? tile_index_by(b, TILE_INDEX_DIV, k, g->steps) : 0;
    if (g->fetches)
        return loaded_trip(g, b, number, sum);
    if (g->distance == 0)
        return trip_alone(g, b, k, sum);
    bool is_full = g->overlaps && g->whole == g->slots; /* no slot is used again */
    staging_op(b, TILE_COPY_WAIT, "left", g->distance - 1);
    staging_op(b, TILE_BARRIER, NULL, 0);
    if (g->overlaps)
        sum = g->does->multiply(g, b, staging_slot(g, b, number, 0), g->steps, sum);
    if (!is_full)
        copy_ahead(g, b, k, number);
    staging_op(b, TILE_COPY_COMMIT, NULL, 0);
    if (g->overlaps)
        staging_op(b, TILE_MMA_WAIT, "left", g->behind);
    else
        sum = g->does->multiply(g, b, staging_slot(g, b, number, 0), g->steps, sum);
    return sum;
}

/* ---- stages ---- */

void staging_cut_slots(staging *g) {
    int64_t most = g->copies || g->t->depth == 1 ? g->t->depth : 2;
    g->slots = g->whole > most ? most : g->whole;
    g->distance = g->copies ? g->slots - 1 : 0;
}

ir_value staging_slot(const staging *g, ir_builder *b, ir_value index, int64_t number) {
    int64_t one = 1, size = g->slot;
    if (!index)
        return tile_index(b, number % g->slots * size);
    ir_value stage = tile_affine(b, number, &index, &one, 1);
    ir_value slot = tile_index_by(b, TILE_INDEX_REM, stage, g->slots);
    return tile_affine(b, 0, &slot, &size, 1);
}

/* ---- in the order of fma ---- */

/* Behind the last stage it is loaded once more, into a slot that nobody reads. */
static ir_value moved_trip(const staging *g, ir_builder *b, ir_value k, ir_value sum) {
    ir_value number = tile_index_by(b, TILE_INDEX_DIV, k, g->steps);
    if (g->whole == 1)
        return g->does->multiply(g, b, tile_index(b, 0), g->steps, sum);
    staging_op(b, TILE_BARRIER, NULL, 0); /* before the loads, which it would wait for */
    ir_value next = tile_index_op(b, TILE_INDEX_MIN, tile_index_plus(b, k, g->steps),
                                  tile_index(b, (g->whole - 1) * g->steps));
    const stage_tiles ahead = g->does->load(g, b, next, g->steps);
    sum = g->does->multiply(g, b, staging_slot(g, b, number, 0), g->steps, sum);
    g->does->store(g, b, staging_slot(g, b, number, 1), &ahead);
    return sum;
}

/* Steps [low, low + length): whole stages, and behind the last one what is left over. */
static ir_value chunk(const staging *g, ir_builder *b, ir_value low, int64_t length) {
    dot *t = g->t;
    int64_t whole = g->whole ? length / g->steps * g->steps : 0;
    ir_value sum = dot_zero(t, b);
    ir_value end = tile_index_plus(b, low, whole);
    step_loop l;
    if (whole) {
        l = dot_open(t, b, low, end, g->steps, &sum, 1);
        sum = (g->copies || staging_is_alone(g) ? staging_trip : moved_trip)(g, &l.in, l.k, sum);
        dot_close(&l, &sum, 1);
    }
    if (length == whole)
        return sum;
    l = dot_open(t, b, end, tile_index_plus(b, low, length), length - whole, &sum, 1);
    sum = g->does->multiply(g, &l.in, tile_index(b, g->slots * g->slot), length - whole, sum);
    dot_close(&l, &sum, 1);
    return sum;
}

static ir_value added(ir_builder *b, ir_value x, ir_value y) {
    return tile_op(b, TILE_ADD, (ir_value[]){x, y}, 2, DTYPE_NONE);
}

/* The sums of whole chunks onto the total, then that of the rest. */
ir_value staging_all(const staging *g, ir_builder *b) {
    dot *t = g->t;
    if (!t->chunk || t->extent <= t->chunk)
        return chunk(g, b, tile_index(b, 0), t->extent);
    int64_t whole = t->extent / t->chunk * t->chunk;
    ir_value total = dot_zero(t, b);
    ir_value end = tile_index(b, whole), from = tile_index(b, 0);
    step_loop l = dot_open(t, b, from, end, t->chunk, &total, 1);
    total = added(&l.in, total, chunk(g, &l.in, l.k, t->chunk));
    dot_close(&l, &total, 1);
    if (t->extent > whole)
        total = added(b, total, chunk(g, b, tile_index(b, whole), t->extent - whole));
    return total;
}

/* ---- one after the other ---- */

step_loop staging_loop(staging *g, ir_builder *b, int64_t high, int64_t step, ir_value *sum) {
    ir_value low = g->end ? g->end : tile_index(b, 0);
    g->end = tile_index(b, high);
    return dot_open(g->t, b, low, g->end, step, sum, 1);
}

ir_value staging_whole(staging *g, ir_builder *b, ir_value sum) {
    step_loop l = staging_loop(g, b, g->whole * g->steps, g->steps, &sum);
    sum = staging_trip(g, &l.in, l.k, sum);
    dot_close(&l, &sum, 1);
    return sum;
}

ir_value staging_rest(staging *g, ir_builder *b, ir_value sum) {
    step_loop l = staging_loop(g, b, g->whole * g->steps + g->rest, g->rest, &sum);
    ir_value slot = tile_index(&l.in, g->slots * g->slot);
    sum = g->does->multiply(g, &l.in, slot, staging_up(g->rest, g->unit->k), sum);
    dot_close(&l, &sum, 1);
    return sum;
}
