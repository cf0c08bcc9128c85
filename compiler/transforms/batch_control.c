/* batch_control.c - batches of branches, loops, and functions with rules of their own: their blocks
 * are built anew, for all parts. */
#include <string.h>

#include "ops/control.h"
#include "transforms/batches.h"

static const ir_block_data *region_of(const batching *s, ir_op op, uint32_t region) {
    return ir_block_get(s->m, ir_op_block(s->m, op, region));
}

/* ---- building anew ---- */

/* The operation with other operands and types of results; its blocks are empty. */
static ir_op build_like(batching *s, ir_op op, const ir_value *operands, uint32_t count,
                        const ir_type *results, uint32_t result_count) {
    const ir_op_data *d = ir_op_get(s->m, op);
    return ir_build(&s->b, &(ir_op_spec){.opcode = d->opcode,
                                         .operands = operands,
                                         .operand_count = count,
                                         .results = results,
                                         .result_count = result_count,
                                         .attrs = d->attrs,
                                         .attr_count = d->attr_count,
                                         .region_count = d->region_count});
}

static ir_type *types_of(batching *s, const ir_value *values, uint32_t count) {
    ir_type *types = ARENA_NEW(ir_module_arena(s->m), ir_type, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = batch_type(s, values[i], batch_differs(s, values[i]));
    return types;
}

/* Stand-ins for values, each batched where another one is. */
static ir_value *fit(batching *s, const ir_value *values, const ir_value *like, uint32_t count) {
    ir_value *out = batch_room(s, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = batch_as(s, values[i], batch_differs(s, like[i]));
    return out;
}

static void set_all(batching *s, const ir_value *values, const ir_value *stands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        batch_set(s, values[i], stands[i]);
}

/* Arguments of the new block stand for those of the old one. */
static void take(batching *s, ir_block made, const ir_block_data *old) {
    for (uint32_t i = 0; i < old->argument_count; i++) {
        ir_value v = old->arguments[i];
        batch_set(s, v,
                  ir_block_add_argument(s->m, made, batch_type(s, v, batch_differs(s, v)),
                                        ir_value_get(s->m, v)->name));
    }
}

/* A block again, whose results are batched where these values are. */
static bool build_region(batching *s, ir_op made, ir_op op, uint32_t region, const ir_value *like) {
    const ir_op_data *end = control_end(s->m, op, region);
    const ir_builder around = batch_enter(s, ir_op_block(s->m, made, region));
    take(s, s->b.block, region_of(s, op, region));
    const bool ok = batch_block(s, ir_op_block(s->m, op, region));
    if (ok)
        batch_end(s, fit(s, end->operands, like, end->operand_count), end->operand_count);
    s->b = around;
    return ok;
}

/* A block's operations where the builder stands, for these values; stand-ins for its results. */
static const ir_value *build_here(batching *s, ir_op op, uint32_t region, const ir_value *values,
                                  bool *ok) {
    const ir_op_data *end = control_end(s->m, op, region);
    ir_value *out = batch_room(s, end->operand_count);
    set_all(s, region_of(s, op, region)->arguments, values,
            region_of(s, op, region)->argument_count);
    *ok = *ok && batch_block(s, ir_op_block(s->m, op, region));
    for (uint32_t i = 0; *ok && i < end->operand_count; i++)
        out[i] = batch_stand(s, end->operands[i]);
    return out;
}

/* The one where the parts' condition holds, else the other. */
static ir_value choose(batching *s, ir_value condition, ir_value x, ir_value y) {
    const ir_type_data t = *build_type(&s->b, x);
    const int64_t axis = 0;
    return build_select(&s->b, build_broadcast(&s->b, condition, t.rank, t.dims, &axis), x, y);
}

/* An operation whose blocks take its last operands, and make its results. */
static bool build_alike(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_op made =
        build_like(s, op, fit(s, d->operands, d->operands, d->operand_count), d->operand_count,
                   types_of(s, d->results, d->result_count), d->result_count);
    bool ok = true;
    for (uint32_t r = 0; r < d->region_count && ok; r++)
        ok = build_region(s, made, op, r, d->results);
    set_all(s, d->results, ir_op_get(s->m, made)->results, d->result_count);
    return ok;
}

/* ---- branches ---- */

/* Both sides, of which each part has its own. */
static bool build_both(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const ir_value condition = batch_stand(s, d->operands[0]);
    const ir_value *values = fit(s, d->operands, d->operands, d->operand_count) + 1;
    const ir_op_data *end[] = {control_end(s->m, op, 0), control_end(s->m, op, 1)};
    bool ok = true;
    for (uint32_t r = 0; r < 2; r++)
        build_here(s, op, r, values, &ok);
    for (uint32_t i = 0; ok && i < d->result_count; i++)
        batch_set(s, d->results[i],
                  choose(s, condition, batch_all(s, end[0]->operands[i]),
                         batch_all(s, end[1]->operands[i])));
    return ok;
}

/* ---- loops of conditions ---- */

static ir_value any_of(ir_builder *b, ir_value parts) {
    ir_value most = build_reduce(b, "max", build_convert(b, parts, DTYPE_I32), 0);
    return build_compare(b, "gt", most, build_i32(b, 0, most));
}

static bool build_condition(batching *s, ir_op op, const ir_value *values, ir_value *out) {
    bool ok = true;
    build_here(s, op, 0, values, &ok);
    *out = ok ? batch_all(s, control_end(s->m, op, 0)->operands[0]) : 0;
    return ok;
}

/* The next values of the parts that go on; the others keep theirs. `goes` is which of them do. */
static bool build_turn(batching *s, ir_op op, ir_value goes, ir_value *next) {
    const ir_op_data *d = ir_op_get(s->m, op), *end = control_end(s->m, op, 1);
    const ir_value *old = region_of(s, op, 1)->arguments;
    if (!batch_block(s, ir_op_block(s->m, op, 1)))
        return false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        next[i] = batch_as(s, end->operands[i], batch_differs(s, d->results[i]));
        if (batch_differs(s, d->results[i]) && end->operands[i] != old[i])
            next[i] = choose(s, goes, next[i], batch_stand(s, old[i]));
    }
    return true;
}

/* It runs as long as a part goes on, and carries which of them do before all else. */
static bool build_while_any(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const uint32_t count = d->result_count;
    ir_value *operands = batch_room(s, count + 1), *next = batch_room(s, count + 1), more;
    memcpy(operands + 1, fit(s, d->operands, d->results, count), sizeof *operands * count);
    if (!build_condition(s, op, operands + 1, &operands[0]))
        return false;
    ir_type *types = ARENA_NEW(ir_module_arena(s->m), ir_type, count + 1);
    for (uint32_t i = 0; i <= count; i++)
        types[i] = ir_value_get(s->m, operands[i])->type;
    ir_op made = build_like(s, op, operands, count + 1, types, count + 1);
    ir_value goes[2];
    const ir_builder around = batch_enter(s, ir_op_block(s->m, made, 0));
    goes[0] = ir_block_add_argument(s->m, s->b.block, types[0], NULL);
    take(s, s->b.block, region_of(s, op, 0));
    goes[0] = any_of(&s->b, goes[0]);
    batch_end(s, goes, 1);
    s->b = around;
    batch_enter(s, ir_op_block(s->m, made, 1));
    goes[1] = ir_block_add_argument(s->m, s->b.block, types[0], NULL);
    take(s, s->b.block, region_of(s, op, 1));
    const bool ok = build_turn(s, op, goes[1], next + 1) && build_condition(s, op, next + 1, &more);
    if (ok) {
        next[0] = build_binary(&s->b, GRAPH_AND, goes[1], more);
        batch_end(s, next, count + 1);
    }
    s->b = around;
    set_all(s, d->results, ir_op_get(s->m, made)->results + 1, count);
    return ok;
}

static bool build_while(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    if (batch_differs(s, control_end(s->m, op, 0)->operands[0]))
        return build_while_any(s, op);
    ir_op made =
        build_like(s, op, fit(s, d->operands, d->results, d->operand_count), d->operand_count,
                   types_of(s, d->results, d->result_count), d->result_count);
    const bool ok = build_region(s, made, op, 0, control_end(s->m, op, 0)->operands) &&
                    build_region(s, made, op, 1, d->results);
    set_all(s, d->results, ir_op_get(s->m, made)->results, d->result_count);
    return ok;
}

/* ---- counted loops ---- */

/* Turns come before parts in what is taken apart, and in what is stacked. */
static bool build_loop(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const loop_shape l = loop_shape_of(s->m, op);
    ir_value *operands = fit(s, d->operands, region_of(s, op, 0)->arguments + 1, d->operand_count);
    ir_type *types = types_of(s, d->results, d->result_count);
    for (uint32_t i = l.carried; i < l.carried + l.sliced; i++)
        if (batch_differs(s, d->operands[i]))
            operands[i] = build_moved(&s->b, operands[i], 0, 1);
    for (uint32_t i = l.carried; i < d->result_count; i++) {
        ir_type_data t = *ir_type_get(s->m, types[i]);
        if (!batch_differs(s, d->results[i]))
            continue;
        t.dims[0] = l.count;
        t.dims[1] = s->count;
        types[i] = ir_type_tensor(s->m, t.element, t.rank, t.dims);
    }
    ir_op made = build_like(s, op, operands, d->operand_count, types, d->result_count);
    const bool ok = build_region(s, made, op, 0, d->results);
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_value own = ir_op_result(s->m, made, i);
        const bool stacked = i >= l.carried && batch_differs(s, d->results[i]);
        batch_set(s, d->results[i], stacked ? build_moved(&s->b, own, 0, 1) : own);
    }
    return ok;
}

