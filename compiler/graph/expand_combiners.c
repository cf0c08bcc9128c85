/* expand_combiners.c - loops over whole tensors in the place of combiners, whose blocks run on all
 * elements at once that do not wait for each other.
 *
 * A reduction is a loop over the parts along its axis. A sort is a loop over its passes: each place
 * looks up its partner. A scatter is a loop of rounds: round r combines the update number r of each
 * index, so there are as many rounds as the index that occurs most has updates. */
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "ir/rename.h"
#include "ops/build.h"
#include "ops/combine.h"
#include "ops/control.h"

typedef VEC(ir_value) value_list;

typedef struct combiner {
    ir_module *m;
    ir_builder b;
    ir_op op;
    combine_shape s;
} combiner;

/* ---- building ---- */

static ir_value build_one(ir_builder *b, int opcode, const ir_value *operands, uint32_t count,
                          const ir_named_attr *attrs, uint32_t attr_count) {
    return ir_op_result(b->m, graph_build(b, opcode, operands, count, attrs, attr_count), 0);
}

static ir_value gather(ir_builder *b, ir_value x, ir_value indices, int axis) {
    const ir_named_attr attrs[] = {{"axis", ir_attr_int(b->m, axis)},
                                   {"batch_dims", ir_attr_int(b->m, 0)}};
    return build_one(b, GRAPH_GATHER, (ir_value[]){x, indices}, 2, attrs, 2);
}

static ir_value build_number(ir_builder *b, int32_t value) {
    const ir_named_attr attr = {"value", ir_attr_bits(b->m, DTYPE_I32, (uint32_t)value)};
    return build_one(b, GRAPH_CONSTANT, NULL, 0, &attr, 1);
}

static ir_value add(ir_builder *b, ir_value x, ir_value y) {
    return build_binary(b, GRAPH_ADD, x, y);
}

static ir_value subtract(ir_builder *b, ir_value x, ir_value y) {
    return build_binary(b, GRAPH_SUB, x, y);
}

/* A number for each place along the axis, or one for all, in the shape of the tensors. */
static ir_value spread(const combiner *c, ir_builder *b, ir_value x) {
    const int64_t axis = c->s.axis;
    return build_broadcast(b, x, c->s.rank, c->s.dims, &axis);
}

/* The combiner's block on tensors of one shape instead of scalars: its end's values in `out`. */
static void apply(const combiner *c, ir_builder *b, const ir_value *arguments, ir_value *out) {
    ir_module *m = c->m;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, c->op, 0));
    ir_value *now = base_calloc(ir_value_count(m) + 1, sizeof *now);
    const ir_type_data like = *build_type(b, arguments[0]);
    for (uint32_t i = 0; i < block->argument_count; i++)
        now[block->arguments[i]] = arguments[i];
    for (ir_op op = block->first; op != block->last; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        ir_value operands[LIMIT_OPERANDS];
        for (uint32_t i = 0; i < d->operand_count; i++)
            operands[i] = now[d->operands[i]];
        ir_value v = build_one(b, d->opcode, operands, d->operand_count, d->attrs, d->attr_count);
        now[d->results[0]] = build_broadcast(b, v, like.rank, like.dims, NULL);
    }
    const ir_op_data *end = ir_op_get(m, block->last);
    for (uint32_t i = 0; i < end->operand_count; i++)
        out[i] = now[end->operands[i]];
    free(now);
}

/* ---- loops ---- */

/* A branch or a loop whose first `carried` operands are its results; its blocks are empty. */
static ir_op begin_control(combiner *c, int opcode, const value_list *operands, uint32_t carried,
                           const ir_named_attr *attrs, uint32_t attr_count) {
    ir_type *types = base_calloc((size_t)carried + 1, sizeof *types);
    for (uint32_t i = 0; i < carried; i++)
        types[i] = ir_value_get(c->m, operands->items[i])->type;
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands->items,
                       .operand_count = (uint32_t)operands->count,
                       .results = types,
                       .result_count = carried,
                       .attrs = attrs,
                       .attr_count = attr_count,
                       .region_count = (uint32_t)op_info_get(opcode)->regions};
    ir_op op = ir_build(&c->b, &spec);
    free(types);
    return op;
}

/* A counted loop that takes whole operands behind those that it carries, and slices. */
static ir_op begin_loop(combiner *c, const value_list *operands, uint32_t carried, uint32_t sliced,
                        int64_t count) {
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(c->m, carried)},
                                   {"sliced", ir_attr_int(c->m, sliced)},
                                   {"count", ir_attr_int(c->m, count)}};
    return begin_control(c, GRAPH_LOOP, operands, carried, attrs, 3);
}

