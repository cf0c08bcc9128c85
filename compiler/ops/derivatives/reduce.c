/* reduce.c - derivatives of reductions. */
#include <string.h>

#include "ops/derivatives/derivative.h"

static ir_value operand(const ir_builder *b, ir_op op) {
    return ir_op_get(b->m, op)->operands[0];
}

/* A value of the result's shape, repeated along the axes that are reduced. */
static ir_value repeated(ir_builder *b, ir_op op, ir_value y) {
    const ir_type_data x = *build_type(b, operand(b, op));
    int64_t reduced[IR_MAX_RANK], axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(b->m, op, "axes", reduced, IR_MAX_RANK);
    int kept = 0;
    for (int i = 0; i < x.rank; i++)
        if (!ir_ints_hold(reduced, count, i))
            axes[kept++] = i;
    return build_broadcast(b, y, x.rank, x.dims, axes);
}

static ir_value sum_like(ir_builder *b, ir_op op, ir_value x) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(b->m, op, "axes", axes, IR_MAX_RANK);
    return build_sums(b, x, axes, count);
}

static bool is_kind(const ir_builder *b, ir_op op, const char *kind) {
    return strcmp(ir_op_string(b->m, op, "kind", "sum"), kind) == 0;
}

/* The share of a greatest or least element: 1 / n for each of the n that are; of a product: the
 * product of all others, as the product over the element. */
static ir_value share(ir_builder *b, ir_op op) {
    ir_value x = operand(b, op), y = repeated(b, op, ir_op_result(b->m, op, 0));
    if (is_kind(b, op, "prod"))
        return build_binary(b, GRAPH_DIV, y, x);
    ir_value is =
        build_select(b, build_compare(b, "eq", x, y), build_number(b, 1, x), build_number(b, 0, x));
    return build_binary(b, GRAPH_DIV, is, repeated(b, op, sum_like(b, op, is)));
}

static void transpose_reduce(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                             ir_value *out) {
    (void)wanted;
    ir_value all = repeated(b, op, cotangent);
    out[0] = is_kind(b, op, "sum") ? all : build_binary(b, GRAPH_MUL, all, share(b, op));
}

static ir_value forward_reduce(ir_builder *b, ir_op op, const ir_value *tangents) {
    if (is_kind(b, op, "sum"))
        return build_again(b, op, tangents);
    return sum_like(b, op, build_binary(b, GRAPH_MUL, tangents[0], share(b, op)));
}

const derivative derivative_reduce = {.forward = forward_reduce, .transpose = transpose_reduce};