/* ---- functions with rules of their own ---- */

/* Cotangents by operands: that of one that is the same for each part is the sum of theirs. */
static const ir_value *cotangents(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op), *end = control_end(s->m, op, 1);
    const transform_shape shape = transform_shape_of(s->m, op);
    const int64_t parts = 0;
    ir_value *out = batch_room(s, shape.wrt_count);
    for (uint32_t i = 0; i < shape.wrt_count; i++) {
        out[i] = batch_all(s, end->operands[i]);
        if (!batch_differs(s, d->operands[shape.wrt[i]]))
            out[i] = build_sums(&s->b, out[i], &parts, 1);
    }
    return out;
}

static bool build_rule(batching *s, ir_op made, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op), *end = control_end(s->m, op, 1);
    if (d->opcode == GRAPH_CUSTOM_JVP)
        return build_region(s, made, op, 1, d->results);
    const ir_builder around = batch_enter(s, ir_op_block(s->m, made, 1));
    take(s, s->b.block, region_of(s, op, 1));
    const bool ok = batch_block(s, ir_op_block(s->m, op, 1));
    if (ok)
        batch_end(s, cotangents(s, op), end->operand_count);
    s->b = around;
    return ok;
}

static bool build_ruled(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_op made =
        build_like(s, op, fit(s, d->operands, d->operands, d->operand_count), d->operand_count,
                   types_of(s, d->results, d->result_count), d->result_count);
    const bool ok = build_region(s, made, op, 0, d->results) && build_rule(s, made, op);
    set_all(s, d->results, ir_op_get(s->m, made)->results, d->result_count);
    return ok;
}

bool batch_control(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    switch (d->opcode) {
    case GRAPH_IF:
        return batch_differs(s, d->operands[0]) ? build_both(s, op) : build_alike(s, op);
    case GRAPH_WHILE:
        return build_while(s, op);
    case GRAPH_LOOP:
        return build_loop(s, op);
    case GRAPH_CHECKPOINT:
        return build_alike(s, op);
    case GRAPH_CUSTOM_VJP:
    case GRAPH_CUSTOM_JVP:
        return build_ruled(s, op);
    default:
        batch_combiner(s, op);
        return true;
    }
}