/* An argument of a block for each value; `part`: for a part along its axis 0. */
static void take(combiner *c, ir_block block, const ir_value *values, uint32_t count, bool part,
                 ir_value *out) {
    for (uint32_t i = 0; i < count; i++) {
        const ir_type_data t = *build_type(&c->b, values[i]);
        ir_type type = part ? ir_type_tensor(c->m, t.element, t.rank - 1, t.dims + 1)
                            : ir_value_get(c->m, values[i])->type;
        out[i] = ir_block_add_argument(c->m, block, type, NULL);
    }
}

static ir_value take_turn(combiner *c, ir_block loop) {
    return ir_block_add_argument(c->m, loop, ir_type_tensor(c->m, DTYPE_I32, 0, NULL), NULL);
}

static void end_block(ir_builder *b, const ir_value *values, uint32_t count) {
    ir_op_spec spec = {.opcode = GRAPH_NEXT, .operands = values, .operand_count = count};
    ir_build(b, &spec);
}

static ir_value *room(size_t count) {
    return base_calloc(count + 1, sizeof(ir_value));
}

/* ---- reductions ---- */

static ir_value axis_first(combiner *c, ir_value x) {
    int64_t permutation[IR_MAX_RANK] = {c->s.axis};
    for (int i = 0, k = 1; i < c->s.rank; i++)
        if (i != c->s.axis)
            permutation[k++] = i;
    const ir_named_attr attr = {"permutation",
                                ir_attr_int_array(c->m, permutation, (uint32_t)c->s.rank)};
    return c->s.axis ? build_one(&c->b, GRAPH_TRANSPOSE, &x, 1, &attr, 1) : x;
}

static void expand_reduce(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t count = c->s.count;
    const int64_t length = c->s.dims[c->s.axis];
    value_list operands = {0};
    for (uint32_t i = 0; i < count; i++) {
        const ir_type_data rows = *build_type(&c->b, d->results[i]);
        results[i] = build_broadcast(&c->b, d->operands[count + i], rows.rank, rows.dims, NULL);
        vec_push(&operands, results[i]);
    }
    for (uint32_t i = 0; i < count && length; i++) {
        ir_value x = axis_first(c, d->operands[i]);
        vec_push(&operands, x);
    }
    if (length) {
        ir_op loop = begin_loop(c, &operands, count, count, length);
        ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
        ir_value *arguments = room(2 * (size_t)count);
        take_turn(c, in.block);
        take(c, in.block, operands.items, count, false, arguments);
        take(c, in.block, operands.items + count, count, true, arguments + count);
        apply(c, &in, arguments, arguments);
        end_block(&in, arguments, count);
        for (uint32_t i = 0; i < count; i++)
            results[i] = ir_op_result(c->m, loop, i);
        free(arguments);
    }
    vec_release(&operands);
}

/* ---- sorts ---- */

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
    ir_value number = subtract(b, turn, begin);
    for (int i = 2; top >> (i - 1); i++) {
        ir_value later = build_compare(b, "ge", number, build_i32(b, i, turn));
        reach = build_select(b, later, build_i32(b, (int32_t)(top >> (i - 1)), turn), reach);
    }
    ir_value opens = build_compare(b, "eq", number, zero);
    parts[PASS_BITS] = bits;
    parts[PASS_VALUE] = build_select(b, opens, zero, bits);
    parts[PASS_DISTANCE] = build_select(b, opens, bits, subtract(b, reach, bits));
}

/* Places along the axis that a pass looks at: (place & bits) == value. */
static ir_value are_compared(ir_builder *b, ir_value places, const ir_value *pass) {
    ir_value bits = build_binary(b, GRAPH_AND, places, pass[PASS_BITS]);
    return build_compare(b, "eq", bits, pass[PASS_VALUE]);
}

/* Of each place along the axis its partner, which is the place itself where it has none; and
 * `lower`: the partner is behind it. */
