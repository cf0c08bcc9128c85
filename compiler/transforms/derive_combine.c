/* derive_combine.c - derivatives of reductions and scatters with a function, and of sorts with an
 * order of their own. */
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ops/combiner.h"
#include "transforms/engine.h"

static ir_op before_built(const derivation *d) {
    return ir_op_get(d->m, d->b.before)->previous;
}

/* Notes what was built behind `before`; 0: at the block's beginning. */
static bool note_behind(derivation *d, ir_op before) {
    const ir_block block = ir_op_get(d->m, d->b.before)->block;
    const ir_op first = before ? ir_op_get(d->m, before)->next : ir_block_get(d->m, block)->first;
    derive_make_room(d);
    return first == d->b.before || derive_note_all(d, first);
}

/* ---- reductions ---- */

/* The loop along the axis that the reduction is. */
static ir_op loop_of(derivation *d, ir_op op, const combine_shape *s, const ir_value *values) {
    combiner c = {.m = d->m, .b = d->b, .op = op, .s = *s};
    const turn_loop all = {
        .values = values, .count = 2 * s->count, .carried = s->count, .turns = s->dims[s->axis]};
    ir_builder inner;
    ir_value *next = combiner_room(s->count);
    ir_op loop = build_turns(&d->b, &all, &inner);
    const ir_block_data *b = ir_block_get(d->m, ir_op_block(d->m, loop, 0));
    combiner_apply(&c, &inner, b->arguments + 1, next);
    build_next(&inner, next, s->count);
    free(next);
    return loop;
}

/* Derives the loop that an operation is, which is built for that and goes again. */
static bool derive_as(derivation *d, ir_op loop, const ir_value *values) {
    derive_make_room(d);
    return (d->reverse ? derive_loop_record : derive_loop_forward)(d, loop, values);
}

bool derive_reduction(derivation *d, ir_op op, const ir_value *operands) {
    const combine_shape s = combine_shape_of(d->m, op);
    const ir_op before = before_built(d);
    ir_value *values = combiner_room(2 * s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        const ir_type_data t = *ir_type_of(d->m, ir_op_get(d->m, op)->results[i]);
        values[i] = build_broadcast(&d->b, operands[s.count + i], t.rank, t.dims, NULL);
        values[s.count + i] = build_moved(&d->b, operands[i], s.axis, 0);
    }
    bool ok = note_behind(d, before);
    ir_op loop = ok ? loop_of(d, op, &s, values) : 0;
    ok = ok && derive_as(d, loop, values);
    for (uint32_t i = 0; ok && i < s.count; i++)
        d->copies[ir_op_get(d->m, op)->results[i]] = d->copies[ir_op_get(d->m, loop)->results[i]];
    if (ok)
        ir_op_erase(d->m, loop);
    free(values);
    return ok;
}

/* ---- scatters ---- */

/* A turn: the block of what is at the index and the update, put at the index. */
static void fill_turn(const combiner *c, ir_builder *b, const ir_value *arguments) {
    const uint32_t count = c->s.count;
    const ir_value *updates = arguments + count + 1, at = build_row(b, arguments[count]);
    ir_value *both = combiner_room(2 * count), *next = combiner_room(count);
    for (uint32_t i = 0; i < count; i++) {
        both[i] = build_gather(b, arguments[i], at, 0, 0);
        both[count + i] = build_row(b, updates[i]);
    }
    combiner_apply(c, b, both, next);
    for (uint32_t i = 0; i < count; i++)
        next[i] = build_scatter_set(b, arguments[i], at, next[i], 0);
    build_next(b, next, count);
    free(both);
    free(next);
}

/* The loop over the updates that the scatter is, of tensors with its axis first. */
static ir_op updating_loop(derivation *d, ir_op op, const combine_shape *s,
                           const ir_value *values) {
    const combiner c = {.m = d->m, .b = d->b, .op = op, .s = *s};
    const turn_loop all = {
        .values = values, .count = 2 * s->count + 1, .carried = s->count, .turns = s->updates};
    ir_builder inner;
    ir_op loop = build_turns(&d->b, &all, &inner);
    fill_turn(&c, &inner, ir_block_get(d->m, ir_op_block(d->m, loop, 0))->arguments + 1);
    return loop;
}

