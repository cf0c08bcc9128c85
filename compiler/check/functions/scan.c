/* scan.c - functions whose result has the shape of x, and of which every element depends
 * on its row along an axis: cumsum and its like, argsort and, with what argsort finds, sort and
 * topk. */
#include <string.h>

#include "check/check.h"
#include "ops/reductions.h"

enum { ARGUMENT_X, ARGUMENT_AXIS, ARGUMENT_DESCENDING, ARGUMENT_REVERSE = 2, ARGUMENT_K = 1 };

/* The last axis where none is given. */
static bool scanned_axis(checker *c, const call_arguments *a, int64_t *axis) {
    const entity *x = &a->values[ARGUMENT_X];
    entity last = entity_integer(c, -1, a->at);
    return argument_tensor(c, x, "x") &&
           argument_axis(c, a->given[ARGUMENT_AXIS] ? &a->values[ARGUMENT_AXIS] : &last,
                         tensor_type(c, x)->rank, axis);
}

static entity running(checker *c, const entity *x, const char *kind, int64_t axis, span at) {
    bool ordered = reduction_rounds(kind) && dtype_is_float(tensor_type(c, x)->element);
    ir_named_attr attrs[3] = {{"axis", ir_attr_int(c->m, axis)}};
    uint32_t count = 1;
    if (strcmp(kind, "sum") != 0)
        attrs[count++] = (ir_named_attr){"kind", ir_attr_string(c->m, kind)};
    if (ordered)
        attrs[count++] =
            (ir_named_attr){"order", ir_attr_string(c->m, order_info_of(ORDER_SEQ)->name)};
    return emit_one(c, GRAPH_CUMSUM, x, 1, attrs, count, at);
}

/* The elements of an axis from the last to the first. */
entity emit_turned(checker *c, const entity *x, int64_t axis, span at) {
    const ir_dim length = tensor_type(c, x)->dims[axis];
    if (length == 0)
        return *x;
    ir_named_attr iota[] = {{"shape", ir_attr_dim_array(c->m, &length, 1)},
                            {"axis", ir_attr_int(c->m, 0)}};
    entity next[] = {emit_one(c, GRAPH_IOTA, NULL, 0, iota, 2, at), entity_integer(c, 1, at)};
    entity places[] = {tiles_dim_value(c, length, at),
                       emit_elementwise(c, GRAPH_ADD, next, 2, NULL, 0, at)};
    entity operands[] = {*x, emit_elementwise(c, GRAPH_SUB, places, 2, NULL, 0, at)};
    ir_named_attr attrs[] = {{"axis", ir_attr_int(c->m, axis)},
                             {"batch_dims", ir_attr_int(c->m, 0)}};
    entity out = emit_one(c, GRAPH_GATHER, operands, 2, attrs, 2, at);
    policy_hand_on(c, x, &out);
    return out;
}

static entity scanned(checker *c, const call_arguments *a, const char *kind) {
    entity x = a->values[ARGUMENT_X];
    int64_t axis = 0;
    bool reverse = false;
    if (!scanned_axis(c, a, &axis) ||
        (a->given[ARGUMENT_REVERSE] &&
         !argument_bool(c, &a->values[ARGUMENT_REVERSE], "reverse", &reverse)))
        return entity_broken(a->at);
    bool plain = !reverse && strcmp(kind, "sum") == 0;
    if (!plain && !tiles_refuse_call(c, a->function, a->at))
        return entity_broken(a->at);
    x = reverse ? emit_turned(c, &x, axis, a->at) : x;
    entity out = x.kind == ENTITY_BROKEN ? x : running(c, &x, kind, axis, a->at);
    return reverse && out.kind != ENTITY_BROKEN ? emit_turned(c, &out, axis, a->at) : out;
}

entity special_cumsum(checker *c, const call_arguments *a) {
    return scanned(c, a, "sum");
}

entity special_cumprod(checker *c, const call_arguments *a) {
    return scanned(c, a, "prod");
}

entity special_cummax(checker *c, const call_arguments *a) {
    return scanned(c, a, "max");
}

entity special_cummin(checker *c, const call_arguments *a) {
    return scanned(c, a, "min");
}

/* ---- orders of elements ---- */

static entity argsort(checker *c, const entity *x, int64_t axis, bool descending, span at) {
    ir_named_attr attrs[] = {{"axis", ir_attr_int(c->m, axis)},
                             {"descending", ir_attr_bool(c->m, descending)}};
    return emit_one(c, GRAPH_ARGSORT, x, 1, attrs, 2, at);
}

static bool sort_arguments(checker *c, const call_arguments *a, int64_t *axis, bool *descending) {
    *descending = false;
    return scanned_axis(c, a, axis) &&
           (!a->given[ARGUMENT_DESCENDING] ||
            argument_bool(c, &a->values[ARGUMENT_DESCENDING], "descending", descending));
}

