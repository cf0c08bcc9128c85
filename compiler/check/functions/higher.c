/* higher.c - functions that take functions: scan, map, and reduce with a combiner of one's own. */
#include <string.h>

#include "check/effects.h"
#include "check/transforms.h"
#include "ops/control.h"

/* ---- scan, map ---- */

typedef struct scanning {
    checker *c;
    const call_arguments *a;
    entity carry, parts; /* as given; numbers are tensors */
    entity_list carried, sliced, made;
    ir_dim count;
    region_draft draft;
} scanning;

static bool refuse_length(checker *c, const char *why, const entity *e) {
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "%s", why);
    note_tensor(c, e);
    return false;
}

/* The length of what is sliced, or the one that is said. */
static bool find_count(scanning *s, const entity *length) {
    checker *c = s->c;
    s->count = IR_DIM_INVALID;
    if (length->kind != ENTITY_NONE && !argument_dim(c, length, &s->count))
        return false;
    for (size_t i = 0; i < s->sliced.count; i++) {
        const ir_type_data *t = tensor_type(c, &s->sliced.items[i]);
        ir_dim own = t->rank ? t->dims[0] : IR_DIM_INVALID;
        if (own == IR_DIM_INVALID || (s->count != IR_DIM_INVALID && own != s->count))
            return refuse_length(c, "what is taken apart along its first axis has one length",
                                 &s->sliced.items[i]);
        s->count = own;
    }
    if (s->count == IR_DIM_INVALID) {
        diagnose_error(c->report, ERROR_MISSING_ARGUMENT, s->a->at,
                       "%s() needs something to take apart, or 'length'", s->a->function);
        return false;
    }
    return true;
}

static ir_type part_type(checker *c, const entity *e) {
    const ir_type_data *t = tensor_type(c, e);
    return ir_type_tensor(c->m, t->element, t->rank - 1, t->dims + 1);
}

/* The block's arguments: the turn, what is carried, and the parts of this turn. */
static void take_arguments(scanning *s, entity *out) {
    checker *c = s->c;
    value_list values = {0};
    region_argument(c, &s->draft, 0, ir_type_tensor(c->m, DTYPE_I32, 0, NULL));
    for (size_t i = 0; i < s->carried.count; i++) {
        ir_type t = ir_value_get(c->m, s->carried.items[i].value)->type;
        vec_push(&values, region_argument(c, &s->draft, 0, t));
    }
    for (size_t i = 0; i < s->sliced.count; i++)
        vec_push(&values, region_argument(c, &s->draft, 0, part_type(c, &s->sliced.items[i])));
    const ir_value *next = values.items;
    out[0] = tree_rebuild(c, &s->carry, &next, s->a->at);
    out[1] = tree_rebuild(c, &s->parts, &next, s->a->at);
    vec_release(&values);
}

static bool give_carry(scanning *s, const entity *result, value_list *next) {
    checker *c = s->c;
    entity_list tensors = {0};
    entity now = tree_alike(c, &s->carry, result);
    if (!tree_is_like(c, &s->carry, &now)) {
        diagnose_error(c->report, ERROR_CARRIED, s->a->values[0].at,
                       "'%s' gives a carry that is not like the one that it takes",
                       s->a->values[0].text);
        note_tensor(c, &now);
        note_tensor(c, &s->carry);
        return false;
    }
    bool good = tree_flatten(c, &now, &tensors, "the carry");
    for (size_t i = 0; i < tensors.count; i++)
        vec_push(next, tensors.items[i].value);
    vec_release(&tensors);
    return good;
}

static bool give_made(scanning *s, const entity *result, value_list *next) {
    bool good = tree_flatten(s->c, result, &s->made, "what is stacked");
    for (size_t i = 0; i < s->made.count && good; i++) {
        good = tensor_type(s->c, &s->made.items[i])->rank < IR_MAX_RANK;
        if (!good)
            diagnose_error(s->c->report, ERROR_RANK_LIMIT, s->a->values[0].at,
                           "what '%s' gives has %d axes, and is stacked along one more",
                           s->a->values[0].text, IR_MAX_RANK);
        vec_push(next, s->made.items[i].value);
    }
    return good;
}

