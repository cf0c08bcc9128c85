/* decompose.c - the pass that replaces every composite by its primitives. */
#include "graph/passes.h"
#include "ops/build.h"

bool graph_decompose_all(ir_module *m, status *st) {
    /* The kernel's return is one more. */
    return graph_decompose_kernel(m, LIMIT_OPERATIONS + 1) ||
           status_set(st, STATUS_INVALID,
                      "this kernel is made of more than %d operations, those of its composites "
                      "included; split it into kernels that take each other's results",
                      LIMIT_OPERATIONS);
}
