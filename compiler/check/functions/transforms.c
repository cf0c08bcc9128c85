/* transforms.c - grad, value_and_grad, jvp, vjp, jacfwd, jacrev, hvp, vmap and checkpoint. */
#include "check/transforms.h"
#include "check/mesh.h"

#include <string.h>

#include "check/effects.h"
#include "ops/transforms.h"

const char checkpoint_choices[] =
    "keep is one of \"nothing\", \"dots\", \"everything\", or the number of bytes to keep; in its "
    "place, budget is the number of bytes that all values may need at once";

/* ---- the functions that are made ---- */

static entity make(checker *c, const call_arguments *a, transformed t) {
    entity e = a->values[0];
    if (!argument_function(c, &e))
        return entity_broken(a->at);
    t.of = e;
    e.at = a->at;
    e.schedule = NULL;
    e.transform = arena_copy(&c->memory, &t, sizeof t);
    return e;
}

/* f, argnums=0, has_aux=False */
static entity make_derivative(checker *c, const call_arguments *a, transform_kind kind) {
    transformed t = {.kind = kind, .which = entity_integer(c, 0, a->at)};
    if (a->given[1])
        t.which = a->values[1];
    if (a->count > 2 && a->given[2] && !argument_bool(c, &a->values[2], "has_aux", &t.has_aux))
        return entity_broken(a->at);
    return make(c, a, t);
}

entity special_grad(checker *c, const call_arguments *a) {
    return make_derivative(c, a, TRANSFORM_GRAD);
}

entity special_value_and_grad(checker *c, const call_arguments *a) {
    return make_derivative(c, a, TRANSFORM_VALUE_AND_GRAD);
}

entity special_jacfwd(checker *c, const call_arguments *a) {
    return make_derivative(c, a, TRANSFORM_JACFWD);
}

entity special_jacrev(checker *c, const call_arguments *a) {
    return make_derivative(c, a, TRANSFORM_JACREV);
}

entity special_vmap(checker *c, const call_arguments *a) {
    transformed t = {.kind = TRANSFORM_VMAP,
                     .which = entity_integer(c, 0, a->at),
                     .out = entity_integer(c, 0, a->at)};
    if (a->given[1])
        t.which = a->values[1];
    if (a->given[2])
        t.out = a->values[2];
    return make(c, a, t);
}

/* f, axis_name, in_axes=0, out_axes=0 */
entity special_pmap(checker *c, const call_arguments *a) {
    transformed t = {.kind = TRANSFORM_VMAP,
                     .which = a->given[2] ? a->values[2] : entity_integer(c, 0, a->at),
                     .out = a->given[3] ? a->values[3] : entity_integer(c, 0, a->at)};
    if (a->values[1].kind != ENTITY_STRING || !a->values[1].text[0]) {
        diagnose_error(c->report, ERROR_MESH, a->values[1].at,
                       "axis_name of pmap() is the name by which collectives call its axis, a "
                       "string, not %s",
                       entity_describe(&a->values[1]));
        return entity_broken(a->at);
    }
    t.axis = a->values[1].text;
    return make(c, a, t);
}

/* f, mesh, in_specs, out_specs */
entity special_shard_map(checker *c, const call_arguments *a) {
    const transformed t = {
        .kind = TRANSFORM_SHARD, .which = a->values[2], .out = a->values[3], .mesh = a->values[1]};
    if (t.mesh.kind != ENTITY_MESH) {
        diagnose_error(c->report, ERROR_MESH, t.mesh.at, "mesh of shard_map() is a mesh, not %s",
                       entity_describe(&t.mesh));
        diagnose_help(c->report, "mesh((4, 2), (\"dp\", \"tp\")), or mesh(4, \"dp\")");
        return entity_broken(a->at);
    }
    return make(c, a, t);
}

const char *checkpoint_word(arena *memory, bool budget, const int64_t *number, const char *words) {
    if (budget)
        return number && *number > 0 ? arena_printf(memory, "budget:%lld", (long long)*number) : "";
    return number                                ? arena_printf(memory, "%lld", (long long)*number)
           : words && checkpoint_room(words) < 0 ? words
                                                 : "";
}

