/* instance.c - records with parameters: KVCache["B", "H", 64, "D", bf16] @ rolling_window is the
 * record with these in the place of its Generic[...], and with constants of its own. */
#include <string.h>

#include "check/check.h"
#include "source/parser.h"

static const node *without_policies(const node *n) {
    while (n->kind == NODE_BINARY && n->symbol == SYMBOL1('@'))
        n = n->left;
    return n;
}

record_type *record_named(source_module *m, const node *n) {
    const node *base = without_policies(n);
    base = base->kind == NODE_SUBSCRIPT ? base->left : base;
    const char *name = base->kind == NODE_NAME ? base->text : "";
    source_module *from = module_of_name(m, &name);
    return from ? module_record(from, name) : NULL;
}

/* ---- parameters ---- */

typedef struct substitution {
    compiler_source *source;
    diagnostics *report;
    const node *names, *given; /* Generic[...], and what stands for them; NULL: nothing does */
} substitution;

static node *given_for(const substitution *u, const char *name) {
    for (uint32_t i = 0; u->given && i < u->names->count; i++)
        if (strcmp(u->names->items[i]->text, name) == 0)
            return u->given->items[i];
    return NULL;
}

static node *read_quoted(const substitution *u, const node *n) {
    span inside = {n->at.start + 1, n->at.end - 1};
    return parse_quoted(&u->source->text, inside, &u->source->memory, u->report);
}

/* A dimension of an expression; NULL when reported. */
static node *put_dimension(const substitution *u, node *n) {
    node *given = n->kind == NODE_NAME ? given_for(u, n->text) : NULL;
    if (given)
        return given->kind == NODE_STRING ? read_quoted(u, given) : given;
    if (n->kind != NODE_BINARY)
        return n;
    node *out = arena_copy(&u->source->memory, n, sizeof *n);
    out->left = put_dimension(u, n->left);
    out->right = put_dimension(u, n->right);
    return out->left && out->right ? out : NULL;
}

static bool is_word(const char *word) {
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
           '\0';
}

/* Like[annotation, f32]: the annotation with another element type; NULL when reported. */
static node *put_element(const substitution *u, node *n, node *element) {
    const bool one = interface_is_shaped(n, "Tensor");
    if (!one && !interface_is_shaped(n, "list") && !interface_is_shaped(n, "tuple")) {
        diagnose_error(u->report, ERROR_VALUE_TYPE, n->at,
                       "Like takes tensors, or lists and tuples of them");
        return NULL;
    }
    node *out = arena_copy(&u->source->memory, n, sizeof *n);
    if (interface_is_sharded(n)) {
        out->left = put_element(u, n->left, element);
        return out->left ? out : NULL;
    }
    out->items = arena_copy(&u->source->memory, n->items, sizeof *n->items * n->count);
    if (one)
        out->items[n->count - 1] = element;
    for (uint32_t i = 0; !one && i < (interface_is_shaped(n, "list") ? 1 : n->count); i++)
        if (!(out->items[i] = put_element(u, n->items[i], element)))
            return NULL;
    return out;
}

/* The annotation with all parameters replaced; NULL when reported. */
static node *put(const substitution *u, node *n) {
    node *given = n->kind == NODE_STRING ? given_for(u, n->text) : NULL;
    if (given || !u->given)
        return given ? given : n;
    if (n->kind == NODE_STRING && is_word(n->text))
        return n;
    node *out = arena_copy(&u->source->memory, n, sizeof *n);
    if (n->kind == NODE_STRING) {
        node *read = read_quoted(u, n);
        out->kind = NODE_QUOTED;
        out->left = read ? put_dimension(u, read) : NULL;
        return out->left ? out : NULL;
    }
    out->items = ARENA_NEW(&u->source->memory, node *, n->count + 1);
    for (uint32_t i = 0; i < n->count; i++)
        if (!(out->items[i] = put(u, n->items[i])))
            return NULL;
    if (n->kind == NODE_BINARY)
        out->left = put(u, n->left);
    return interface_is_shaped(out, "Like") && out->count == 2
               ? put_element(u, out->items[0], out->items[1])
               : out;
}

