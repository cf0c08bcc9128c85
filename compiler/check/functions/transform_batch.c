/* transform_batch.c - vmap, and Jacobians, which are batches of tangents or cotangents. */
#include <string.h>

#include "check/effects.h"
#include "check/mesh.h"
#include "check/transforms.h"
#include "ops/control.h"
#include "ops/transforms.h"

/* ---- axes ---- */

entity transform_moved(checker *c, const entity *x, int64_t from, int64_t to, span at) {
    const int rank = tensor_type(c, x)->rank;
    int64_t order[IR_MAX_RANK];
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (i != from)
            order[n++] = i;
    memmove(order + to + 1, order + to, sizeof *order * (size_t)(rank - 1 - to));
    order[to] = from;
    const ir_named_attr attr = {"permutation", ir_attr_int_array(c->m, order, (uint32_t)rank)};
    return from == to ? *x : emit_one(c, GRAPH_TRANSPOSE, x, 1, &attr, 1, at);
}

/* All tensors of a value with another axis first, or with their first axis elsewhere. */
static entity move_all(checker *c, const entity *e, int64_t axis, bool to_front, span at) {
    entity_list tensors = {0};
    value_list values = {0};
    entity out = entity_broken(at);
    bool good = tree_flatten(c, e, &tensors, "what is taken apart");
    for (size_t i = 0; i < tensors.count && good; i++) {
        int64_t own = axis;
        entity which = entity_integer(c, axis, at);
        good = argument_axis(c, &which, tensor_type(c, &tensors.items[i])->rank, &own);
        if (good)
            vec_push(&values, transform_moved(c, &tensors.items[i], to_front ? own : 0,
                                              to_front ? 0 : own, at)
                                  .value);
    }
    const ir_value *next = values.items;
    if (good)
        out = tree_rebuild(c, e, &next, at);
    vec_release(&tensors);
    vec_release(&values);
    return out;
}

/* ---- vmap ---- */

/* in_axes: an axis for all arguments, or for each its own, or None. */
static bool axis_of(checker *c, const transformed *t, const call_arguments *given, int number,
                    int i, const entity **out) {
    const entity *e = &t->which;
    if (e->kind == ENTITY_TUPLE && number < (int)e->count)
        e = &e->items[number];
    else if (e->kind == ENTITY_TUPLE) {
        diagnose_error(c->report, ERROR_BATCH, t->which.at,
                       "in_axes has %u entries, and '%s' of %s() is one more argument",
                       t->which.count, given->names[i], given->function);
        return false;
    }
    *out = e;
    if (e->kind == ENTITY_NONE || (e->kind == ENTITY_NUMBER && e->is_integer))
        return true;
    diagnose_error(c->report, ERROR_BATCH, e->at,
                   "in_axes is an axis or None, or a tuple of such with one for each argument");
    return false;
}

/* The length of the batch, of which all that is taken apart has one. */
static bool has_length(applied *a, const entity *e) {
    entity_list tensors = {0};
    bool good = tree_flatten(a->c, e, &tensors, "what is taken apart");
    for (size_t i = 0; i < tensors.count && good; i++) {
        ir_dim own = tensor_type(a->c, &tensors.items[i])->dims[0];
        good = !a->batched || own == a->sliced_count;
        if (!good) {
            diagnose_error(a->c->report, ERROR_BATCH, e->at,
                           "the axes that are taken apart have different lengths");
            note_tensor(a->c, &tensors.items[i]);
        }
        a->batched = true;
        a->sliced_count = own;
    }
    vec_release(&tensors);
    return good;
}

static bool take_apart(applied *a, const transformed *t) {
    checker *c = a->c;
    for (int i = 0, number = 0; i < a->given->count; i++) {
        const entity *axis;
        entity *e = &a->given->values[i];
        if (!a->given->given[i])
            continue;
        if (!axis_of(c, t, a->given, number++, i, &axis))
            return false;
        if (axis->kind == ENTITY_NONE)
            continue;
        *e = move_all(c, e, axis->integer, true, a->at);
        a->sliced[i] = true;
        if (e->kind == ENTITY_BROKEN || !has_length(a, e))
            return false;
    }
    if (!a->batched)
        diagnose_error(c->report, ERROR_BATCH, a->at,
                       "vmap() of %s() has nothing to take apart: each of in_axes is None",
                       a->given->function);
    return a->batched;
}

static uint32_t sliced_tensors(const applied *a) {
    uint32_t count = 0;
    for (int i = 0; i < a->given->count; i++)
        count += a->sliced[i] ? a->behind[i] - a->first[i] : 0;
    return count;
}

static bool has_room(const applied *a) {
    for (size_t i = 0; i < a->made.count; i++)
        if (tensor_type(a->c, &a->made.items[i])->rank == IR_MAX_RANK) {
            diagnose_error(a->c->report, ERROR_RANK_LIMIT, a->at,
                           "what %s() gives has %d axes, and is stacked along one more",
                           a->given->function, IR_MAX_RANK);
            return false;
        }
    return true;
}

