/* vmap.c - batches of a function's values: the operations of its block on all parts at once. */
#include <string.h>

#include "ir/copy.h"
#include "ops/combiner.h"
#include "ops/control.h"
#include "transforms/batches.h"

/* ---- what stands for values ---- */

ir_value batch_all(batching *s, ir_value v) {
    ir_value own = batch_stand(s, v);
    return batch_differs(s, v) ? own : batch_repeat(&s->b, own, s->count);
}

ir_value batch_as(batching *s, ir_value v, bool batched) {
    return batched ? batch_all(s, v) : batch_stand(s, v);
}

void batch_set(batching *s, ir_value v, ir_value stand) {
    value_table_set(&s->stands, v, stand);
}

ir_type batch_type(const batching *s, ir_value v, bool batched) {
    return batched ? control_stack_type(s->m, v, s->count) : ir_value_get(s->m, v)->type;
}

ir_value *batch_room(const batching *s, uint32_t count) {
    return ARENA_NEW(ir_module_arena(s->m), ir_value, count + 1);
}

/* ---- plain operations ---- */

void batch_copy(batching *s, ir_op op) {
    const uint32_t last = ir_value_count(s->m);
    value_table_set(&s->stands, last, value_table_get(&s->stands, last));
    ir_copy_op(&s->b, s->m, op, s->stands.items);
}

static bool refuse_rank(batching *s, ir_op op) {
    return transform_refuse(
        s->t, TRANSFORM_FAULT_BATCH, op, "'%s' is of values of %d axes, and a batch needs one more",
        op_info_get(ir_op_get(s->m, op)->opcode)->name + strlen("tessera."), IR_MAX_RANK);
}

static bool has_room(const batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    bool room = true;
    for (uint32_t i = 0; i < d->operand_count && room; i++)
        room = ir_type_of(s->m, d->operands[i])->rank < IR_MAX_RANK;
    for (uint32_t i = 0; i < d->result_count && room; i++)
        room = ir_type_of(s->m, d->results[i])->rank < IR_MAX_RANK;
    return room;
}

static bool build_op(batching *s, ir_op op);

/* A composite's primitives are built in its block, which is dropped behind this, and then for all
 * parts. */
static bool build_decomposed(batching *s, ir_op op, ir_value *results) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_value *own = batch_room(s, d->result_count);
    const ir_op before = d->previous;
    bool ok = true;
    graph_decompose(&(ir_builder){s->m, d->block, op, d->location}, op, own);
    ir_op first = before ? ir_op_get(s->m, before)->next : ir_block_get(s->m, d->block)->first;
    for (; first != op && ok; first = ir_op_get(s->m, first)->next)
        ok = build_op(s, first);
    for (uint32_t i = 0; i < d->result_count && ok; i++)
        results[i] = batch_all(s, own[i]);
    return ok;
}

static void add_arguments(ir_module *m, ir_block block, const ir_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        ir_block_add_argument(m, block, ir_value_get(m, values[i])->type, NULL);
}

/* The composite's operation in a block, of the block's first arguments. */
static ir_op copy_into(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    return graph_build(b, d->opcode, ir_block_get(b->m, b->block)->arguments, d->operand_count,
                       d->attrs, d->attr_count);
}

/* The rule of a composite's derivative as a block: of its operands, its result and the cotangent of
 * that. */
static void fill_rule(ir_module *m, ir_op made, ir_op op, const int64_t *wrt, uint32_t count) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block block = ir_op_block(m, made, 1);
    ir_builder b = {.m = m, .block = block, .location = d->location};
    ir_value out[LIMIT_OPERANDS] = {0}, next[LIMIT_OPERANDS];
    bool wanted[LIMIT_OPERANDS] = {false};
    add_arguments(m, block, d->operands, d->operand_count);
    add_arguments(m, block, d->results, 1);
    add_arguments(m, block, d->results, 1);
    for (uint32_t i = 0; i < count; i++)
        wanted[wrt[i]] = true;
    const ir_value *known = ir_block_get(m, block)->arguments + d->operand_count;
    const ir_op copy = copy_into(&b, op);
    derivative_of(d->opcode)->transpose(&b, copy, known[1], wanted, out);
    ir_replace_uses(m, ir_op_result(m, copy, 0), known[0]);
    ir_op_erase(m, copy);
    for (uint32_t i = 0; i < count; i++)
        next[i] = out[wrt[i]];
    build_next(&b, next, count);
}

