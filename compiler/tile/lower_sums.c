/* lower_sums.c - the sums of a contraction's register tile: totals of chunks and sums of strips, in
 * the workgroup's memory, and the epilogue on those that are finished. */
#include "tile/lower_dot.h"

/* More steps than there are: a loop of them has one turn, or none. */
static const int64_t one_turn = INT64_C(1) << 40;

static ir_value plus(ir_builder *b, ir_value x, ir_value y) {
    return tile_op(b, TILE_ADD, (ir_value[]){x, y}, 2, DTYPE_NONE);
}

ir_value dot_zero(const dot *t, ir_builder *b) {
    return tile_broadcast(b, tile_constant(b, t->element, 0), t->f.rows, t->f.columns);
}

ir_value dot_with_zero(const dot *t, ir_builder *b, ir_value x) {
    return dtype_is_float(t->element) ? plus(b, tile_constant(b, t->element, 0), x) : x;
}

void dot_finish(dot *t, ir_builder *b, ir_value sum) {
    ir_value yield;
    t->f.accumulator = sum;
    t->f.index[t->k] = tile_index(b, 0);
    frame_body(&t->f, b, &yield);
    frame_store(&t->f, b, 0, yield);
}

/* Does `then` once where low < high, which are less than a step apart; else not at all. Parameters:
 * the bounds of a loop, and what is done in it with its argument. */
static void when_below(dot *t, ir_builder *b, ir_value low, ir_value high, int64_t step,
                       void (*then)(dot *t, ir_builder *b, ir_value sum), ir_value sum) {
    int64_t first, end;
    ir_op loop;
    ir_value index;
    if (tile_constant_index(b, low, &first) && tile_constant_index(b, high, &end)) {
        if (first < end)
            then(t, b, sum);
        return;
    }
    ir_builder in = tile_for(b, low, high, step, NULL, 0, &loop, &index);
    then(t, &in, sum);
    tile_yield(&in, NULL, 0);
}

/* Finds the place of the tile's sums in buffer `which`. */
static void find_sums(dot *t, ir_builder *b, dot_buffer which) {
    ir_dim access[LOWERING_AXES + 1];
    frame *f = &t->f;
    int number = f->shape.buffer[which];
    frame_access(f, number, access);
    f->index[t->k] = tile_index(b, 0);
    t->place = (tile_place){frame_memory(f, number), frame_offset(f, b, access),
                            frame_row_stride(f, access), frame_column_stride(f, access)};
}

static void store_sums(dot *t, ir_builder *b, ir_value sum) {
    const tile_place *p = &t->place;
    tile_store(b, p->memory, p->offset, sum, p->row_stride, p->column_stride, false);
}

static ir_value load_sums(const dot *t, ir_builder *b) {
    const tile_place *p = &t->place;
    return tile_load(b, p->memory, p->offset, t->f.rows, t->f.columns, p->row_stride,
                     p->column_stride);
}

void dot_chunk_bounds(const dot *t, ir_builder *b, ir_value *low, ir_value *high) {
    int64_t one = 1;
    int chunk = t->f.shape.index[AXIS_CHUNK];
    *low = chunk < 0 ? tile_index(b, 0) : t->f.index[chunk];
    *high = lowering_dim(t->f.l, b, t->extent);
    if (chunk >= 0)
        *high = tile_index_min(b, tile_affine(b, t->chunk, low, &one, 1), *high);
}

/* The sum of the chunk at `start` onto the totals before it. Memory that holds 0 before the first
 * is filled where the number of chunks is known; else the first does not read it. What is added to
 * it then at the end is the 0 that it begins with, which changes no other total. */
static ir_value onto_totals(dot *t, ir_builder *b, ir_value start, ir_value sum) {
    if (t->known)
        return plus(b, load_sums(t, b), sum);
    step_loop l = dot_open(t, b, tile_index(b, 0), start, one_turn, &sum, 1);
    sum = plus(&l.in, load_sums(t, &l.in), sum);
    dot_close(&l, &sum, 1);
    return dot_with_zero(t, b, sum);
}

/* The start of the last chunk; of nothing, the first. */
static ir_value last_chunk(const dot *t, ir_builder *b) {
    if (t->known)
        return tile_index(b, (t->extent - 1) / t->chunk * t->chunk);
    ir_value steps = lowering_dim(t->f.l, b, t->extent), one = tile_index(b, 1);
    ir_value last = tile_index_sub(b, tile_index_max(b, steps, one), one);
    return tile_index_floor(b, last, t->chunk);
}

static void add_chunk(dot *t, ir_builder *b, ir_value start, ir_value sum) {
    int64_t one = 1, far = t->known ? t->extent : one_turn;
    frame *f = &t->f;
    find_sums(t, b, DOT_TOTALS);
    sum = onto_totals(t, b, start, sum);
    if (t->place.memory == frame_memory(f, f->leading + f->body_inputs)) {
        store_sums(t, b, sum);
        return;
    }
    ir_value last = last_chunk(t, b);
    when_below(t, b, start, last, far, store_sums, sum);
    when_below(t, b, last, tile_affine(b, 1, &start, &one, 1), far, dot_finish, sum);
}

void dot_end_chunk(dot *t, ir_builder *b, ir_value sum) {
    if (t->f.shape.buffer[DOT_TOTALS] >= 0)
        add_chunk(t, b, t->f.index[t->f.shape.index[AXIS_CHUNK]], sum);
    else
        dot_finish(t, b, dot_with_zero(t, b, sum));
}

/* ---- strips ---- */

/* The sums of the chunk's strips before the one at `start`: of the first, +0. */
static ir_value sums_before(const dot *t, ir_builder *b, ir_value first, ir_value start) {
    ir_op loop;
    ir_value index;
    ir_value none = dot_zero(t, b);
    ir_builder in = tile_for(b, first, start, one_turn, &none, 1, &loop, &index);
    ir_value loaded = load_sums(t, &in);
    tile_yield(&in, &loaded, 1);
    return ir_op_result(b->m, loop, 0);
}

void dot_strip(dot *t, ir_builder *b) {
    frame *f = &t->f;
    int64_t one = 1;
    ir_value start = f->index[f->shape.index[AXIS_STRIP]], first, end;
    dot_chunk_bounds(t, b, &first, &end);
    ir_value next = tile_affine(b, t->strip, &start, &one, 1);
    find_sums(t, b, DOT_SUMS);
    ir_value sum = sums_before(t, b, first, start);
    sum = dot_steps(t, b, start, next, sum, false);
    when_below(t, b, next, end, one_turn, store_sums, sum);
    next = tile_affine(b, t->strip + 1, &start, &one, 1);
    when_below(t, b, end, next, one_turn, dot_end_chunk, sum);
}
