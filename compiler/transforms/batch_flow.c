/* batch_flow.c - which values of a block differ from part to part. */
#include "ops/control.h"
#include "transforms/batches.h"

bool batch_any(const batching *s, const ir_value *values, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count && !any; i++)
        any = batch_differs(s, values[i]);
    return any;
}

static void mark(batching *s, ir_value v, bool batched) {
    value_table_set(&s->batched, v, batched);
}

static void mark_like(batching *s, const ir_value *values, const ir_value *like, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mark(s, values[i], batch_differs(s, like[i]));
}

static void mark_all(batching *s, const ir_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mark(s, values[i], true);
}

static const ir_block_data *region_of(const batching *s, ir_op op, uint32_t region) {
    return ir_block_get(s->m, ir_op_block(s->m, op, region));
}

static void flow_region(batching *s, ir_op op, uint32_t region, const ir_value *values) {
    const ir_block_data *b = region_of(s, op, region);
    mark_like(s, b->arguments, values, b->argument_count);
    batch_flow(s, ir_op_block(s->m, op, region));
}

static void flow_if(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const bool which = batch_differs(s, d->operands[0]);
    for (uint32_t r = 0; r < 2; r++)
        flow_region(s, op, r, d->operands + 1);
    for (uint32_t i = 0; i < d->result_count; i++)
        mark(s, d->results[i],
             which || batch_differs(s, control_end(s->m, op, 0)->operands[i]) ||
                 batch_differs(s, control_end(s->m, op, 1)->operands[i]));
}

/* Marks carried values that a turn makes differ; false: there is no new one. Where parts go on for
 * different turns, whatever a turn changes differs. */
static bool carry(batching *s, const ir_value *carried, const ir_value *next, uint32_t count,
                  const ir_value *unchanged) {
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        const bool turns = unchanged && next[i] != unchanged[i];
        if (batch_differs(s, carried[i]) || !(turns || batch_differs(s, next[i])))
            continue;
        mark(s, carried[i], true);
        more = true;
    }
    return more;
}

static void flow_while(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op), *asks = control_end(s->m, op, 0),
                     *makes = control_end(s->m, op, 1);
    mark_like(s, d->results, d->operands, d->result_count);
    const ir_value *unchanged;
    do {
        flow_region(s, op, 0, d->results);
        flow_region(s, op, 1, d->results);
        unchanged = batch_differs(s, asks->operands[0]) ? region_of(s, op, 1)->arguments : NULL;
    } while (carry(s, d->results, makes->operands, d->result_count, unchanged));
}

static void flow_loop(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op), *end = control_end(s->m, op, 0);
    const ir_block_data *b = region_of(s, op, 0);
    const uint32_t carried = loop_shape_of(s->m, op).carried;
    mark(s, b->arguments[0], false);
    mark_like(s, b->arguments + 1, d->operands, d->operand_count);
    do
        batch_flow(s, ir_op_block(s->m, op, 0));
    while (carry(s, b->arguments + 1, end->operands, carried, NULL));
    mark_like(s, d->results, b->arguments + 1, carried);
    mark_like(s, d->results + carried, end->operands + carried, d->result_count - carried);
}

static void flow_checkpoint(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    flow_region(s, op, 0, d->operands);
    mark_like(s, d->results, control_end(s->m, op, 0)->operands, d->result_count);
}

/* Each part has its own results, and cotangents of these, or its own tangents of what differs. */
static void flow_ruled(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const transform_shape shape = transform_shape_of(s->m, op);
    const ir_block_data *rule = region_of(s, op, 1);
    const uint32_t known = shape.value_count + shape.result_count;
    flow_region(s, op, 0, d->operands);
    mark_all(s, d->results, d->result_count);
    mark_all(s, rule->arguments, rule->argument_count);
    mark_like(s, rule->arguments, d->operands, shape.value_count);
    for (uint32_t i = 0; d->opcode == GRAPH_CUSTOM_JVP && i < shape.wrt_count; i++)
        mark(s, rule->arguments[known + i], batch_differs(s, d->operands[shape.wrt[i]]));
    batch_flow(s, ir_op_block(s->m, op, 1));
}

void batch_flow_op(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    if (batch_is_collective(s, op)) {
        mark(s, d->results[0], batch_collective_differs(s, op));
        return;
    }
    const bool any = batch_any(s, d->operands, d->operand_count) || batch_draws(s, op),
               anew = any || batch_has_collectives(s, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        mark(s, d->results[i], any);
    if (!anew)
        return;
    switch (d->opcode) {
    case GRAPH_IF:
        flow_if(s, op);
        break;
    case GRAPH_WHILE:
        flow_while(s, op);
        break;
    case GRAPH_LOOP:
        flow_loop(s, op);
        break;
    case GRAPH_CHECKPOINT:
        flow_checkpoint(s, op);
        break;
    case GRAPH_CUSTOM_VJP:
    case GRAPH_CUSTOM_JVP:
        flow_ruled(s, op);
        break;
    default:
        break;
    }
}

void batch_flow(batching *s, ir_block block) {
    for (ir_op op = ir_block_get(s->m, block)->first; op; op = ir_op_get(s->m, op)->next)
        batch_flow_op(s, op);
}