/* A composite with a derivative of its own that is decomposed here keeps it, as the rule of a
 * function: a derivative of the batch has the bits of a batch of derivatives. */
static bool build_ruled(batching *s, ir_op op, ir_value *results) {
    ir_module *m = s->m;
    const ir_op_data *d = ir_op_get(m, op);
    int64_t wrt[LIMIT_OPERANDS], of = 0;
    const uint32_t count = transform_floats(m, d->operands, d->operand_count, wrt);
    const ir_named_attr attrs[] = {{"wrt", ir_attr_int_array(m, wrt, count)},
                                   {"of", ir_attr_int_array(m, &of, 1)}};
    const ir_type type = ir_value_get(m, d->results[0])->type;
    ir_builder b = {m, d->block, op, d->location};
    ir_op made = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_CUSTOM_VJP,
                                            .operands = d->operands,
                                            .operand_count = d->operand_count,
                                            .results = &type,
                                            .result_count = 1,
                                            .attrs = attrs,
                                            .attr_count = 2,
                                            .region_count = 2});
    ir_builder inner = {.m = m, .block = ir_op_block(m, made, 0), .location = d->location};
    ir_value own;
    add_arguments(m, inner.block, d->operands, d->operand_count);
    const ir_op copy = copy_into(&inner, op);
    graph_decompose(&inner, copy, &own);
    ir_op_erase(m, copy);
    build_next(&inner, &own, 1);
    fill_rule(m, made, op, wrt, count);
    batch_flow_op(s, made);
    if (!build_op(s, made))
        return false;
    results[0] = batch_all(s, ir_op_result(m, made, 0));
    return true;
}

static bool has_own_derivative(const ir_op_data *d) {
    const derivative *rule = derivative_of(d->opcode);
    return rule && rule->transpose && d->result_count == 1;
}

/* A loop over the parts, for operations that have no form for all of them. */
static void build_part_by_part(batching *s, ir_op op, ir_value *results) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_module *m = s->m;
    ir_value operands[LIMIT_OPERANDS], inside[LIMIT_OPERANDS];
    ir_type types[4];
    uint32_t sliced = 0, all = 0;
    for (int whole = 0; whole < 2; whole++)
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (batch_differs(s, d->operands[i]) == !whole) {
                operands[all++] = batch_stand(s, d->operands[i]);
                sliced += !whole;
            }
    for (uint32_t i = 0; i < d->result_count; i++)
        types[i] = batch_type(s, d->results[i], true);
    ir_op loop = control_build_loop(&s->b, &(loop_request){.operands = operands,
                                                           .operand_count = all,
                                                           .results = types,
                                                           .result_count = d->result_count,
                                                           .sliced = sliced,
                                                           .count = s->count});
    const ir_block block = ir_op_block(m, loop, 0);
    const ir_builder around = batch_enter(s, block);
    ir_block_add_argument(m, block, ir_type_tensor(m, DTYPE_I32, 0, NULL), NULL);
    for (int whole = 0; whole < 2; whole++)
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (batch_differs(s, d->operands[i]) == !whole)
                inside[i] =
                    ir_block_add_argument(m, block, ir_value_get(m, d->operands[i])->type, NULL);
    ir_op one = graph_build(&s->b, d->opcode, inside, d->operand_count, d->attrs, d->attr_count);
    batch_end(s, ir_op_get(m, one)->results, d->result_count);
    s->b = around;
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = ir_op_result(m, loop, i);
}

static bool build_by_rule(batching *s, ir_op op, ir_value *results) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_value x[LIMIT_OPERANDS];
    bool batched[LIMIT_OPERANDS];
    const batch_rule rule = batching_of(d->opcode);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        x[i] = batch_stand(s, d->operands[i]);
        batched[i] = batch_differs(s, d->operands[i]);
    }
    if (rule && rule(&(batch_query){&s->b, op, s->count, x, batched}, results))
        return true;
    if (graph_op_class(d->opcode) == GRAPH_CLASS_COMPOSITE)
        return has_own_derivative(d) ? build_ruled(s, op, results)
                                     : build_decomposed(s, op, results);
    if (!rule)
        return transform_refuse(s->t, TRANSFORM_FAULT_BATCH, op, "'%s' has no rule for batches",
                                op_info_get(d->opcode)->name + strlen("tessera."));
    build_part_by_part(s, op, results);
    return true;
}

