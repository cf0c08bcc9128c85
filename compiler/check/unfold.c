/* unfold.c - parameters of a kernel that are made of several tensors: records, lists and tuples
 * become parameters of their own, by the names "blocks.0.wq"; and weights that a kernel's functions
 * name without taking them become parameters behind its own. */
#include <string.h>

#include "check/check.h"

/* ---- records, lists, tuples ---- */

bool unfold_is_compound(source_module *m, const node *n) {
    return interface_is_shaped(n, "list") || interface_is_shaped(n, "tuple") || record_named(m, n);
}

typedef struct unfolding {
    compiler_source *source;
    diagnostics *report;
    ast_parameters *out;
    span at;
} unfolding;

static bool unfold_tensors(const unfolding *u, const char *name, const value_type *t);

static bool unfold_items(const unfolding *u, const char *name, const value_type *t) {
    bool good = true;
    for (uint32_t i = 0; i < t->count && u->out->count <= LIMIT_PARAMETERS; i++)
        good &= unfold_tensors(u, arena_printf(&u->source->memory, "%s.%u", name, i),
                               &t->items[t->kind == VALUE_LIST ? 0 : i]);
    return good;
}

static bool unfold_tensors(const unfolding *u, const char *name, const value_type *t) {
    ast_parameter leaf = {.name = name, .at = u->at, .annotation = (node *)t->node};
    bool good = true;
    switch (t->kind) {
    case VALUE_TENSOR:
        vec_push(u->out, leaf);
        return true;
    case VALUE_RECORD:
        for (uint32_t i = 0; i < t->record->count && u->out->count <= LIMIT_PARAMETERS; i++)
            good &= t->record->constants[i] || t->record->absent[i] ||
                    unfold_tensors(
                        u, arena_printf(&u->source->memory, "%s.%s", name, t->record->names[i]),
                        &t->record->fields[i]);
        return good;
    case VALUE_TUPLE:
    case VALUE_LIST:
        if (t->count)
            return unfold_items(u, name, t);
        break;
    default:
        break;
    }
    diagnose_error(u->report, ERROR_TENSOR_ANNOTATION, t->at,
                   "'%s' of a kernel is made of tensors, and this says neither which nor how many",
                   name);
    diagnose_help(u->report, "write Tensor[\"M\", \"N\", f32], or list[Block, 4]");
    return false;
}

bool unfold_parameter(compiler_source *s, const ast_parameter *p, ast_parameters *out,
                      value_type *type, diagnostics *d) {
    const unfolding u = {s, d, out, p->at};
    return value_type_read(s, s->main, p->annotation, type, d) && unfold_tensors(&u, p->name, type);
}

static entity fold_tensors(checker *c, const value_type *t, const char *name,
                           const ast_parameter **next, span at);

static entity fold_record(checker *c, const record_type *r, const char *name,
                          const ast_parameter **next, span at) {
    entity *items = ARENA_NEW(&c->memory, entity, r->count + 1);
    for (uint32_t i = 0; i < r->count; i++)
        items[i] =
            r->absent[i] ? (entity){.kind = ENTITY_NONE, .at = at}
            : r->constants[i]
                ? check_constant(c, (source_module *)r->module, r->constants[i])
                : fold_tensors(c, &r->fields[i],
                               arena_printf(&c->memory, "%s.%s", name, r->names[i]), next, at);
    entity out = entity_record(r, items, at);
    if (r->ast->is_state)
        out.state = state_new(c, name);
    return out;
}

/* Makes the value again: one tensor of the list after the other. */
static entity fold_tensors(checker *c, const value_type *t, const char *name,
                           const ast_parameter **next, span at) {
    if (t->kind == VALUE_TENSOR) {
        const local_name *leaf = scope_find_own(c, (*next)++->name);
        return leaf ? leaf->value : entity_broken(at);
    }
    if (t->kind == VALUE_RECORD)
        return fold_record(c, t->record, name, next, at);
    entity out = entity_tuple(c, t->count, at);
    for (uint32_t i = 0; i < out.count; i++)
        out.items[i] = fold_tensors(c, &t->items[t->kind == VALUE_LIST ? 0 : i],
                                    arena_printf(&c->memory, "%s.%u", name, i), next, at);
    return out;
}

