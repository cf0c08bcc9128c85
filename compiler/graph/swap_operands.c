/* swap_operands.c - a wrong graph on purpose: the last operation whose operands do not commute gets
 * them the wrong way round. */
#include "graph/passes.h"
#include "ops/controls.h"
#include "ops/graph.h"

bool graph_swap_operands(ir_module *m, status *st) {
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->last; op; op = ir_op_get(m, op)->previous) {
        uint32_t first, second;
        if (ir_op_get(m, op)->opcode == GRAPH_RETURN ||
            graph_control_obstacle(m, op, CONTROL_SWAP) ||
            !graph_control_pair(m, op, &first, &second))
            continue;
        ir_op_data *d = ir_op_get(m, op);
        ir_value other = d->operands[first];
        d->operands[first] = d->operands[second];
        d->operands[second] = other;
        return true;
    }
    return status_set(st, STATUS_UNAVAILABLE,
                      "fault swap-operands does not apply: no two operands can be exchanged");
}
