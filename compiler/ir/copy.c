/* copy.c - copies of operations: operands are those that stand for the old ones. */
#include "ir/copy.h"

#include <stdlib.h>

#include "base/arena.h"

static void copy_block(ir_module *m, ir_block to, const ir_module *from, ir_block block,
                       ir_value *copies) {
    const ir_block_data *old = ir_block_get(from, block);
    ir_builder b = {.m = m, .block = to};
    for (uint32_t i = 0; i < old->argument_count; i++) {
        const ir_value_data *v = ir_value_get(from, old->arguments[i]);
        copies[old->arguments[i]] = ir_block_add_argument(m, to, v->type, v->name);
    }
    for (ir_op op = old->first; op; op = ir_op_get(from, op)->next)
        ir_copy_op(&b, from, op, copies);
}

ir_op ir_copy_op(ir_builder *b, const ir_module *from, ir_op op, ir_value *copies) {
    ir_module *m = b->m;
    const ir_op_data *d = ir_op_get(from, op);
    ir_value *operands = base_calloc(d->operand_count + 1, sizeof *operands);
    ir_type *results = base_calloc(d->result_count + 1, sizeof *results);
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = copies[d->operands[i]] ? copies[d->operands[i]] : d->operands[i];
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = ir_value_get(from, d->results[i])->type;
    b->location = d->location;
    ir_op_spec spec = {.opcode = d->opcode,
                       .operands = operands,
                       .operand_count = d->operand_count,
                       .results = results,
                       .result_count = d->result_count,
                       .attrs = d->attrs,
                       .attr_count = d->attr_count,
                       .region_count = d->region_count};
    ir_op copy = ir_build(b, &spec);
    for (uint32_t i = 0; i < d->result_count; i++)
        copies[d->results[i]] = ir_op_result(m, copy, i);
    for (uint32_t r = 0; r < d->region_count; r++)
        copy_block(m, ir_op_block(m, copy, r), from, ir_op_block(from, op, r), copies);
    free(operands);
    free(results);
    return copy;
}
