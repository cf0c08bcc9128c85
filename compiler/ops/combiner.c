/* combiner.c - what stands in a combiner's place is built with this. */
#include "ops/combiner.h"

#include <stdlib.h>

#include "ops/control.h"

ir_value combiner_spread(const combiner *c, ir_builder *b, ir_value x) {
    const int64_t axis = c->s.axis;
    return build_broadcast(b, x, c->s.rank, c->s.dims, &axis);
}

void combiner_apply(const combiner *c, ir_builder *b, const ir_value *arguments, ir_value *out) {
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
        ir_op made = graph_build(b, d->opcode, operands, d->operand_count, d->attrs, d->attr_count);
        now[d->results[0]] =
            build_broadcast(b, ir_op_result(m, made, 0), like.rank, like.dims, NULL);
    }
    const ir_op_data *end = ir_op_get(m, block->last);
    for (uint32_t i = 0; i < end->operand_count; i++)
        out[i] = now[end->operands[i]];
    free(now);
}

ir_op combiner_begin(combiner *c, int opcode, const combiner_values *operands, uint32_t carried,
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

ir_op combiner_begin_loop(combiner *c, const combiner_values *operands, uint32_t carried,
                          uint32_t sliced, ir_dim count) {
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(c->m, carried)},
                                   {"sliced", ir_attr_int(c->m, sliced)},
                                   {"count", ir_attr_dim(c->m, count)}};
    return combiner_begin(c, GRAPH_LOOP, operands, carried, attrs, 3);
}

void combiner_take(combiner *c, ir_block block, const combiner_values *values, ir_value *out) {
    for (size_t i = 0; i < values->count; i++)
        out[i] =
            ir_block_add_argument(c->m, block, ir_value_get(c->m, values->items[i])->type, NULL);
}

ir_value combiner_take_turn(combiner *c, ir_block loop) {
    return ir_block_add_argument(c->m, loop, ir_type_tensor(c->m, DTYPE_I32, 0, NULL), NULL);
}

ir_value *combiner_room(size_t count) {
    return base_calloc(count + 1, sizeof(ir_value));
}
