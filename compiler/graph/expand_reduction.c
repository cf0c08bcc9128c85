/* expand_reduction.c - a reduction as a fold, which goes through the axis in one dispatch; or as a
 * loop over the parts along the axis, where the types are none of a fold. */
#include <stdlib.h>
#include <string.h>

#include "graph/combiner.h"
#include "ops/fold.h"

/* Turns of a fold, in one dispatch: a Vulkan device of this CPU (Mesa's lavapipe) leaves the loops
 * of a kernel after 65535. */
enum { FOLD_MOST = 32768 };

/* The axis before the others. */
static ir_value axis_first(combiner *c, ir_value x) {
    int64_t permutation[IR_MAX_RANK] = {c->s.axis};
    for (int i = 0, k = 1; i < build_type(&c->b, x)->rank; i++)
        if (i != c->s.axis)
            permutation[k++] = i;
    return c->s.axis ? build_transpose(&c->b, x, permutation) : x;
}

/* The part of a turn along an axis. */
static ir_type part_type(const combiner *c, ir_value x, int axis) {
    const ir_type_data t = *build_type(&c->b, x);
    ir_dim dims[IR_MAX_RANK] = {0};
    for (int i = 0, k = 0; i < t.rank; i++)
        if (i != axis)
            dims[k++] = t.dims[i];
    return ir_type_tensor(c->m, t.element, t.rank - 1, dims);
}

/* Arguments of a block: the scalars so far, and the tensors' parts of a turn along an axis. */
static void take_parts(combiner *c, ir_block block, const combiner_values *operands, int axis,
                       ir_value *out) {
    for (uint32_t i = 0; i < operands->count; i++) {
        ir_value v = operands->items[i];
        ir_type type = i < c->s.count ? ir_value_get(c->m, v)->type : part_type(c, v, axis);
        out[i] = ir_block_add_argument(c->m, block, type, NULL);
    }
}

/* One dispatch that goes through the axis for each row, where the types are those of a fold; 0:
 * they are not. */
static ir_op try_fold(combiner *c, const combiner_values *operands) {
    const uint32_t count = c->s.count;
    status why = STATUS_INIT;
    int64_t *axes = base_calloc(count, sizeof *axes);
    ir_value *arguments = combiner_room(2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        axes[i] = c->s.axis;
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(c->m, count)},
                                   {"turns", ir_attr_int_array(c->m, axes, count)}};
    ir_op fold = combiner_begin(c, GRAPH_FOLD, operands, count, attrs, 2);
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, fold, 0)};
    take_parts(c, in.block, operands, c->s.axis, arguments);
    combiner_apply(c, &in, arguments, arguments);
    build_next(&in, arguments, count);
    free(axes);
    free(arguments);
    if (2 * count <= LIMIT_OPERANDS && fold_verify(c->m, fold, &why))
        return fold;
    ir_op_erase(c->m, fold);
    return 0;
}

/* A dispatch for each place along the axis. */
static void loop_over_axis(combiner *c, combiner_values *operands) {
    const uint32_t count = c->s.count;
    ir_value *arguments = combiner_room(2 * (size_t)count);
    for (uint32_t i = count; i < 2 * count; i++)
        operands->items[i] = axis_first(c, operands->items[i]);
    ir_op loop = combiner_begin_loop(c, operands, count, count, c->s.dims[c->s.axis]);
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
    combiner_take_turn(c, in.block);
    take_parts(c, in.block, operands, 0, arguments);
    combiner_apply(c, &in, arguments, arguments);
    build_next(&in, arguments, count);
    free(arguments);
    for (uint32_t i = 0; i < count; i++)
        operands->items[i] = ir_op_result(c->m, loop, i);
}

/* Along an axis of one place nothing waits. */
static void combine_once(combiner *c, const combiner_values *operands, ir_value *results) {
    const uint32_t count = c->s.count;
    ir_value *arguments = combiner_room(2 * (size_t)count);
    memcpy(arguments, operands->items, sizeof *arguments * 2 * count);
    for (uint32_t i = count; i < 2 * count; i++) {
        const ir_type_data part = *ir_type_get(c->m, part_type(c, arguments[i], c->s.axis));
        arguments[i] = build_reshape(&c->b, arguments[i], part.rank, part.dims);
    }
    combiner_apply(c, &c->b, arguments, results);
    free(arguments);
}

/* The scalars so far, which are the first operands, go through the places of the tensors behind
 * them, and are those after that. False: the types are none of a fold. */
