/* scatter.c - updates at indices: tessera.scatter with one operation as its block. */
#include <string.h>

#include "check/regions.h"

enum { ARGUMENT_X, ARGUMENT_INDICES, ARGUMENT_UPDATES, ARGUMENT_MODE, ARGUMENT_AXIS };

typedef struct scatter_mode {
    const char *name;
    int opcode; /* of the element that is there and the update; -1: the update itself */
} scatter_mode;

static const scatter_mode modes[] = {{"set", -1},
                                     {"add", GRAPH_ADD},
                                     {"max", GRAPH_MAXIMUM},
                                     {"min", GRAPH_MINIMUM},
                                     {"mul", GRAPH_MUL}};

static const scatter_mode *mode_given(checker *c, const call_arguments *a) {
    const entity *e = &a->values[ARGUMENT_MODE];
    if (!a->given[ARGUMENT_MODE])
        return &modes[0];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (e->kind == ENTITY_STRING && strcmp(e->text, modes[i].name) == 0)
            return &modes[i];
    diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, e->at, "unknown mode of a scatter");
    diagnose_help(c->report, "one of \"set\", \"add\", \"max\", \"min\", \"mul\"");
    return NULL;
}

static bool has_indices(checker *c, const call_arguments *a) {
    const entity *indices = &a->values[ARGUMENT_INDICES];
    if (!argument_tensor(c, indices, "indices"))
        return false;
    const ir_type_data *t = tensor_type(c, indices);
    if (t->rank == 1 && t->element == DTYPE_I32)
        return true;
    diagnose_error(c->report, ERROR_OPERATION_ELEMENTS, a->at,
                   "scatter: needs a row of i32 indices, not %s",
                   entity_type_text(c, ir_value_get(c->m, indices->value)->type));
    note_tensor(c, indices);
    return false;
}

/* Repeats one number, or a number for all that is not the axis, as arithmetic does. */
static bool updates_fit(checker *c, const call_arguments *a, int64_t axis, entity *updates) {
    const ir_type_data *x = tensor_type(c, &a->values[ARGUMENT_X]);
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = tensor_type(c, &a->values[ARGUMENT_INDICES])->dims[0];
    *updates = a->values[ARGUMENT_UPDATES];
    if (updates->kind == ENTITY_NUMBER || updates->kind == ENTITY_BOOL)
        *updates = emit_constant(c, updates, x->element, a->at);
    if (!argument_tensor(c, updates, "updates"))
        return false;
    ir_type wanted = ir_type_tensor(c->m, x->element, x->rank, dims);
    if (tensor_type(c, updates)->rank == 0 && tensor_type(c, updates)->element == x->element)
        *updates = emit_broadcast(c, updates, x->rank, dims, a->at);
    if (updates->kind == ENTITY_BROKEN || ir_value_get(c->m, updates->value)->type == wanted)
        return updates->kind != ENTITY_BROKEN;
    diagnose_error(c->report, ERROR_OPERATION_SHAPES, a->at,
                   "scatter: the updates are %s, and for these indices would be %s",
                   entity_type_text(c, ir_value_get(c->m, updates->value)->type),
                   entity_type_text(c, wanted));
    note_tensor(c, updates);
    note_tensor(c, &a->values[ARGUMENT_X]);
    return false;
}

/* The block: the element that is there and the update, or the update alone. */
static entity combined(checker *c, const region_draft *d, int combiner, ir_type scalar, span at) {
    entity pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = entity_tensor(region_argument(c, d, 0, scalar), at);
    return combiner < 0 ? pair[1] : emit_one(c, combiner, pair, 2, NULL, 0, at);
}

entity emit_scatter(checker *c, const scattering *s) {
    const entity *x = &s->x;
    ir_type type = ir_value_get(c->m, x->value)->type,
            scalar = ir_type_tensor(c->m, tensor_type(c, x)->element, 0, NULL);
    value_list operands = {0}, next = {0};
    region_draft d = region_begin(c, 1, s->at);
    region_enter(c, &d, 0);
    entity made = combined(c, &d, s->combiner, scalar, s->at);
    region_leave(c, &d);
    vec_push(&operands, x->value);
    vec_push(&operands, s->indices.value);
    vec_push(&operands, s->updates.value);
    vec_push(&next, made.value);
    const ir_named_attr attr = {"axis", ir_attr_int(c->m, s->axis)};
    const region_request q = {.opcode = GRAPH_SCATTER,
                              .operands = &operands,
                              .next = &next,
                              .results = &type,
                              .result_count = 1,
                              .attrs = &attr,
                              .attr_count = 1,
                              .closed = "scatter",
                              .at = s->at};
    ir_op op = made.kind == ENTITY_BROKEN ? 0 : region_build(c, &d, &q);
    vec_release(&operands);
    vec_release(&next);
    return op ? entity_tensor(ir_op_result(c->m, op, 0), s->at) : entity_broken(s->at);
}

entity special_scatter(checker *c, const call_arguments *a) {
    int64_t axis = 0;
    entity updates, first = entity_integer(c, 0, a->at);
    const scatter_mode *mode = mode_given(c, a);
    if (!mode || !tiles_refuse_call(c, a->function, a->at) ||
        !argument_tensor(c, &a->values[ARGUMENT_X], "x") || !has_indices(c, a) ||
        !argument_axis(c, a->given[ARGUMENT_AXIS] ? &a->values[ARGUMENT_AXIS] : &first,
                       tensor_type(c, &a->values[ARGUMENT_X])->rank, &axis) ||
        !updates_fit(c, a, axis, &updates))
        return entity_broken(a->at);
    const scattering s = {a->values[ARGUMENT_X],
                          a->values[ARGUMENT_INDICES],
                          updates,
                          mode->opcode,
                          (int)axis,
                          a->at};
    return emit_scatter(c, &s);
}
