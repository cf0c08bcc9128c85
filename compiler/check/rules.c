/* rules.c - functions with derivatives of their own: @f.vjp, @f.jvp, @ste and @checkpoint, and
 * calls of them, which become operations that hold the function and its rule (ops/transforms.h). */
#include <string.h>

#include "check/effects.h"
#include "check/transforms.h"
#include "ops/transforms.h"

/* ---- decorators ---- */

static bool is_name(const node *n, const char *name) {
    return n->kind == NODE_NAME && strcmp(n->text, name) == 0;
}

static const node *callee_of(const node *n) {
    return n->kind == NODE_CALL ? n->left : n;
}

/* @f.vjp or @f.jvp, with or without arguments */
static bool is_rule(const node *decorator) {
    const node *n = callee_of(decorator);
    return n->kind == NODE_ATTRIBUTE && n->left->kind == NODE_NAME &&
           (strcmp(n->text, "vjp") == 0 || strcmp(n->text, "jvp") == 0);
}

static bool is_checkpoint(const node *n) {
    return is_name(callee_of(n), "checkpoint") || is_name(callee_of(n), "remat");
}

bool rules_is_one(const node *n) {
    return is_rule(n) || is_name(n, "ste") || is_checkpoint(n);
}

/* differs=True */
static void read_differs(callable *rule, const node *n, diagnostics *d) {
    const node *given = n->kind == NODE_CALL && n->count == 1 ? n->items[0] : NULL;
    const bool named = given && given->kind == NODE_KEYWORD && strcmp(given->text, "differs") == 0;
    if (n->kind != NODE_CALL || n->count == 0)
        return;
    if (named && given->left->kind == NODE_BOOL) {
        rule->differs = given->left->integer != 0;
        return;
    }
    diagnose_error(d, ERROR_UNKNOWN_ARGUMENT, given ? given->at : n->at,
                   "a rule takes differs=True alone");
    diagnose_help(d, "differs=True says that the rule is not the function's derivative; tsr check "
                     "compares the others with it");
}

static void connect_rule(source_module *m, callable *rule, const node *decorator, diagnostics *d) {
    const node *n = callee_of(decorator);
    read_differs(rule, decorator, d);
    callable *f = module_function(m, n->left->text);
    if (!f || f == rule || f->is_kernel || f->in_tiles) {
        diagnose_error(d, ERROR_DERIVATIVE_RULE, n->at,
                       "there is no function '%.60s' in this file that could have a rule",
                       n->left->text);
        return;
    }
    const struct callable **own = strcmp(n->text, "vjp") == 0 ? &f->vjp : &f->jvp;
    if (*own) {
        diagnose_error(d, ERROR_DERIVATIVE_RULE, n->at, "'%s' has a rule of this kind already",
                       f->ast->name);
        diagnose_note(d, (*own)->ast->at, "here");
        return;
    }
    *own = rule;
}

/* "dots", keep="dots", keep=4096 or budget=65536 */
static const char *keep_word(arena *memory, const node *given) {
    const bool keyword = given->kind == NODE_KEYWORD;
    const bool budget = keyword && strcmp(given->text, "budget") == 0;
    const node *value = keyword ? given->left : given;
    if (keyword && !budget && strcmp(given->text, "keep") != 0)
        return "";
    return checkpoint_word(memory, budget, value->kind == NODE_INT ? &value->integer : NULL,
                           value->kind == NODE_STRING ? value->text : NULL);
}

static void read_keep(arena *memory, callable *f, const node *n, diagnostics *d) {
    f->keep = "nothing";
    if (n->kind != NODE_CALL)
        return;
    const char *word = n->count == 1 ? keep_word(memory, n->items[0]) : "";
    if (checkpoint_keep_named(word) != CHECKPOINT_ANEW) {
        f->keep = word;
        return;
    }
    diagnose_error(d, ERROR_UNKNOWN_CHOICE, n->at, "a checkpoint does not keep that");
    diagnose_help(d, "%s", checkpoint_choices);
}

