/* called_tiles.c - kernels of tiles that are called: operations on whole tensors in their place, of
 * which derivatives and batches are taken as of any other (docs/derivatives.md). */
#include "graph/expand_tiles.h"
#include "graph/passes.h"
#include "ops/tiles.h"

enum { OPERATIONS_MAX = 20000 };

typedef VEC(ir_op) op_list;

static bool has_sizes(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    bool known = true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        known &= ir_type_is_static(m, ir_value_get(m, d->operands[i])->type);
    return known;
}

static bool put_in_place(ir_module *m, ir_op op, status *st) {
    const uint32_t line = ir_op_get(m, op)->location.line;
    if (!has_sizes(m, op))
        return status_set(
            st, STATUS_UNAVAILABLE,
            "line %u: a kernel of tiles is called, and is compiled for the dimensions "
            "of a case",
            line);
    if (!join_instances(m, op, true) && !expand_instances_of(m, op, st))
        return false;
    return ir_op_count(m) <= OPERATIONS_MAX ||
           status_set(
               st, STATUS_UNAVAILABLE,
               "line %u: with the program instances that are called here there are more than "
               "%d operations",
               line, OPERATIONS_MAX);
}

bool graph_called_tiles(ir_module *m, status *st) {
    op_list list = {0};
    bool ok = true;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (tiles_are_called(m, w.op))
            vec_push(&list, w.op);
    for (size_t i = 0; i < list.count && ok; i++)
        ok = put_in_place(m, list.items[i], st);
    vec_release(&list);
    return ok;
}