/* keep="dots", keep=4096 or budget=65536, but not two of these */
static const char *asked_word(checker *c, const call_arguments *a) {
    const entity *e = &a->values[a->given[2] ? 2 : 1];
    const bool number = e->kind == ENTITY_NUMBER && e->is_integer;
    if (!a->given[1] && !a->given[2])
        return "nothing";
    return a->given[1] && a->given[2]
               ? ""
               : checkpoint_word(&c->memory, a->given[2], number ? &e->integer : NULL,
                                 e->kind == ENTITY_STRING ? e->text : NULL);
}

entity special_checkpoint(checker *c, const call_arguments *a) {
    transformed t = {.kind = TRANSFORM_CHECKPOINT, .keep = asked_word(c, a)};
    if (checkpoint_keep_named(t.keep) == CHECKPOINT_ANEW) {
        diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, a->values[a->given[2] ? 2 : 1].at,
                       "a checkpoint does not keep that");
        diagnose_help(c->report, "%s", checkpoint_choices);
        return entity_broken(a->at);
    }
    return make(c, a, t);
}

/* ---- which arguments ---- */

typedef struct choice {
    int arguments[CALL_MAX_ARGUMENTS]; /* by number */
    int count;
    bool one; /* not a tuple */
} choice;

static bool refuse_argument(checker *c, const call_arguments *a, const entity *e) {
    if (e->kind == ENTITY_STRING)
        diagnose_error(c->report, ERROR_UNKNOWN_ARGUMENT, e->at, "%s() has no argument '%.60s'",
                       a->function, e->text);
    else
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "argnums is a number or a name of an argument of %s(), or a tuple of such",
                       a->function);
    diagnose_help(c->report, "%s(%s)", a->function, a->signature);
    return false;
}

/* A weight of the file as an argument behind the function's own; -1: it is none. */
static int give_weight(checker *c, call_arguments *a, const char *name) {
    const local_name *w = scope_find_weight(c, name);
    const int own = a->count;
    if (!w || own == CALL_MAX_ARGUMENTS || strlen(name) >= sizeof a->names[0])
        return -1;
    strcpy(a->names[own], name);
    a->values[own] = w->value;
    a->values[own].at = a->at;
    a->given[own] = true;
    a->weights++;
    return a->count++;
}

static bool choose_one(checker *c, call_arguments *a, const entity *e, choice *out) {
    int own = -1;
    if (e->kind == ENTITY_NUMBER && e->is_integer)
        own = (int)(e->integer < 0 ? e->integer + a->count - a->weights : e->integer);
    for (int i = 0; e->kind == ENTITY_STRING && i < a->count; i++)
        if (strcmp(a->names[i], e->text) == 0)
            own = i;
    if (own < 0 && e->kind == ENTITY_STRING)
        own = give_weight(c, a, e->text);
    if (own < 0 || own >= a->count || !a->given[own] || out->count == CALL_MAX_ARGUMENTS)
        return refuse_argument(c, a, e);
    out->arguments[out->count++] = own;
    return true;
}

static bool choose(checker *c, call_arguments *a, const entity *which, choice *out) {
    *out = (choice){.one = which->kind != ENTITY_TUPLE};
    bool good = true;
    for (uint32_t i = 0; which->kind == ENTITY_TUPLE && i < which->count && good; i++)
        good = choose_one(c, a, &which->items[i], out);
    return which->kind == ENTITY_TUPLE ? good : choose_one(c, a, which, out);
}