void rules_connect(source_module *m, arena *memory, diagnostics *d) {
    for (uint32_t i = 0; i < m->function_count; i++) {
        callable *f = &m->functions[i];
        for (uint32_t k = 0; k < f->ast->decorator_count; k++) {
            const node *n = f->ast->decorators[k];
            f->straight |= is_name(n, "ste");
            if (is_rule(n))
                connect_rule(m, f, n, d);
            if (is_checkpoint(n))
                read_keep(memory, f, n, d);
        }
    }
}

bool rules_has_any(const callable *f, int level) {
    return level == 0   ? f->vjp || f->jvp || f->straight || f->keep
           : level == 1 ? f->jvp || f->straight
                        : false;
}

/* ---- a call ---- */

typedef struct ruled {
    checker *c;
    callable *f;
    applied a;
    bool forward;
    entity inside[CALL_MAX_ARGUMENTS]; /* in the rule's block: what was given, */
    entity result;                     /* ... and what the function gives */
    int64_t wrt[CALL_MAX_ARGUMENTS * 8], of[64];
    uint32_t wrt_count, of_count;
} ruled;

static bool refuse(ruled *r, span at, const char *what) {
    diagnose_error(r->c->report, ERROR_DERIVATIVE_RULE, at, "%s of '%s' %s",
                   r->forward ? "the jvp rule" : "the vjp rule", r->f->ast->name, what);
    const callable *rule = r->forward ? r->f->jvp : r->f->vjp;
    if (rule)
        diagnose_note(r->c->report, rule->ast->at, "defined here");
    return false;
}

static bool find_numbers(ruled *r) {
    const applied *a = &r->a;
    for (size_t i = 0; i < a->tensors.count; i++)
        if (transform_is_float(r->c->m, a->tensors.items[i].value)) {
            if (r->wrt_count == sizeof r->wrt / sizeof *r->wrt)
                return refuse(r, a->at, "is of too many values");
            r->wrt[r->wrt_count++] = (int64_t)i;
        }
    for (size_t i = 0; i < a->made.count; i++) {
        if (!transform_is_float(r->c->m, a->made.items[i].value) ||
            r->of_count == sizeof r->of / sizeof *r->of)
            return refuse(r, a->at, "is of floats, and the function gives something else");
        r->of[r->of_count++] = (int64_t)i;
    }
    return true;
}

static ir_value take_one(ruled *r, ir_value v) {
    return region_argument(r->c, &r->a.draft, 1, ir_value_get(r->c->m, v)->type);
}

/* Arguments of the rule's block for tensors, in the form of a value. */
static entity take_like(ruled *r, const entity *like, const entity_list *tensors, size_t first,
                        size_t behind) {
    value_list values = {0};
    for (size_t i = first; i < behind; i++)
        vec_push(&values, take_one(r, tensors->items[i].value));
    const ir_value *next = values.items;
    entity out = first == behind ? *like : tree_rebuild(r->c, like, &next, r->a.at);
    vec_release(&values);
    return out;
}

/* All floats of an argument; where there are none, it has no tangent. */
static bool is_of_floats(ruled *r, int i, bool *floats) {
    const applied *a = &r->a;
    uint32_t count = 0;
    for (uint32_t k = a->first[i]; k < a->behind[i]; k++)
        count += transform_is_float(r->c->m, a->tensors.items[k].value);
    *floats = count > 0;
    return count == 0 || count == a->behind[i] - a->first[i] ||
           refuse(r, a->at, "is of a value with floats and integers in it: give them apart");
}

static void take_known(ruled *r) {
    const applied *a = &r->a;
    for (int i = 0; i < a->given->count; i++)
        r->inside[i] = a->given->given[i] ? take_like(r, &a->given->values[i], &a->tensors,
                                                      a->first[i], a->behind[i])
                                          : a->given->values[i];
    r->result = take_like(r, &a->result, &a->made, 0, a->made.count);
}

