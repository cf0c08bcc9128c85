/* dead.c - takes out operations whose results nobody reads. */
#include "ops/dead.h"

#include <stdlib.h>

#include "ops/graph.h"

void graph_remove_dead(ir_module *m, ir_block body) {
    uint32_t *uses = ir_count_uses(m);
    ir_op previous;
    for (ir_op op = ir_block_get(m, body)->last; op; op = previous) {
        const ir_op_data *d = ir_op_get(m, op);
        previous = d->previous;
        bool used = !graph_op_is_pure(d->opcode);
        for (uint32_t i = 0; i < d->result_count; i++)
            used |= uses[d->results[i]] > 0;
        if (used)
            continue;
        for (uint32_t i = 0; i < d->operand_count; i++)
            uses[d->operands[i]]--;
        ir_op_erase(m, op);
    }
    free(uses);
}