static ir_value build_partners(ir_builder *b, int64_t length, const ir_value *pass,
                               ir_value *lower) {
    ir_value places = build_iota(b, 1, &length, 0);
    ir_value up = add(b, places, pass[PASS_DISTANCE]);
    ir_value down = subtract(b, places, pass[PASS_DISTANCE]);
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
    ir_value *pair = room(2 * (size_t)count + 2), *first = pair + count, *second = pair, lower;
    ir_value *others = room(count), swaps;
    ir_value partner = build_partners(b, c->s.dims[c->s.axis], pass, &lower);
    ir_value stood = values[count], other = gather(b, stood, partner, c->s.axis);
    ir_value before = build_compare(b, "lt", stood, other);
    for (uint32_t i = 0; i < count; i++) {
        others[i] = gather(b, values[i], partner, c->s.axis);
        first[i] = build_select(b, before, values[i], others[i]);
        second[i] = build_select(b, before, others[i], values[i]);
    }
    apply(c, b, pair, &swaps);
    ir_value keeps = build_binary(b, GRAPH_XOR, swaps, spread(c, b, lower));
    for (uint32_t i = 0; i < count; i++)
        values[i] = build_select(b, keeps, first[i], second[i]);
    values[count] = build_select(b, keeps, build_binary(b, GRAPH_MINIMUM, stood, other),
                                 build_binary(b, GRAPH_MAXIMUM, stood, other));
    free(pair);
    free(others);
}

static void expand_sort(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t carried = c->s.count + 1;
    const int64_t length = c->s.dims[c->s.axis];
    value_list operands = {0};
    for (uint32_t i = 0; i < c->s.count; i++)
        vec_push(&operands, results[i] = d->operands[i]);
    if (length > 1) {
        ir_value passes[PASS_PARTS], places = build_iota(&c->b, c->s.rank, c->s.dims, c->s.axis);
        build_passes(&c->b, length, passes);
        vec_push(&operands, places);
        for (int i = 0; i < PASS_PARTS; i++)
            vec_push(&operands, passes[i]);
        ir_op loop = begin_loop(c, &operands, carried, 0, sort_passes(length));
        ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
        ir_value *values = room(operands.count);
        ir_value turn = take_turn(c, in.block);
        take(c, in.block, operands.items, (uint32_t)operands.count, false, values);
        for (int i = 0; i < PASS_PARTS; i++) {
            ir_value number = gather(&in, values[carried + (uint32_t)i], turn, 0);
            passes[i] = build_broadcast(&in, number, 1, &length, NULL);
        }
        build_pass(c, &in, values, passes);
        end_block(&in, values, carried);
        for (uint32_t i = 0; i < c->s.count; i++)
            results[i] = ir_op_result(c->m, loop, i);
        free(values);
    }
    vec_release(&operands);
}

/* ---- scatters ---- */

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
    end_block(&in, &before, 1);
    expand_sort(&sort, sorted);
    ir_op_erase(c->m, sort.op);
}

/* Of each number from 0 to the axis' length, how many of the sorted indices are below it: found bit
 * by bit, from the greatest on. */
static ir_value count_below(combiner *c, ir_value sorted) {
    const ir_dim all = c->s.dims[c->s.axis] + 1;
    const int levels = sort_levels(c->s.updates + 1);
    const ir_value first = build_number(&c->b, INT32_C(1) << (levels - 1));
    value_list operands = {0};
    vec_push(&operands, build_broadcast(&c->b, build_number(&c->b, 0), 1, &all, NULL));
    vec_push(&operands, first);
    vec_push(&operands, sorted);
    ir_op loop = begin_loop(c, &operands, 2, 0, levels);
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, loop, 0)};
    ir_value v[3];
    take_turn(c, in.block);
    take(c, in.block, operands.items, 3, false, v);
    ir_value reach = add(&in, v[0], build_broadcast(&in, v[1], 1, &all, NULL));
    ir_value key = gather(&in, v[2], subtract(&in, reach, build_i32(&in, 1, reach)), 0);
    ir_value known = build_compare(&in, "le", reach, build_i32(&in, (int32_t)c->s.updates, reach));
    ir_value below = build_compare(&in, "lt", key, build_iota(&in, 1, &all, 0));
    v[0] = build_select(&in, build_binary(&in, GRAPH_AND, known, below), reach, v[0]);
    v[1] = build_binary(&in, GRAPH_DIV, v[1], build_number(&in, 2));
    end_block(&in, v, 2);
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
    u.count = subtract(&c->b, end, u.begin);
    return u;
}

/* Operands of the rounds, behind the tensors: the round, and what stays as it is. */
enum { ROUND, ROUNDS, ORDER, BEGIN, COUNT, UPDATES };

static void build_condition(combiner *c, ir_op rounds, const value_list *operands) {
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, rounds, 0)};
    ir_value *values = room(operands->count);
    take(c, in.block, operands->items, (uint32_t)operands->count, false, values);
    const ir_value *rest = values + c->s.count;
    ir_value goes_on = build_compare(&in, "lt", rest[ROUND], rest[ROUNDS]);
    end_block(&in, &goes_on, 1);
    free(values);
}