static ir_op build_scan(scanning *s, value_list *next) {
    checker *c = s->c;
    value_list operands = {0};
    type_list results = {0};
    for (size_t i = 0; i < s->carried.count; i++) {
        vec_push(&operands, s->carried.items[i].value);
        vec_push(&results, ir_value_get(c->m, s->carried.items[i].value)->type);
    }
    for (size_t i = 0; i < s->sliced.count; i++)
        vec_push(&operands, s->sliced.items[i].value);
    for (size_t i = 0; i < s->made.count; i++)
        vec_push(&results, control_stack_type(c->m, s->made.items[i].value, s->count));
    const size_t own = results.count;
    observed_stack(c, &s->draft, s->count, next, &results);
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(c->m, (int64_t)s->carried.count)},
                                   {"sliced", ir_attr_int(c->m, (int64_t)s->sliced.count)},
                                   {"count", ir_attr_dim(c->m, s->count)}};
    const region_request q = {.opcode = GRAPH_LOOP,
                              .operands = &operands,
                              .next = next,
                              .results = results.items,
                              .result_count = (uint32_t)results.count,
                              .attrs = attrs,
                              .attr_count = 3};
    ir_op op = region_build(c, &s->draft, &q);
    observed_take(c, op, own);
    vec_release(&operands);
    vec_release(&results);
    return op;
}

/* The carry behind the last turn, and what the turns made, stacked. */
static entity results_of(scanning *s, ir_op op, const entity *made) {
    checker *c = s->c;
    value_list values = {0};
    for (uint32_t i = 0; i < ir_op_get(c->m, op)->result_count; i++)
        vec_push(&values, ir_op_result(c->m, op, i));
    const ir_value *next = values.items;
    entity out = entity_tuple(c, 2, s->a->at);
    out.items[0] = tree_rebuild(c, &s->carry, &next, s->a->at);
    out.items[1] = tree_rebuild(c, made, &next, s->a->at);
    vec_release(&values);
    return out;
}

static bool is_pair(scanning *s, const entity *e) {
    if (e->kind == ENTITY_TUPLE && e->count == 2)
        return true;
    if (e->kind != ENTITY_BROKEN) {
        diagnose_error(s->c->report, ERROR_ARGUMENT_KIND, s->a->values[0].at,
                       "'%s' gives %s; scan() needs two values, the next carry and a part",
                       s->a->values[0].text, entity_describe(e));
        diagnose_help(s->c->report, "write: return carry, y; or return carry, None");
    }
    return false;
}

static entity run_scan(scanning *s, bool carries) {
    checker *c = s->c;
    uint32_t before = c->report->reported;
    entity arguments[2], made = {.kind = ENTITY_NONE}, out = entity_broken(s->a->at);
    value_list next = {0};
    s->draft = region_begin_turns(c, 1, s->a->at);
    region_enter(c, &s->draft, 0);
    take_arguments(s, arguments);
    entity result = applied_call(c, &s->a->values[0], carries ? arguments : arguments + 1,
                                 carries ? 2 : 1, s->a->values[0].at);
    bool good = carries ? is_pair(s, &result) && give_carry(s, &result.items[0], &next)
                        : result.kind != ENTITY_BROKEN;
    if (good)
        made = carries ? result.items[1] : result;
    good = good && give_made(s, &made, &next);
    region_leave(c, &s->draft);
    if (good && next.count == 0)
        diagnose_error(c->report, ERROR_CARRIED, s->a->at, "'%s' gives nothing",
                       s->a->values[0].text);
    if (good && c->report->reported == before)
        out = results_of(s, build_scan(s, &next), &made);
    vec_release(&next);
    return out;
}

