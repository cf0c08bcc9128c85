/* shape.c - where, cast, the movers of axes, and tensors made from nothing. */
#include <string.h>

#include "check/check.h"

entity special_where(checker *c, const call_arguments *a) {
    entity operands[3] = {a->values[0], a->values[1], a->values[2]};
    if (operands[1].kind == ENTITY_NUMBER && operands[2].kind == ENTITY_NUMBER) {
        diagnose_error(c->report, ERROR_NO_TENSOR, a->at,
                       "the two values are numbers, so the result has no element type");
        diagnose_help(
            c->report,
            "give one of them a type: full((), 1, f32); for 1 and 0 write cast(condition, i32)");
        return entity_broken(a->at);
    }
    return emit_elementwise(c, GRAPH_SELECT, operands, 3, NULL, 0, a->at);
}

entity special_cast(checker *c, const call_arguments *a) {
    dtype to;
    entity type = a->values[1];
    type.policies = NULL;
    if (!argument_tensor(c, &a->values[0], "x") || !argument_type(c, &type, &to))
        return entity_broken(a->at);
    return policy_convert(c, &a->values[0], to, a->values[1].policies, a->at);
}

entity special_bitcast(checker *c, const call_arguments *a) {
    dtype to;
    if (!argument_tensor(c, &a->values[0], "x") || !argument_type(c, &a->values[1], &to))
        return entity_broken(a->at);
    ir_named_attr attr = {"to", ir_attr_type(c->m, ir_type_scalar(c->m, to))};
    return emit_one(c, GRAPH_BITCAST, &a->values[0], 1, &attr, 1, a->at);
}

/* ---- reshape ---- */

/* Replaces the one -1 of a new shape by what is left of the elements; false when reported. */
static bool fill_missing(checker *c, const call_arguments *a, entity *shape, int missing) {
    const ir_type_data *type = tensor_type(c, &a->values[0]);
    ir_dim have = 1, rest = 1;
    for (int i = 0; i < type->rank; i++)
        have = ir_dim_mul(c->m, have, type->dims[i]);
    for (uint32_t i = 0; i < shape->count; i++) {
        ir_dim dim = 1;
        if ((int)i != missing && !argument_dim(c, &shape->items[i], &dim))
            return false;
        rest = ir_dim_mul(c->m, rest, dim);
    }
    ir_dim quotient = rest == 0 ? IR_DIM_INVALID : ir_dim_floordiv(c->m, have, rest);
    if (quotient == IR_DIM_INVALID || ir_dim_mul(c->m, quotient, rest) != have) {
        diagnose_error(c->report, ERROR_RESHAPE_REMAINDER, shape->items[missing].at,
                       "-1 has no value here: %s elements do not divide into %s",
                       ir_dim_text(c->m, have), rest == 0 ? "0" : ir_dim_text(c->m, rest));
        note_tensor(c, &a->values[0]);
        return false;
    }
    shape->items[missing] = entity_dim(c, quotient, shape->items[missing].at);
    return true;
}

static int find_missing(const entity *shape) {
    for (uint32_t i = 0; shape->kind == ENTITY_TUPLE && i < shape->count; i++) {
        const entity *e = &shape->items[i];
        if (e->kind == ENTITY_NUMBER && e->is_integer && e->integer == -1)
            return (int)i;
    }
    return -1;
}

entity special_reshape(checker *c, const call_arguments *a) {
    entity shape = a->values[1];
    ir_dim dims[IR_MAX_RANK];
    int rank = 0, missing = find_missing(&shape);
    if (!argument_tensor(c, &a->values[0], "x") ||
        (missing >= 0 && !fill_missing(c, a, &shape, missing)) ||
        !argument_shape(c, &shape, dims, &rank))
        return entity_broken(a->at);
    return emit_reshape(c, &a->values[0], rank, dims, a->at);
}

/* ---- transpose ---- */

static entity transpose(checker *c, const entity *x, const int64_t *permutation, int rank,
                        span at) {
    ir_named_attr attr = {"permutation", ir_attr_int_array(c->m, permutation, (uint32_t)rank)};
    return emit_one(c, GRAPH_TRANSPOSE, x, 1, &attr, 1, at);
}