/* Its tensors are floats; numbers become such. */
static bool is_differentiable(checker *c, call_arguments *a, int i) {
    entity_list tensors = {0};
    a->values[i] = tree_promote(c, &a->values[i]);
    bool good = tree_flatten(c, &a->values[i], &tensors, "what a derivative is taken by");
    for (size_t k = 0; k < tensors.count && good; k++) {
        good = transform_is_float(c->m, tensors.items[k].value);
        if (good)
            continue;
        diagnose_error(c->report, ERROR_DERIVATIVE_OF_INTEGERS, a->values[i].at,
                       "there is no derivative by '%s' of %s(): it has %s", a->names[i],
                       a->function,
                       entity_type_text(c, ir_value_get(c->m, tensors.items[k].value)->type));
        note_tensor(c, &tensors.items[k]);
    }
    if (good && tensors.count == 0) {
        diagnose_error(c->report, ERROR_DERIVATIVE_OF_INTEGERS, a->values[i].at,
                       "'%s' of %s() has no tensors to take a derivative by", a->names[i],
                       a->function);
        good = false;
    }
    vec_release(&tensors);
    return good;
}

/* ---- building ---- */

/* The numbers of these arguments' tensors in the block, ascending; by argument, in the order of the
 * choice, `place` is its first one's among them. */
static ir_attr numbers_of(const applied *a, const choice *ch, uint32_t *place, type_list *types) {
    int64_t numbers[1024];
    uint32_t count = 0;
    for (int i = 0; i < a->given->count; i++) {
        for (int k = 0; k < ch->count; k++)
            if (ch->arguments[k] == i)
                place[k] = count;
        bool chosen = false;
        for (int k = 0; k < ch->count; k++)
            chosen |= ch->arguments[k] == i;
        for (uint32_t t = a->first[i]; chosen && t < a->behind[i] && count < 1024; t++) {
            numbers[count++] = t;
            vec_push(types, ir_value_get(a->c->m, a->tensors.items[t].value)->type);
        }
    }
    return ir_attr_int_array(a->c->m, numbers, count);
}

/* All floats among the results. */
static ir_attr float_results(const applied *a, value_list *out) {
    int64_t numbers[1024];
    uint32_t count = 0;
    for (size_t i = 0; i < a->made.count && count < 1024; i++)
        if (transform_is_float(a->c->m, a->made.items[i].value)) {
            numbers[count++] = (int64_t)i;
            if (out)
                vec_push(out, a->made.items[i].value);
        }
    return ir_attr_int_array(a->c->m, numbers, count);
}

static ir_value result(const applied *a, ir_op op, size_t i) {
    return ir_op_result(a->c->m, op, (uint32_t)i);
}

/* The derivatives by the chosen arguments, in their forms. */
static entity gradients(applied *a, ir_op op, const choice *ch, const uint32_t *place) {
    checker *c = a->c;
    value_list values = {0};
    const uint32_t first = (uint32_t)a->made.count + a->seen;
    for (uint32_t i = first; i < ir_op_get(c->m, op)->result_count; i++)
        vec_push(&values, result(a, op, i));
    entity out = entity_tuple(c, (uint32_t)ch->count, a->at);
    for (int k = 0; k < ch->count; k++) {
        const ir_value *next = values.items + place[k];
        out.items[k] = tree_rebuild(c, &a->given->values[ch->arguments[k]], &next, a->at);
    }
    vec_release(&values);
    return ch->one ? out.items[0] : out;
}

/* ---- grad, value_and_grad ---- */

static bool is_loss(applied *a, bool has_aux, entity *loss) {
    checker *c = a->c;
    const bool pair = a->result.kind == ENTITY_TUPLE && a->result.count == 2;
    *loss = has_aux && pair ? a->result.items[0] : a->result;
    bool good = (!has_aux || pair) && loss->kind == ENTITY_TENSOR &&
                tensor_type(c, loss)->rank == 0 && transform_is_float(c->m, loss->value);
    if (good)
        return true;
    diagnose_error(c->report, ERROR_DERIVATIVE_OF_RESULT, a->at,
                   has_aux ? "the derivative of %s() with has_aux needs a pair of one float and "
                             "other values, and it gives %s"
                           : "the derivative of %s() needs one float, and it gives %s",
                   a->given->function,
                   a->result.kind == ENTITY_TENSOR
                       ? entity_type_text(c, ir_value_get(c->m, a->result.value)->type)
                       : entity_describe(&a->result));
    diagnose_help(c->report, has_aux ? "write: return loss, aux"
                                     : "add it up: sum(y); or take the function's vjp(), "
                                       "jacrev() or jacfwd()");
    return false;
}

