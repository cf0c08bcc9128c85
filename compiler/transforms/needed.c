/* needed.c - what a derivative needs of that which it is taken at. */
#include <stdlib.h>

#include "transforms/engine.h"

/* Tells that what the operation's block gives is made from its results. */
static bool is_live(const ir_module *m, ir_op op) {
    const ir_block block = ir_op_get(m, op)->block;
    bool *live = base_calloc((size_t)ir_value_count(m) + 1, sizeof *live);
    bool found = false;
    for (ir_op at = ir_block_get(m, block)->last; at && !found; at = ir_op_get(m, at)->previous) {
        const ir_op_data *o = ir_op_get(m, at);
        bool own = o->next == 0;
        for (uint32_t i = 0; i < o->result_count; i++)
            own |= live[o->results[i]];
        found = own && at == op;
        for (ir_walk w = ir_walk_op(m, at); own && ir_walk_next(&w);)
            for (uint32_t i = 0; i < ir_op_get(m, w.op)->operand_count; i++)
                live[ir_op_get(m, w.op)->operands[i]] = true;
    }
    free(live);
    return found;
}

/* In a copy of the module it takes the operand's double, of which we see whether it stays. */
bool graph_derivative_needs(const ir_module *whole, ir_op vjp, ir_value operand) {
    ir_module *m = ir_module_clone(whole);
    const ir_type_data type = *ir_type_of(m, operand);
    ir_builder b = {.m = m,
                    .block = ir_op_get(m, vjp)->block,
                    .before = vjp,
                    .location = ir_op_get(m, vjp)->location};
    const ir_value twin = build_reshape(&b, operand, type.rank, type.dims);
    const ir_op_data *o = ir_op_get(m, vjp);
    transform_fault fault;
    for (uint32_t i = 0; i < o->operand_count; i++)
        o->operands[i] = o->operands[i] == operand ? twin : o->operands[i];
    bool needed = graph_transform(m, -1, &fault) && is_live(m, ir_value_get(m, twin)->op);
    ir_module_free(m);
    return needed;
}
