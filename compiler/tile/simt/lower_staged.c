/* lower_staged.c - a contraction's tile whose operands go through the workgroup's memory.
 *
 * A stage is some steps of both sides: threads read it as it lies, side by side, and put it down in
 * the summed type with a row of memory for each step; then every thread reads from there what its
 * sums need. Sums of chunks are added in registers. The order is the one of lower_dot.c. */
#include "tile/lower_dot.h"

/* Rows of memory are this much longer than they need to be: 16 bytes, so that what threads put down
 * side by side falls on different banks and stays aligned. */
enum { PADDING = 4 };

typedef struct staging {
    dot *t;
    ir_value left, right; /* [step][row], [step][column] */
    int64_t left_stride, right_stride;
} staging;

/* Of the lhs: a row for each row of the tile, a column for each step from k on. */
static ir_value far_left(dot *t, ir_builder *b, ir_value k, int64_t steps) {
    frame *f = &t->f;
    f->index[t->k] = k;
    tile_window w = frame_window(f, t->lhs);
    ir_dim along = t->lhs[1 + t->k];
    w.rows = f->rows;
    w.columns = steps;
    w.column_stride = along;
    return dot_summed(t, b,
                      tile_load_window(b, frame_memory(f, 0), frame_offset(f, b, t->lhs), &w));
}

/* Of the rhs: a row for each step, a column for each column of the tile. */
static ir_value far_right(dot *t, ir_builder *b, ir_value k, int64_t steps) {
    frame *f = &t->f;
    f->index[t->k] = k;
    tile_window w = frame_window(f, t->rhs);
    w.rows = steps;
    w.columns = f->columns;
    w.row_stride = t->rhs[1 + t->k];
    return dot_summed(t, b,
                      tile_load_window(b, frame_memory(f, 1), frame_offset(f, b, t->rhs), &w));
}

/* A window that stands still along an axis has one element there; here each has its own. */
static ir_value spread(ir_builder *b, ir_value x, int64_t rows, int64_t columns) {
    return tile_broadcast(b, x, rows, columns);
}

static ir_value stage(const staging *g, ir_builder *b, ir_value k, int64_t steps, ir_value sum) {
    dot *t = g->t;
    const frame *f = &t->f;
    ir_value zero = tile_index(b, 0);
    ir_value left = spread(b, far_left(t, b, k, steps), f->rows, steps),
             right = spread(b, far_right(t, b, k, steps), steps, f->columns);
    tile_store(b, g->left, zero, left, 1, g->left_stride, false);
    tile_store(b, g->right, zero, right, g->right_stride, 1, false);
    for (int64_t i = 0; i < steps; i++) {
        ir_value x = tile_load(b, g->left, tile_index(b, i * g->left_stride), f->rows, 1, 1, 0);
        ir_value y =
            tile_load(b, g->right, tile_index(b, i * g->right_stride), 1, f->columns, 0, 1);
        sum = dot_multiply_add(t, b, x, y, sum);
    }
    return sum;
}

/* Stages of steps [low, low + length). */
static ir_value chunk(const staging *g, ir_builder *b, ir_value low, int64_t length) {
    dot *t = g->t;
    int64_t one = 1, whole = length / t->stage * t->stage;
    ir_value sum = tile_broadcast(b, tile_constant(b, t->element, 0), t->f.rows, t->f.columns);
    ir_value k, end = tile_affine(b, whole, &low, &one, 1);
    ir_op loop;
    if (whole) {
        ir_builder in = tile_for(b, low, end, t->stage, &sum, 1, &loop, &k);
        lowering_mark(t->f.l, loop, t->f.op);
        ir_value next = stage(g, &in, k, t->stage, ir_block_get(b->m, in.block)->arguments[1]);
        tile_yield(&in, &next, 1);
        sum = ir_op_result(b->m, loop, 0);
    }
    if (length == whole)
        return sum;
    ir_builder in =
        tile_for(b, end, tile_affine(b, length, &low, &one, 1), length - whole, &sum, 1, &loop, &k);
    lowering_mark(t->f.l, loop, t->f.op);
    ir_value next = stage(g, &in, k, length - whole, ir_block_get(b->m, in.block)->arguments[1]);
    tile_yield(&in, &next, 1);
    return ir_op_result(b->m, loop, 0);
}

static ir_value added(ir_builder *b, ir_value x, ir_value y) {
    return tile_op(b, TILE_ADD, (ir_value[]){x, y}, 2, DTYPE_NONE);
}

/* The sums of whole chunks onto the total, then that of the rest. */
static ir_value chunks(const staging *g, ir_builder *b, int64_t extent) {
    dot *t = g->t;
    int64_t whole = extent / t->chunk * t->chunk;
    ir_value start, total = tile_constant(b, t->element, 0);
    ir_op loop;
    total = tile_broadcast(b, total, t->f.rows, t->f.columns);
    ir_builder in =
        tile_for(b, tile_index(b, 0), tile_index(b, whole), t->chunk, &total, 1, &loop, &start);
    lowering_mark(t->f.l, loop, t->f.op);
    ir_value next =
        added(&in, ir_block_get(b->m, in.block)->arguments[1], chunk(g, &in, start, t->chunk));
    tile_yield(&in, &next, 1);
    total = ir_op_result(b->m, loop, 0);
    if (extent > whole)
        total = added(b, total, chunk(g, b, tile_index(b, whole), extent - whole));
    return total;
}

ir_value lower_staged(dot *t, ir_builder *b, int64_t extent) {
    const frame *f = &t->f;
    staging g = {.t = t, .left_stride = f->rows + PADDING, .right_stride = f->columns + PADDING};
    g.left = lowering_scratch(f->l, b, t->element, t->stage * g.left_stride);
    g.right = lowering_scratch(f->l, b, t->element, t->stage * g.right_stride);
    bool several = t->chunk && extent > t->chunk;
    return several ? chunks(&g, b, extent) : chunk(&g, b, tile_index(b, 0), extent);
}
