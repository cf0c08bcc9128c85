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

bool record_read(compiler_source *s, record_type *r, diagnostics *d) {
    const ast_record *ast = r->ast;
    if (r->reading)
        diagnose_error(d, ERROR_RECORD, ast->at, "record '%s' holds itself", ast->name);
    if (r->read)
        return !r->broken && !r->reading;
    r->read = r->reading = true;
    r->count = ast->field_count;
    r->fields = ARENA_NEW(&s->memory, value_type, ast->field_count + 1);
    const char **names = ARENA_NEW(&s->memory, const char *, ast->field_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < ast->field_count; i++) {
        names[i] = ast->fields[i].name;
        good &= !field_appears_before(ast, i, d);
        good &= value_type_read(s, (source_module *)r->module, ast->fields[i].annotation,
                                &r->fields[i], d);
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

entity record_call(checker *c, record_type *r, const node *n) {
    if (!record_read(c->source, r, c->report))
        return entity_broken(n->at);
    call_arguments *a = call_arguments_of(c, r->ast->name, r->ast->fields, r->ast->field_count);
    a->at = n->at;
    if (!bind_arguments(c, n, a))
        return entity_broken(n->at);
    bool good = true;
    for (uint32_t i = 0; i < r->count; i++) {
        const char *what = arena_printf(&c->memory, "field '%s' of %s", r->names[i], r->ast->name);
        if (!a->given[i])
            a->values[i] =
                check_constant(c, (source_module *)r->module, r->ast->fields[i].fallback);
        value_type t = r->fields[i];
        /* A tensor is held to its dimensions where the record is used. */
        good &= a->values[i].kind != ENTITY_BROKEN &&
                (t.kind == VALUE_TENSOR ? argument_tensor(c, &a->values[i], what)
                                        : value_type_fit(c, &t, &a->values[i], what));
    }
    entity *items = arena_copy(&c->memory, a->values, sizeof *items * (r->count + 1));
    return good ? entity_record(r, items, n->at) : entity_broken(n->at);
}
