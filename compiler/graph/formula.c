/* formula.c - whether a graph says how its outputs are made, and whether that can be compiled. */
#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "ops/orders.h"
#include "source/diagnostic.h"

static ir_op unspecified_in(const ir_module *m) {
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_UNSPECIFIED)
            return w.op;
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

bool graph_require_code(const ir_module *m, bool (*adds_as)(const void *target, const char *order),
                        const void *target, status *st) {
    if (!graph_require_formula(m, st))
        return false;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        if (order_is_interpreted(order_of(m, w.op, ORDER_ANY)) &&
            !(adds_as && adds_as(target, ir_op_string(m, w.op, "order", ""))))
            return status_set(
                st, STATUS_INVALID,
                "error[%s]: kernel '%s' (line %u) adds in the order %.60s, of which no "
                "code is made for this target: --backend interp computes it, and code of others "
                "does (--with FILE)",
                diagnostic_name(ERROR_ORDER_INTERPRETED),
                ir_op_string(m, ir_module_kernel(m), "name", ""), ir_op_get(m, w.op)->location.line,
                ir_op_string(m, w.op, "order", ""));
    return true;
}

bool graph_require_kernel(const ir_module *m, status *st) {
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next)
        if (control_makes_program(ir_op_get(m, op)->opcode))
            return status_set(st, STATUS_UNAVAILABLE,
                              "'%s' makes it a program of several kernels: --emit module makes a "
                              "module of it, whose code 'tsr compile MODULE --emit' shows",
                              op_info_get(ir_op_get(m, op)->opcode)->name);
    return true;
}

bool compiler_instance_is_contract(const compiler_instance *instance) {
    return unspecified_in(instance->graph) != 0;
}
