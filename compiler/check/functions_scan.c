/* functions_scan.c - functions whose result has the shape of x, and of which every element depends
 * on its row along an axis: cumsum. */
#include "check/check.h"
#include "ops/orders.h"

enum { ARGUMENT_X, ARGUMENT_AXIS };

/* The last axis where none is given. */
static bool scanned_axis(checker *c, const call_arguments *a, int64_t *axis) {
    const entity *x = &a->values[ARGUMENT_X];
    entity last = entity_integer(c, -1, a->at);
    return argument_tensor(c, x, "x") &&
           argument_axis(c, a->given[ARGUMENT_AXIS] ? &a->values[ARGUMENT_AXIS] : &last,
                         tensor_type(c, x)->rank, axis);
}

entity special_cumsum(checker *c, const call_arguments *a) {
    const entity *x = &a->values[ARGUMENT_X];
    int64_t axis = 0;
    if (!scanned_axis(c, a, &axis)) {
        return entity_broken(a->at);
    }
    bool ordered = dtype_is_float(tensor_type(c, x)->element);
    ir_named_attr attrs[] = {{"axis", ir_attr_int(c->m, axis)},
                             {"order", ir_attr_string(c->m, order_info_of(ORDER_SEQ)->name)}};
    return emit_one(c, GRAPH_CUMSUM, x, 1, attrs, ordered ? 2 : 1, a->at);
}
