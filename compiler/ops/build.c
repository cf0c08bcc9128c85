/* build.c - short builders for primitive operations. */
#include "ops/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/orders.h"
#include "ops/reductions.h"

const ir_type_data *build_type(const ir_builder *b, ir_value x) {
    return ir_type_of(b->m, x);
}

static ir_value build(ir_builder *b, int opcode, const ir_value *operands, uint32_t n,
                      const ir_named_attr *attrs, uint32_t attr_count) {
    return ir_op_result(b->m, graph_build(b, opcode, operands, n, attrs, attr_count), 0);
}

ir_value build_unary(ir_builder *b, int opcode, ir_value x) {
    return build(b, opcode, &x, 1, NULL, 0);
}

ir_value build_binary(ir_builder *b, int opcode, ir_value x, ir_value y) {
    return build(b, opcode, (ir_value[]){x, y}, 2, NULL, 0);
}

ir_value build_select(ir_builder *b, ir_value condition, ir_value x, ir_value y) {
    return build(b, GRAPH_SELECT, (ir_value[]){condition, x, y}, 3, NULL, 0);
}

ir_value build_compare(ir_builder *b, const char *predicate, ir_value x, ir_value y) {
    ir_named_attr attr = {"predicate", ir_attr_string(b->m, predicate)};
    return build(b, GRAPH_COMPARE, (ir_value[]){x, y}, 2, &attr, 1);
}

ir_value build_convert(ir_builder *b, ir_value x, dtype to) {
    if (build_type(b, x)->element == to)
        return x;
    ir_named_attr attr = {"to", ir_attr_type(b->m, ir_type_scalar(b->m, to))};
    return build(b, GRAPH_CONVERT, &x, 1, &attr, 1);
}

ir_value build_broadcast(ir_builder *b, ir_value x, int rank, const ir_dim *shape,
                         const int64_t *axes) {
    int from = build_type(b, x)->rank;
    if (from == rank && memcmp(build_type(b, x)->dims, shape, sizeof(ir_dim) * (size_t)rank) == 0)
        return x;
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(b->m, shape, (uint32_t)rank)},
                             {"axes", ir_attr_int_array(b->m, axes, (uint32_t)from)}};
    return build(b, GRAPH_BROADCAST, &x, 1, attrs, 2);
}

ir_value build_reshape(ir_builder *b, ir_value x, int rank, const ir_dim *shape) {
    ir_named_attr attr = {"shape", ir_attr_dim_array(b->m, shape, (uint32_t)rank)};
    return build(b, GRAPH_RESHAPE, &x, 1, &attr, 1);
}

ir_value build_row(ir_builder *b, ir_value x) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK + 1] = {1};
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return build_reshape(b, x, t.rank + 1, dims);
}

ir_value build_transpose(ir_builder *b, ir_value x, const int64_t *permutation) {
    ir_named_attr attr = {"permutation",
                          ir_attr_int_array(b->m, permutation, (uint32_t)build_type(b, x)->rank)};
    return build(b, GRAPH_TRANSPOSE, &x, 1, &attr, 1);
}

ir_value build_moved(ir_builder *b, ir_value x, int from, int to) {
    const int rank = build_type(b, x)->rank;
    int64_t order[IR_MAX_RANK];
    for (int i = 0, next = 0; i < rank; i++) {
        next += next == from;
        order[i] = i == to ? from : next++;
    }
    return from == to ? x : build_transpose(b, x, order);
}

ir_value build_gather(ir_builder *b, ir_value x, ir_value indices, int axis, int batch_dims) {
    ir_named_attr attrs[] = {{"axis", ir_attr_int(b->m, axis)},
                             {"batch_dims", ir_attr_int(b->m, batch_dims)}};
    return build(b, GRAPH_GATHER, (ir_value[]){x, indices}, 2, attrs, 2);
}

ir_value build_scalar(ir_builder *b, dtype element, uint64_t bits) {
    ir_named_attr attr = {"value", ir_attr_bits(b->m, element, bits)};
    return build(b, GRAPH_CONSTANT, NULL, 0, &attr, 1);
}

static ir_value build_constant(ir_builder *b, dtype element, uint64_t bits, ir_value like) {
    ir_value scalar = build_scalar(b, element, bits);
    const ir_type_data *d = build_type(b, like);
    return build_broadcast(b, scalar, d->rank, d->dims, NULL);
}

ir_value build_f32(ir_builder *b, float value, ir_value like) {
    return build_constant(b, DTYPE_F32, f32_bits(value), like);
}

ir_value build_i32(ir_builder *b, int32_t value, ir_value like) {
    return build_constant(b, DTYPE_I32, (uint32_t)value, like);
}

ir_value build_extent(ir_builder *b, ir_dim dim, dtype element, ir_value like) {
    if (ir_dim_is_static(dim))
        return element == DTYPE_F32 ? build_f32(b, (float)dim, like)
                                    : build_i32(b, (int32_t)dim, like);
    ir_named_attr attr = {"of", ir_attr_dim_array(b->m, &dim, 1)};
    ir_value scalar = build_convert(b, build(b, GRAPH_EXTENT, NULL, 0, &attr, 1), element);
    const ir_type_data *d = build_type(b, like);
    return build_broadcast(b, scalar, d->rank, d->dims, NULL);
}

ir_value build_iota(ir_builder *b, int rank, const ir_dim *shape, int axis) {
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(b->m, shape, (uint32_t)rank)},
                             {"axis", ir_attr_int(b->m, axis)}};
    return build(b, GRAPH_IOTA, NULL, 0, attrs, 2);
}

