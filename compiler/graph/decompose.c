/* decompose.c - the pass that replaces every composite by its primitives. */
#include "graph/passes.h"
#include "ops/build.h"

bool graph_decompose_all(ir_module *m, status *st) {
    (void)st;
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    ir_op next;
    for (ir_op op = ir_block_get(m, body)->first; op; op = next) {
        const ir_op_data *d = ir_op_get(m, op);
        next = d->next;
        if (graph_op_class(d->opcode) != GRAPH_CLASS_COMPOSITE)
            continue;
        ir_value results[4] = {0};
        ir_builder b = {m, body, op, d->location};
        graph_decompose(&b, op, results);
        for (uint32_t i = 0; i < d->result_count; i++)
            ir_replace_uses(m, d->results[i], results[i]);
        ir_op_erase(m, op);
    }
    return true;
}
