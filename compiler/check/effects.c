/* effects.c - print() and debug.check(): the values that they look at become outputs behind the
 * kernel's own, in the order of the source, and the kernel's attribute `effects` says what each is
 * for. So they hold nothing in its place, and nothing can change their order. */
#include "check/effects.h"

#include <string.h>

/* ---- a list of them ---- */

static void add_in(checker *c, const program_effect *form, const entity *value, span at) {
    const entity seen = entity_tensor(value->value, at);
    program_effect one = *form;
    one.at = checker_place(c, at);
    one.line = source_position_of(c->report->source, one.at.start).line;
    one.observed = observe(c, &seen, one.kind == EFFECT_CHECK);
    vec_push(&c->effects, one);
}

static void add(checker *c, effect_kind kind, const entity *value, const char *label, span at) {
    add_in(c, &(program_effect){.kind = kind, .inside = c->inside, .label = label}, value, at);
}

size_t effects_mark(const checker *c) {
    return c->effects.count;
}

void effects_refuse(checker *c, size_t mark, const char *around) {
    if (c->effects.count == mark)
        return;
    const program_effect *e = &c->effects.items[mark];
    diagnose_error(c->report, ERROR_EFFECT, e->at, "%s in %s: it is not known how often it happens",
                   e->kind == EFFECT_CHECK ? "a check" : "print()", around);
    diagnose_help(c->report, "carry the value out of it, and look at it there");
    c->effects.count = mark;
}

static bool is_inside(const written_block *one, const written_block *of) {
    while (one && one != of)
        one = one->around;
    return one != NULL;
}

bool effects_print_in(const checker *c, size_t mark, const written_block *block) {
    bool prints = false;
    for (size_t i = mark; i < c->effects.count; i++)
        prints |= c->effects.items[i].kind == EFFECT_PRINT &&
                  is_inside(c->effects.items[i].inside, block);
    return prints;
}

void effects_turns(checker *c, const written_block *block, const entity *turns) {
    add_in(c, &(program_effect){.kind = EFFECT_TURNS, .inside = block, .label = ""}, turns,
           turns->at);
}

/* ---- the calls ---- */

bool effects_is_call(checker *c, const node *n) {
    const node *callee = n->left;
    if (callee->kind == NODE_NAME)
        return strcmp(callee->text, "print") == 0;
    return callee->kind == NODE_ATTRIBUTE && callee->left->kind == NODE_NAME &&
           strcmp(callee->left->text, "debug") == 0 && !scope_find(c, "debug");
}

static entity nothing(span at) {
    return (entity){.kind = ENTITY_NONE, .at = at};
}

/* Adds a word, or what stands for a value. */
static void add_word(text *label, const char *word) {
    text_append(label, label->length ? " " : "");
    text_append(label, word);
}

static const char *word_of(const entity *e) {
    return e->kind == ENTITY_BOOL ? (e->integer ? "True" : "False") : e->text;
}

static bool is_word(const entity *e) {
    return e->kind == ENTITY_STRING || e->kind == ENTITY_NUMBER || e->kind == ENTITY_BOOL;
}

/* A value has the words before it, and the last one those behind it. */
static entity check_print(checker *c, const node *n) {
    const size_t mark = c->effects.count;
    bool good = true;
    text label;
    text_init(&label);
    for (uint32_t i = 0; i < n->count && good; i++) {
        entity e = check_expression(c, n->items[i]);
        if (is_word(&e)) {
            add_word(&label, word_of(&e));
            continue;
        }
        if (e.kind == ENTITY_DIM) /* a number when it runs */
            e = tiles_dim_value(c, e.dim, e.at);
        add_word(&label, "{}");
        good = argument_tensor(c, &e, "what print() shows");
        if (good)
            add(c, mark < c->effects.count ? EFFECT_PRINT_MORE : EFFECT_PRINT, &e,
                arena_strdup(&c->memory, label.data), n->at);
        text_clear(&label);
    }
    if (mark < c->effects.count && label.length) {
        program_effect *last = &c->effects.items[c->effects.count - 1];
        last->label = arena_printf(&c->memory, "%s %s", last->label, label.data);
    }
    text_release(&label);
    if (good && mark == c->effects.count)
        diagnose_error(c->report, ERROR_EFFECT, n->at, "print() shows values that a launch makes");
    return good && mark < c->effects.count ? nothing(n->at) : entity_broken(n->at);
}