entity swap_last_axes(checker *c, const entity *x, span at) {
    int64_t permutation[IR_MAX_RANK];
    int rank = tensor_type(c, x)->rank;
    if (rank < 2) {
        diagnose_error(c->report, ERROR_PERMUTATION, at, ".T needs at least two axes");
        note_tensor(c, x);
        return entity_broken(at);
    }
    for (int i = 0; i < rank; i++)
        permutation[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return transpose(c, x, permutation, rank, at);
}

entity special_transpose(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    int64_t permutation[IR_MAX_RANK];
    int count = 0;
    if (!argument_tensor(c, x, "x"))
        return entity_broken(a->at);
    int rank = tensor_type(c, x)->rank;
    if (!a->given[1] && rank != 2) {
        diagnose_error(c->report, ERROR_PERMUTATION, a->at,
                       "transpose() of a tensor of rank %d needs a permutation", rank);
        diagnose_help(c->report,
                      "for example transpose(x, (0, 2, 1)); x.T swaps the last two axes");
        return entity_broken(a->at);
    }
    if (!a->given[1])
        return swap_last_axes(c, x, a->at);
    if (!argument_axes(c, &a->values[1], rank, permutation, &count))
        return entity_broken(a->at);
    return transpose(c, x, permutation, count, a->at);
}

/* ---- broadcast_to ---- */

entity special_broadcast_to(checker *c, const call_arguments *a) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    const entity *x = &a->values[0];
    if (!argument_tensor(c, x, "x") || !argument_shape(c, &a->values[1], dims, &rank))
        return entity_broken(a->at);
    const ir_type_data *type = tensor_type(c, x);
    bool fits = type->rank <= rank;
    for (int i = 0; fits && i < type->rank; i++)
        fits = type->dims[i] == 1 || type->dims[i] == dims[rank - type->rank + i];
    if (!fits) {
        diagnose_error(c->report, ERROR_BROADCAST, a->at, "%s does not broadcast to %s",
                       entity_type_text(c, ir_value_get(c->m, x->value)->type),
                       entity_type_text(c, ir_type_tensor(c->m, type->element, rank, dims)));
        note_tensor(c, x);
        return entity_broken(a->at);
    }
    return emit_broadcast(c, x, rank, dims, a->at);
}

/* ---- from nothing ---- */

static entity iota(checker *c, const ir_dim *dims, int rank, int64_t axis, span at) {
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(c->m, dims, (uint32_t)rank)},
                             {"axis", ir_attr_int(c->m, axis)}};
    return emit_one(c, GRAPH_IOTA, NULL, 0, attrs, 2, at);
}

entity special_iota(checker *c, const call_arguments *a) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    int64_t axis = 0;
    entity first = entity_integer(c, 0, a->at);
    if (!argument_shape(c, &a->values[0], dims, &rank) ||
        !argument_axis(c, a->given[1] ? &a->values[1] : &first, rank, &axis))
        return entity_broken(a->at);
    return iota(c, dims, rank, axis, a->at);
}

entity special_arange(checker *c, const call_arguments *a) {
    ir_dim n;
    return argument_dim(c, &a->values[0], &n) ? iota(c, &n, 1, 0, a->at) : entity_broken(a->at);
}

static entity filled(checker *c, const entity *shape, const entity *value, const entity *type,
                     span at) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    dtype element;
    if (!argument_shape(c, shape, dims, &rank) || !argument_type(c, type, &element))
        return entity_broken(at);
    /* A dimension that no number is known of is one when the kernel runs. */
    entity scalar = value->kind == ENTITY_DIM ? tiles_dim_value(c, value->dim, at)
                                              : emit_constant(c, value, element, at);
    if (value->kind == ENTITY_DIM && element != DTYPE_I32)
        scalar = policy_convert(c, &scalar, element, NULL, at);
    return scalar.kind == ENTITY_BROKEN ? scalar : emit_broadcast(c, &scalar, rank, dims, at);
}

entity special_full(checker *c, const call_arguments *a) {
    return filled(c, &a->values[0], &a->values[1], &a->values[2], a->at);
}

static entity filled_with(checker *c, const call_arguments *a, int64_t number) {
    entity value = entity_integer(c, number, a->at);
    if (a->values[1].kind == ENTITY_TYPE && a->values[1].type == DTYPE_BOOL)
        value.kind = ENTITY_BOOL;
    return filled(c, &a->values[0], &value, &a->values[1], a->at);
}

entity special_zeros(checker *c, const call_arguments *a) {
    return filled_with(c, a, 0);
}

entity special_ones(checker *c, const call_arguments *a) {
    return filled_with(c, a, 1);
}
