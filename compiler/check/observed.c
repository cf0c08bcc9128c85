/* observed.c - values that are looked at behind the blocks of loops and branches. */
#include "check/observed.h"

#include <string.h>

#include "ops/control.h"

static size_t add(checker *c, const observed_value *one) {
    vec_push(&c->observed, *one);
    return c->observed.count - 1;
}

size_t observe(checker *c, const entity *e, bool held) {
    return add(c, &(observed_value){.value = e->value,
                                    .block = c->builder.block,
                                    .effect = true,
                                    .held = held,
                                    .at = checker_place(c, e->at)});
}

size_t observe_in(checker *c, ir_value value, ir_block block) {
    return add(c, &(observed_value){.value = value, .block = block});
}

/* ---- loops ---- */

static bool has_room(const checker *c, const observed_value *o) {
    const bool room = ir_type_of(c->m, o->value)->rank < IR_MAX_RANK;
    if (!room && o->effect)
        diagnose_error(c->report, ERROR_RANK_LIMIT, o->at,
                       "this has %d axes, and one more for the turns of the loop around it",
                       IR_MAX_RANK);
    return room;
}

/* `turns`: NULL where the block runs once. */
static void give_out(checker *c, const region_draft *d, const ir_dim *turns, value_list *next,
                     type_list *results) {
    const ir_block block = ir_op_block(c->m, d->op, 0);
    for (size_t i = 0; i < c->observed.count; i++) {
        observed_value *o = &c->observed.items[i];
        o->leaves = o->block == block && (!turns || has_room(c, o));
        if (!o->leaves)
            continue;
        vec_push(next, o->value);
        vec_push(results, turns ? control_stack_type(c->m, o->value, *turns)
                                : ir_value_get(c->m, o->value)->type);
    }
}

void observed_stack(checker *c, const region_draft *d, ir_dim turns, value_list *next,
                    type_list *results) {
    give_out(c, d, &turns, next, results);
}

void observed_hand_out(checker *c, const region_draft *d, value_list *next, type_list *results) {
    give_out(c, d, NULL, next, results);
}

/* ---- branches ---- */

static ir_value otherwise(checker *c, const observed_value *o, ir_type type) {
    const ir_type_data t = *ir_type_get(c->m, type);
    entity e = entity_integer(c, 0, o->at);
    if (t.element == DTYPE_BOOL)
        e = (entity){.kind = ENTITY_BOOL, .at = o->at, .integer = o->held};
    e = emit_constant(c, &e, t.element, o->at);
    return emit_broadcast(c, &e, t.rank, t.dims, o->at).value;
}

void observed_join(checker *c, const region_draft *d, value_list *next, type_list *results) {
    const ir_block sides[] = {ir_op_block(c->m, d->op, 0), ir_op_block(c->m, d->op, 1)};
    for (size_t i = 0; i < c->observed.count; i++) {
        observed_value *o = &c->observed.items[i];
        const uint32_t own = o->block == sides[1];
        o->leaves = o->block == sides[own];
        if (!o->leaves)
            continue;
        const ir_type type = ir_value_get(c->m, o->value)->type;
        vec_push(results, type);
        vec_push(&next[own], o->value);
        region_enter(c, d, 1 - own);
        vec_push(&next[1 - own], otherwise(c, o, type));
    }
}

/* ---- loops of conditions ---- */

/* The values of the turns so far with that of this one in its place. */
static entity placed(checker *c, const observed_value *o, const observed_turns *t, ir_value all) {
    const ir_type_data type = *ir_type_of(c->m, o->value);
    entity turn = entity_tensor(t->turn, o->at), value = entity_tensor(o->value, o->at);
    ir_dim dims[IR_MAX_RANK] = {1};
    memcpy(dims + 1, type.dims, sizeof *dims * (size_t)type.rank);
    const scattering s = {entity_tensor(all, o->at),
                          emit_reshape(c, &turn, 1, dims, o->at),
                          emit_reshape(c, &value, type.rank + 1, dims, o->at),
                          -1,
                          0,
                          o->at};
    return emit_scatter(c, &s);
}

void observed_carry(checker *c, const region_draft *d, const observed_turns *t,
                    value_list *operands, value_list *next, type_list *results) {
    const ir_block turn = ir_op_block(c->m, d->op, 1);
    for (size_t i = 0; i < c->observed.count; i++) {
        observed_value *o = &c->observed.items[i];
        o->leaves = o->block == turn && (o->held || has_room(c, o));
        if (!o->leaves)
            continue;
        const ir_type type = o->held ? ir_value_get(c->m, o->value)->type
                                     : control_stack_type(c->m, o->value, t->most);
        region_argument(c, d, 0, type);
        entity both[] = {entity_tensor(region_argument(c, d, 1, type), o->at),
                         entity_tensor(o->value, o->at)};
        region_enter(c, d, 1);
        entity now = o->held ? emit_elementwise(c, GRAPH_AND, both, 2, NULL, 0, o->at)
                             : placed(c, o, t, both[0].value);
        vec_push(next, now.value);
        vec_push(results, type);
        region_leave(c, d);
        vec_push(operands, otherwise(c, o, type));
    }
}

/* ---- behind them ---- */

void observed_take(checker *c, ir_op op, size_t first) {
    for (size_t i = 0; i < c->observed.count; i++) {
        observed_value *o = &c->observed.items[i];
        if (!o->leaves)
            continue;
        o->value = ir_op_result(c->m, op, (uint32_t)first++);
        o->block = c->builder.block;
        o->leaves = false;
    }
}
