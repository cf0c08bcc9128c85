/* expand_sort.c - a sort as a loop over its passes, in which each place looks up its partner. */
#include <stdlib.h>

#include "graph/combiner.h"

enum { PASS_BITS, PASS_VALUE, PASS_DISTANCE, PASS_PARTS };

/* For each pass its three numbers, as rows: those of sort_pass_next. Stage s = 0, 1, ... has the
 * s + 1 passes from s (s + 1) / 2 on. */
static void build_passes(ir_builder *b, int64_t length, ir_value *parts) {
    const int64_t passes = sort_passes(length), top = sort_pass_first(length).bits;
    ir_value turn = build_iota(b, 1, &passes, 0), zero = build_i32(b, 0, turn);
    ir_value bits = build_i32(b, (int32_t)top, turn), begin = zero, reach = bits;
    for (int s = 1; top >> s; s++) {
        ir_value first = build_i32(b, s * (s + 1) / 2, turn);
        ir_value later = build_compare(b, "ge", turn, first);
        bits = build_select(b, later, build_i32(b, (int32_t)(top >> s), turn), bits);
        begin = build_select(b, later, first, begin);
    }
    ir_value number = build_binary(b, GRAPH_SUB, turn, begin);
    for (int i = 2; top >> (i - 1); i++) {
        ir_value later = build_compare(b, "ge", number, build_i32(b, i, turn));
        reach = build_select(b, later, build_i32(b, (int32_t)(top >> (i - 1)), turn), reach);
    }
    ir_value opens = build_compare(b, "eq", number, zero);
    parts[PASS_BITS] = bits;
    parts[PASS_VALUE] = build_select(b, opens, zero, bits);
    parts[PASS_DISTANCE] = build_select(b, opens, bits, build_binary(b, GRAPH_SUB, reach, bits));
}

/* Places along the axis that a pass looks at: (place & bits) == value. */
static ir_value are_compared(ir_builder *b, ir_value places, const ir_value *pass) {
    ir_value bits = build_binary(b, GRAPH_AND, places, pass[PASS_BITS]);
    return build_compare(b, "eq", bits, pass[PASS_VALUE]);
}

/* The partner of each place along the axis, which is the place itself where it has none; and
 * `lower`: the partner is behind it. */
static ir_value build_partners(ir_builder *b, int64_t length, const ir_value *pass,
                               ir_value *lower) {
    ir_value places = build_iota(b, 1, &length, 0);
    ir_value up = build_binary(b, GRAPH_ADD, places, pass[PASS_DISTANCE]);
    ir_value down = build_binary(b, GRAPH_SUB, places, pass[PASS_DISTANCE]);
    ir_value inside = build_compare(b, "lt", up, build_i32(b, (int32_t)length, places));
    ir_value positive = build_compare(b, "ge", down, build_i32(b, 0, places));
    *lower = build_binary(b, GRAPH_AND, are_compared(b, places, pass), inside);
    ir_value upper = build_binary(b, GRAPH_AND, are_compared(b, down, pass), positive);
    return build_select(b, *lower, up, build_select(b, upper, down, places));
}

/* One pass on the tensors, and on where each element stood at the beginning, which is the last of
 * `values`. Of a place's element and its partner's, `first` stood before `second`. */
static void build_pass(const combiner *c, ir_builder *b, ir_value *values, const ir_value *pass) {
    const uint32_t count = c->s.count;
    ir_value *pair = combiner_room(2 * (size_t)count + 2), *first = pair + count, *second = pair,
             lower;
    ir_value *others = combiner_room(count), swaps;
    ir_value partner = build_partners(b, c->s.dims[c->s.axis], pass, &lower);
    ir_value stood = values[count], other = build_gather(b, stood, partner, c->s.axis, 0);
    ir_value before = build_compare(b, "lt", stood, other);
    for (uint32_t i = 0; i < count; i++) {
        others[i] = build_gather(b, values[i], partner, c->s.axis, 0);
        first[i] = build_select(b, before, values[i], others[i]);
        second[i] = build_select(b, before, others[i], values[i]);
    }
    combiner_apply(c, b, pair, &swaps);
    ir_value keeps = build_binary(b, GRAPH_XOR, swaps, combiner_spread(c, b, lower));
    for (uint32_t i = 0; i < count; i++)
        values[i] = build_select(b, keeps, first[i], second[i]);
    values[count] = build_select(b, keeps, build_binary(b, GRAPH_MINIMUM, stood, other),
                                 build_binary(b, GRAPH_MAXIMUM, stood, other));
    free(pair);
    free(others);
}

void combiner_expand_sort(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t carried = c->s.count + 1;
    const int64_t length = c->s.dims[c->s.axis];
    combiner_values operands = {0};
    for (uint32_t i = 0; i < c->s.count; i++)
        vec_push(&operands, results[i] = d->operands[i]);
    if (length > 1) {
        ir_value passes[PASS_PARTS], places = build_iota(&c->b, c->s.rank, c->s.dims, c->s.axis);
        build_passes(&c->b, length, passes);
        vec_push(&operands, places);
        for (int i = 0; i < PASS_PARTS; i++)
            vec_push(&operands, passes[i]);
        ir_op loop = combiner_begin_loop(c, &operands, carried, 0, sort_passes(length));
        ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
        ir_value *values = combiner_room(operands.count);
        ir_value turn = combiner_take_turn(c, in.block);
        combiner_take(c, in.block, &operands, values);
        for (int i = 0; i < PASS_PARTS; i++) {
            ir_value number = build_gather(&in, values[carried + (uint32_t)i], turn, 0, 0);
            passes[i] = build_broadcast(&in, number, 1, &length, NULL);
        }
        build_pass(c, &in, values, passes);
        build_next(&in, values, carried);
        for (uint32_t i = 0; i < c->s.count; i++)
            results[i] = ir_op_result(c->m, loop, i);
        free(values);
    }
    vec_release(&operands);
}
