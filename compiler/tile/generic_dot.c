/* generic_dot.c - contractions of any size: fma by fma in chunks of 512 (docs/numerics.md), a tile
 * of rows and a vector of columns at a time.
 *
 * With counts, steps at or past a row's count do not happen: the row's own end takes the place of
 * the extent, and rows go one by one. Chunks that have no steps would add +0 to a sum that is never
 * -0, so they are left out. */
#include <string.h>

#include "tile/generic.h"

typedef struct dot_phase {
    generic *s;
    ir_op op;
    ir_value x, y, counts, result;
    dtype element;
    int batch, x_rank, y_rank, rank; /* of the result */
    int row, column;                 /* axes of the result; -1: there is none */
    bool chunked;
    generic_place index[IR_MAX_RANK]; /* of the result; row and column are set on the way */
} dot_phase;

static ir_value converted(const dot_phase *p, ir_builder *b, ir_value x) {
    return tile_type(b, x)->element == p->element ? x : tile_op(b, TILE_CONVERT, &x, 1, p->element);
}

static ir_value element_of(const dot_phase *p, ir_builder *b, ir_value v,
                           const generic_place *index, int64_t width) {
    generic_nest n = {.s = p->s, .b = b, .width = width};
    ir_value x = generic_element(&n, v, index);
    generic_nest_release(&n);
    return x;
}

/* x[batch, rows, k] at row number `r` of the tile. */
static ir_value left(const dot_phase *p, ir_builder *b, ir_value k, int r) {
    generic_place at[IR_MAX_RANK];
    memcpy(at, p->index, sizeof at);
    if (r)
        at[p->row].at = tile_index_step(b, at[p->row].at, p->s->zero, 0, r);
    at[p->x_rank - 1] = (generic_place){k, 0};
    return converted(p, b, element_of(p, b, p->x, at, 1));
}

/* y[batch, k, columns]. */
static ir_value right(const dot_phase *p, ir_builder *b, ir_value k, int64_t width) {
    generic_place at[IR_MAX_RANK];
    memcpy(at, p->index, sizeof at);
    at[p->batch] = (generic_place){k, 0};
    for (int i = p->batch + 1; i < p->y_rank; i++)
        at[i] = p->index[p->rank - p->y_rank + i];
    return converted(p, b, tile_broadcast(b, element_of(p, b, p->y, at, width), 1, width));
}

static ir_value multiply_add(const dot_phase *p, ir_builder *b, ir_value x, ir_value y,
                             ir_value sum) {
    if (dtype_is_float(p->element))
        return tile_op(b, TILE_FMA, (ir_value[]){x, y, sum}, 3, DTYPE_NONE);
    ir_value product = tile_op(b, TILE_MUL, (ir_value[]){x, y}, 2, DTYPE_NONE);
    return tile_op(b, TILE_ADD, (ir_value[]){product, sum}, 2, DTYPE_NONE);
}

static void results_of(ir_builder *b, ir_op loop, int rows, ir_value *out) {
    for (int r = 0; r < rows; r++)
        out[r] = ir_op_result(b->m, loop, (uint32_t)r);
}

/* sums += steps [low, high), one after the other. */
static void steps(const dot_phase *p, ir_builder *b, ir_value low, ir_value high, int rows,
                  int64_t width, ir_value *sums) {
    ir_op loop;
    ir_value k, next[GENERIC_ROWS];
    ir_builder in = tile_for(b, low, high, 1, sums, (uint32_t)rows, &loop, &k);
    ir_value y = right(p, &in, k, width);
    for (int r = 0; r < rows; r++)
        next[r] = multiply_add(p, &in, left(p, &in, k, r), y,
                               ir_block_get(b->m, in.block)->arguments[1 + r]);
    tile_yield(&in, next, (uint32_t)rows);
    results_of(b, loop, rows, sums);
}

