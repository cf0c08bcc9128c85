/* function.c - functions that kernels call: their heads, and calls, which are written out where
 * they stand and checked there. */
#include <string.h>

#include "check/settings.h"

/* ---- the head ---- */

enum { NAME_BYTES = 31 };

static bool read_parameter(compiler_source *s, callable *f, uint32_t i, diagnostics *d) {
    const ast_parameter *p = &f->ast->parameters[i];
    if (strlen(p->name) > NAME_BYTES) {
        diagnose_error(d, ERROR_NAME_LIMIT, p->at, "a function's parameter has at most %d letters",
                       NAME_BYTES);
        return false;
    }
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(f->ast->parameters[k].name, p->name) == 0) {
            diagnose_error(d, ERROR_DUPLICATE_PARAMETER, p->at, "parameter '%s' appears twice",
                           p->name);
            return false;
        }
    }
    return value_type_read(s, f->module, p->annotation, &f->parameters[i], d);
}

static bool all_tiles(const value_type *t) {
    bool good = t->kind == VALUE_TUPLE || value_type_is_tile(t);
    for (uint32_t i = 0; t->kind == VALUE_TUPLE && i < t->count; i++)
        good &= value_type_is_tile(&t->items[i]);
    return good;
}

/* A function of tiles says that it gives tiles. */
static bool read_result(compiler_source *s, callable *f, diagnostics *d) {
    const node *n = f->ast->returns;
    if (!value_type_read(s, f->module, n, &f->result, d))
        return false;
    if (!f->in_tiles || all_tiles(&f->result))
        return true;
    diagnose_error(d, ERROR_RESULT_ANNOTATION, n ? n->at : f->ast->at,
                   "function '%s' does not say that it gives tiles", f->ast->name);
    diagnose_help(d, "write -> Tile, or -> tuple[Tile, Tile]");
    return false;
}

static bool read_decorators(callable *f, diagnostics *d) {
    bool good = true;
    for (uint32_t i = 0; i < f->ast->decorator_count; i++) {
        const node *n = f->ast->decorators[i], *call = n->kind == NODE_CALL ? n->left : n;
        if (call != n && call->kind == NODE_NAME && strcmp(call->text, "math") == 0 && n->count)
            f->math = n->items[0]->text;
        if (!f->in_tiles || (n->kind == NODE_ATTRIBUTE && strcmp(n->text, "auto") == 0))
            continue;
        diagnose_error(d, ERROR_HELPER, n->at,
                       "function '%s' takes Tile, so it is part of the kernels that call it",
                       f->ast->name);
        diagnose_help(d, "leave the decorator out; a kernel takes KTile[\"M\", \"N\", f32]");
        good = false;
    }
    return good;
}

bool callable_is_of_tiles(const callable *f) {
    bool tiles = false;
    for (uint32_t i = 0; f->is_kernel && i < f->ast->parameter_count; i++)
        tiles |= f->ast->parameters[i].annotation &&
                 (interface_is_shaped(f->ast->parameters[i].annotation, "KTile") ||
                  interface_is_cache(f->ast->parameters[i].annotation));
    return tiles;
}

/* A kernel of tiles takes what its interface says: a cache is two tensors. */
static bool read_tiles(compiler_source *s, callable *f, diagnostics *d) {
    const kernel_interface *own = NULL;
    for (uint32_t i = 0; i < s->kernel_count && !own; i++)
        if (s->interfaces[i].function->at.start == f->ast->at.start)
            own = &s->interfaces[i];
    if (!own) {
        kernel_interface *made = ARENA_NEW(&s->memory, kernel_interface, 1);
        *made = interface_of(s, f->ast, d);
        own = made;
    }
    f->of_tiles = own;
    f->ast = own->function;
    f->broken = own->broken || f->ast->parameter_count > CALL_MAX_ARGUMENTS;
    return !f->broken;
}

