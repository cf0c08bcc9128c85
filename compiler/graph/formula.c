/* formula.c - whether a graph says how its outputs are made. */
#include "graph/instance.h"
#include "graph/passes.h"
#include "source/diagnostic.h"

static ir_op unspecified_in(const ir_module *m) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, ir_module_kernel(m), 0));
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == GRAPH_UNSPECIFIED)
            return op;
    return 0;
}

bool graph_require_formula(const ir_module *m, status *st) {
    ir_op op = unspecified_in(m);
    if (!op)
        return true;
    return status_set(st, STATUS_INVALID,
                      "error[%s]: kernel '%s' (line %u) has no formula, its body is '...': only "
                      "code of others computes it (--with FILE)",
                      diagnostic_name(ERROR_NO_FORMULA),
                      ir_op_string(m, ir_module_kernel(m), "name", ""),
                      ir_op_get(m, op)->location.line);
}

bool compiler_instance_is_contract(const compiler_instance *instance) {
    return unspecified_in(instance->graph) != 0;
}