entity special_argsort(checker *c, const call_arguments *a) {
    int64_t axis = 0;
    bool descending;
    if (!sort_arguments(c, a, &axis, &descending))
        return entity_broken(a->at);
    return argsort(c, &a->values[ARGUMENT_X], axis, descending, a->at);
}

/* x at positions along its last axis, each row for itself. */
static entity taken(checker *c, const entity *x, const entity *positions, span at) {
    entity operands[] = {*x, *positions};
    int64_t last = tensor_type(c, x)->rank - 1;
    ir_named_attr attrs[] = {{"axis", ir_attr_int(c->m, last)},
                             {"batch_dims", ir_attr_int(c->m, last)}};
    return emit_one(c, GRAPH_GATHER, operands, 2, attrs, 2, at);
}

/* The axis and the last one change places. */
static entity last_exchanged(checker *c, const entity *x, int64_t axis, span at) {
    int64_t permutation[IR_MAX_RANK];
    int rank = tensor_type(c, x)->rank;
    if (axis == rank - 1)
        return *x;
    for (int i = 0; i < rank; i++)
        permutation[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    ir_named_attr attr = {"permutation", ir_attr_int_array(c->m, permutation, (uint32_t)rank)};
    return emit_one(c, GRAPH_TRANSPOSE, x, 1, &attr, 1, at);
}

/* Nothing can be taken from an axis of length 0, and nothing is. */
static bool is_empty(checker *c, const entity *x, int64_t axis) {
    return tensor_type(c, x)->dims[axis] == 0;
}

entity special_sort(checker *c, const call_arguments *a) {
    int64_t axis = 0;
    bool descending;
    if (!sort_arguments(c, a, &axis, &descending))
        return entity_broken(a->at);
    entity x = last_exchanged(c, &a->values[ARGUMENT_X], axis, a->at);
    entity positions = argsort(c, &a->values[ARGUMENT_X], axis, descending, a->at);
    if (positions.kind == ENTITY_BROKEN || x.kind == ENTITY_BROKEN ||
        is_empty(c, &a->values[ARGUMENT_X], axis))
        return positions.kind == ENTITY_BROKEN ? positions : a->values[ARGUMENT_X];
    positions = last_exchanged(c, &positions, axis, a->at);
    entity sorted = taken(c, &x, &positions, a->at);
    return sorted.kind == ENTITY_BROKEN ? sorted : last_exchanged(c, &sorted, axis, a->at);
}

/* [..., :k] */
static entity first_columns(checker *c, const entity *x, ir_dim k, span at) {
    const ir_type_data *type = tensor_type(c, x);
    ir_dim from[IR_MAX_RANK] = {0}, to[IR_MAX_RANK] = {0};
    int64_t step[IR_MAX_RANK];
    uint32_t rank = (uint32_t)type->rank;
    for (uint32_t i = 0; i < rank; i++) {
        to[i] = i == rank - 1 ? k : type->dims[i];
        step[i] = 1;
    }
    ir_named_attr attrs[] = {{"start", ir_attr_dim_array(c->m, from, rank)},
                             {"stop", ir_attr_dim_array(c->m, to, rank)},
                             {"step", ir_attr_int_array(c->m, step, rank)}};
    return emit_one(c, GRAPH_SLICE, x, 1, attrs, 3, at);
}

entity special_topk(checker *c, const call_arguments *a) {
    const entity *x = &a->values[ARGUMENT_X];
    entity last = entity_integer(c, -1, a->at);
    int64_t axis = 0;
    ir_dim k = 0;
    if (!argument_tensor(c, x, "x") || !argument_axis(c, &last, tensor_type(c, x)->rank, &axis) ||
        !argument_dim(c, &a->values[ARGUMENT_K], &k))
        return entity_broken(a->at);
    ir_dim length = tensor_type(c, x)->dims[axis];
    if (ir_dim_is_static(k) && ir_dim_is_static(length) && k > length) {
        diagnose_error(c->report, ERROR_OPERATION_SHAPES, a->values[ARGUMENT_K].at,
                       "topk: a row has %lld elements, not %lld", (long long)length, (long long)k);
        note_tensor(c, x);
        return entity_broken(a->at);
    }
    entity positions = argsort(c, x, axis, true, a->at);
    if (positions.kind == ENTITY_BROKEN)
        return positions;
    entity first = first_columns(c, &positions, k, a->at);
    entity values = first.kind == ENTITY_BROKEN ? first
                    : is_empty(c, x, axis)      ? *x
                                                : taken(c, x, &first, a->at);
    if (values.kind == ENTITY_BROKEN)
        return values;
    entity out = entity_tuple(c, 2, a->at);
    out.items[0] = values;
    out.items[1] = first;
    return out;
}