bool callable_read(compiler_source *s, callable *f, diagnostics *d) {
    const ast_function *ast = f->ast;
    if (f->read)
        return !f->broken;
    f->read = true;
    if (callable_is_of_tiles(f))
        return read_tiles(s, f, d);
    bool good = ast->has_header && !ast->broken && read_decorators(f, d);
    if (ast->parameter_count > CALL_MAX_ARGUMENTS) {
        diagnose_error(d, ERROR_TENSOR_LIMIT, ast->at,
                       "a function that is called has at most %d parameters: put some into a "
                       "record",
                       CALL_MAX_ARGUMENTS);
        good = false;
    }
    const ast_function *around = s->head;
    s->head = ast;
    f->parameters = ARENA_NEW(&s->memory, value_type, ast->parameter_count + 1);
    for (uint32_t i = 0; ast->has_header && i < ast->parameter_count; i++)
        good &= read_parameter(s, f, i, d);
    good &= ast->has_header && read_result(s, f, d);
    s->head = around;
    if (!f->is_kernel && scope_is_function(ast->name)) {
        diagnose_error(d, ERROR_NAME_CLASH, ast->at, "'%s' is a function of the language",
                       ast->name);
        good = false;
    }
    f->broken = !good;
    return good;
}

/* ---- a call ---- */

typedef struct call_frame {
    const callable *function;
    const struct call_frame *up;
    span at; /* the call */
} call_frame;

/* The call in the first file by which the checker is where it is. */
span checker_place(const checker *c, span at) {
    const call_frame *frame = c->calls;
    for (; frame && !source_is_first(c->report->source, at.start); frame = frame->up)
        at = frame->at;
    return at;
}

ir_location checker_location(const checker *c, span at) {
    const source_position p = source_position_of(c->report->source, checker_place(c, at).start);
    return (ir_location){.line = p.line, .column = p.column, .setting = c->settings.now};
}

static bool refuse_depth(checker *c, const callable *f, const node *n) {
    int depth = 0;
    bool again = false;
    for (const call_frame *call = c->calls; call; call = call->up) {
        again |= call->function == f;
        depth++;
    }
    again |= f->ast == c->kernel->function || f->ast->at.start == c->kernel->function->at.start;
    if (again) {
        diagnose_error(c->report, ERROR_RECURSION, n->at,
                       "'%s' calls itself, and a call is written out", f->ast->name);
        diagnose_note(c->report, f->ast->at, "defined here");
    } else if (depth == LIMIT_CALLS) {
        diagnose_error(c->report, ERROR_RECURSION, n->at,
                       "functions call each other at most %d deep, and this is one more",
                       LIMIT_CALLS);
    }
    return again || depth == LIMIT_CALLS;
}

call_arguments *call_arguments_of(checker *c, const char *name, const ast_parameter *parameters,
                                  uint32_t count) {
    call_arguments *a = ARENA_NEW(&c->memory, call_arguments, 1);
    text signature;
    text_init(&signature);
    for (uint32_t i = 0; i < count; i++) {
        const ast_parameter *p = &parameters[i];
        size_t length = strlen(p->name);
        memcpy(a->names[i], p->name, length < NAME_BYTES ? length : NAME_BYTES);
        a->required[i] = !p->fallback;
        a->keyword_only[i] = p->keyword_only;
        text_printf(&signature, "%s%s%s", i ? ", " : "", p->name, p->fallback ? "=..." : "");
    }
    a->function = name;
    a->count = (int)count;
    a->signature = arena_strdup(&c->memory, signature.data);
    text_release(&signature);
    return a;
}

entity check_constant(checker *c, source_module *m, const node *n) {
    const name_scope own = c->scope;
    source_module *around = c->module;
    scope_init(&c->scope);
    c->module = m;
    c->constants_only = true;
    entity e = check_expression(c, n);
    c->constants_only = false;
    scope_release(&c->scope);
    c->scope = own;
    c->module = around;
    return e;
}

/* Parameters are names of the function; dimensions and types are those of what was given. */
static bool define_parameters(checker *c, const callable *f, call_arguments *a) {
    bool good = true;
    for (uint32_t i = 0; i < f->ast->parameter_count; i++) {
        if (!a->given[i])
            a->values[i] = check_constant(c, f->module, f->ast->parameters[i].fallback);
        value_type_bind(c, &f->parameters[i], &a->values[i]);
    }
    for (uint32_t i = 0; i < f->ast->parameter_count && good; i++) {
        const ast_parameter *p = &f->ast->parameters[i];
        bool none = !a->given[i] && a->values[i].kind == ENTITY_NONE;
        good =
            none || value_type_fit(c, &f->parameters[i], &a->values[i],
                                   arena_printf(&c->memory, "'%s' of %s()", p->name, f->ast->name));
        if (good)
            scope_define(c, p->name, a->values[i], p->at, NULL);
    }
    return good;
}