/* The scatter's results are those of the loop, with the axis where it was. */
static bool take_results(derivation *d, ir_op op, const combine_shape *s, ir_op loop) {
    const ir_op before = before_built(d);
    ir_value *made = combiner_room(s->count);
    for (uint32_t i = 0; i < s->count; i++)
        made[i] = build_moved(&d->b, d->copies[ir_op_get(d->m, loop)->results[i]], 0, s->axis);
    bool ok = note_behind(d, before);
    for (uint32_t i = 0; i < s->count; i++)
        d->copies[ir_op_get(d->m, op)->results[i]] = made[i];
    free(made);
    return ok;
}

bool derive_scatter(derivation *d, ir_op op, const ir_value *operands) {
    const combine_shape s = combine_shape_of(d->m, op);
    const ir_op before = before_built(d);
    const uint32_t count = 2 * s.count + 1;
    for (uint32_t i = 0; s.dims[s.axis] == 0 && i < s.count; i++)
        d->copies[ir_op_get(d->m, op)->results[i]] = operands[i];
    if (s.dims[s.axis] == 0)
        return true;
    ir_value *values = combiner_room(count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i == s.count ? operands[i] : build_moved(&d->b, operands[i], s.axis, 0);
    bool ok = note_behind(d, before);
    ir_op loop = ok ? updating_loop(d, op, &s, values) : 0;
    ok = ok && derive_as(d, loop, values) && take_results(d, op, &s, loop);
    if (ok)
        ir_op_erase(d->m, loop);
    free(values);
    return ok;
}

/* ---- sorts ---- */

/* The block, which takes a place behind the elements of each of two, and does not read it. */
static void fill_order(ir_module *m, ir_op from, ir_op to, uint32_t count) {
    const ir_block_data *old = ir_block_get(m, ir_op_block(m, from, 0));
    const ir_type place = ir_type_tensor(m, DTYPE_I32, 0, NULL);
    ir_builder b = {.m = m, .block = ir_op_block(m, to, 0)};
    ir_value *copies = base_calloc(ir_value_count(m) + 1, sizeof *copies);
    for (uint32_t i = 0; i < 2 * count; i++) {
        const ir_value was = old->arguments[i];
        copies[was] = ir_block_add_argument(m, b.block, ir_value_get(m, was)->type, NULL);
        if (i % count == count - 1)
            ir_block_add_argument(m, b.block, place, NULL);
    }
    for (ir_op op = old->first; op; op = ir_op_get(m, op)->next)
        ir_copy_op(&b, m, op, copies);
    free(copies);
}

/* The sort, of positions, too, which are its last result. */
static ir_op sorted_places(derivation *d, ir_op op, const combine_shape *s,
                           const ir_value *operands) {
    ir_value *values = combiner_room(s->count + 1);
    ir_type *types = ARENA_NEW(ir_module_arena(d->m), ir_type, s->count + 1);
    memcpy(values, operands, sizeof *values * s->count);
    values[s->count] = build_iota(&d->b, s->rank, s->dims, s->axis);
    for (uint32_t i = 0; i <= s->count; i++)
        types[i] = ir_value_get(d->m, values[i])->type;
    const ir_named_attr attr = {"axis", ir_attr_int(d->m, s->axis)};
    ir_op made = ir_build(&d->b, &(ir_op_spec){.opcode = GRAPH_SORT,
                                               .operands = values,
                                               .operand_count = s->count + 1,
                                               .results = types,
                                               .result_count = s->count + 1,
                                               .attrs = &attr,
                                               .attr_count = 1,
                                               .region_count = 1});
    fill_order(d->m, op, made, s->count);
    free(values);
    return made;
}

/* x at places of its own rows. */
static ir_value taken(ir_builder *b, const combine_shape *s, ir_value x, ir_value places) {
    ir_value rows = build_moved(b, x, s->axis, s->rank - 1),
             at = build_moved(b, places, s->axis, s->rank - 1);
    return build_moved(b, build_gather(b, rows, at, s->rank - 1, s->rank - 1), s->rank - 1,
                       s->axis);
}

bool derive_sort(derivation *d, ir_op op, const ir_value *operands) {
    const combine_shape s = combine_shape_of(d->m, op);
    const ir_op made = sorted_places(d, op, &s, operands), last = before_built(d);
    const ir_value *results = ir_op_get(d->m, op)->results;
    for (uint32_t i = 0; i < s.count; i++)
        d->copies[results[i]] =
            derive_flow(d, operands[i]) == FLOW_ACTIVE
                ? taken(&d->b, &s, operands[i], ir_op_result(d->m, made, s.count))
                : ir_op_result(d->m, made, i);
    return note_behind(d, last);
}