static bool build_op(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    s->b.location = d->location;
    if (batch_is_collective(s, op))
        return has_room(s, op) ? batch_collective(s, op) : refuse_rank(s, op);
    if (!batch_any(s, d->operands, d->operand_count) && !batch_draws(s, op) &&
        !batch_has_collectives(s, op)) {
        batch_copy(s, op);
        return true;
    }
    if (!has_room(s, op))
        return refuse_rank(s, op);
    if (control_has_blocks(d->opcode))
        return batch_control(s, op);
    ir_value *results = batch_room(s, d->result_count);
    if (batch_draws(s, op) && !batch_differs(s, d->operands[1]))
        results[0] = batch_draw(s, op);
    else if (!build_by_rule(s, op, results))
        return false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        batch_set(s, d->results[i], results[i]);
        value_table_set(&s->batched, d->results[i], true);
    }
    return !ir_failure(s->m);
}

/* ---- blocks ---- */

ir_builder batch_enter(batching *s, ir_block block) {
    const ir_builder around = s->b;
    s->b = (ir_builder){.m = s->m, .block = block, .location = around.location};
    return around;
}

void batch_end(batching *s, const ir_value *values, uint32_t count) {
    build_next(&s->b, values, count);
}

bool batch_block(batching *s, ir_block block) {
    bool ok = true;
    if (s->axis && s->axis->rank_count > 1)
        batch_gather_sums(s, block);
    ir_op op = ir_block_get(s->m, block)->first;
    for (; ok && ir_op_get(s->m, op)->opcode != GRAPH_NEXT; op = ir_op_get(s->m, op)->next)
        ok = build_op(s, op);
    return ok;
}

/* ---- the whole ---- */

bool batch_expand(batching *s, ir_op op, bool (*result)(batching *s, uint32_t i, ir_value *out)) {
    ir_module *m = s->m;
    const ir_op_data *o = ir_op_get(m, op);
    const transform_shape shape = transform_shape_of(m, op);
    const ir_block block = ir_op_block(m, op, 0);
    for (uint32_t i = 0; i < shape.value_count; i++)
        value_table_set(&s->batched, ir_block_get(m, block)->arguments[i], i < shape.sliced);
    batch_flow(s, block);
    bool ok = batch_block(s, block);
    s->b.location = o->location;
    ir_value *results = base_calloc((size_t)o->result_count + 1, sizeof *results);
    for (uint32_t i = 0; i < o->result_count && ok; i++)
        ok = result(s, i, &results[i]);
    if (ok)
        transform_replace(m, op, results);
    free(results);
    vec_release(&s->stands);
    vec_release(&s->batched);
    vec_release(&s->bucket_of);
    vec_release(&s->in_parts);
    for (size_t i = 0; i < s->buckets.count; i++)
        vec_release(&s->buckets.items[i].sums);
    vec_release(&s->buckets);
    return ok;
}

static bool stacked(batching *s, uint32_t i, ir_value *out) {
    *out = batch_all(s, control_end(s->m, s->whole, 0)->operands[i]);
    return true;
}

bool expand_vmap(transforming *t, ir_op op) {
    ir_module *m = t->m;
    const ir_op_data *o = ir_op_get(m, op);
    const transform_shape shape = transform_shape_of(m, op);
    batching s = {.t = t,
                  .m = m,
                  .b = {.m = m, .block = o->block, .before = op},
                  .count = shape.count,
                  .whole = op};
    s.alike = ir_op_attr(m, op, "alike") != 0;
    for (uint32_t i = 0; i < shape.value_count; i++)
        batch_set(&s, ir_block_get(m, ir_op_block(m, op, 0))->arguments[i], o->operands[i]);
    return batch_expand(&s, op, stacked);
}