/* The operation; its results are stacked. */
static ir_op build_batch(applied *a, const char *axis) {
    checker *c = a->c;
    const ir_named_attr attrs[] = {{"sliced", ir_attr_int(c->m, sliced_tensors(a))},
                                   {"count", ir_attr_dim(c->m, a->sliced_count)},
                                   {"axis", axis ? ir_attr_string(c->m, axis) : 0}};
    for (size_t i = 0; i < a->made.count; i++)
        a->results.items[i] = control_stack_type(c->m, a->next.items[i], a->sliced_count);
    return applied_build(
        a, &(applied_request){axis ? GRAPH_SHARD : GRAPH_VMAP, NULL, NULL, attrs, axis ? 3 : 2});
}

/* The block of a pmap has its axis around it. */
static bool begin_batch(applied *a, const char *name) {
    checker *c = a->c;
    const mesh_axis axis = {c->axes, name, a->sliced_count};
    if (name)
        c->axes = &axis;
    const bool good = applied_begin(a);
    c->axes = axis.around;
    return good;
}

entity transform_call_vmap(checker *c, const transformed *t, call_arguments *given) {
    applied a = {.c = c, .f = t->of, .given = given, .at = given->at};
    entity out = entity_broken(given->at);
    if (t->out.kind != ENTITY_NUMBER || !t->out.is_integer)
        diagnose_error(c->report, ERROR_BATCH, t->out.at, "out_axes is an axis");
    else if (take_apart(&a, t) && begin_batch(&a, t->axis) && has_room(&a)) {
        ir_op op = build_batch(&a, t->axis);
        const ir_value *next = ir_op_get(c->m, op)->results;
        entity stacked = applied_result(&a, &a.result, &next);
        out = t->out.integer == 0 ? stacked : move_all(c, &stacked, t->out.integer, false, a.at);
    }
    applied_release(&a);
    return out;
}

/* ---- Jacobians ---- */

/* All tensors of a shape that are 1 at one place and 0 elsewhere, stacked. */
static entity unit_tensors(checker *c, const ir_type_data *t, span at) {
    ir_dim count = 1, dims[IR_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        count = ir_dim_mul(c->m, count, t->dims[i]);
    const ir_dim square[] = {count, count};
    entity places[2];
    for (int i = 0; i < 2; i++) {
        const ir_named_attr iota[] = {{"shape", ir_attr_dim_array(c->m, square, 2)},
                                      {"axis", ir_attr_int(c->m, i)}};
        places[i] = emit_one(c, GRAPH_IOTA, NULL, 0, iota, 2, at);
    }
    entity same = emit_compare(c, "eq", &places[0], &places[1], at);
    entity units = policy_convert(c, &same, t->element, NULL, at);
    dims[0] = count;
    memcpy(dims + 1, t->dims, sizeof *dims * (size_t)t->rank);
    return emit_reshape(c, &units, t->rank + 1, dims, at);
}

/* The value as a function of one argument alone: its tangent, or what its pullback gives. */
typedef struct jacobian {
    checker *c;
    const transformed *t;
    call_arguments *given;
    int which;
    span at;
} jacobian;

/* The derivative in one direction: forward the tangent of the result, in reverse the cotangent of
 * the argument. */
static ir_op build_direction(jacobian *j, applied *inner, const entity *unit, int64_t number) {
    checker *c = j->c;
    const bool forward = j->t->kind == TRANSFORM_JACFWD;
    const int64_t result = 0;
    value_list before = {0};
    type_list behind = {0};
    vec_push(&before, unit->value);
    vec_push(&behind, forward ? inner->results.items[0]
                              : ir_value_get(c->m, inner->tensors.items[number].value)->type);
    const ir_named_attr attrs[] = {{"wrt", ir_attr_int_array(c->m, &number, 1)},
                                   {"of", ir_attr_int_array(c->m, &result, 1)}};
    ir_op op = applied_build(
        inner, &(applied_request){forward ? GRAPH_JVP : GRAPH_VJP, &before, &behind, attrs, 2});
    vec_release(&before);
    vec_release(&behind);
    return op;
}

static bool is_one_float(jacobian *j, const entity *e, const char *what) {
    checker *c = j->c;
    if (e->kind == ENTITY_TENSOR && transform_is_float(c->m, e->value))
        return true;
    if (e->kind != ENTITY_BROKEN)
        diagnose_error(c->report, ERROR_DERIVATIVE_OF_RESULT, j->at,
                       "a Jacobian is of one tensor of floats by another one, and %s of %s() is %s",
                       what, j->given->function, entity_describe(e));
    return false;
}

static entity jacobian_of(jacobian *j, const entity *unit, applied *inner) {
    ir_op op = build_direction(j, inner, unit, inner->first[j->which]);
    return entity_tensor(ir_op_result(j->c->m, op, (uint32_t)inner->made.count + inner->seen),
                         j->at);
}

/* [units, shape] as [result..., argument...]. */
static entity arranged(jacobian *j, const entity *stacked, const ir_type_data *units,
                       bool units_last) {
    checker *c = j->c;
    const ir_type_data t = *tensor_type(c, stacked);
    ir_dim dims[2 * IR_MAX_RANK];
    entity e = units_last ? transform_moved(c, stacked, 0, t.rank - 1, j->at) : *stacked;
    const int others = t.rank - 1, rank = others + units->rank;
    if (rank > IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_RANK_LIMIT, j->at, "this Jacobian has %d axes, of %d", rank,
                       IR_MAX_RANK);
        return entity_broken(j->at);
    }
    memcpy(dims + (units_last ? 0 : units->rank), t.dims + 1, sizeof *dims * (size_t)others);
    memcpy(dims + (units_last ? others : 0), units->dims, sizeof *dims * (size_t)units->rank);
    return emit_reshape(c, &e, rank, dims, j->at);
}

