/* decompose.c - the pass that replaces every composite by its primitives. */
#include "graph/passes.h"
#include "ops/build.h"

bool graph_decompose_all(ir_module *m, status *st) {
    /* A kernel of tiles that was written out has more from the start. The kernel's return is one
     * more. */
    enum { GROWTH = 4 };
    uint32_t written = GROWTH * ir_op_count(m);
    uint32_t limit = written > GROWTH * LIMIT_OPERATIONS ? written : LIMIT_OPERATIONS;
    bool room = graph_decompose_kernel(m, limit + 1);
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
