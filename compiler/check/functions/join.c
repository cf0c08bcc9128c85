/* join.c - tensors put together and taken apart: concat, stack, pad and split. */
#include <string.h>

#include "check/check.h"

static entity joined(checker *c, const entity *parts, uint32_t count, int64_t axis, span at) {
    ir_named_attr attr = {"axis", ir_attr_int(c->m, axis)};
    return emit_one(c, GRAPH_CONCAT, parts, count, &attr, 1, at);
}

/* A list of at least one tensor. */
static bool takes_list(checker *c, const call_arguments *a) {
    const entity *xs = &a->values[0];
    if (xs->kind != ENTITY_TUPLE || xs->count == 0) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, xs->at, "%s() joins a list of tensors",
                       a->function);
        diagnose_help(c->report, "write %s([x, y], axis=0)", a->function);
        return false;
    }
    for (uint32_t i = 0; i < xs->count; i++)
        if (!argument_tensor(c, &xs->items[i], "each item"))
            return false;
    return true;
}

/* Argument `index` as an axis of `rank` axes; 0 where it is not given. */
static bool axis_or_first(checker *c, const call_arguments *a, int index, int rank, int64_t *axis) {
    entity first = entity_integer(c, 0, a->at);
    return argument_axis(c, a->given[index] ? &a->values[index] : &first, rank, axis);
}

entity special_concat(checker *c, const call_arguments *a) {
    const entity *xs = &a->values[0];
    int64_t axis = 0;
    if (!takes_list(c, a) || !axis_or_first(c, a, 1, tensor_type(c, &xs->items[0])->rank, &axis))
        return entity_broken(a->at);
    return joined(c, xs->items, xs->count, axis, a->at);
}

/* ---- stack ---- */

static bool all_alike(checker *c, const call_arguments *a) {
    const entity *xs = &a->values[0];
    ir_type first = ir_value_get(c->m, xs->items[0].value)->type;
    for (uint32_t i = 1; i < xs->count; i++) {
        ir_type other = ir_value_get(c->m, xs->items[i].value)->type;
        if (other != first) {
            diagnose_error(c->report, ERROR_OPERATION_SHAPES, a->at,
                           "stack: the tensors differ: %s and %s", entity_type_text(c, first),
                           entity_type_text(c, other));
            note_tensor(c, &xs->items[0]);
            note_tensor(c, &xs->items[i]);
            return false;
        }
    }
    return true;
}

entity special_stack(checker *c, const call_arguments *a) {
    const entity *xs = &a->values[0];
    int64_t axis = 0;
    if (!takes_list(c, a) || !all_alike(c, a) ||
        !axis_or_first(c, a, 1, tensor_type(c, &xs->items[0])->rank + 1, &axis))
        return entity_broken(a->at);
    const ir_type_data *type = tensor_type(c, &xs->items[0]);
    if (type->rank == IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_RANK_LIMIT, a->at, "the result would have too many axes");
        note_tensor(c, &xs->items[0]);
        return entity_broken(a->at);
    }
    ir_dim dims[IR_MAX_RANK];
    int rank = type->rank + 1;
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? 1 : type->dims[i - (i > axis)];
    entity parts = entity_tuple(c, xs->count, a->at);
    for (uint32_t i = 0; i < xs->count; i++) {
        parts.items[i] = emit_reshape(c, &xs->items[i], rank, dims, xs->items[i].at);
        if (parts.items[i].kind == ENTITY_BROKEN)
            return parts.items[i];
    }
    return joined(c, parts.items, parts.count, axis, a->at);
}

/* ---- pad ---- */

static bool is_negative(const entity *e) {
    return e->kind == ENTITY_NUMBER && e->is_integer && e->integer < 0;
}

static bool read_widths(checker *c, const call_arguments *a, ir_dim (*widths)[2]) {
    const entity *pairs = &a->values[1];
    int rank = tensor_type(c, &a->values[0])->rank;
    bool good = pairs->kind == ENTITY_TUPLE && pairs->count == (uint32_t)rank;
    for (int i = 0; good && i < rank; i++)
        good = pairs->items[i].kind == ENTITY_TUPLE && pairs->items[i].count == 2;
    if (!good) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, pairs->at,
                       "expected widths: (before, after) for each axis");
        note_tensor(c, &a->values[0]);
        diagnose_help(c->report, "a matrix with one more row at its end: pad(x, ((0, 1), (0, 0)))");
        return false;
    }
    for (int i = 0; i < rank; i++) {
        const entity *pair = pairs->items[i].items;
        if (!argument_dim(c, &pair[0], &widths[i][0]) ||
            !argument_dim(c, &pair[1], &widths[i][1])) {
            if (is_negative(&pair[0]) || is_negative(&pair[1]))
                diagnose_help(c->report,
                              "padding only adds; to leave elements out, slice: x[1:-1]");
            return false;
        }
    }
    return true;
}

/* x between two blocks of the value, along one axis. */
static entity pad_axis(checker *c, const entity *x, const entity *value, int axis,
                       const ir_dim *width, span at) {
    entity parts[3];
    uint32_t count = 0;
    for (int side = 0; side < 3; side++) {
        ir_dim dims[IR_MAX_RANK];
        const ir_type_data *type = tensor_type(c, x);
        int rank = type->rank;
        memcpy(dims, type->dims, sizeof dims);
        if (side == 1) {
            parts[count++] = *x;
            continue;
        }
        dims[axis] = width[side / 2];
        if (dims[axis] == 0)
            continue;
        parts[count] = emit_broadcast(c, value, rank, dims, at);
        if (parts[count++].kind == ENTITY_BROKEN)
            return entity_broken(at);
    }
    return count == 1 ? *x : joined(c, parts, count, axis, at);
}