static void zeros(const dot_phase *p, ir_builder *b, int rows, int64_t width, ir_value *out) {
    ir_value zero = tile_broadcast(b, tile_constant(b, p->element, 0), 1, width);
    for (int r = 0; r < rows; r++)
        out[r] = zero;
}

/* The whole contraction up to `extent`: totals, from +0, take each chunk's sum in turn. */
static void contract(const dot_phase *p, ir_builder *b, ir_value extent, int rows, int64_t width,
                     ir_value *totals) {
    ir_op loop;
    ir_value at, sums[GENERIC_ROWS], next[GENERIC_ROWS];
    zeros(p, b, rows, width, totals);
    ir_value chunks = p->chunked ? extent : tile_index_min(b, extent, tile_index(b, 1));
    ir_builder in = tile_for(b, p->s->zero, chunks, p->chunked ? GENERIC_CHUNK : 1, totals,
                             (uint32_t)rows, &loop, &at);
    ir_value end = tile_index_step(&in, at, p->s->zero, 0, GENERIC_CHUNK);
    end = p->chunked ? tile_index_min(&in, end, extent) : extent;
    zeros(p, &in, rows, width, sums);
    steps(p, &in, at, end, rows, width, sums);
    for (int r = 0; r < rows; r++) {
        ir_value total = ir_block_get(b->m, in.block)->arguments[1 + r];
        next[r] = tile_op(&in, TILE_ADD, (ir_value[]){total, sums[r]}, 2, DTYPE_NONE);
    }
    tile_yield(&in, next, (uint32_t)rows);
    results_of(b, loop, rows, totals);
}

/* How many steps the row makes. */
static ir_value extent_of(const dot_phase *p, ir_builder *b) {
    ir_dim dim = generic_type(p->s, p->x)->dims[p->x_rank - 1];
    ir_value extent = dim_values_get(&p->s->dims, dim);
    if (!p->counts)
        return extent;
    ir_value count = element_of(p, b, p->counts, &p->index[p->row], 1);
    count = ir_build1(b, TILE_TO_INDEX, &count, 1, ir_type_index(b->m), NULL, 0);
    return tile_index_min(b, tile_index_max(b, count, p->s->zero), extent);
}

static void dot_tile(dot_phase *p, ir_builder *b, int rows, int64_t width) {
    ir_value totals[GENERIC_ROWS];
    contract(p, b, extent_of(p, b), rows, width, totals);
    for (int r = 0; r < rows; r++) {
        generic_place at[IR_MAX_RANK];
        memcpy(at, p->index, sizeof at);
        if (r)
            at[p->row].at = tile_index_step(b, at[p->row].at, p->s->zero, 0, r);
        ir_value total = totals[r];
        generic_store(p->s, b, p->result, at, total);
    }
}

/* All columns of the cell, from `low` to `high`. */
static void dot_columns(dot_phase *p, ir_builder *b, int rows, ir_value low, ir_value high) {
    int64_t widths[GENERIC_WIDTHS];
    bool vectors = p->column >= 0 && generic_vectors(p->s, p->y, p->y_rank - 1, false);
    int n = generic_widths(p->s, vectors, widths);
    if (p->column < 0) {
        dot_tile(p, b, rows, 1);
        return;
    }
    for (int i = 0; i < n; i++) {
        ir_value at, whole = tile_index_floor(b, tile_index_sub(b, high, low), widths[i]);
        ir_value end = tile_index_add(b, low, whole);
        ir_builder in = tile_for(b, low, end, widths[i], NULL, 0, NULL, &at);
        p->index[p->column] = (generic_place){at, widths[i] > 1};
        dot_tile(p, &in, rows, widths[i]);
        tile_yield(&in, NULL, 0);
        low = end;
    }
}