static entity build_gradient(applied *a, const transformed *t, const choice *ch) {
    checker *c = a->c;
    entity loss, one = entity_integer(c, 1, a->at), out = entity_broken(a->at);
    uint32_t place[CALL_MAX_ARGUMENTS];
    value_list before = {0};
    type_list behind = {0};
    if (is_loss(a, t->has_aux, &loss)) {
        int64_t first = 0; /* a loss is the first tensor of the result */
        one = emit_constant(c, &one, tensor_type(c, &loss)->element, a->at);
        vec_push(&before, one.value);
        const ir_named_attr attrs[] = {{"wrt", numbers_of(a, ch, place, &behind)},
                                       {"of", ir_attr_int_array(c->m, &first, 1)}};
        ir_op op = applied_build(a, &(applied_request){GRAPH_VJP, &before, &behind, attrs, 2});
        const ir_value *next = ir_op_get(c->m, op)->results;
        entity value = applied_result(a, &a->result, &next), made = gradients(a, op, ch, place);
        out = entity_tuple(c, 2, a->at);
        out.items[0] = t->kind == TRANSFORM_GRAD ? made : value;
        out.items[1] = t->kind == TRANSFORM_GRAD ? (t->has_aux ? value.items[1] : value) : made;
        if (t->kind == TRANSFORM_GRAD && !t->has_aux)
            out = made;
    }
    vec_release(&before);
    vec_release(&behind);
    return out;
}

/* The function in a block, with the chosen arguments as floats. */
static bool begin(applied *a, checker *c, const entity *f, call_arguments *given,
                  const choice *ch) {
    *a = (applied){.c = c, .f = *f, .given = given, .at = given->at};
    for (int k = 0; ch && k < ch->count; k++)
        if (!is_differentiable(c, given, ch->arguments[k]))
            return false;
    return applied_begin(a);
}

static entity call_gradient(checker *c, const transformed *t, call_arguments *given) {
    choice ch;
    applied a = {.c = NULL};
    entity out = entity_broken(given->at);
    if (choose(c, given, &t->which, &ch) && begin(&a, c, &t->of, given, &ch))
        out = build_gradient(&a, t, &ch);
    applied_release(&a);
    return out;
}

/* ---- jvp ---- */

/* The items of a tuple, given to the function by place. */
static call_arguments *given_tuple(checker *c, const entity *f, const entity *primals, span at) {
    if (primals->kind != ENTITY_TUPLE) {
        if (primals->kind != ENTITY_BROKEN) {
            diagnose_error(c->report, ERROR_ARGUMENT_KIND, primals->at,
                           "what the function is given is a tuple, not %s",
                           entity_describe(primals));
            diagnose_help(c->report, "of one value: (x,)");
        }
        return NULL;
    }
    return applied_arguments(c, f, applied_node(c, primals->items, primals->count, at));
}

/* All that the tuple gives. */
static choice all_of(const call_arguments *a, uint32_t count) {
    choice ch = {.count = 0};
    for (int i = 0; i < a->count && ch.count < (int)count; i++)
        if (a->given[i])
            ch.arguments[ch.count++] = i;
    return ch;
}

static bool refuse_tangents(checker *c, const entity *e, const char *what) {
    if (e->kind != ENTITY_BROKEN)
        diagnose_error(
            c->report, ERROR_DERIVATIVE_SHAPE, e->at,
            "%s must have the form, the shapes and the element types of what they belong "
            "to",
            what);
    return false;
}

/* Tensors of tangents that are like some values. */
static bool tangents_of(checker *c, const entity *like, const entity *e, const char *what,
                        value_list *out) {
    entity_list tensors = {0};
    entity own = tree_alike(c, like, e);
    bool good = (tree_is_like(c, like, &own) || refuse_tangents(c, e, what)) &&
                tree_flatten(c, &own, &tensors, what);
    for (size_t i = 0; i < tensors.count && good; i++)
        vec_push(out, tensors.items[i].value);
    vec_release(&tensors);
    return good;
}

