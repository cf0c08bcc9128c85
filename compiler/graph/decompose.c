/* decompose.c - the pass that replaces every composite by its primitives. */
#include "graph/passes.h"
#include "ops/build.h"

bool graph_decompose_but(ir_module *m, const graph_kept *kept, status *st) {
    /* A kernel of tiles that was written out has more from the start. The kernel's return is one
     * more. */
    enum { GROWTH = 4 };
    uint32_t written = GROWTH * ir_op_count(m);
    uint32_t limit = written > GROWTH * LIMIT_OPERATIONS ? written : LIMIT_OPERATIONS;
    bool room = graph_decompose_kernel(m, limit + 1, kept);
    if (ir_failure(m))
        return status_set(st, STATUS_INVALID,
                          "these dimensions, or their formulas, are too large for what the kernel "
                          "is made of: %s",
                          ir_failure(m));
    return room ||
           status_set(st, STATUS_INVALID,
                      "this kernel is made of more than %d operations, those of its composites "
                      "included; split it into kernels that take each other's results",
                      LIMIT_OPERATIONS);
}

bool graph_decompose_all(ir_module *m, status *st) {
    return graph_decompose_but(m, NULL, st);
}

void graph_decompose_within(ir_module *m, ir_op around, int kept) {
    for (ir_walk w = ir_walk_op(m, around); ir_walk_next(&w);) {
        const ir_op_data d = *ir_op_get(m, w.op);
        ir_value results[LIMIT_OPERANDS];
        if (graph_op_class(d.opcode) != GRAPH_CLASS_COMPOSITE || d.opcode == kept)
            continue;
        ir_builder b = {m, d.block, w.op, d.location};
        graph_decompose(&b, w.op, results);
        for (uint32_t i = 0; i < d.result_count; i++)
            ir_replace_uses(m, d.results[i], results[i]);
        ir_op_erase(m, w.op);
    }
}