static entity none_at(span at) {
    return (entity){.kind = ENTITY_NONE, .at = at};
}

/* The arguments of the rule: what the function takes, what it gives, and tangents of the one or
 * cotangents of the other. */
static bool rule_arguments(ruled *r, entity *out, uint32_t *count) {
    const applied *a = &r->a;
    uint32_t n = 0;
    for (int i = 0; i < a->given->count; i++)
        out[n++] = r->inside[i];
    out[n++] = r->result;
    if (!r->forward)
        out[n++] = take_like(r, &a->result, &a->made, 0, a->made.count);
    for (int i = 0; r->forward && i < a->given->count; i++) {
        bool floats;
        if (!is_of_floats(r, i, &floats))
            return false;
        out[n++] = floats
                       ? take_like(r, &a->given->values[i], &a->tensors, a->first[i], a->behind[i])
                       : none_at(a->at);
    }
    *count = n;
    return true;
}

/* Tensors of what the rule gives, like a value. */
static bool give_like(ruled *r, const entity *like, const entity *made, value_list *out) {
    checker *c = r->c;
    entity_list tensors = {0};
    entity own = tree_alike(c, like, made);
    bool good =
        tree_is_like(c, like, &own) ||
        (made->kind != ENTITY_BROKEN &&
         refuse(r, r->a.at,
                arena_printf(&c->memory, "gives %s, and not what belongs to %s",
                             made->kind == ENTITY_TENSOR
                                 ? entity_type_text(c, ir_value_get(c->m, made->value)->type)
                                 : entity_describe(made),
                             like->kind == ENTITY_TENSOR
                                 ? entity_type_text(c, ir_value_get(c->m, like->value)->type)
                                 : entity_describe(like))));
    good = good && tree_flatten(c, &own, &tensors, "what a rule gives");
    for (size_t i = 0; i < tensors.count && good; i++)
        vec_push(out, tensors.items[i].value);
    vec_release(&tensors);
    return good;
}

static bool give_zeros(ruled *r, const entity *like, value_list *out) {
    entity_list tensors = {0};
    bool good = tree_flatten(r->c, like, &tensors, "what has no cotangent");
    for (size_t i = 0; i < tensors.count && good; i++) {
        const ir_type_data t = *tensor_type(r->c, &tensors.items[i]);
        entity zero = entity_integer(r->c, 0, r->a.at);
        zero = emit_constant(r->c, &zero, t.element, r->a.at);
        vec_push(out, emit_broadcast(r->c, &zero, t.rank, t.dims, r->a.at).value);
    }
    vec_release(&tensors);
    return good;
}

/* A cotangent for each parameter with floats. */
static bool give_cotangents(ruled *r, const entity *made, value_list *out) {
    const applied *a = &r->a;
    const bool one = a->given->count == 1;
    if (!one && (made->kind != ENTITY_TUPLE || made->count != (uint32_t)a->given->count))
        return made->kind != ENTITY_BROKEN &&
               refuse(r, a->at, "gives a cotangent for each parameter, None for one without");
    for (int i = 0; i < a->given->count; i++) {
        const entity *own = one ? made : &made->items[i];
        bool floats;
        if (!is_of_floats(r, i, &floats))
            return false;
        if (!floats && own->kind != ENTITY_NONE)
            return refuse(r, a->at, "gives a cotangent for a parameter that has no floats");
        if (floats && own->kind == ENTITY_NONE && !give_zeros(r, &r->inside[i], out))
            return false;
        if (floats && own->kind != ENTITY_NONE && !give_like(r, &r->inside[i], own, out))
            return false;
    }
    return true;
}

