/* move.c - derivatives of data movement: linear, so that each has a transpose alone. */
#include <string.h>

#include "ops/derivatives/derivative.h"

static ir_value operand(const ir_builder *b, ir_op op, uint32_t i) {
    return ir_op_get(b->m, op)->operands[i];
}

static ir_type_data shape_of(const ir_builder *b, ir_op op, uint32_t i) {
    return *build_type(b, operand(b, op, i));
}

/* Sums over the axes that x lacks, and over those of length 1 that are repeated. */
static void transpose_broadcast(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    (void)wanted;
    const ir_type_data x = shape_of(b, op, 0);
    const ir_type_data y = *build_type(b, cotangent);
    int64_t axes[IR_MAX_RANK], summed[IR_MAX_RANK];
    uint32_t count = 0;
    ir_op_ints(b->m, op, "axes", axes, IR_MAX_RANK);
    for (int i = 0; i < y.rank; i++) {
        int from = 0;
        while (from < x.rank && axes[from] != i)
            from++;
        if (from == x.rank || x.dims[from] != y.dims[i])
            summed[count++] = i;
    }
    ir_value sum = build_sums(b, cotangent, summed, count);
    out[0] = build_type(b, sum)->rank == x.rank ? sum : build_reshape(b, sum, x.rank, x.dims);
}

static void transpose_reshape(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    (void)wanted;
    const ir_type_data x = shape_of(b, op, 0);
    out[0] = build_reshape(b, cotangent, x.rank, x.dims);
}

static void transpose_transpose(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    (void)wanted;
    int64_t permutation[IR_MAX_RANK], back[IR_MAX_RANK];
    uint32_t rank = ir_op_ints(b->m, op, "permutation", permutation, IR_MAX_RANK);
    for (uint32_t i = 0; i < rank; i++)
        back[permutation[i]] = i;
    out[0] = build_transpose(b, cotangent, back);
}

static ir_dim dim_at(const ir_builder *b, ir_op op, const char *name, int axis) {
    const ir_attr_data *list = ir_attr_get(b->m, ir_op_attr(b->m, op, name));
    return ir_attr_get(b->m, list->items[axis])->integer;
}

/* Zeros wherever no element was taken. */
static void transpose_slice(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                            ir_value *out) {
    (void)wanted;
    const ir_type_data x = shape_of(b, op, 0);
    ir_value y = cotangent;
    for (int i = 0; i < x.rank; i++) {
        ir_dim start = dim_at(b, op, "start", i), step = dim_at(b, op, "step", i),
               room = ir_dim_sub(b->m, x.dims[i], start);
        y = build_spread_out(b, y, i, step);
        ir_dim length = build_type(b, y)->dims[i], after = ir_dim_sub(b->m, room, length);
        if (step != 1) { /* the zeros behind the last one may lie beyond x */
            y = build_pad(b, y, i, 0, step);
            y = build_slice_axis(b, y, i, 0, room);
            after = 0;
        }
        y = build_pad(b, y, i, start, after);
    }
    out[0] = y;
}

static void transpose_concat(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                             ir_value *out) {
    const int axis = (int)ir_op_int(b->m, op, "axis", 0);
    ir_dim at = 0;
    for (uint32_t i = 0; i < ir_op_get(b->m, op)->operand_count; i++) {
        ir_dim stop = ir_dim_add(b->m, at, shape_of(b, op, i).dims[axis]);
        if (wanted[i])
            out[i] = build_slice_axis(b, cotangent, axis, at, stop);
        at = stop;
    }
}

/* ---- gather ---- */

static ir_dim product_of(const ir_builder *b, const ir_dim *dims, int from, int to) {
    ir_dim all = 1;
    for (int i = from; i < to; i++)
        all = ir_dim_mul(b->m, all, dims[i]);
    return all;
}

/* The axes of what was gathered are batch, before, places, behind; those of x batch, before, the
 * axis, behind. */
typedef struct gathered {
    ir_type_data x, indices;
    int axis, batch;
    int places; /* axes of the indices behind the batch */
} gathered;

/* The place of each index in the rows of all batches, along one axis. */
static ir_value flat_places(ir_builder *b, const gathered *g, ir_value indices) {
    const ir_dim batches = product_of(b, g->indices.dims, 0, g->batch),
                 many = product_of(b, g->indices.dims, g->batch, g->indices.rank),
                 length = g->x.dims[g->axis];
    ir_value zero = build_i32(b, 0, indices),
             last = build_binary(b, GRAPH_SUB, build_extent(b, length, DTYPE_I32, indices),
                                 build_i32(b, 1, indices));
    ir_value at = build_binary(b, GRAPH_MAXIMUM, indices, zero);
    at = build_binary(b, GRAPH_MINIMUM, at, last);
    at = build_reshape(b, at, 2, (ir_dim[]){batches, many});
    if (g->batch) {
        ir_value batch = build_iota(b, 2, (ir_dim[]){batches, many}, 0);
        at = build_binary(
            b, GRAPH_ADD,
            build_binary(b, GRAPH_MUL, batch, build_extent(b, length, DTYPE_I32, batch)), at);
    }
    return build_reshape(b, at, 1, (ir_dim[]){ir_dim_mul(b->m, batches, many)});
}

/* A scatter in ascending order of the indices' places: rows of `before` by `behind`. */
static void transpose_gather(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                             ir_value *out) {
    (void)wanted;
    gathered g = {.x = shape_of(b, op, 0),
                  .indices = shape_of(b, op, 1),
                  .axis = (int)ir_op_int(b->m, op, "axis", 0),
                  .batch = (int)ir_op_int(b->m, op, "batch_dims", 0)};
    g.places = g.indices.rank - g.batch;
    const ir_dim batches = product_of(b, g.x.dims, 0, g.batch),
                 before = product_of(b, g.x.dims, g.batch, g.axis),
                 many = product_of(b, g.indices.dims, g.batch, g.indices.rank),
                 behind = product_of(b, g.x.dims, g.axis + 1, g.x.rank), length = g.x.dims[g.axis],
                 row = ir_dim_mul(b->m, before, behind);
    ir_value updates = build_reshape(b, cotangent, 4, (ir_dim[]){batches, before, many, behind});
    updates = build_transpose(b, updates, (int64_t[]){0, 2, 1, 3});
    updates = build_reshape(b, updates, 2, (ir_dim[]){ir_dim_mul(b->m, batches, many), row});
    ir_dim flat[] = {ir_dim_mul(b->m, batches, length), row};
    ir_value zeros = build_zero(b, ir_type_tensor(b->m, g.x.element, 2, flat));
    ir_value y = build_scatter_add(b, zeros, flat_places(b, &g, operand(b, op, 1)), updates, 0);
    y = build_reshape(b, y, 4, (ir_dim[]){batches, length, before, behind});
    y = build_transpose(b, y, (int64_t[]){0, 2, 1, 3});
    out[0] = build_reshape(b, y, g.x.rank, g.x.dims);
}

#define LINEAR(name)                                                                               \
    const derivative derivative_##name = {.linear = true, .transpose = transpose_##name}
LINEAR(broadcast);
LINEAR(reshape);
LINEAR(transpose);
LINEAR(slice);
LINEAR(concat);
LINEAR(gather);
#undef LINEAR