static void build_round(combiner *c, ir_op rounds, const value_list *operands) {
    const uint32_t count = c->s.count;
    ir_builder in = {.m = c->m, .block = ir_op_block(c->m, rounds, 1)};
    ir_value *values = room(operands->count), *rest = values + count;
    ir_value *pair = room(2 * (size_t)count), *made = room(count);
    take(c, in.block, operands->items, (uint32_t)operands->count, false, values);
    ir_value round = build_align(&in, rest[ROUND], rest[COUNT]);
    ir_value number = gather(&in, rest[ORDER], add(&in, rest[BEGIN], round), 0);
    ir_value has_one = spread(c, &in, build_compare(&in, "lt", round, rest[COUNT]));
    for (uint32_t i = 0; i < count; i++) {
        pair[i] = values[i];
        pair[count + i] = gather(&in, rest[UPDATES + i], number, c->s.axis);
    }
    apply(c, &in, pair, made);
    for (uint32_t i = 0; i < count; i++)
        values[i] = build_select(&in, has_one, made[i], values[i]);
    rest[ROUND] = add(&in, rest[ROUND], build_number(&in, 1));
    end_block(&in, values, (uint32_t)operands->count);
    free(values);
    free(pair);
    free(made);
}

static void expand_scatter(combiner *c, ir_value *results) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t count = c->s.count;
    const int64_t length = c->s.dims[c->s.axis];
    value_list operands = {0};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&operands, results[i] = d->operands[i]);
    if (length && c->s.updates) {
        updates u = sort_updates(c, d->operands[count]);
        const ir_value rest[] = {[ROUND] = build_number(&c->b, 0),
                                 [ROUNDS] = build_reduce(&c->b, "max", u.count, 0),
                                 [ORDER] = u.order,
                                 [BEGIN] = u.begin,
                                 [COUNT] = u.count};
        for (int i = 0; i < UPDATES; i++)
            vec_push(&operands, rest[i]);
        for (uint32_t i = 0; i < count; i++)
            vec_push(&operands, d->operands[count + 1 + i]);
        ir_op rounds = begin_control(c, GRAPH_WHILE, &operands, (uint32_t)operands.count, NULL, 0);
        build_condition(c, rounds, &operands);
        build_round(c, rounds, &operands);
        for (uint32_t i = 0; i < count; i++)
            results[i] = ir_op_result(c->m, rounds, i);
    }
    vec_release(&operands);
}

/* ---- the pass ---- */

static bool is_static(const combiner *c, status *st) {
    bool known = ir_dim_is_static(c->s.updates);
    for (int i = 0; i < c->s.rank; i++)
        known &= ir_dim_is_static(c->s.dims[i]);
    return known || status_set(st, STATUS_UNAVAILABLE,
                               "'%s' is compiled for the dimensions of a case: leave out --generic",
                               op_info_get(ir_op_get(c->m, c->op)->opcode)->name);
}

static bool is_small(const combiner *c, status *st) {
    bool fits = ir_op_get(c->m, c->op)->opcode == GRAPH_REDUCE_WITH ||
                c->s.dims[c->s.axis] < INT32_MAX - c->s.updates;
    return fits ||
           status_set(st, STATUS_INVALID, "with these dimensions, '%s' has more positions than i32",
                      op_info_get(ir_op_get(c->m, c->op)->opcode)->name);
}

static bool expand(combiner *c, ir_renaming *renamed, status *st) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    if (!is_static(c, st) || !is_small(c, st))
        return false;
    ir_value *results = room(d->result_count);
    (d->opcode == GRAPH_REDUCE_WITH ? expand_reduce
     : d->opcode == GRAPH_SORT      ? expand_sort
                                    : expand_scatter)(c, results);
    for (uint32_t i = 0; i < d->result_count; i++)
        ir_rename(renamed, d->results[i], results[i]);
    ir_op_erase(c->m, c->op);
    free(results);
    return true;
}

static bool expand_block(ir_module *m, ir_block block, void *context) {
    status *st = context;
    bool ok = true;
    ir_op next;
    ir_renaming renamed = ir_renaming_new(m);
    for (ir_op op = ir_block_get(m, block)->first; op && ok; op = next) {
        const ir_op_data *d = ir_op_get(m, op);
        next = d->next;
        ir_renaming_apply(&renamed, op);
        if (graph_op_class(d->opcode) != GRAPH_CLASS_COMBINE)
            continue;
        combiner c = {
            .m = m, .b = {m, block, op, d->location}, .op = op, .s = combine_shape_of(m, op)};
        ok = expand(&c, &renamed, st);
    }
    ir_renaming_end(&renamed, 0);
    return ok;
}

bool graph_expand_combiners(ir_module *m, status *st) {
    return control_each_block(m, expand_block, st);
}