/* All tensors of a value from their last part along the first axis to their first. */
static entity flip_all(checker *c, const entity *e, span at) {
    entity_list tensors = {0};
    value_list values = {0};
    entity out = entity_broken(at);
    if (tree_flatten(c, e, &tensors, "what is taken apart")) {
        for (size_t i = 0; i < tensors.count; i++)
            vec_push(&values, tensor_type(c, &tensors.items[i])->rank
                                  ? emit_turned(c, &tensors.items[i], 0, at).value
                                  : tensors.items[i].value);
        const ir_value *next = values.items;
        out = tree_rebuild(c, e, &next, at);
    }
    vec_release(&tensors);
    vec_release(&values);
    return out;
}

static entity scan_over(checker *c, const call_arguments *a, const entity *carry,
                        const entity *parts, const entity *length) {
    scanning s = {.c = c, .a = a, .carry = tree_promote(c, carry), .parts = *parts};
    entity out = entity_broken(a->at);
    if (tiles_refuse_call(c, a->function, a->at) && argument_function(c, &a->values[0]) &&
        tree_flatten(c, &s.carry, &s.carried, "the carry") &&
        tree_flatten(c, &s.parts, &s.sliced, "what is taken apart") && find_count(&s, length))
        out = run_scan(&s, carry->kind != ENTITY_NONE);
    vec_release(&s.carried);
    vec_release(&s.sliced);
    vec_release(&s.made);
    return out;
}

entity special_scan(checker *c, const call_arguments *a) {
    bool reverse = false;
    if (a->given[4] && !argument_bool(c, &a->values[4], "reverse", &reverse))
        return entity_broken(a->at);
    if (!reverse)
        return scan_over(c, a, &a->values[1], &a->values[2], &a->values[3]);
    entity parts = flip_all(c, &a->values[2], a->at);
    entity out = scan_over(c, a, &a->values[1], &parts, &a->values[3]);
    if (out.kind == ENTITY_TUPLE)
        out.items[1] = flip_all(c, &out.items[1], a->at);
    return out;
}

entity special_map(checker *c, const call_arguments *a) {
    const entity none = {.kind = ENTITY_NONE, .at = a->at};
    entity out = scan_over(c, a, &none, &a->values[1], &none);
    return out.kind == ENTITY_BROKEN ? out : out.items[1];
}

/* ---- reduce ---- */

typedef struct reducing {
    checker *c;
    const call_arguments *a;
    entity_list tensors, first;
    entity begin;
    int64_t axis;
} reducing;

static bool read_reduction(reducing *r) {
    checker *c = r->c;
    const call_arguments *a = r->a;
    r->begin = tree_promote(c, &a->values[2]);
    if (!tree_flatten(c, &a->values[1], &r->tensors, "what is reduced") || r->tensors.count == 0)
        return false;
    const ir_type_data *t = tensor_type(c, &r->tensors.items[0]);
    entity axis = a->given[3] ? a->values[3] : entity_integer(c, -1, a->at);
    if (!argument_axis(c, &axis, t->rank, &r->axis))
        return false;
    for (size_t i = 0; i < r->tensors.count; i++) {
        const ir_type_data *own = tensor_type(c, &r->tensors.items[i]);
        if (own->rank != t->rank || memcmp(own->dims, t->dims, sizeof *t->dims * (size_t)t->rank))
            return refuse_length(c, "what is reduced together has one shape", &r->tensors.items[i]);
    }
    /* A number to begin with is of the type of its tensor. */
    if (a->values[2].kind == ENTITY_NUMBER)
        r->begin = emit_constant(c, &a->values[2], t->element, a->at);
    return tree_flatten(c, &r->begin, &r->first, "the value to begin with");
}

/* Scalars of the types of these tensors, in the form of the value that they are of. */
static entity take_scalars(reducing *r, const region_draft *d, const entity_list *tensors,
                           const entity *like) {
    value_list values = {0};
    for (size_t i = 0; i < tensors->count; i++) {
        dtype element = tensor_type(r->c, &tensors->items[i])->element;
        vec_push(&values, region_argument(r->c, d, 0, ir_type_tensor(r->c->m, element, 0, NULL)));
    }
    const ir_value *next = values.items;
    entity out = tree_rebuild(r->c, like, &next, r->a->at);
    vec_release(&values);
    return out;
}

