/* record.c - @record class NAME: its fields, a value of it, and the tensors that one is made of. */
#include <string.h>

#include "check/check.h"

/* ---- the head ---- */

static bool field_appears_before(const ast_record *r, uint32_t index, diagnostics *d) {
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(r->fields[i].name, r->fields[index].name) != 0)
            continue;
        diagnose_error(d, ERROR_RECORD, r->fields[index].at, "field '%s' appears twice",
                       r->fields[index].name);
        diagnose_note(d, r->fields[i].at, "first here");
        return true;
    }
    return false;
}

bool record_is_same(const record_type *a, const record_type *b) {
    return a && b && (a->of ? a->of : a) == (b->of ? b->of : b);
}

/* "P" and Like["P", f32] are anything until Generic["P"] has a value. */
static bool is_parameter(const ast_record *r, const node *n) {
    bool is = interface_is_shaped(n, "Like");
    for (uint32_t i = 0; r->generic && n->kind == NODE_STRING && i < r->generic->count; i++)
        is |= strcmp(r->generic->items[i]->text, n->text) == 0;
    return is;
}

static void list_methods(compiler_source *s, record_type *r) {
    const ast_record *ast = r->ast;
    r->methods = ARENA_NEW(&s->memory, callable, ast->method_count + 1);
    for (uint32_t i = 0; i < ast->method_count; i++)
        r->methods[i] = (callable){.ast = &ast->methods[i], .module = (source_module *)r->module};
}

bool record_read(compiler_source *s, record_type *r, diagnostics *d) {
    const ast_record *ast = r->ast;
    if (r->reading)
        diagnose_error(d, ERROR_RECORD, ast->at, "record '%s' holds itself", ast->name);
    if (r->read)
        return !r->broken && !r->reading;
    r->read = r->reading = true;
    r->count = ast->field_count;
    r->fields = ARENA_NEW(&s->memory, value_type, ast->field_count + 1);
    r->constants = ARENA_NEW(&s->memory, const node *, ast->field_count + 1);
    r->absent = ARENA_NEW(&s->memory, bool, ast->field_count + 1);
    list_methods(s, r);
    const char **names = ARENA_NEW(&s->memory, const char *, ast->field_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < ast->field_count; i++) {
        names[i] = ast->fields[i].name;
        good &= !field_appears_before(ast, i, d);
        const node *n =
            is_parameter(ast, ast->fields[i].annotation) ? NULL : ast->fields[i].annotation;
        good &= value_type_read(s, (source_module *)r->module, n, &r->fields[i], d);
        if (!n)
            r->fields[i].at = ast->fields[i].at;
        r->absent[i] = ast->fields[i].fallback && ast->fields[i].fallback->kind == NODE_NONE &&
                       !value_type_is_constant(&r->fields[i]);
        r->constants[i] = value_type_is_constant(&r->fields[i]) ? ast->fields[i].fallback : NULL;
    }
    if (ast->field_count == 0) {
        diagnose_error(d, ERROR_RECORD, ast->at, "record '%s' has no fields", ast->name);
        good = false;
    }
    if (ast->field_count > CALL_MAX_ARGUMENTS) {
        diagnose_error(d, ERROR_RECORD, ast->at,
                       "a record has at most %d fields: put some into a "
                       "record of their own",
                       CALL_MAX_ARGUMENTS);
        good = false;
    }
    for (uint32_t i = 0; i < ast->method_count; i++)
        good &= ast->methods[i].has_header && !ast->methods[i].broken;
    r->names = names;
    r->broken = !good;
    r->reading = false;
    return good;
}

/* ---- a value ---- */

entity entity_record(const record_type *r, entity *items, span at) {
    return (entity){.kind = ENTITY_RECORD,
                    .at = at,
                    .record = r,
                    .items = items,
                    .names = r->names,
                    .count = r->count};
}

/* A tensor is held to its dimensions where the record is used. */
static bool fits_field(checker *c, const record_type *r, uint32_t i, entity *value) {
    const char *what = arena_printf(&c->memory, "field '%s' of %s", r->names[i], r->ast->name);
    if (value->kind == ENTITY_NONE && r->ast->fields[i].fallback &&
        r->ast->fields[i].fallback->kind == NODE_NONE)
        return true;
    return value->kind != ENTITY_BROKEN &&
           (r->fields[i].kind == VALUE_TENSOR ? argument_tensor(c, value, what)
                                              : value_type_fit(c, &r->fields[i], value, what));
}

