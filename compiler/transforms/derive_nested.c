/* derive_nested.c - what loops and branches of derivatives are built with. */
#include "transforms/derive_nested.h"

#include <stdlib.h>

#include "ir/copy.h"
#include "ops/combiner.h"

void derive_push(derive_values *out, const ir_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        vec_push(out, values[i]);
}

void derive_end_block(ir_builder *b, const derive_values *next) {
    build_next(b, next->items, (uint32_t)next->count);
}

/* ---- the transform of a block ---- */

void nested_begin(nested *n, const ir_module *m, int opcode, ir_op of, uint32_t region) {
    *n = (nested){.opcode = opcode, .of = of, .region = region};
    const ir_op_data *end = control_end(m, of, region);
    n->result_count = end->operand_count;
    for (uint32_t i = 0; i < end->operand_count; i++)
        if (transform_is_float(m, end->operands[i]))
            vec_push(&n->floats, i);
}

void nested_end(nested *n) {
    vec_release(&n->before);
    vec_release(&n->values);
    vec_release(&n->wrt);
    vec_release(&n->floats);
}

void derive_copy_region(ir_module *m, ir_block from, ir_block to) {
    ir_value *copies = base_calloc(ir_value_count(m) + 1, sizeof *copies);
    const ir_block_data *b = ir_block_get(m, from);
    ir_builder inner = {.m = m, .block = to};
    for (uint32_t i = 0; i < b->argument_count; i++)
        copies[b->arguments[i]] =
            ir_block_add_argument(m, to, ir_value_get(m, b->arguments[i])->type, NULL);
    for (ir_op op = b->first; op; op = ir_op_get(m, op)->next)
        ir_copy_op(&inner, m, op, copies);
    free(copies);
}

void nested_build(ir_builder *b, const nested *n, derive_values *out) {
    ir_module *m = b->m;
    const ir_op_data *end = control_end(m, n->of, n->region);
    const bool forward = n->opcode == GRAPH_JVP;
    derive_values operands = {0};
    derive_types results = {0};
    derive_push(&operands, n->before.items, (uint32_t)n->before.count);
    derive_push(&operands, n->values.items, (uint32_t)n->values.count);
    for (uint32_t i = 0; i < end->operand_count; i++)
        vec_push(&results, ir_value_get(m, end->operands[i])->type);
    for (size_t i = 0; i < (forward ? n->floats.count : n->wrt.count); i++)
        vec_push(&results, forward ? ir_value_get(m, end->operands[n->floats.items[i]])->type
                                   : ir_value_get(m, n->values.items[n->wrt.items[i]])->type);
    const ir_named_attr attrs[] = {
        {"wrt", ir_attr_int_array(m, n->wrt.items, (uint32_t)n->wrt.count)},
        {"of", ir_attr_int_array(m, n->floats.items, (uint32_t)n->floats.count)}};
    ir_op op = ir_build(b, &(ir_op_spec){.opcode = n->opcode,
                                         .operands = operands.items,
                                         .operand_count = (uint32_t)operands.count,
                                         .results = results.items,
                                         .result_count = (uint32_t)results.count,
                                         .attrs = attrs,
                                         .attr_count = 2,
                                         .region_count = 1});
    derive_copy_region(m, ir_op_block(m, n->of, n->region), ir_op_block(m, op, 0));
    derive_push(out, ir_op_get(m, op)->results, (uint32_t)results.count);
    vec_release(&operands);
    vec_release(&results);
}

/* ---- building an operation with blocks ---- */

ir_op building_end(building *g, int opcode) {
    return ir_build(g->b, &(ir_op_spec){.opcode = opcode,
                                        .operands = g->operands.items,
                                        .operand_count = (uint32_t)g->operands.count,
                                        .results = g->results.items,
                                        .result_count = (uint32_t)g->results.count,
                                        .attrs = g->attrs,
                                        .attr_count = g->attr_count,
                                        .region_count = (uint32_t)op_info_get(opcode)->regions});
}

void building_release(building *g) {
    vec_release(&g->operands);
    vec_release(&g->results);
}

ir_value derive_argument(ir_module *m, ir_op op, uint32_t region, ir_type type) {
    return ir_block_add_argument(m, ir_op_block(m, op, region), type, NULL);
}

void building_set_loop(building *g, size_t carried, size_t sliced, ir_dim count) {
    ir_module *m = g->b->m;
    g->attrs[0] = (ir_named_attr){"carried", ir_attr_int(m, (int64_t)carried)};
    g->attrs[1] = (ir_named_attr){"sliced", ir_attr_int(m, (int64_t)sliced)};
    g->attrs[2] = (ir_named_attr){"count", ir_attr_dim(m, count)};
    g->attr_count = 3;
}
