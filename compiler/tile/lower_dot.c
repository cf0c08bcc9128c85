/* lower_dot.c - a register tile of a contraction.
 *
 * acc = +0; for k ascending: acc = fma(lhs column, rhs row, acc); that is one chunk. With counts,
 * steps at or past a row's count do not happen: the loop runs to the smallest count of the tile
 * without asking, then to the largest with a mask. */
#include <string.h>

#include "tile/lowering.h"

typedef struct dot {
    frame f;
    ir_builder *b;
    bool counted, packed;
    dtype element;
    int64_t lhs[LOWERING_AXES + 1], rhs[LOWERING_AXES + 1];
    ir_value counts;      /* tile Rx1 of i32 */
    ir_value least, most; /* as indices */
    int k;                /* position of the reduced index in the frame */
} dot;

/* Operands that were not packed are of the summed type, or (tf32) have its bits. */
static ir_value summed(const dot *t, ir_builder *b, ir_value x) {
    return tile_type(b, x)->element == t->element ? x : tile_op(b, TILE_CONVERT, &x, 1, t->element);
}

/* One step: the loads and the multiply-add. */
static ir_value step(dot *t, ir_builder *b, ir_value k, ir_value sum) {
    frame *f = &t->f;
    f->index[t->k] = k;
    int64_t column = t->packed ? 1 : frame_column_stride(f, t->rhs);
    ir_value x = tile_load(b, frame_memory(f, 0), frame_offset(f, b, t->lhs), f->rows, 1,
                           frame_row_stride(f, t->lhs), 0);
    ir_value y =
        tile_load(b, frame_memory(f, 1), frame_offset(f, b, t->rhs), 1, f->columns, 0, column);
    x = summed(t, b, x);
    y = summed(t, b, y);
    if (dtype_is_float(t->element))
        return tile_op(b, TILE_FMA, (ir_value[]){x, y, sum}, 3, DTYPE_NONE);
    ir_value product = tile_op(b, TILE_MUL, (ir_value[]){x, y}, 2, DTYPE_NONE);
    return tile_op(b, TILE_ADD, (ir_value[]){product, sum}, 2, DTYPE_NONE);
}

static ir_value steps(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum,
                      bool masked) {
    ir_op loop;
    ir_value k;
    ir_builder in = tile_for(b, low, high, 1, &sum, 1, &loop, &k);
    lowering_mark(t->f.l, loop, t->f.op);
    ir_value before = ir_block_get(b->m, in.block)->arguments[1], next = step(t, &in, k, before);
    if (masked) {
        ir_value at =
            ir_build1(&in, TILE_FROM_INDEX, &k, 1, ir_type_tile(b->m, DTYPE_I32, 1, 1, 0), NULL, 0);
        ir_value mask = tile_compare(&in, "lt", at, t->counts);
        next = tile_op(&in, TILE_SELECT, (ir_value[]){mask, next, before}, 3, DTYPE_NONE);
    }
    tile_yield(&in, &next, 1);
    return ir_op_result(b->m, loop, 0);
}

/* Smallest and largest count of the tile's rows. */
static void load_counts(dot *t, ir_builder *b) {
    int64_t access[LOWERING_AXES + 1];
    frame *f = &t->f;
    frame_access(f, 2, access);
    f->index[t->k] = tile_index(b, 0);
    int64_t stride = frame_row_stride(f, access);
    ir_value offset = frame_offset(f, b, access);
    t->counts = tile_load(b, frame_memory(f, 2), offset, f->rows, 1, stride, 0);
    for (int64_t r = 0; r < f->rows; r++) {
        int64_t one = 1;
        ir_value at = tile_affine(b, r * stride, &offset, &one, 1);
        ir_value count = tile_load(b, frame_memory(f, 2), at, 1, 1, 0, 0);
        ir_value index = ir_build1(b, TILE_TO_INDEX, &count, 1, ir_type_index(b->m), NULL, 0);
        t->least = r ? tile_index_op(b, TILE_INDEX_MIN, t->least, index) : index;
        t->most = r ? tile_index_op(b, TILE_INDEX_MAX, t->most, index) : index;
    }
}

static ir_value clamped(ir_builder *b, ir_value x, ir_value low, ir_value high) {
    return tile_index_op(b, TILE_INDEX_MIN, tile_index_op(b, TILE_INDEX_MAX, x, low), high);
}

/* The sum of steps [low, high), from +0. */
static ir_value chunk(dot *t, ir_builder *b, ir_value low, ir_value high) {
    ir_value zero = tile_constant(b, t->element, 0);
    ir_value sum = tile_broadcast(b, zero, t->f.rows, t->f.columns);
    if (!t->counted)
        return steps(t, b, low, high, sum, false);
    load_counts(t, b);
    ir_value first = clamped(b, t->least, low, high), last = clamped(b, t->most, low, high);
    sum = steps(t, b, low, first, sum, false);
    return steps(t, b, first, last, sum, true);
}

static ir_value plus(ir_builder *b, ir_value x, ir_value y) {
    return tile_op(b, TILE_ADD, (ir_value[]){x, y}, 2, DTYPE_NONE);
}

static ir_value with_zero(const dot *t, ir_builder *b, ir_value x) {
    return dtype_is_float(t->element) ? plus(b, tile_constant(b, t->element, 0), x) : x;
}

/* total = total + chunk, in memory. */
static void accumulate(dot *t, ir_builder *b, int64_t extent) {
    int64_t access[LOWERING_AXES + 1], one = 1;
    frame *f = &t->f;
    ir_value start = f->index[t->k - 3];
    ir_value end = tile_affine(b, CHUNK_LENGTH, &start, &one, 1);
    ir_value sum = chunk(t, b, start, tile_index_op(b, TILE_INDEX_MIN, end, tile_index(b, extent)));
    int output = f->leading + f->body_inputs;
    frame_access(f, output, access);
    f->index[t->k] = tile_index(b, 0);
    ir_value total =
        tile_load(b, frame_memory(f, output), frame_offset(f, b, access), f->rows, f->columns,
                  frame_row_stride(f, access), frame_column_stride(f, access));
    frame_store(f, b, 0, plus(b, total, sum));
}

void lower_dot(lowering *l, ir_builder *b, ir_op op) {
    dot t = {.f = frame_of(l, op),
             .b = b,
             .counted = ir_op_int(l->s, op, "counted", 0) != 0,
             .packed = ir_op_int(l->s, op, "packed", 0) != 0};
    int64_t extent = ir_op_int(l->s, op, "extent", 0);
    t.k = t.f.axes;
    t.f.index[t.f.axes++] = tile_index(b, 0);
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, op, 0));
    t.element = ir_type_get(l->s, ir_value_get(l->s, block->arguments[0])->type)->element;
    frame_access(&t.f, 0, t.lhs);
    frame_access(&t.f, 1, t.rhs);
    if (ir_op_int(l->s, op, "accumulate", 0)) {
        accumulate(&t, b, extent);
        return;
    }
    ir_value yield;
    ir_value sum = tile_broadcast(b, tile_constant(b, t.element, 0), t.f.rows, t.f.columns);
    if (extent) /* an empty contraction has no steps, and its operands are not even packed */
        sum = with_zero(&t, b, chunk(&t, b, tile_index(b, 0), tile_index(b, extent)));
    t.f.accumulator = sum;
    t.f.index[t.k] = tile_index(b, 0);
    frame_body(&t.f, b, &yield);
    frame_store(&t.f, b, 0, yield);
}
