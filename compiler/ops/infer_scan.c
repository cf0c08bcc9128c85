/* infer_scan.c - the shape and type rules of running sums and orders along an axis. */
#include <string.h>

#include "ops/infer.h"
#include "ops/reductions.h"

bool graph_infer_cumsum(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    if (x->element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "cannot add up %s; cast() it to i32",
                            infer_shape_text(q, 0));
    const char *kind = infer_string_attr(q, "kind", "sum");
    if (!reduction_kind_known(kind))
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "unknown kind '%s': prod, max or min",
                            kind);
    if (infer_attr_of(q, "accumulate") && strcmp(kind, "sum") != 0)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "a %s accumulates nothing", kind);
    return infer_accumulates(q) && infer_axis_in(q, infer_int_attr(q, "axis", 0), x->rank) &&
           infer_give(q, q->operands[0]);
}

bool graph_infer_argsort(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    int64_t axis = infer_int_attr(q, "axis", 0);
    if (x->element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "cannot order %s; cast() it to i8",
                            infer_shape_text(q, 0));
    if (!infer_axis_in(q, axis, x->rank))
        return false;
    if (ir_dim_is_static(x->dims[axis]) && x->dims[axis] > INT32_MAX)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "axis %lld of %s has more positions than i32",
                            (long long)axis, infer_shape_text(q, 0));
    return infer_give_shape(q, DTYPE_I32, x->rank, x->dims);
}