static entity check_results(checker *c, const callable *f, const node *end) {
    if (!end->left) {
        diagnose_error(c->report, ERROR_EMPTY_RETURN, end->at, "a function returns a value");
        return entity_broken(end->at);
    }
    entity e = check_expression(c, end->left);
    uint32_t count = f->result.kind == VALUE_TUPLE ? f->result.count : 1,
             found = e.kind == ENTITY_TUPLE ? e.count : 1;
    bool known = f->result.kind != VALUE_ANY && f->result.kind != VALUE_LIST;
    if (e.kind != ENTITY_BROKEN && known &&
        (found != count || (f->result.kind == VALUE_TUPLE) != (e.kind == ENTITY_TUPLE))) {
        diagnose_error(c->report, ERROR_RESULT_COUNT, end->left->at,
                       "%u values are returned, but the annotation names %u", found, count);
        diagnose_note(c->report, f->result.at, "annotated here");
        return entity_broken(end->at);
    }
    return e.kind != ENTITY_BROKEN && value_type_fit(c, &f->result, &e, "the returned value")
               ? e
               : entity_broken(end->at);
}

static entity check_called(checker *c, const callable *f, call_arguments *a) {
    if (!define_parameters(c, f, a))
        return entity_broken(a->at);
    const settings_mark mark = settings_begin(c);
    const node *end = check_until_return(c, f->ast);
    entity e = end ? check_results(c, f, end) : entity_broken(a->at);
    settings_end(c, mark);
    return e;
}

static entity write_out(checker *c, const callable *f, call_arguments *a) {
    const call_frame frame = {f, c->calls, a->at};
    const name_scope around = c->scope;
    const uint32_t outer = c->settings.now;
    source_module *module = c->module;
    uint32_t before = c->report->reported;
    const promise_mark mark = promise_begin(c);
    c->calls = &frame;
    c->module = f->module;
    scope_init(&c->scope);
    entity e = settings_of_head(c, f->ast) ? (f->of_tiles ? tiles_called : check_called)(c, f, a)
                                           : entity_broken(a->at);
    scope_release(&c->scope);
    c->scope = around;
    c->settings.now = outer;
    c->module = module;
    c->calls = frame.up;
    if (c->report->reported != before)
        diagnose_note(c->report, a->at, "'%s' is called here", f->ast->name);
    e.at = a->at;
    promise_note(c, f, &mark, &e);
    return e;
}

/* Kernels that are launched by themselves alone. */
static bool refuse_kernel(checker *c, const callable *f, const node *n) {
    const char *why = NULL;
    if (c->tiles && callable_is_of_tiles(f))
        why = "is a kernel of tiles, which kernels of whole tensors call";
    else if (contract_is_one(f->ast))
        why = graph_text_of(f->ast) ? "is written as Graph IR" : "has no formula";
    if (!why)
        return false;
    diagnose_error(c->report, ERROR_KERNEL_CALL, n->left->at, "'%s' %s", f->ast->name, why);
    diagnose_note(c->report, f->ast->at, "defined here");
    return true;
}

static bool refuse_functions(checker *c, const callable *f, const node *n) {
    const char *own = c->kernel->math ? c->kernel->math : "", *its = f->math ? f->math : "";
    if (!f->is_kernel || strcmp(own, its) == 0)
        return false;
    diagnose_error(c->report, ERROR_KERNEL_CALL, n->left->at,
                   "'%s' has functions of another set: one is under @math, the other is not",
                   f->ast->name);
    diagnose_note(c->report, f->ast->at, "defined here");
    return true;
}

entity function_call(checker *c, callable *f, const node *n) {
    if (f->in_tiles && !c->tiles) {
        diagnose_error(c->report, ERROR_TILE_KERNEL, n->left->at,
                       "'%s' takes tiles, and this is a kernel of whole tensors", f->ast->name);
        diagnose_note(c->report, f->ast->at, "defined here");
        return entity_broken(n->at);
    }
    if (refuse_kernel(c, f, n) || refuse_depth(c, f, n) ||
        !callable_read(c->source, f, c->report) || refuse_functions(c, f, n))
        return entity_broken(n->at);
    call_arguments *a =
        call_arguments_of(c, f->ast->name, f->ast->parameters, f->ast->parameter_count);
    const int level = c->plain == f ? c->plain_level : 0;
    c->plain = NULL;
    a->at = n->at;
    if (!bind_arguments(c, n, a) || !emit_count(c, n->at))
        return entity_broken(n->at);
    return !c->tiles && rules_has_any(f, level) ? rules_call(c, f, a, level) : write_out(c, f, a);
}