entity unfold_value(checker *c, const parameter_record *r) {
    const ast_parameter *next = &c->kernel->function->parameters[r->first];
    return fold_tensors(c, r->type, r->name, &next, r->at);
}

/* ---- distributions of their tensors ---- */

static const node *keyword(const node *call, const char *name, size_t length) {
    for (uint32_t i = 0; i < call->count; i++) {
        const node *n = call->items[i];
        if (n->kind == NODE_KEYWORD && strlen(n->text) == length &&
            strncmp(n->text, name, length) == 0)
            return n;
    }
    return NULL;
}

static bool field_is_there(const record_type *t, const char *name, uint32_t *out) {
    for (*out = 0; *out < t->count; ++*out)
        if (strcmp(t->names[*out], name) == 0)
            return !t->absent[*out] && !t->constants[*out];
    return false;
}

/* Block(wq=normal(0, 0.1)) of a record: each argument is a field that has tensors. */
static bool fields_fit(source_module *m, const value_type *t, const node *n, diagnostics *d) {
    bool good = true;
    for (uint32_t i = 0; i < n->count && good; i++) {
        const node *item = n->items[i];
        uint32_t field = 0;
        if (item->kind == NODE_KEYWORD && field_is_there(t->record, item->text, &field)) {
            good = unfold_fits(m, &t->record->fields[field], item->left, d);
            continue;
        }
        diagnose_error(d, ERROR_CASE_ARGUMENT,
                       item->kind == NODE_KEYWORD ? item->symbol_at : item->at,
                       "%s here has no tensors of this name", t->record->ast->name);
        bool unknown = item->kind == NODE_KEYWORD && field == t->record->count;
        if (!unknown || !diagnose_nearest(d, item->text, t->record->names, t->record->count))
            diagnose_note(d, t->at, "it is annotated here");
        good = false;
    }
    return good;
}

/* A record stands for each item of a list; what else is said of several tensors, for all of them.
 */
bool unfold_fits(source_module *m, const value_type *t, const node *n, diagnostics *d) {
    bool items = n->kind == NODE_LIST || n->kind == NODE_TUPLE, good = true;
    if (n->kind == NODE_CALL && unfold_is_compound(m, n->left)) {
        while (t->kind == VALUE_LIST)
            t = t->items;
        return t->kind != VALUE_RECORD || fields_fit(m, t, n, d);
    }
    if (!items || (t->kind != VALUE_LIST && t->kind != VALUE_TUPLE))
        return true;
    if (n->count != t->count) {
        diagnose_error(d, ERROR_CASE_ARGUMENT, n->at, "this holds %u, but the annotation says %u",
                       n->count, t->count);
        diagnose_note(d, t->at, "annotated here");
        return false;
    }
    for (uint32_t i = 0; i < n->count && good; i++)
        good = unfold_fits(m, &t->items[t->kind == VALUE_LIST ? 0 : i], n->items[i], d);
    return good;
}

/* "blocks.0.wq" of case("a", blocks=[Block(wq=normal(0, 0.1))]), or of blocks=normal(0, 0.1). NULL:
 * nothing is said of it. */
const node *unfold_argument(source_module *m, const node *call, const char *name) {
    size_t length = strcspn(name, ".");
    const node *found = keyword(call, name, length), *n = found ? found->left : NULL;
    for (name += length; n && *name; name += length) {
        length = strcspn(++name, ".");
        bool index = name[0] >= '0' && name[0] <= '9';
        bool list = n->kind == NODE_LIST || n->kind == NODE_TUPLE;
        bool record = n->kind == NODE_CALL && unfold_is_compound(m, n->left);
        if (index && list) {
            uint32_t i = (uint32_t)strtoul(name, NULL, 10);
            n = i < n->count ? n->items[i] : NULL;
        } else if (!index && record) {
            const node *field = keyword(n, name, length);
            n = field ? field->left : NULL;
        }
    }
    return n;
}