static bool write_rule(ruled *r, value_list *made) {
    entity given[3 * CALL_MAX_ARGUMENTS + 2];
    uint32_t count = 0;
    const callable *rule = r->forward ? r->f->jvp : r->f->vjp;
    take_known(r);
    if (!rule_arguments(r, given, &count))
        return false;
    if (r->f->straight) {
        const entity *through = &given[count - (r->forward ? (uint32_t)r->a.given->count : 1)];
        return give_like(r, r->forward ? &r->result : &r->inside[0], through, made);
    }
    entity f = {.kind = ENTITY_FUNCTION,
                .at = r->a.at,
                .text = rule->ast->name,
                .function = (callable *)rule};
    entity e = applied_call(r->c, &f, given, count, r->a.at);
    return e.kind != ENTITY_BROKEN &&
           (r->forward ? give_like(r, &r->result, &e, made) : give_cotangents(r, &e, made));
}

/* A rule that goes straight through is of the first parameter's floats alone. */
static void narrow_straight(ruled *r) {
    if (!r->f->straight)
        return;
    r->wrt_count = r->a.behind[0] - r->a.first[0];
    for (uint32_t i = 0; i < r->wrt_count; i++)
        r->wrt[i] = r->a.first[0] + i;
}

static entity finish(ruled *r, const value_list *made) {
    checker *c = r->c;
    const callable *rule = r->forward ? r->f->jvp : r->f->vjp;
    const ir_named_attr attrs[] = {{"wrt", ir_attr_int_array(c->m, r->wrt, r->wrt_count)},
                                   {"of", ir_attr_int_array(c->m, r->of, r->of_count)},
                                   {"differs", ir_attr_bool(c->m, true)}};
    const bool differs = r->f->straight || rule->differs;
    const size_t values = r->a.tensors.count;
    r->a.rule = made;
    ir_op op = applied_build(
        &r->a, &(applied_request){.opcode = r->forward ? GRAPH_CUSTOM_JVP : GRAPH_CUSTOM_VJP,
                                  .attrs = attrs,
                                  .attr_count = differs ? 3 : 2});
    if (op && ir_op_get(c->m, op)->operand_count != values) {
        refuse(r, r->a.at, "and the function read their parameters alone");
        return entity_broken(r->a.at);
    }
    const ir_value *next = op ? ir_op_get(c->m, op)->results : NULL;
    return op ? applied_result(&r->a, &r->a.result, &next) : entity_broken(r->a.at);
}

static entity call_with_rule(checker *c, callable *f, call_arguments *given, bool forward) {
    ruled r = {.c = c, .f = f, .forward = forward};
    entity out = entity_broken(given->at);
    value_list made = {0};
    r.a = (applied){
        .c = c,
        .f = {.kind = ENTITY_FUNCTION, .text = f->ast->name, .function = f, .at = given->at},
        .plain = forward ? 2 : 1,
        .ruled = true,
        .given = given,
        .at = given->at};
    if (applied_begin(&r.a) && find_numbers(&r)) {
        narrow_straight(&r);
        region_enter(c, &r.a.draft, 1);
        bool good = write_rule(&r, &made);
        region_leave(c, &r.a.draft);
        if (good)
            out = finish(&r, &made);
    }
    applied_release(&r.a);
    vec_release(&made);
    return out;
}

static entity call_kept(checker *c, callable *f, call_arguments *given) {
    applied a = {
        .c = c,
        .f = {.kind = ENTITY_FUNCTION, .text = f->ast->name, .function = f, .at = given->at},
        .plain = 2,
        .given = given,
        .at = given->at};
    entity out = entity_broken(given->at);
    if (applied_begin(&a))
        out = applied_checkpoint(&a, f->keep);
    applied_release(&a);
    return out;
}

entity rules_call(checker *c, callable *f, call_arguments *a, int level) {
    if (level == 0 && f->keep && !f->vjp && !f->jvp && !f->straight)
        return call_kept(c, f, a);
    const bool forward = level == 1 || (!f->vjp && !f->straight);
    return call_with_rule(c, f, a, forward);
}