/* All elements of a bool tensor. */
static entity held(checker *c, const entity *condition, span at) {
    call_arguments a = {.function = "all", .at = at, .count = 3};
    a.values[0] = *condition;
    a.given[0] = true;
    a.values[1] = a.values[2] = nothing(at);
    return special_all(c, &a);
}

/* ---- debug.check(condition, "words"), debug.check(x, finite=True) ---- */

static entity check_check(checker *c, const node *n) {
    static const special_function signature = {"debug.check", "x, message=\"\", finite=False", NULL,
                                               "", NULL};
    call_arguments *a = call_bind(c, &signature, n);
    bool finite = false;
    if (!a || !argument_tensor(c, &a->values[0], "what is checked") ||
        (a->given[2] && !argument_bool(c, &a->values[2], "finite", &finite)))
        return entity_broken(n->at);
    const char *message = finite ? "a value is not finite" : "a check does not hold";
    if (a->given[1] && a->values[1].kind != ENTITY_STRING) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, a->values[1].at,
                       "the message of a check is a string, not %s",
                       entity_describe(&a->values[1]));
        return entity_broken(n->at);
    }
    if (a->given[1])
        message = a->values[1].text;
    entity condition = finite ? special_isfinite(c, a) : a->values[0];
    return effects_check(c, &condition, message, n->at) ? nothing(n->at) : entity_broken(n->at);
}

bool effects_check(checker *c, const entity *condition, const char *message, span at) {
    if (condition->kind == ENTITY_BROKEN)
        return false;
    if (tensor_type(c, condition)->element != DTYPE_BOOL) {
        diagnose_error(c->report, ERROR_EFFECT, at, "a check takes bools, and this is %s",
                       entity_type_text(c, ir_value_get(c->m, condition->value)->type));
        diagnose_help(c->report, "write debug.check(x > 0.0), or debug.check(x, finite=True)");
        return false;
    }
    entity all = tensor_type(c, condition)->rank ? held(c, condition, at) : *condition;
    if (all.kind == ENTITY_BROKEN)
        return false;
    add(c, EFFECT_CHECK, &all, message, at);
    return true;
}

entity effects_call(checker *c, const node *n) {
    const bool prints = n->left->kind == NODE_NAME;
    if (c->tiles) {
        diagnose_error(c->report, ERROR_EFFECT, n->at,
                       "a kernel of tiles computes its results, and neither prints nor checks");
        return entity_broken(n->at);
    }
    if (!prints && strcmp(n->left->text, "check") != 0) {
        diagnose_error(c->report, ERROR_UNKNOWN_FUNCTION, n->left->symbol_at,
                       "debug has no '%.60s'; it has debug.check", n->left->text);
        return entity_broken(n->at);
    }
    return prints ? check_print(c, n) : check_check(c, n);
}

/* ---- outputs ---- */

/* ".1.4": the blocks around it. */
static const char *blocks_of(checker *c, const written_block *inside) {
    const char *out = "";
    for (; inside; inside = inside->around)
        out = arena_printf(&c->memory, ".%u%s", inside->number, out);
    return out;
}

ir_attr effects_attribute(checker *c, uint32_t outputs) {
    const uint32_t count = outputs + (uint32_t)c->effects.count;
    ir_attr *list = ARENA_NEW(&c->memory, ir_attr, count + 1);
    for (uint32_t i = 0; i < outputs; i++)
        list[i] = ir_attr_string(c->m, "");
    for (uint32_t i = outputs; i < count; i++) {
        const program_effect *e = &c->effects.items[i - outputs];
        list[i] = ir_attr_string(
            c->m, arena_printf(&c->memory, "%s:%u%s:%s", effect_kind_name(e->kind), e->line,
                               e->kind == EFFECT_CHECK ? "" : blocks_of(c, e->inside), e->label));
    }
    return ir_attr_array(c->m, list, count);
}