/* ---- weights ---- */

bool weight_is_one(const node *value) {
    return value && interface_is_shaped(value, "Param");
}

static bool has_parameter(const ast_parameters *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

typedef VEC(const callable *) callable_list;

typedef struct weight_search {
    compiler_source *source;
    ast_parameters *out;
    callable_list called; /* functions that are looked at, or yet to be */
} weight_search;

static void note_called(weight_search *w, const callable *f) {
    for (size_t i = 0; i < w->called.count; i++)
        if (w->called.items[i] == f)
            return;
    vec_push(&w->called, f);
}

/* Methods of that name, whose record it may be. */
static void note_methods(weight_search *w, const char *name) {
    for (size_t i = 0; i < w->source->opened.count; i++) {
        source_module *m = w->source->opened.items[i];
        for (uint32_t k = 0; k < m->record_count; k++) {
            const callable *f =
                m->records[k].read ? record_method_named(&m->records[k], name) : NULL;
            if (f)
                note_called(w, f);
        }
    }
}

/* A constant may be f.with_schedule(...), or another one with a schedule. */
static void note_scheduled(weight_search *w, source_module *m, const node *value) {
    for (uint32_t links = 0; value && links < LIMIT_DEPTH; links++) {
        const bool with = value->kind == NODE_CALL && value->left->kind == NODE_ATTRIBUTE;
        const char *name = value->kind == NODE_NAME ? value->text : "";
        source_module *from = *name ? module_of_name(m, &name) : NULL;
        callable *f = from ? module_function(from, name) : NULL;
        if (f)
            note_called(w, f);
        m = from ? from : m;
        value = with ? value->left->left : from && !f ? module_constant(from, name) : NULL;
    }
}

static void note_name(weight_search *w, source_module *m, const node *n) {
    const char *name = n->text;
    source_module *from = module_of_name(m, &name);
    const node *value = from ? module_constant(from, name) : NULL;
    callable *f = from ? module_function(from, name) : NULL;
    if (f)
        note_called(w, f);
    else if (value && !weight_is_one(value))
        note_scheduled(w, from, value);
    if (!weight_is_one(value) || has_parameter(w->out, name))
        return;
    node *written = ARENA_NEW(&w->source->memory, node, 1);
    node *word = ARENA_NEW(&w->source->memory, node, 1);
    *written = *value;
    *word = (node){.kind = NODE_NAME, .at = value->left->at, .text = "Tensor", .depth = 1};
    written->left = word;
    ast_parameter one = {.name = name, .at = value->at, .annotation = written};
    vec_push(w->out, one);
}

static void note_weights(weight_search *w, source_module *m, const node *n) {
    if (!n)
        return;
    if (n->kind == NODE_NAME)
        note_name(w, m, n);
    if (n->kind == NODE_CALL && n->left->kind == NODE_ATTRIBUTE)
        note_methods(w, n->left->text);
    note_weights(w, m, n->left);
    note_weights(w, m, n->right);
    note_weights(w, m, n->third);
    for (uint32_t i = 0; i < n->count; i++)
        note_weights(w, m, n->items[i]);
}

void weights_find(compiler_source *s, const ast_function *f, ast_parameters *out) {
    weight_search w = {.source = s, .out = out};
    for (uint32_t i = 0; i < f->body_count; i++)
        note_weights(&w, s->main, f->body[i]);
    for (size_t k = 0; k < w.called.count; k++) {
        const callable *called = w.called.items[k];
        for (uint32_t i = 0; i < called->ast->body_count; i++)
            note_weights(&w, called->module, called->ast->body[i]);
    }
    vec_release(&w.called);
}
