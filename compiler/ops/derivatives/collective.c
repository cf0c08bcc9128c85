/* collective.c - derivatives of collectives: linear, but for all_reduce of other kinds than sums.
 *
 * A cotangent differs from shard to shard where its value does, or what is made of that: so one of
 * an invariant value is, where it differs, a part of the sum over the shards. */
#include <string.h>

#include "ops/derivatives/derivative.h"

static ir_value operand(const ir_builder *b, ir_op op) {
    return ir_op_get(b->m, op)->operands[0];
}

static ir_value of_all(ir_builder *b, ir_op op, ir_value cotangent) {
    const ir_value operands[] = {cotangent, ir_op_result(b->m, op, 0)};
    return ir_op_result(b->m, graph_build(b, GRAPH_COTANGENT, operands, 2, NULL, 0), 0);
}

/* The same for all shards, as a cotangent of the operand, which differs. */
static ir_value of_each(ir_builder *b, ir_op op, ir_value cotangent) {
    const ir_value operands[] = {cotangent, operand(b, op)};
    return ir_op_result(b->m, graph_build(b, GRAPH_VARY, operands, 2, NULL, 0), 0);
}

static bool is_sum(const ir_builder *b, ir_op op) {
    return strcmp(ir_op_string(b->m, op, "kind", "sum"), "sum") == 0;
}

/* Another collective over the same axis, with attributes of its own, of which there are at most
 * two. */
static ir_value build_along_axis(ir_builder *b, ir_op op, int opcode, ir_value x,
                                 const ir_named_attr *own, uint32_t own_count) {
    ir_named_attr attrs[4] = {{"axis", ir_op_attr(b->m, op, "axis")},
                              {"count", ir_op_attr(b->m, op, "count")}};
    memcpy(attrs + 2, own, sizeof *own * own_count);
    return ir_op_result(b->m, graph_build(b, opcode, &x, 1, attrs, 2 + own_count), 0);
}

static ir_value build_along_dim(ir_builder *b, ir_op op, int opcode, ir_value x) {
    const ir_named_attr dim = {"dim", ir_op_attr(b->m, op, "dim")};
    return build_along_axis(b, op, opcode, x, &dim, 1);
}

/* In the order tree, which is the usual one. */
static ir_value sum_over(ir_builder *b, ir_op op, ir_value x) {
    const ir_named_attr own[] = {{"kind", ir_attr_string(b->m, "sum")},
                                 {"fold", ir_attr_string(b->m, "tree")}};
    return build_along_axis(b, op, GRAPH_ALL_REDUCE, x, own, 2);
}

/* The share of a greatest or least element, and of a factor, as of a reduction (reduce.c). */
static ir_value share(ir_builder *b, ir_op op) {
    ir_value x = operand(b, op), y = ir_op_result(b->m, op, 0);
    if (strcmp(ir_op_string(b->m, op, "kind", "sum"), "prod") == 0)
        return build_binary(b, GRAPH_DIV, y, x);
    ir_value is =
        build_select(b, build_compare(b, "eq", x, y), build_number(b, 1, x), build_number(b, 0, x));
    return build_binary(b, GRAPH_DIV, is, sum_over(b, op, is));
}

static void transpose_all_reduce(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                 ir_value *out) {
    (void)wanted;
    out[0] = of_each(b, op, of_all(b, op, cotangent));
    if (!is_sum(b, op))
        out[0] = build_binary(b, GRAPH_MUL, out[0], share(b, op));
}

static ir_value forward_all_reduce(ir_builder *b, ir_op op, const ir_value *tangents) {
    return is_sum(b, op) ? build_again(b, op, tangents)
                         : sum_over(b, op, build_binary(b, GRAPH_MUL, tangents[0], share(b, op)));
}

const derivative derivative_all_reduce = {.forward = forward_all_reduce,
                                          .transpose = transpose_all_reduce};

static void transpose_all_gather(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                 ir_value *out) {
    (void)wanted;
    out[0] = build_along_dim(b, op, GRAPH_SHARD_SLICE, of_all(b, op, cotangent));
}

const derivative derivative_all_gather = {.linear = true, .transpose = transpose_all_gather};

static void transpose_to_gather(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    (void)wanted;
    out[0] = of_each(b, op, build_along_dim(b, op, GRAPH_ALL_GATHER, cotangent));
}

const derivative derivative_reduce_scatter = {.linear = true, .transpose = transpose_to_gather};
const derivative derivative_shard_slice = {.linear = true, .transpose = transpose_to_gather};

static void transpose_all_to_all(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                 ir_value *out) {
    (void)wanted;
    const ir_named_attr own[] = {{"split", ir_op_attr(b->m, op, "concat")},
                                 {"concat", ir_op_attr(b->m, op, "split")}};
    out[0] = build_along_axis(b, op, GRAPH_ALL_TO_ALL, cotangent, own, 2);
}

const derivative derivative_all_to_all = {.linear = true, .transpose = transpose_all_to_all};

/* The pairs the other way around. */
static void transpose_permute(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    (void)wanted;
    const ir_attr_data list = *ir_attr_get(b->m, ir_op_attr(b->m, op, "pairs"));
    ir_attr *items = ARENA_NEW(ir_module_arena(b->m), ir_attr, list.count + 1);
    for (uint32_t i = 0; i < list.count; i++)
        items[i] = list.items[i ^ 1];
    const ir_named_attr pairs = {"pairs", ir_attr_array(b->m, items, list.count)};
    out[0] = build_along_axis(b, op, GRAPH_PERMUTE, cotangent, &pairs, 1);
}

const derivative derivative_permute = {.linear = true, .transpose = transpose_permute};

static void transpose_cotangent(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    if (wanted[0])
        out[0] = of_each(b, op, of_all(b, op, cotangent));
}

static void transpose_vary(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                           ir_value *out) {
    (void)b;
    (void)op;
    if (wanted[0])
        out[0] = cotangent;
}

/* The tangent is of the first operand; the second one says where values differ alone. */
static ir_value forward_first(ir_builder *b, ir_op op, const ir_value *tangents) {
    const ir_value operands[] = {tangents[0], ir_op_get(b->m, op)->operands[1]};
    return tangents[0] ? build_again(b, op, operands) : 0;
}

const derivative derivative_cotangent = {.forward = forward_first,
                                         .transpose = transpose_cotangent};
const derivative derivative_vary = {.forward = forward_first, .transpose = transpose_vary};

/* A cotangent lies as its value does. */
static void transpose_placed(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                             ir_value *out) {
    (void)wanted;
    out[0] = build_again(b, op, &cotangent);
}

const derivative derivative_placed = {.linear = true, .transpose = transpose_placed};