/* The tangent of a result: where it has none, zeros of its type. */
static entity tangent_result(applied *a, ir_op op) {
    checker *c = a->c;
    value_list values = {0};
    size_t at = a->made.count + a->seen;
    for (size_t i = 0; i < a->made.count; i++) {
        ir_type type = a->results.items[i];
        if (dtype_is_float(ir_type_get(c->m, type)->element)) {
            vec_push(&values, result(a, op, at++));
            continue;
        }
        entity zero = entity_integer(c, 0, a->at);
        const ir_type_data t = *ir_type_get(c->m, type);
        if (t.element == DTYPE_BOOL)
            zero = (entity){.kind = ENTITY_BOOL, .at = a->at};
        zero = emit_constant(c, &zero, t.element, a->at);
        vec_push(&values, emit_broadcast(c, &zero, t.rank, t.dims, a->at).value);
    }
    const ir_value *next = values.items;
    entity out = tree_rebuild(c, &a->result, &next, a->at);
    vec_release(&values);
    return out;
}

/* (f(*primals), its tangent) */
static entity build_jvp(checker *c, const entity *f, const entity *primals, const entity *tangents,
                        span at) {
    call_arguments *given = given_tuple(c, f, primals, at);
    applied a = {.c = NULL};
    entity out = entity_broken(at);
    value_list before = {0};
    type_list unused = {0}, behind = {0};
    uint32_t place[CALL_MAX_ARGUMENTS];
    if (!given)
        return out;
    given->at = at;
    const choice ch = all_of(given, primals->count);
    bool good = begin(&a, c, f, given, &ch);
    entity like = entity_tuple(c, (uint32_t)ch.count, at);
    for (int i = 0; i < ch.count; i++)
        like.items[i] = given->values[ch.arguments[i]];
    if (good && tangents_of(c, &like, tangents, "tangents", &before)) {
        const ir_named_attr attrs[] = {{"wrt", numbers_of(&a, &ch, place, &unused)},
                                       {"of", float_results(&a, NULL)}};
        for (size_t i = 0; i < a.made.count; i++)
            if (transform_is_float(c->m, a.made.items[i].value))
                vec_push(&behind, a.results.items[i]);
        ir_op op = applied_build(&a, &(applied_request){GRAPH_JVP, &before, &behind, attrs, 2});
        const ir_value *next = ir_op_get(c->m, op)->results;
        out = entity_tuple(c, 2, at);
        out.items[0] = applied_result(&a, &a.result, &next);
        out.items[1] = tangent_result(&a, op);
    }
    applied_release(&a);
    vec_release(&before);
    vec_release(&behind);
    vec_release(&unused);
    return out;
}

entity special_jvp(checker *c, const call_arguments *a) {
    if (!argument_function(c, &a->values[0]))
        return entity_broken(a->at);
    return build_jvp(c, &a->values[0], &a->values[1], &a->values[2], a->at);
}

/* The tangent of the gradient by all that is given. */
entity special_hvp(checker *c, const call_arguments *a) {
    transformed t = {.kind = TRANSFORM_GRAD, .which = entity_integer(c, 0, a->at)};
    const entity *primals = &a->values[1];
    if (primals->kind == ENTITY_TUPLE && primals->count > 1) {
        t.which = entity_tuple(c, primals->count, a->at);
        for (uint32_t i = 0; i < primals->count; i++)
            t.which.items[i] = entity_integer(c, i, a->at);
    }
    entity gradient = make(c, a, t);
    if (gradient.kind == ENTITY_BROKEN)
        return gradient;
    entity out = build_jvp(c, &gradient, primals, &a->values[2], a->at);
    return out.kind == ENTITY_TUPLE ? out.items[1] : out;
}

/* ---- vjp ---- */