entity special_pad(checker *c, const call_arguments *a) {
    entity x = a->values[0], fill = a->values[2];
    ir_dim widths[IR_MAX_RANK][2];
    if (!argument_tensor(c, &x, "x") || !read_widths(c, a, widths))
        return entity_broken(a->at);
    dtype element = tensor_type(c, &x)->element;
    if (!a->given[2]) {
        fill = entity_integer(c, 0, a->at);
        fill.kind = element == DTYPE_BOOL ? ENTITY_BOOL : ENTITY_NUMBER;
    }
    entity value = emit_constant(c, &fill, element, a->at);
    if (value.kind != ENTITY_BROKEN && fill.kind == ENTITY_NUMBER && number_value(&fill) == 0)
        policy_hand_on(c, &x, &value); /* zeros are zeros under every loss_scale */
    for (int axis = 0; axis < tensor_type(c, &a->values[0])->rank; axis++) {
        if (value.kind == ENTITY_BROKEN || x.kind == ENTITY_BROKEN)
            return entity_broken(a->at);
        x = pad_axis(c, &x, &value, axis, widths[axis], a->at);
    }
    if (x.kind != ENTITY_BROKEN)
        policy_hand_on(c, &a->values[0], &x);
    return x;
}

/* ---- split ---- */

static entity refuse_split(checker *c, const call_arguments *a, ir_dim whole, ir_dim sum) {
    const entity *parts = &a->values[1];
    const char *length = arena_strdup(&c->memory, ir_dim_text(c->m, whole));
    if (parts->kind == ENTITY_TUPLE) {
        diagnose_error(c->report, ERROR_OPERATION_SHAPES, parts->at,
                       "split: the parts add up to %s, the axis to %s", ir_dim_text(c->m, sum),
                       length);
    } else {
        diagnose_error(c->report, ERROR_OPERATION_SHAPES, parts->at,
                       "split: %s does not divide into %lld equal parts", length,
                       (long long)parts->integer);
        diagnose_help(c->report,
                      "write their lengths, for example split(x, (%s // 2, %s - %s // 2))", length,
                      length, length);
    }
    note_tensor(c, &a->values[0]);
    return entity_broken(a->at);
}

/* x[..., start:start + length, ...] */
static entity part_of(checker *c, const entity *x, int64_t axis, ir_dim start, ir_dim length,
                      span at) {
    const ir_type_data *type = tensor_type(c, x);
    ir_dim from[IR_MAX_RANK] = {0}, to[IR_MAX_RANK] = {0};
    int64_t step[IR_MAX_RANK];
    uint32_t rank = (uint32_t)type->rank;
    for (uint32_t i = 0; i < rank; i++) {
        to[i] = type->dims[i];
        step[i] = 1;
    }
    from[axis] = start;
    to[axis] = ir_dim_add(c->m, start, length);
    ir_named_attr attrs[] = {{"start", ir_attr_dim_array(c->m, from, rank)},
                             {"stop", ir_attr_dim_array(c->m, to, rank)},
                             {"step", ir_attr_int_array(c->m, step, rank)}};
    return emit_one(c, GRAPH_SLICE, x, 1, attrs, 3, at);
}

/* As many parts of one length. */
static bool equal_parts(checker *c, const entity *n, ir_dim length, entity *lengths) {
    int64_t count = 0;
    if (!argument_int(c, n, "parts", &count))
        return false;
    if (count < 1 || count > LIMIT_OPERANDS) {
        diagnose_error(c->report, ERROR_OPERATION_ARGUMENT, n->at, "split: makes 1 to %d parts",
                       LIMIT_OPERANDS);
        return false;
    }
    ir_dim each = ir_dim_floordiv(c->m, length, count);
    *lengths = entity_tuple(c, (uint32_t)count, n->at);
    for (uint32_t i = 0; i < lengths->count; i++)
        lengths->items[i] = entity_dim(c, each, n->at);
    return true;
}

entity special_split(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    entity lengths = a->values[1];
    int64_t axis = 0;
    if (!argument_tensor(c, x, "x") || !axis_or_first(c, a, 2, tensor_type(c, x)->rank, &axis))
        return entity_broken(a->at);
    ir_dim whole = tensor_type(c, x)->dims[axis], start = 0;
    if (lengths.kind != ENTITY_TUPLE && !equal_parts(c, &a->values[1], whole, &lengths))
        return entity_broken(a->at);
    for (uint32_t i = 0; i < lengths.count; i++) {
        ir_dim length = 0;
        if (!argument_dim(c, &lengths.items[i], &length))
            return entity_broken(a->at);
        start = ir_dim_add(c->m, start, length);
    }
    if (start != whole)
        return refuse_split(c, a, whole, start);
    entity out = entity_tuple(c, lengths.count, a->at);
    start = 0;
    for (uint32_t i = 0; i < out.count; i++) {
        ir_dim length = 0;
        argument_dim(c, &lengths.items[i], &length);
        out.items[i] = part_of(c, x, axis, start, length, a->at);
        if (out.items[i].kind == ENTITY_BROKEN)
            return out.items[i];
        start = ir_dim_add(c->m, start, length);
    }
    return out;
}
