/* expand_combiners.c - loops over whole tensors in the place of combiners, whose blocks run on all
 * elements at once that do not wait for each other. */
#include <stdlib.h>

#include "graph/combiner.h"
#include "graph/passes.h"
#include "ops/control.h"

/* ---- the pass ---- */

static bool is_static(const combiner *c, status *st) {
    bool known = ir_dim_is_static(c->s.updates);
    for (int i = 0; i < c->s.rank; i++)
        known &= ir_dim_is_static(c->s.dims[i]);
    return known || status_set(st, STATUS_UNAVAILABLE,
                               "'%s' is compiled for the dimensions of a case: leave out --generic",
                               op_info_get(ir_op_get(c->m, c->op)->opcode)->name);
}

static bool is_small(const combiner *c, status *st) {
    return combine_has_places(c->m, c->op, &c->s) ||
           status_set(st, STATUS_INVALID, "with these dimensions, '%s' has more positions than i32",
                      op_info_get(ir_op_get(c->m, c->op)->opcode)->name);
}

static control_rewritten expand(ir_builder *b, ir_op op, ir_value *results, void *context) {
    const int opcode = ir_op_get(b->m, op)->opcode;
    if (graph_op_class(opcode) != GRAPH_CLASS_COMBINE || opcode == GRAPH_SCATTER)
        return CONTROL_KEPT;
    combiner c = {.m = b->m, .b = *b, .op = op, .s = combine_shape_of(b->m, op)};
    if (!is_static(&c, context) || !is_small(&c, context))
        return CONTROL_STOPPED;
    (opcode == GRAPH_SORT ? combiner_expand_sort : combiner_expand_reduction)(&c, results);
    return CONTROL_REPLACED;
}

bool graph_expand_combiners(ir_module *m, status *st) {
    return control_rewrite(m, expand, st);
}
