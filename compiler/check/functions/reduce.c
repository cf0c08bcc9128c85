/* reduce.c - sum, prod, max, min, all, any, mean, logsumexp, argmax and argmin: axes in the
 * language's form, and keepdims. */
#include <string.h>

#include "check/check.h"
#include "ops/reductions.h"
#include "ops/tree_order.h"

enum { ARGUMENT_X, ARGUMENT_AXIS, ARGUMENT_KEEPDIMS, ARGUMENT_ORDER };

/* The result with the reduced axes back, of length 1. */
static entity keep_axes(checker *c, const call_arguments *a, const entity *reduced,
                        const int64_t *axes, int count) {
    const ir_type_data *type = tensor_type(c, &a->values[ARGUMENT_X]);
    ir_dim dims[IR_MAX_RANK] = {0};
    memcpy(dims, type->dims, sizeof(dims));
    for (int i = 0; i < count; i++)
        dims[axes[i]] = 1;
    return emit_reshape(c, reduced, type->rank, dims, a->at);
}

static bool keepdims_given(checker *c, const call_arguments *a, bool *out) {
    *out = false;
    return !a->given[ARGUMENT_KEEPDIMS] ||
           argument_bool(c, &a->values[ARGUMENT_KEEPDIMS], "keepdims", out);
}

static void sort_axes(int64_t *axes, int count) {
    for (int i = 1; i < count; i++) {
        for (int k = i; k > 0 && axes[k - 1] > axes[k]; k--) {
            int64_t swap = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = swap;
        }
    }
}

static bool order_known(checker *c, const call_arguments *a, ir_attr *order) {
    const entity *e = &a->values[ARGUMENT_ORDER];
    const char *usual = order_info_of(ORDER_LANES64)->name;
    *order = ir_attr_string(c->m, usual);
    if (a->count <= ARGUMENT_ORDER || !a->given[ARGUMENT_ORDER])
        return true;
    if (e->kind == ENTITY_STRING && tree_order_is(e->text)) {
        *order = operation_tree_order(c, e);
        return *order != 0;
    }
    const entity *x = &a->values[ARGUMENT_X];
    bool wide = x->kind == ENTITY_TENSOR && tensor_type(c, x)->element == DTYPE_F64;
    if (e->kind == ENTITY_STRING && order_suits(order_find(e->text), ORDER_OF_SUM) &&
        (wide || order_find(e->text) != ORDER_EXACT_ODD)) {
        *order = ir_attr_string(c->m, e->text);
        return true;
    }
    diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, e->at, "unknown order of a sum");
    diagnose_help(
        c->report,
        "sums are taken in the order \"%s\", as \"%s\", of f64 also as \"%s\", or in a tree "
        "that is written out",
        usual, order_info_of(ORDER_EXACT)->name, order_info_of(ORDER_EXACT_ODD)->name);
    return false;
}

static entity reduce(checker *c, const call_arguments *a, const char *kind) {
    const entity *x = &a->values[ARGUMENT_X];
    int64_t axes[IR_MAX_RANK];
    int count = 0;
    bool keepdims = false;
    ir_attr order;
    if (!argument_tensor(c, x, "x") || !keepdims_given(c, a, &keepdims) ||
        !order_known(c, a, &order))
        return entity_broken(a->at);
    if (!argument_axes(c, &a->values[ARGUMENT_AXIS], tensor_type(c, x)->rank, axes, &count)) {
        if (!reduction_rounds(kind) && strcmp(kind, a->function) == 0)
            diagnose_help(c->report, "%s() reduces over axes; of two values write %simum(x, y)",
                          kind, kind);
        return entity_broken(a->at);
    }
    sort_axes(axes, count);
    bool ordered = reduction_rounds(kind) && dtype_is_float(tensor_type(c, x)->element);
    ir_named_attr attrs[] = {{"kind", ir_attr_string(c->m, kind)},
                             {"axes", ir_attr_int_array(c->m, axes, (uint32_t)count)},
                             {"order", ordered ? order : 0}};
    entity out = emit_one(c, GRAPH_REDUCE, x, 1, attrs, ordered ? 3 : 2, a->at);
    return out.kind == ENTITY_BROKEN || !keepdims ? out : keep_axes(c, a, &out, axes, count);
}

entity special_sum(checker *c, const call_arguments *a) {
    return reduce(c, a, "sum");
}

entity special_prod(checker *c, const call_arguments *a) {
    return tiles_refuse_call(c, a->function, a->at) ? reduce(c, a, "prod") : entity_broken(a->at);
}

entity special_max(checker *c, const call_arguments *a) {
    return reduce(c, a, "max");
}

entity special_min(checker *c, const call_arguments *a) {
    return reduce(c, a, "min");
}

/* ---- all, any ---- */