/* The cell's rows: all of a tile together where they are there, else one by one. */
static void dot_rows(dot_phase *p, ir_builder *b, ir_value low, ir_value high) {
    ir_value first, at,
        rows = dim_values_get(&p->s->dims, generic_type(p->s, p->result)->dims[p->row]);
    ir_value row = p->index[p->row].at, one = tile_index(b, 1);
    ir_value left_over = tile_index_sub(b, rows, row);
    ir_value whole = tile_index_step(b, left_over, p->s->zero, 0, 1 - GENERIC_ROWS);
    whole = tile_index_max(b, tile_index_min(b, whole, one), p->s->zero);
    if (p->counts)
        whole = p->s->zero;
    ir_builder in = tile_for(b, p->s->zero, whole, 1, NULL, 0, NULL, &first);
    if (!p->counts)
        dot_columns(p, &in, GENERIC_ROWS, low, high);
    tile_yield(&in, NULL, 0);
    ir_value start = tile_index_step(b, row, whole, GENERIC_ROWS, 0);
    ir_value end = tile_index_min(b, tile_index_step(b, row, p->s->zero, 0, GENERIC_ROWS), rows);
    in = tile_for(b, start, end, 1, NULL, 0, NULL, &at);
    p->index[p->row] = (generic_place){at, 0};
    dot_columns(p, &in, 1, low, high);
    tile_yield(&in, NULL, 0);
}

static ir_dim in_steps(generic *s, ir_dim dim, int64_t step) {
    return ir_dim_floordiv(s->g, ir_dim_add(s->g, dim, step - 1), step);
}

static dot_phase dot_of(generic *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    int64_t batch[IR_MAX_RANK];
    dot_phase p = {.s = s,
                   .op = op,
                   .x = d->operands[0],
                   .y = d->operands[1],
                   .counts = d->operand_count > 2 ? d->operands[2] : 0,
                   .result = d->results[0]};
    p.element = generic_type(s, p.result)->element;
    p.batch = (int)ir_op_ints(s->g, op, "x_batch", batch, IR_MAX_RANK);
    p.x_rank = generic_type(s, p.x)->rank;
    p.y_rank = generic_type(s, p.y)->rank;
    p.rank = generic_type(s, p.result)->rank;
    p.row = p.x_rank - 1 > p.batch ? p.x_rank - 2 : -1;
    p.column = p.y_rank - 1 > p.batch ? p.rank - 1 : -1;
    p.chunked = order_of(s->g, op, ORDER_CHUNK512) == ORDER_CHUNK512;
    return p;
}

void generic_dot(generic *s, ir_op op) {
    dot_phase p = dot_of(s, op);
    const ir_type_data *t = generic_type(s, p.result);
    ir_dim dims[IR_MAX_RANK], cells = 1;
    ir_value cell, at[IR_MAX_RANK], low = 0, high = 0;
    for (int i = 0; i < p.rank; i++) {
        dims[i] = i == p.row      ? in_steps(s, t->dims[i], GENERIC_ROWS)
                  : i == p.column ? in_steps(s, t->dims[i], GENERIC_DOT_COLUMNS)
                                  : t->dims[i];
        cells = ir_dim_mul(s->g, cells, dims[i]);
    }
    ir_builder b = generic_phase(s, "dot", cells, &cell);
    generic_unravel(s, &b, cell, dims, p.rank, at);
    for (int i = 0; i < p.rank; i++)
        p.index[i] = (generic_place){at[i], 0};
    if (p.column >= 0) {
        low = tile_index_step(&b, s->zero, at[p.column], GENERIC_DOT_COLUMNS, 0);
        high = tile_index_min(&b, tile_index_step(&b, low, s->zero, 0, GENERIC_DOT_COLUMNS),
                              dim_values_get(&s->dims, t->dims[p.column]));
    }
    if (p.row < 0) {
        dot_columns(&p, &b, 1, low, high);
        return;
    }
    p.index[p.row].at = tile_index_step(&b, s->zero, at[p.row], GENERIC_ROWS, 0);
    dot_rows(&p, &b, low, high);
}