static bool fold_all(combiner *c, combiner_values *operands) {
    const uint32_t count = c->s.count;
    if (build_type(&c->b, operands->items[count])->dims[c->s.axis] == 1) {
        combine_once(c, operands, operands->items);
        return true;
    }
    ir_op fold = try_fold(c, operands);
    for (uint32_t i = 0; i < count && fold; i++)
        operands->items[i] = ir_op_result(c->m, fold, i);
    return fold != 0;
}

/* Pieces of FOLD_MOST places, along a new axis 0. */
static ir_value cut_axis(combiner *c, ir_value x, int64_t pieces) {
    const int axis = c->s.axis;
    ir_value whole = build_slice_axis(&c->b, x, axis, 0, pieces * FOLD_MOST);
    const ir_type_data t = *build_type(&c->b, whole);
    ir_dim dims[IR_MAX_RANK] = {0};
    for (int i = 0; i <= t.rank; i++)
        dims[i] = i == axis ? pieces : i == axis + 1 ? FOLD_MOST : t.dims[i - (i > axis)];
    return axis_first(c, build_reshape(&c->b, whole, t.rank + 1, dims));
}

/* A loop over pieces. */
static bool fold_pieces(combiner *c, combiner_values *operands, int64_t pieces) {
    const uint32_t count = c->s.count;
    combiner_values cut = {0}, inner = {0};
    for (uint32_t i = 0; i < 2 * count; i++) {
        ir_value v = operands->items[i];
        vec_push(&cut, i < count ? v : cut_axis(c, v, pieces));
    }
    ir_op loop = combiner_begin_loop(c, &cut, count, count, pieces);
    ir_builder outside = c->b;
    c->b = (ir_builder){.m = c->m, .block = ir_op_block(c->m, loop, 0)};
    combiner_take_turn(c, c->b.block);
    vec_reserve(&inner, cut.count);
    inner.count = cut.count;
    take_parts(c, c->b.block, &cut, 0, inner.items);
    bool ok = fold_all(c, &inner);
    build_next(&c->b, inner.items, count);
    c->b = outside;
    if (!ok)
        ir_op_erase(c->m, loop);
    for (uint32_t i = 0; i < count && ok; i++)
        operands->items[i] = ir_op_result(c->m, loop, i);
    vec_release(&cut);
    vec_release(&inner);
    return ok;
}

/* Goes along the axis by folds; false: the types, or the rank, are none of a fold. */
static bool fold_along_axis(combiner *c, combiner_values *operands, int64_t length) {
    const int64_t pieces = length / FOLD_MOST, rest = length % FOLD_MOST;
    if (length <= FOLD_MOST)
        return fold_all(c, operands);
    if (c->s.rank == IR_MAX_RANK || !fold_pieces(c, operands, pieces))
        return false;
    for (uint32_t i = c->s.count; i < 2 * c->s.count && rest; i++)
        operands->items[i] =
            build_slice_axis(&c->b, operands->items[i], c->s.axis, pieces * FOLD_MOST, length);
    return !rest || fold_all(c, operands);
}

static void reduce(combiner *c, combiner_values *operands) {
    if (graph_elements(c->s.rank, c->s.dims) && !fold_along_axis(c, operands, c->s.dims[c->s.axis]))
        loop_over_axis(c, operands);
}

/* A fold has rows: of a tensor with the one axis, one. */
static void reduce_row(combiner *c, combiner_values *operands) {
    combiner rows = *c;
    rows.s.rank = 2;
    rows.s.axis = 1;
    rows.s.dims[0] = 1;
    rows.s.dims[1] = c->s.dims[0];
    for (uint32_t i = 0; i < 2 * c->s.count; i++)
        operands->items[i] =
            build_reshape(&c->b, operands->items[i], i < c->s.count ? 1 : 2, rows.s.dims);
    reduce(&rows, operands);
    for (uint32_t i = 0; i < c->s.count; i++)
        operands->items[i] = build_reshape(&c->b, operands->items[i], 0, NULL);
}

void combiner_expand_reduction(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t count = c->s.count;
    combiner_values operands = {0};
    for (uint32_t i = 0; i < count; i++) {
        const ir_type_data rows = *build_type(&c->b, d->results[i]);
        vec_push(&operands,
                 build_broadcast(&c->b, d->operands[count + i], rows.rank, rows.dims, NULL));
    }
    for (uint32_t i = 0; i < count; i++)
        vec_push(&operands, d->operands[i]);
    (c->s.rank == 1 ? reduce_row : reduce)(c, &operands);
    memcpy(results, operands.items, sizeof *results * count);
    vec_release(&operands);
}