ir_value build_spread(ir_builder *b, ir_value x, ir_value like, int axis) {
    const ir_type_data *d = build_type(b, like);
    int64_t axes[IR_MAX_RANK];
    for (int i = 0; i < d->rank - 1; i++)
        axes[i] = i < axis ? i : i + 1;
    return build_broadcast(b, x, d->rank, d->dims, axes);
}

ir_value build_align(ir_builder *b, ir_value x, ir_value like) {
    const ir_type_data *d = build_type(b, like);
    int from = build_type(b, x)->rank;
    int64_t axes[IR_MAX_RANK];
    for (int i = 0; i < from; i++)
        axes[i] = d->rank - from + i;
    return build_broadcast(b, x, d->rank, d->dims, axes);
}

ir_value build_reduce(ir_builder *b, const char *kind, ir_value x, int axis) {
    bool ordered = reduction_rounds(kind) && dtype_is_float(build_type(b, x)->element);
    ir_named_attr attrs[] = {
        {"kind", ir_attr_string(b->m, kind)},
        {"axes", ir_attr_int_array(b->m, (int64_t[]){axis}, 1)},
        {"order", ordered ? ir_attr_string(b->m, order_info_of(ORDER_LANES64)->name) : 0}};
    return build(b, GRAPH_REDUCE, &x, 1, attrs, ordered ? 3 : 2);
}

ir_value build_slice(ir_builder *b, ir_value x, const ir_dim *start, const ir_dim *stop) {
    int64_t step[IR_MAX_RANK];
    uint32_t n = (uint32_t)build_type(b, x)->rank;
    for (uint32_t i = 0; i < n; i++)
        step[i] = 1;
    ir_named_attr attrs[] = {{"start", ir_attr_dim_array(b->m, start, n)},
                             {"stop", ir_attr_dim_array(b->m, stop, n)},
                             {"step", ir_attr_int_array(b->m, step, n)}};
    return build(b, GRAPH_SLICE, &x, 1, attrs, 3);
}

ir_value build_concat(ir_builder *b, int axis, const ir_value *items, uint32_t count) {
    const ir_named_attr attr = {"axis", ir_attr_int(b->m, axis)};
    return count == 1 ? items[0]
                      : ir_op_result(b->m, graph_build(b, GRAPH_CONCAT, items, count, &attr, 1), 0);
}

void build_dot_axes(ir_module *m, const dot_axes *axes, ir_named_attr *attrs) {
    attrs[0] = (ir_named_attr){"x_contract", ir_attr_int_array(m, axes->x, axes->contracted)};
    attrs[1] = (ir_named_attr){"y_contract", ir_attr_int_array(m, axes->y, axes->contracted)};
    attrs[2] = (ir_named_attr){"x_batch", ir_attr_int_array(m, axes->x_batch, axes->batch)};
    attrs[3] = (ir_named_attr){"y_batch", ir_attr_int_array(m, axes->y_batch, axes->batch)};
}

ir_value build_dot(ir_builder *b, ir_value x, ir_value y, const dot_axes *axes) {
    ir_named_attr attrs[DOT_AXES_ATTRS + 1];
    build_dot_axes(b->m, axes, attrs);
    attrs[DOT_AXES_ATTRS] =
        (ir_named_attr){"order", ir_attr_string(b->m, order_info_of(ORDER_CHUNK512)->name)};
    return build(b, GRAPH_DOT, (ir_value[]){x, y}, 2, attrs, DOT_AXES_ATTRS + 1);
}

/* Parameters: the builder, and the operation's parts. */
ir_op build_along(ir_builder *b, int opcode, int axis, const ir_value *operands, uint32_t count,
                  const ir_type *results, uint32_t result_count) {
    const ir_named_attr attr = {"axis", ir_attr_int(b->m, axis)};
    return ir_build(b, &(ir_op_spec){.opcode = opcode,
                                     .operands = operands,
                                     .operand_count = count,
                                     .results = results,
                                     .result_count = result_count,
                                     .attrs = &attr,
                                     .attr_count = 1,
                                     .region_count = 1});
}

ir_op build_next(ir_builder *b, const ir_value *values, uint32_t count) {
    return ir_build(
        b, &(ir_op_spec){.opcode = GRAPH_NEXT, .operands = values, .operand_count = count});
}

ir_value build_slice_axis(ir_builder *b, ir_value x, int axis, ir_dim start, ir_dim stop) {
    const ir_type_data *d = build_type(b, x);
    ir_dim from[IR_MAX_RANK] = {0}, to[IR_MAX_RANK];
    memcpy(to, d->dims, sizeof *to * (size_t)d->rank);
    from[axis] = start;
    to[axis] = stop;
    return build_slice(b, x, from, to);
}

ir_attr build_names(ir_module *m, const char *prefix, size_t count) {
    ir_attr *names = base_calloc(count + 1, sizeof *names);
    char name[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%zu", prefix, i);
        names[i] = ir_attr_string(m, name);
    }
    ir_attr list = ir_attr_array(m, names, (uint32_t)count);
    free(names);
    return list;
}

ir_value build_step_word(ir_builder *b, ir_value step) {
    const ir_value operands[] = {step, build_i32(b, 0, step)};
    const ir_named_attr attrs[] = {{"seed", ir_attr_int(b->m, 0)},
                                   {"site", ir_attr_int(b->m, STEP_SITE)}};
    return ir_op_result(b->m, graph_build(b, GRAPH_RANDOM_BITS, operands, 2, attrs, 2), 0);
}
