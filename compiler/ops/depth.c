/* depth.c - one pass from the first operation to the last: operands come before what uses them. */
#include "ops/depth.h"

#include <stdlib.h>

#include "base/arena.h"
#include "ops/graph.h"

static bool is_computed_where_used(const ir_op_data *d) {
    graph_class class = graph_op_class(d->opcode);
    return class == GRAPH_CLASS_ELEMENTWISE || class == GRAPH_CLASS_MOVE;
}

void graph_store_deep(const ir_module *m, ir_op kernel, bool *stored, bool *deep) {
    uint16_t *depth = base_calloc(ir_value_count(m) + 1, sizeof *depth);
    ir_block body = ir_op_block(m, kernel, 0);
    for (ir_op op = ir_block_get(m, body)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        uint16_t deepest = 0;
        if (d->result_count == 0 || !is_computed_where_used(d))
            continue;
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (depth[d->operands[i]] > deepest)
                deepest = depth[d->operands[i]];
        bool is_deep = deepest + 1 >= GRAPH_DEPTH_MAX;
        depth[d->results[0]] = is_deep ? 0 : (uint16_t)(deepest + 1);
        stored[d->results[0]] |= is_deep;
        if (deep)
            deep[d->results[0]] = is_deep;
    }
    free(depth);
}