entity record_call(checker *c, record_type *r, const node *n) {
    if (!record_read(c->source, r, c->report))
        return entity_broken(n->at);
    call_arguments *a = call_arguments_of(c, r->ast->name, r->ast->fields, r->ast->field_count);
    a->at = n->at;
    if (!bind_arguments(c, n, a))
        return entity_broken(n->at);
    bool good = true;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!a->given[i])
            a->values[i] =
                check_constant(c, (source_module *)r->module, r->ast->fields[i].fallback);
        good &= fits_field(c, r, i, &a->values[i]);
    }
    entity *items = arena_copy(&c->memory, a->values, sizeof *items * r->count);
    entity e = entity_record(r, items, n->at);
    if (r->ast->is_state)
        e.state = state_new(c, NULL);
    return good ? e : entity_broken(n->at);
}

/* ---- replace(record, field=value) ---- */

static int field_named(const record_type *r, const char *name) {
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->names[i], name) == 0)
            return (int)i;
    return -1;
}

static bool replace_field(checker *c, entity *e, const node *n) {
    int i = n->kind == NODE_KEYWORD ? field_named(e->record, n->text) : -1;
    if (i >= 0 && !value_type_is_constant(&e->record->fields[i])) {
        e->items[i] = check_expression(c, n->left);
        return fits_field(c, e->record, (uint32_t)i, &e->items[i]);
    }
    diagnose_error(c->report, ERROR_UNKNOWN_ARGUMENT, n->at,
                   i >= 0 ? "this is a constant of %s, and stays as it is"
                          : "replace() takes fields of %s by their names",
                   e->record->ast->name);
    if (i < 0 && n->kind == NODE_KEYWORD)
        diagnose_nearest(c->report, n->text, e->names, e->count);
    return false;
}

entity record_replace(checker *c, const node *n) {
    entity base = n->count && n->items[0]->kind != NODE_KEYWORD
                      ? check_expression(c, n->items[0])
                      : (entity){.kind = ENTITY_NONE, .at = n->at};
    if (base.kind == ENTITY_BROKEN)
        return base;
    if (base.kind != ENTITY_RECORD || !base.record) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, base.at,
                       "replace() takes a record first, and this is %s", entity_describe(&base));
        return entity_broken(n->at);
    }
    bool good = state_usable(c, &base, n->items[0]->at);
    entity out = base;
    out.at = n->at;
    out.items = arena_copy(&c->memory, base.items, sizeof *out.items * base.count);
    for (uint32_t i = 1; i < n->count; i++)
        good &= replace_field(c, &out, n->items[i]);
    out.state = good ? state_write(c, base.state, n->at) : NULL;
    return good ? out : entity_broken(n->at);
}

/* ---- methods ---- */

callable *record_method_named(const record_type *r, const char *name) {
    const record_type *of = r->of ? r->of : r;
    for (uint32_t i = 0; i < of->ast->method_count; i++)
        if (strcmp(of->methods[i].ast->name, name) == 0)
            return &of->methods[i];
    return NULL;
}

/* The value is a name of its own while the call is bound, so that it is computed once. */
entity record_method(checker *c, const entity *self, const node *n) {
    static const char hidden[] = " self";
    callable *f = self->record ? record_method_named(self->record, n->left->text) : NULL;
    if (!f) {
        diagnose_error(c->report, ERROR_METHOD, n->left->symbol_at, "%s has no method '%.60s'",
                       self->record ? self->record->ast->name : entity_describe(self),
                       n->left->text);
        if (call_instead_of(n->left->text))
            diagnose_help(c->report, "write %s", call_instead_of(n->left->text));
        return entity_broken(n->at);
    }
    if (!state_usable(c, self, n->at))
        return entity_broken(n->at);
    node own = {.kind = NODE_NAME, .at = n->left->left->at, .text = hidden, .depth = 1};
    node callee = {.kind = NODE_NAME, .at = n->left->at, .text = f->ast->name, .depth = 1};
    node call = *n;
    call.left = &callee;
    call.items = ARENA_NEW(&c->memory, node *, n->count + 1);
    call.items[0] = &own;
    if (n->count)
        memcpy(call.items + 1, n->items, sizeof *n->items * n->count);
    call.count = n->count + 1;
    scope_define(c, hidden, *self, own.at, NULL);
    return function_call(c, f, &call);
}