static entity build_reduction(reducing *r, const region_draft *d, const value_list *next) {
    checker *c = r->c;
    value_list operands = {0};
    type_list results = {0};
    const ir_type_data *t = tensor_type(c, &r->tensors.items[0]);
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t->rank; i++)
        if (i != r->axis)
            dims[rank++] = t->dims[i];
    for (size_t i = 0; i < r->tensors.count; i++) {
        dtype element = tensor_type(c, &r->first.items[i])->element;
        vec_push(&operands, r->tensors.items[i].value);
        vec_push(&results, ir_type_tensor(c->m, element, rank, dims));
    }
    for (size_t i = 0; i < r->first.count; i++)
        vec_push(&operands, r->first.items[i].value);
    const ir_named_attr axis = {"axis", ir_attr_int(c->m, r->axis)};
    const region_request q = {.opcode = GRAPH_REDUCE_WITH,
                              .operands = &operands,
                              .next = next,
                              .results = results.items,
                              .result_count = (uint32_t)results.count,
                              .attrs = &axis,
                              .attr_count = 1,
                              .closed = r->a->values[0].text,
                              .at = r->a->values[0].at};
    ir_op op = region_build(c, d, &q);
    vec_clear(&operands);
    for (uint32_t i = 0; op && i < results.count; i++)
        vec_push(&operands, ir_op_result(c->m, op, i));
    const ir_value *made = operands.items;
    entity out = op ? tree_rebuild(c, &r->begin, &made, r->a->at) : entity_broken(r->a->at);
    vec_release(&operands);
    vec_release(&results);
    return out;
}

static entity run_reduction(reducing *r) {
    checker *c = r->c;
    uint32_t before = c->report->reported;
    entity_list tensors = {0};
    value_list next = {0};
    const size_t mark = effects_mark(c);
    region_draft d = region_begin(c, 1, r->a->at);
    region_enter(c, &d, 0);
    entity arguments[2] = {take_scalars(r, &d, &r->first, &r->begin),
                           take_scalars(r, &d, &r->tensors, &r->a->values[1])};
    entity result = applied_call(c, &r->a->values[0], arguments, 2, r->a->values[0].at);
    result = tree_alike(c, &arguments[0], &result);
    bool good = result.kind != ENTITY_BROKEN;
    if (good && !tree_is_like(c, &arguments[0], &result)) {
        diagnose_error(c->report, ERROR_CARRIED, r->a->values[0].at,
                       "'%s' gives something else than the places that it takes",
                       r->a->values[0].text);
        note_tensor(c, &result);
    }
    good = good && tree_flatten(c, &result, &tensors, "what it gives");
    for (size_t i = 0; i < tensors.count; i++)
        vec_push(&next, tensors.items[i].value);
    region_leave(c, &d);
    effects_refuse(c, mark, "a combiner");
    good = good && c->report->reported == before;
    entity out = good ? build_reduction(r, &d, &next) : entity_broken(r->a->at);
    vec_release(&tensors);
    vec_release(&next);
    return out;
}

entity special_reduce(checker *c, const call_arguments *a) {
    reducing r = {.c = c, .a = a};
    entity out = entity_broken(a->at);
    if (tiles_refuse_call(c, a->function, a->at) && argument_function(c, &a->values[0]) &&
        read_reduction(&r)) {
        bool scalars = r.first.count == r.tensors.count;
        for (size_t i = 0; i < r.first.count; i++)
            scalars &= tensor_type(c, &r.first.items[i])->rank == 0;
        if (scalars)
            out = run_reduction(&r);
        else
            diagnose_error(c->report, ERROR_ARGUMENT_KIND, a->values[2].at,
                           "a value to begin with is a scalar for each tensor that is reduced");
    }
    vec_release(&r.tensors);
    vec_release(&r.first);
    return out;
}