/* The type of what the function gives, of a block that is dropped. */
static bool result_type(jacobian *j, ir_type_data *out) {
    checker *c = j->c;
    applied a = {.c = c, .f = j->t->of, .given = j->given, .at = j->at};
    const size_t observed = c->observed.count, effects = c->effects.count;
    const int64_t sites = c->random.sites;
    bool good = applied_begin(&a) && is_one_float(j, &a.result, "the result");
    if (good)
        *out = *tensor_type(c, &a.result);
    c->observed.count = observed;
    c->effects.count = effects;
    c->random.sites = sites;
    ir_op_erase(c->m, a.draft.op);
    applied_release(&a);
    return good;
}

static entity build_jacobian(jacobian *j, const ir_type_data *units) {
    checker *c = j->c;
    const bool forward = j->t->kind == TRANSFORM_JACFWD;
    call_arguments none = {.function = j->given->function, .at = j->at};
    entity unit = unit_tensors(c, units, j->at), out = entity_broken(j->at);
    /* The batch's block holds the derivative, whose own block holds the function. */
    applied batch = {.c = c, .given = &none, .at = j->at, .batched = true};
    batch.sliced_count = tensor_type(c, &unit)->dims[0];
    batch.draft = region_begin(c, 1, j->at);
    region_enter(c, &batch.draft, 0);
    ir_type part = ir_type_tensor(c->m, units->element, units->rank, units->dims);
    entity own = entity_tensor(region_argument(c, &batch.draft, 0, part), j->at);
    applied inner = {.c = c, .f = j->t->of, .given = j->given, .at = j->at};
    bool good = applied_begin(&inner);
    entity direction = good ? jacobian_of(j, &own, &inner) : entity_broken(j->at);
    region_leave(c, &batch.draft);
    if (good) {
        vec_push(&batch.tensors, unit);
        vec_push(&batch.made, direction);
        vec_push(&batch.next, direction.value);
        vec_push(&batch.results, control_stack_type(c->m, direction.value, batch.sliced_count));
        const ir_named_attr attrs[] = {{"sliced", ir_attr_int(c->m, 1)},
                                       {"count", ir_attr_dim(c->m, batch.sliced_count)},
                                       {"alike", ir_attr_bool(c->m, true)}}; /* of one function */
        ir_op op = applied_build(&batch, &(applied_request){GRAPH_VMAP, NULL, NULL, attrs, 3});
        entity stacked = entity_tensor(ir_op_result(c->m, op, 0), j->at);
        out = arranged(j, &stacked, units, forward);
    }
    applied_release(&inner);
    applied_release(&batch);
    return out;
}

entity transform_call_jacobian(checker *c, const transformed *t, call_arguments *given) {
    jacobian j = {c, t, given, 0, given->at};
    ir_type_data of;
    bool known = t->which.kind == ENTITY_NUMBER && t->which.is_integer && t->which.integer >= 0 &&
                 t->which.integer < given->count;
    for (int i = 0; t->which.kind == ENTITY_STRING && i < given->count; i++)
        if (strcmp(given->names[i], t->which.text) == 0) {
            j.which = i;
            known = true;
        }
    if (!known) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, t->which.at,
                       "argnums of a Jacobian is a number or a name of an argument of %s()",
                       given->function);
        return entity_broken(given->at);
    }
    if (t->which.kind == ENTITY_NUMBER)
        j.which = (int)t->which.integer;
    if (!is_one_float(&j, &given->values[j.which], "the argument") || !result_type(&j, &of))
        return entity_broken(given->at);
    const ir_type_data by = *tensor_type(c, &given->values[j.which]);
    return build_jacobian(&j, t->kind == TRANSFORM_JACFWD ? &by : &of);
}