/* The greatest or the least of the bools as numbers; of none these are below and above 0. */
static entity bools_over(checker *c, const call_arguments *a, const char *kind) {
    call_arguments numbers = *a;
    if (!argument_tensor(c, &a->values[ARGUMENT_X], "x"))
        return entity_broken(a->at);
    if (tensor_type(c, &a->values[ARGUMENT_X])->element != DTYPE_BOOL) {
        diagnose_error(c->report, ERROR_OPERATION_ELEMENTS, a->at,
                       "%s: needs bool elements, not %s", a->function,
                       dtype_name(tensor_type(c, &a->values[ARGUMENT_X])->element));
        note_tensor(c, &a->values[ARGUMENT_X]);
        diagnose_help(c->report, "compare first: %s(x != 0)", a->function);
        return entity_broken(a->at);
    }
    numbers.values[ARGUMENT_X] = policy_convert(c, &a->values[ARGUMENT_X], DTYPE_I8, NULL, a->at);
    entity found = reduce(c, &numbers, kind), zero = entity_integer(c, 0, a->at);
    return found.kind == ENTITY_BROKEN ? found : emit_compare(c, "gt", &found, &zero, a->at);
}

entity special_all(checker *c, const call_arguments *a) {
    return bools_over(c, a, "min");
}

entity special_any(checker *c, const call_arguments *a) {
    return bools_over(c, a, "max");
}

/* The axis of a function over one, the last where none is given. */
static bool one_axis(checker *c, const call_arguments *a, int64_t *axis, bool *keepdims) {
    const entity *x = &a->values[ARGUMENT_X];
    entity last = entity_integer(c, -1, a->at);
    return argument_tensor(c, x, "x") && keepdims_given(c, a, keepdims) &&
           argument_axis(c, a->given[ARGUMENT_AXIS] ? &a->values[ARGUMENT_AXIS] : &last,
                         tensor_type(c, x)->rank, axis);
}

/* Composites over one axis. Their order is an attribute where it is not the usual one. */
static entity along_axis(checker *c, const call_arguments *a, int opcode) {
    int64_t axis = 0;
    bool keepdims = false;
    ir_attr order;
    if (!one_axis(c, a, &axis, &keepdims) || !order_known(c, a, &order))
        return entity_broken(a->at);
    bool usual = order == ir_attr_string(c->m, order_info_of(ORDER_LANES64)->name);
    ir_named_attr attrs[] = {{"axis", ir_attr_int(c->m, axis)}, {"order", order}};
    entity out = emit_one(c, opcode, &a->values[ARGUMENT_X], 1, attrs, usual ? 1 : 2, a->at);
    return out.kind == ENTITY_BROKEN || !keepdims ? out : keep_axes(c, a, &out, &axis, 1);
}

entity special_mean(checker *c, const call_arguments *a) {
    return along_axis(c, a, GRAPH_MEAN);
}

entity special_logsumexp(checker *c, const call_arguments *a) {
    return along_axis(c, a, GRAPH_LOGSUMEXP);
}

/* ---- argmax, argmin ---- */

static entity extreme_along(checker *c, const entity *x, const char *kind, int64_t axis, span at) {
    ir_named_attr attrs[] = {{"kind", ir_attr_string(c->m, kind)},
                             {"axes", ir_attr_int_array(c->m, &axis, 1)}};
    return emit_one(c, GRAPH_REDUCE, x, 1, attrs, 2, at);
}

/* Mask of x at its extreme along the axis. One that is a NaN equals nothing, but then every NaN is
 * meant; without one there is no NaN. */
static entity at_extreme(checker *c, const call_arguments *a, const entity *extreme, int64_t axis) {
    const entity *x = &a->values[ARGUMENT_X];
    entity spread = keep_axes(c, a, extreme, &axis, 1);
    entity equal = emit_compare(c, "eq", x, &spread, a->at);
    if (!dtype_is_float(tensor_type(c, x)->element))
        return equal;
    entity either[] = {equal, emit_compare(c, "ne", x, x, a->at)};
    return emit_elementwise(c, GRAPH_OR, either, 2, NULL, 0, a->at);
}

/* The least position at which the extreme stands. */
static entity position_of(checker *c, const call_arguments *a, const char *kind) {
    const entity *x = &a->values[ARGUMENT_X];
    int64_t axis = 0;
    bool keepdims = false;
    if (!one_axis(c, a, &axis, &keepdims))
        return entity_broken(a->at);
    const ir_type_data *type = tensor_type(c, x);
    if (type->dims[axis] == 0) {
        diagnose_error(c->report, ERROR_OPERATION_SHAPES, a->at,
                       "%s: an axis of length 0 has no positions", a->function);
        note_tensor(c, x);
        return entity_broken(a->at);
    }
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(c->m, type->dims, (uint32_t)type->rank)},
                             {"axis", ir_attr_int(c->m, axis)}};
    entity extreme = extreme_along(c, x, kind, axis, a->at);
    if (extreme.kind == ENTITY_BROKEN)
        return extreme;
    entity choice[] = {at_extreme(c, a, &extreme, axis),
                       emit_one(c, GRAPH_IOTA, NULL, 0, attrs, 2, a->at),
                       entity_integer(c, INT32_MAX, a->at)};
    entity places = emit_elementwise(c, GRAPH_SELECT, choice, 3, NULL, 0, a->at);
    if (places.kind == ENTITY_BROKEN)
        return places;
    entity out = extreme_along(c, &places, "min", axis, a->at);
    return out.kind == ENTITY_BROKEN || !keepdims ? out : keep_axes(c, a, &out, &axis, 1);
}

entity special_argmax(checker *c, const call_arguments *a) {
    return position_of(c, a, "max");
}

entity special_argmin(checker *c, const call_arguments *a) {
    return position_of(c, a, "min");
}
