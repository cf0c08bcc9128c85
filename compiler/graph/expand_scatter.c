/* expand_scatter.c - a scatter as a loop of rounds: round r combines update number r of each index,
 * so there are as many rounds as the index that occurs most has updates. */
#include <stdlib.h>

#include "graph/combiner.h"

/* Updates in the order of their indices. */
typedef struct updates {
    ir_value order; /* their numbers */
    ir_value begin; /* by place: where its updates begin among these */
    ir_value count; /* by place: how many there are */
} updates;

/* The indices in ascending order, and which updates they are of. */
static void sort_indices(combiner *c, ir_value indices, ir_value sorted[2]) {
    ir_builder *b = &c->b;
    const ir_type scalar = ir_type_tensor(c->m, DTYPE_I32, 0, NULL);
    const ir_value operands[] = {indices, build_iota(b, 1, &c->s.updates, 0)};
    const ir_type types[] = {ir_value_get(c->m, indices)->type, ir_value_get(c->m, indices)->type};
    const ir_named_attr axis = {"axis", ir_attr_int(c->m, 0)};
    ir_op_spec spec = {.opcode = GRAPH_SORT,
                       .operands = operands,
                       .operand_count = 2,
                       .results = types,
                       .result_count = 2,
                       .attrs = &axis,
                       .attr_count = 1,
                       .region_count = 1};
    combiner sort = {.m = c->m, .b = *b, .op = ir_build(b, &spec)};
    sort.s = combine_shape_of(c->m, sort.op);
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, sort.op, 0)};
    ir_value arguments[4], before;
    for (int i = 0; i < 4; i++)
        arguments[i] = ir_block_add_argument(c->m, in.block, scalar, NULL);
    before = build_compare(&in, "lt", arguments[0], arguments[2]);
    combiner_end(&in, &before, 1);
    combiner_expand_sort(&sort, sorted);
    ir_op_erase(c->m, sort.op);
}

/* Counts the sorted indices that are below each number from 0 to the axis' length: bit by bit, from
 * the greatest on. */
static ir_value count_below(combiner *c, ir_value sorted) {
    const ir_dim all = c->s.dims[c->s.axis] + 1;
    const int levels = sort_levels(c->s.updates + 1);
    const ir_value first = build_scalar(&c->b, DTYPE_I32, UINT64_C(1) << (levels - 1));
    combiner_values operands = {0};
    vec_push(&operands, build_broadcast(&c->b, build_scalar(&c->b, DTYPE_I32, 0), 1, &all, NULL));
    vec_push(&operands, first);
    vec_push(&operands, sorted);
    ir_op loop = combiner_begin_loop(c, &operands, 2, 0, levels);
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
    ir_value v[3];
    combiner_take_turn(c, in.block);
    combiner_take(c, in.block, &operands, v);
    ir_value reach = build_binary(&in, GRAPH_ADD, v[0], build_broadcast(&in, v[1], 1, &all, NULL));
    ir_value key = build_gather(
        &in, v[2], build_binary(&in, GRAPH_SUB, reach, build_i32(&in, 1, reach)), 0, 0);
    ir_value known = build_compare(&in, "le", reach, build_i32(&in, (int32_t)c->s.updates, reach));
    ir_value below = build_compare(&in, "lt", key, build_iota(&in, 1, &all, 0));
    v[0] = build_select(&in, build_binary(&in, GRAPH_AND, known, below), reach, v[0]);
    v[1] = build_binary(&in, GRAPH_DIV, v[1], build_scalar(&in, DTYPE_I32, 2));
    combiner_end(&in, v, 2);
    vec_release(&operands);
    return ir_op_result(c->m, loop, 0);
}

static updates sort_updates(combiner *c, ir_value indices) {
    const int64_t length = c->s.dims[c->s.axis];
    ir_value sorted[2];
    sort_indices(c, indices, sorted);
    ir_value below = count_below(c, sorted[0]);
    updates u = {.order = sorted[1], .begin = build_slice_axis(&c->b, below, 0, 0, length)};
    ir_value end = build_slice_axis(&c->b, below, 0, 1, length + 1);
    u.count = build_binary(&c->b, GRAPH_SUB, end, u.begin);
    return u;
}

/* Operands of the rounds, behind the tensors: the round, and what stays as it is. */
enum { ROUND, ROUNDS, ORDER, BEGIN, COUNT, UPDATES };

static void build_condition(combiner *c, ir_op rounds, const combiner_values *operands) {
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, rounds, 0)};
    ir_value *values = combiner_room(operands->count);
    combiner_take(c, in.block, operands, values);
    const ir_value *rest = values + c->s.count;
    ir_value goes_on = build_compare(&in, "lt", rest[ROUND], rest[ROUNDS]);
    combiner_end(&in, &goes_on, 1);
    free(values);
}

static void build_round(combiner *c, ir_op rounds, const combiner_values *operands) {
    const uint32_t count = c->s.count;
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, rounds, 1)};
    ir_value *values = combiner_room(operands->count), *rest = values + count;
    ir_value *pair = combiner_room(2 * (size_t)count), *made = combiner_room(count);
    combiner_take(c, in.block, operands, values);
    ir_value round = build_align(&in, rest[ROUND], rest[COUNT]);
    ir_value number =
        build_gather(&in, rest[ORDER], build_binary(&in, GRAPH_ADD, rest[BEGIN], round), 0, 0);
    ir_value has_one = combiner_spread(c, &in, build_compare(&in, "lt", round, rest[COUNT]));
    for (uint32_t i = 0; i < count; i++) {
        pair[i] = values[i];
        pair[count + i] = build_gather(&in, rest[UPDATES + i], number, c->s.axis, 0);
    }
    combiner_apply(c, &in, pair, made);
    for (uint32_t i = 0; i < count; i++)
        values[i] = build_select(&in, has_one, made[i], values[i]);
    rest[ROUND] = build_binary(&in, GRAPH_ADD, rest[ROUND], build_scalar(&in, DTYPE_I32, 1));
    combiner_end(&in, values, (uint32_t)operands->count);
    free(values);
    free(pair);
    free(made);
}

void combiner_expand_scatter(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t count = c->s.count;
    const int64_t length = c->s.dims[c->s.axis];
    combiner_values operands = {0};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&operands, results[i] = d->operands[i]);
    if (length && c->s.updates) {
        updates u = sort_updates(c, d->operands[count]);
        const ir_value rest[] = {[ROUND] = build_scalar(&c->b, DTYPE_I32, 0),
                                 [ROUNDS] = build_reduce(&c->b, "max", u.count, 0),
                                 [ORDER] = u.order,
                                 [BEGIN] = u.begin,
                                 [COUNT] = u.count};
        for (int i = 0; i < UPDATES; i++)
            vec_push(&operands, rest[i]);
        for (uint32_t i = 0; i < count; i++)
            vec_push(&operands, d->operands[count + 1 + i]);
        ir_op rounds = combiner_begin(c, GRAPH_WHILE, &operands, (uint32_t)operands.count, NULL, 0);
        build_condition(c, rounds, &operands);
        build_round(c, rounds, &operands);
        for (uint32_t i = 0; i < count; i++)
            results[i] = ir_op_result(c->m, rounds, i);
    }
    vec_release(&operands);
}
