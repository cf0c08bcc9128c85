/* dynamic.c - slices whose starts are values: gathers, and scatters of what replaces them
 * (docs/numerics.md, "Functions that stand for others"). */
#include <string.h>

#include "check/regions.h"

typedef struct placing {
    checker *c;
    const call_arguments *a;
    const entity *x; /* the greater tensor */
    int rank;
    ir_dim sizes[IR_MAX_RANK]; /* of the part */
    entity starts[IR_MAX_RANK];
} placing;

static entity binary(const placing *p, int opcode, const entity *x, const entity *y) {
    entity operands[] = {*x, *y};
    return emit_elementwise(p->c, opcode, operands, 2, NULL, 0, p->a->at);
}

static entity places(const placing *p, ir_dim count) {
    const ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(p->c->m, &count, 1)},
                                   {"axis", ir_attr_int(p->c->m, 0)}};
    return emit_one(p->c, GRAPH_IOTA, NULL, 0, attrs, 2, p->a->at);
}

static entity taken(const placing *p, const entity *x, const entity *indices, int axis) {
    const entity operands[] = {*x, *indices};
    const ir_named_attr attrs[] = {{"axis", ir_attr_int(p->c->m, axis)},
                                   {"batch_dims", ir_attr_int(p->c->m, 0)}};
    return emit_one(p->c, GRAPH_GATHER, operands, 2, attrs, 2, p->a->at);
}

/* ---- starts and sizes ---- */

/* One i32 for an axis: a scalar, a number, or a dimension. */
static bool read_start(placing *p, const entity *e, int axis) {
    checker *c = p->c;
    entity start = *e;
    if (e->kind == ENTITY_NUMBER)
        start = emit_constant(c, e, DTYPE_I32, e->at);
    if (e->kind == ENTITY_DIM)
        start = tiles_dim_value(c, e->dim, e->at);
    if (!argument_tensor(c, &start, "a start"))
        return false;
    p->starts[axis] = start;
    if (tensor_type(c, &start)->rank == 0 && tensor_type(c, &start)->element == DTYPE_I32)
        return true;
    diagnose_error(c->report, ERROR_OPERATION_ELEMENTS, p->a->at, "%s: a start is one i32, not %s",
                   p->a->function, entity_type_text(c, ir_value_get(c->m, start.value)->type));
    note_tensor(c, &start);
    return false;
}

static bool has_all(const placing *p, const entity *e, uint32_t count, const char *what) {
    if (count == (uint32_t)p->rank)
        return true;
    diagnose_error(p->c->report, ERROR_OPERATION_SHAPES, e->at,
                   "%s: needs %s for each axis: %d, not %u", p->a->function, what, p->rank, count);
    note_tensor(p->c, p->x);
    return false;
}

static bool read_starts(placing *p, const entity *e) {
    const bool several = e->kind == ENTITY_TUPLE;
    bool good = has_all(p, e, several ? e->count : 1, "a start");
    for (int i = 0; i < p->rank && good; i++)
        good = read_start(p, several ? &e->items[i] : e, i);
    return good;
}

/* Moves a start so that the part lies inside. A part as long as the axis begins with it. */
static bool clamp_start(placing *p, int axis) {
    checker *c = p->c;
    ir_dim length = tensor_type(c, p->x)->dims[axis];
    ir_dim last = ir_dim_sub(c->m, length, p->sizes[axis]);
    if (last == IR_DIM_INVALID) {
        diagnose_error(c->report, ERROR_OPERATION_SHAPES, p->a->at,
                       "%s: a part of %s along axis %d, where there are %s", p->a->function,
                       ir_dim_text(c->m, p->sizes[axis]), axis, ir_dim_text(c->m, length));
        note_tensor(c, p->x);
        return false;
    }
    entity zero = entity_integer(c, 0, p->a->at), end = tiles_dim_value(c, last, p->a->at);
    entity low = binary(p, GRAPH_MAXIMUM, &p->starts[axis], &zero);
    p->starts[axis] = binary(p, GRAPH_MINIMUM, &low, &end);
    return p->starts[axis].kind != ENTITY_BROKEN;
}

static bool is_whole(const placing *p, int axis) {
    return tensor_type(p->c, p->x)->dims[axis] == p->sizes[axis];
}

/* ---- the functions ---- */

entity special_dynamic_slice(checker *c, const call_arguments *a) {
    placing p = {.c = c, .a = a, .x = &a->values[0]};
    int sizes = 0;
    if (!argument_tensor(c, p.x, "x") || !argument_shape(c, &a->values[2], p.sizes, &sizes))
        return entity_broken(a->at);
    p.rank = tensor_type(c, p.x)->rank;
    if (!has_all(&p, &a->values[2], (uint32_t)sizes, "a size") || !read_starts(&p, &a->values[1]))
        return entity_broken(a->at);
    entity out = *p.x;
    for (int i = 0; i < p.rank && out.kind != ENTITY_BROKEN; i++) {
        if (is_whole(&p, i))
            continue;
        if (!clamp_start(&p, i))
            return entity_broken(a->at);
        entity along = places(&p, p.sizes[i]), at = binary(&p, GRAPH_ADD, &along, &p.starts[i]);
        out = taken(&p, &out, &at, i);
    }
    return out;
}

/* The part of x along all axes before the last one that it does not cover gets the update there;
 * then, going back, each such part its place in the one around it. */
static entity update_places(placing *p) {
    entity around[IR_MAX_RANK], at[IR_MAX_RANK], inner = *p->x, out = p->a->values[1];
    for (int i = 0; i < p->rank; i++) {
        if (is_whole(p, i))
            continue;
        if (!clamp_start(p, i))
            return entity_broken(p->a->at);
        entity along = places(p, p->sizes[i]);
        at[i] = binary(p, GRAPH_ADD, &along, &p->starts[i]);
        around[i] = inner;
        inner = taken(p, &inner, &at[i], i);
        if (inner.kind == ENTITY_BROKEN)
            return inner;
    }
    for (int i = p->rank - 1; i >= 0 && out.kind != ENTITY_BROKEN; i--) {
        const scattering s = {around[i], at[i], out, -1, i, p->a->at};
        if (!is_whole(p, i))
            out = emit_scatter(p->c, &s);
    }
    return out;
}

static bool same_kind(const placing *p, const entity *update) {
    const ir_type_data *t = tensor_type(p->c, update);
    if (t->rank == p->rank && t->element == tensor_type(p->c, p->x)->element)
        return true;
    diagnose_error(p->c->report, ERROR_OPERATION_SHAPES, p->a->at,
                   "%s: the update is %s, and has the axes and elements of %s", p->a->function,
                   entity_type_text(p->c, ir_value_get(p->c->m, update->value)->type),
                   entity_type_text(p->c, ir_value_get(p->c->m, p->x->value)->type));
    note_tensor(p->c, update);
    return false;
}

entity special_dynamic_update(checker *c, const call_arguments *a) {
    placing p = {.c = c, .a = a, .x = &a->values[0]};
    const entity *update = &a->values[1];
    if (!tiles_refuse_call(c, a->function, a->at) || !argument_tensor(c, p.x, "x") ||
        !argument_tensor(c, update, "the update"))
        return entity_broken(a->at);
    p.rank = tensor_type(c, p.x)->rank;
    if (!same_kind(&p, update) || !read_starts(&p, &a->values[2]))
        return entity_broken(a->at);
    bool empty = false;
    for (int i = 0; i < p.rank; i++) {
        p.sizes[i] = tensor_type(c, update)->dims[i];
        empty |= p.sizes[i] == 0;
    }
    return empty ? *p.x : update_places(&p);
}