/* f(*primals), and a function that takes back the cotangents of what it gives. */
entity special_vjp(checker *c, const call_arguments *a) {
    const entity *f = &a->values[0];
    if (!argument_function(c, f))
        return entity_broken(a->at);
    call_arguments *given = given_tuple(c, f, &a->values[1], a->at);
    if (!given)
        return entity_broken(a->at);
    given->at = a->at;
    applied block = {.c = NULL};
    const choice ch = all_of(given, a->values[1].count);
    entity out = entity_broken(a->at);
    if (begin(&block, c, f, given, &ch)) {
        transformed back = {.kind = TRANSFORM_PULLBACK, .of = *f, .given = given};
        out = entity_tuple(c, 2, a->at);
        out.items[0] = applied_checkpoint(&block, "everything");
        back.out = out.items[0];
        out.items[1] = *f;
        out.items[1].transform = arena_copy(&c->memory, &back, sizeof back);
    }
    applied_release(&block);
    return out;
}

static bool one_cotangent(checker *c, const node *n, entity *out) {
    if (n->count != 1 || n->items[0]->kind == NODE_KEYWORD) {
        diagnose_error(c->report, ERROR_ARGUMENT_COUNT, n->at,
                       "this takes one value, the cotangent of what the function gives");
        return false;
    }
    *out = check_expression(c, n->items[0]);
    return out->kind != ENTITY_BROKEN;
}

/* Cotangents of the floats among the results. */
static bool cotangents_of(applied *a, const transformed *t, const entity *e, value_list *out) {
    value_list all = {0};
    bool good = tangents_of(a->c, &t->out, e, "cotangents", &all);
    for (size_t i = 0; i < all.count && good; i++)
        if (transform_is_float(a->c->m, a->made.items[i].value))
            vec_push(out, all.items[i]);
    vec_release(&all);
    return good;
}

static entity call_pullback(checker *c, const transformed *t, const node *n) {
    entity cotangent, out = entity_broken(n->at);
    applied a = {.c = NULL};
    value_list before = {0};
    type_list behind = {0};
    uint32_t place[CALL_MAX_ARGUMENTS];
    const choice ch = all_of(t->given, CALL_MAX_ARGUMENTS);
    t->given->at = n->at;
    for (int i = 0; i < ch.count; i++) /* it is used here once more */
        t->given->values[ch.arguments[i]].at = n->at;
    if (one_cotangent(c, n, &cotangent) && begin(&a, c, &t->of, t->given, &ch) &&
        cotangents_of(&a, t, &cotangent, &before)) {
        const ir_named_attr attrs[] = {{"wrt", numbers_of(&a, &ch, place, &behind)},
                                       {"of", float_results(&a, NULL)}};
        ir_op op = applied_build(&a, &(applied_request){GRAPH_VJP, &before, &behind, attrs, 2});
        out = gradients(&a, op, &ch, place);
    }
    applied_release(&a);
    vec_release(&before);
    vec_release(&behind);
    return out;
}

/* ---- checkpoint ---- */

static entity call_checkpoint(checker *c, const transformed *t, call_arguments *given) {
    applied a;
    entity out = entity_broken(given->at);
    if (begin(&a, c, &t->of, given, NULL))
        out = applied_checkpoint(&a, t->keep);
    applied_release(&a);
    return out;
}

/* ---- any ---- */

entity transform_call(checker *c, const entity *f, const node *n) {
    const transformed *t = f->transform;
    if (t->kind == TRANSFORM_PULLBACK)
        return call_pullback(c, t, n);
    call_arguments *given = applied_arguments(c, &t->of, n);
    if (!given || !emit_count(c, n->at))
        return entity_broken(n->at);
    return t->kind == TRANSFORM_CHECKPOINT ? call_checkpoint(c, t, given)
           : t->kind == TRANSFORM_GRAD || t->kind == TRANSFORM_VALUE_AND_GRAD
               ? call_gradient(c, t, given)
           : t->kind == TRANSFORM_VMAP  ? transform_call_vmap(c, t, given)
           : t->kind == TRANSFORM_SHARD ? transform_call_shard(c, t, given)
                                        : transform_call_jacobian(c, t, given);
}