/* OptimizerState[w]: a parameter of the head stands for its annotation. */
static const node *put_parameters(const compiler_source *s, const node *given) {
    node *out = arena_copy((arena *)&s->memory, given, sizeof *given);
    out->items = arena_copy((arena *)&s->memory, given->items, sizeof *given->items * given->count);
    for (uint32_t i = 0; s->head && i < given->count; i++)
        for (uint32_t k = 0; k < s->head->parameter_count; k++) {
            const ast_parameter *p = &s->head->parameters[k];
            const node_kind kind = given->items[i]->kind;
            if ((kind == NODE_NAME || kind == NODE_STRING) && p->annotation &&
                strcmp(given->items[i]->text, p->name) == 0)
                out->items[i] = p->annotation;
        }
    return out;
}

static bool parameters_fit(const record_type *r, const node *given, diagnostics *d) {
    const uint32_t wanted = r->ast->generic ? r->ast->generic->count : 0;
    if (given->count == wanted)
        return true;
    diagnose_error(d, ERROR_VALUE_TYPE, given->at, "%s has %u parameters, and this gives %u",
                   r->ast->name, wanted, given->count);
    diagnose_note(d, r->ast->at, "declared here");
    return false;
}

/* ---- constants ---- */

/* A constant, or a field that need not be there. */
static bool is_policy(const record_type *r, uint32_t i) {
    return r->absent[i] || value_type_is_constant(&r->fields[i]);
}

static int policy_named(const record_type *r, const char *name) {
    for (uint32_t i = 0; i < r->count; i++)
        if (is_policy(r, i) && strcmp(r->names[i], name) == 0)
            return (int)i;
    return -1;
}

/* `@ rolling_window` is True, and the word of `@ device(gpu)` a string. */
static const node *policy_value(compiler_source *s, const node *policy) {
    node *n = ARENA_NEW(&s->memory, node, 1);
    *n = policy->kind == NODE_CALL ? *policy->items[0]
                                   : (node){.kind = NODE_BOOL, .at = policy->at, .integer = 1};
    if (n->kind == NODE_NAME)
        n->kind = NODE_STRING;
    return n;
}

static bool put_constants(compiler_source *s, record_type *r, const node *n, diagnostics *d) {
    if (n->kind != NODE_BINARY)
        return true;
    const node *policy = n->right, *name = policy->kind == NODE_CALL ? policy->left : policy;
    int field = name->kind == NODE_NAME ? policy_named(r, name->text) : -1;
    const bool called = policy->kind == NODE_CALL;
    if (field < 0 || (called && (policy->count != 1 || r->absent[field]))) {
        diagnose_error(d, ERROR_UNKNOWN_POLICY, policy->at,
                       "%s has no such constant, and no such field that may be there",
                       r->ast->name);
        for (uint32_t i = 0; i < r->count; i++)
            if (is_policy(r, i))
                diagnose_note(d, r->ast->fields[i].at, "there is '%s'", r->names[i]);
        const char *instead = name->kind == NODE_NAME ? call_instead_of(name->text) : NULL;
        if (instead)
            diagnose_help(d, "write %s", instead);
        return false;
    }
    if (r->absent[field])
        r->absent[field] = false;
    else
        r->constants[field] = policy_value(s, policy);
    return put_constants(s, r, n->left, d);
}

/* ---- both ---- */

record_type *record_instance(compiler_source *s, source_module *m, record_type *r, const node *n,
                             diagnostics *d) {
    const node *base = without_policies(n);
    substitution u = {s, d, r->ast->generic,
                      base->kind == NODE_SUBSCRIPT ? put_parameters(s, base) : NULL};
    if (!record_read(s, r, d) || (u.given && !parameters_fit(r, u.given, d)))
        return NULL;
    if (base == n && !u.given)
        return r;
    record_type *out = arena_copy(&s->memory, r, sizeof *r);
    out->of = r;
    out->fields = ARENA_NEW(&s->memory, value_type, r->count + 1);
    out->constants = arena_copy(&s->memory, r->constants, sizeof *r->constants * r->count);
    out->absent = arena_copy(&s->memory, r->absent, sizeof *r->absent * r->count);
    bool good = true;
    for (uint32_t i = 0; i < r->count && good; i++) {
        node *written = r->ast->fields[i].annotation, *field = put(&u, written);
        bool own = written->kind == NODE_STRING && field != written;
        good = field &&
               value_type_read(s, own ? m : (source_module *)r->module, field, &out->fields[i], d);
    }
    return good && put_constants(s, out, n, d) ? out : NULL;
}
