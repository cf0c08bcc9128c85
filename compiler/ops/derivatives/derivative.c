/* derivative.c - the table of rules, and what they are made of. */
#include "ops/derivatives/derivative.h"

#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "ops/orders.h"
#include "ops/transforms.h"

#define RULE(name) extern const derivative derivative_##name;
#include "ops/derivatives/derivatives.def"

#define derivative_none (*(const derivative *)NULL)

static const derivative *const rules[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    &derivative_##derive,
#include "ops/graph.def"
};

const derivative *derivative_of(int opcode) {
    return rules[opcode];
}

ir_value build_number(ir_builder *b, double value, ir_value like) {
    const ir_type_data *t = build_type(b, like);
    uint64_t place = 0;
    dtype_store(t->element, &place, 0, value);
    ir_value scalar = build_scalar(b, t->element, dtype_load_bits(t->element, &place, 0));
    return build_broadcast(b, scalar, t->rank, t->dims, NULL);
}

ir_value build_zero(ir_builder *b, ir_type type) {
    const ir_type_data *t = ir_type_get(b->m, type);
    return build_broadcast(b, build_scalar(b, t->element, 0), t->rank, t->dims, NULL);
}

static ir_value zeros_along(ir_builder *b, ir_value x, int axis, ir_dim length) {
    const ir_type_data *t = build_type(b, x);
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, t->dims, sizeof dims);
    dims[axis] = length;
    return build_zero(b, ir_type_tensor(b->m, t->element, t->rank, dims));
}

ir_value build_pad(ir_builder *b, ir_value x, int axis, ir_dim before, ir_dim after) {
    ir_value parts[3];
    uint32_t count = 0;
    if (before != 0)
        parts[count++] = zeros_along(b, x, axis, before);
    parts[count++] = x;
    if (after != 0)
        parts[count++] = zeros_along(b, x, axis, after);
    return build_concat(b, axis, parts, count);
}

ir_value build_sums(ir_builder *b, ir_value x, const int64_t *axes, uint32_t count) {
    ir_named_attr attrs[] = {{"kind", ir_attr_string(b->m, "sum")},
                             {"axes", ir_attr_int_array(b->m, axes, count)},
                             {"order", ir_attr_string(b->m, order_info_of(ORDER_LANES64)->name)}};
    return count ? ir_op_result(b->m, graph_build(b, GRAPH_REDUCE, &x, 1, attrs, 3), 0) : x;
}

ir_value build_again(ir_builder *b, ir_op op, const ir_value *operands) {
    const ir_op_data *d = ir_op_get(b->m, op);
    return ir_op_result(
        b->m, graph_build(b, d->opcode, operands, d->operand_count, d->attrs, d->attr_count), 0);
}

ir_value build_scatter_add(ir_builder *b, ir_value zeros, ir_value indices, ir_value updates,
                           int axis) {
    ir_type type = ir_value_get(b->m, zeros)->type,
            scalar = ir_type_tensor(b->m, build_type(b, zeros)->element, 0, NULL);
    ir_op op =
        build_along(b, GRAPH_SCATTER, axis, (ir_value[]){zeros, indices, updates}, 3, &type, 1);
    ir_block block = ir_op_block(b->m, op, 0);
    ir_builder inner = {.m = b->m, .block = block, .location = b->location};
    ir_value there = ir_block_add_argument(b->m, block, scalar, NULL),
             update = ir_block_add_argument(b->m, block, scalar, NULL),
             sum = build_binary(&inner, GRAPH_ADD, there, update);
    build_next(&inner, &sum, 1);
    return ir_op_result(b->m, op, 0);
}

ir_value build_turned(ir_builder *b, ir_value x, int axis) {
    const ir_dim length = build_type(b, x)->dims[axis];
    if (length == 0)
        return x;
    ir_value place = build_iota(b, 1, &length, 0),
             last = build_binary(b, GRAPH_SUB, build_extent(b, length, DTYPE_I32, place),
                                 build_i32(b, 1, place));
    return build_gather(b, x, build_binary(b, GRAPH_SUB, last, place), axis, 0);
}

ir_value build_wide(ir_builder *b, ir_value x) {
    const dtype t = build_type(b, x)->element;
    return dtype_is_float(t) && t != DTYPE_F64 ? build_convert(b, x, DTYPE_F32) : x;
}

static ir_type with_first_axis(const ir_builder *b, ir_type part, ir_dim length) {
    const ir_type_data t = *ir_type_get(b->m, part);
    ir_dim dims[IR_MAX_RANK + 1] = {length};
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return ir_type_tensor(b->m, t.element, t.rank + 1, dims);
}

ir_op build_turns(ir_builder *b, const turn_loop *t, ir_builder *inner) {
    ir_type *results = base_calloc((size_t)t->carried + t->stacked_count + 1, sizeof *results);
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->carried; i++)
        results[count++] = ir_value_get(b->m, t->values[i])->type;
    for (uint32_t i = 0; i < t->stacked_count; i++)
        results[count++] = with_first_axis(b, t->stacked[i], t->turns);
    ir_op op = control_build_loop(b, &(loop_request){.operands = t->values,
                                                     .operand_count = t->count,
                                                     .results = results,
                                                     .result_count = count,
                                                     .carried = t->carried,
                                                     .sliced = t->count - t->carried,
                                                     .count = t->turns});
    const ir_block block = ir_op_block(b->m, op, 0);
    ir_block_add_argument(b->m, block, ir_type_tensor(b->m, DTYPE_I32, 0, NULL), NULL);
    for (uint32_t i = 0; i < t->count; i++)
        ir_block_add_argument(
            b->m, block, i < t->carried ? results[i] : control_part_type(b->m, t->values[i]), NULL);
    free(results);
    *inner = (ir_builder){.m = b->m, .block = block, .location = b->location};
    return op;
}

ir_value build_spread_out(ir_builder *b, ir_value x, int axis, ir_dim step) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, t.dims, sizeof dims);
    if (step == 1)
        return x;
    ir_dim apart[IR_MAX_RANK + 1];
    memcpy(apart, t.dims, sizeof *apart * (size_t)(axis + 1));
    apart[axis + 1] = 1;
    memcpy(apart + axis + 2, t.dims + axis + 1, sizeof *apart * (size_t)(t.rank - axis - 1));
    ir_value y = build_reshape(b, x, t.rank + 1, apart);
    y = build_pad(b, y, axis + 1, 0, ir_dim_sub(b->m, step, 1));
    dims[axis] = ir_dim_mul(b->m, t.dims[axis], step);
    return build_reshape(b, y, t.rank, dims);
}

void build_anew(ir_builder *b) {
    b->location.checkpoint = checkpoint_number(b->m, CHECKPOINT_ANEW);
}
