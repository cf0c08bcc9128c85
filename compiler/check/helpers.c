/* helpers.c - functions that kernels of tiles call: tiles in, tiles out. They are written out at
 * each call, and checked there. */
#include <string.h>

#include "check/check.h"

/* Kinds of a helper's parameter, as its annotation says. */
static const struct {
    const char *word, *meaning;
    entity_kind kinds[3];
} parameter_kinds[] = {
    {"Tile", "a tile", {ENTITY_TENSOR}},
    {"KTile", "a tensor in memory", {ENTITY_MEMORY}},
    {"Block", "a block", {ENTITY_BLOCK}},
    {"float", "a number", {ENTITY_NUMBER, ENTITY_DIM}},
    {"int", "a number", {ENTITY_NUMBER, ENTITY_DIM}},
    {"bool", "True or False", {ENTITY_BOOL}},
};

enum { KIND_COUNT = sizeof parameter_kinds / sizeof *parameter_kinds, NAME_BYTES = 31 };

static bool is_word(const node *n, const char *word) {
    return n && n->kind == NODE_NAME && strcmp(n->text, word) == 0;
}

static bool is_tuple(const node *n) {
    return n && n->kind == NODE_SUBSCRIPT && is_word(n->left, "tuple");
}

static int kind_of(const node *n) {
    for (int i = 0; i < KIND_COUNT; i++)
        if (is_word(n, parameter_kinds[i].word))
            return i;
    return -1;
}

bool helper_is_one(const ast_function *f) {
    bool tile = is_word(f->returns, "Tile");
    for (uint32_t i = 0; is_tuple(f->returns) && i < f->returns->count; i++)
        tile |= is_word(f->returns->items[i], "Tile");
    for (uint32_t i = 0; i < f->parameter_count; i++)
        tile |= is_word(f->parameters[i].annotation, "Tile");
    return tile;
}

const ast_function *helper_find(const compiler_source *s, const char *name) {
    for (uint32_t i = 0; i < s->helper_count; i++)
        if (strcmp(s->helpers[i]->name, name) == 0)
            return s->helpers[i];
    return NULL;
}

/* ---- the head ---- */

static bool read_parameter(const ast_function *f, const ast_parameter *p, diagnostics *d) {
    if (strlen(p->name) > NAME_BYTES) {
        diagnose_error(d, ERROR_NAME_LIMIT, p->at, "a helper's parameter has at most %d letters",
                       NAME_BYTES);
        return false;
    }
    if (kind_of(p->annotation) < 0) {
        diagnose_error(d, ERROR_HELPER, p->at,
                       "parameter '%s' is of no kind that helper '%s' can take", p->name, f->name);
        diagnose_help(d, "annotate it as Tile, KTile, Block, float, int or bool");
        return false;
    }
    return true;
}

static bool read_results(const ast_function *f, diagnostics *d) {
    const node *n = f->returns;
    bool good = is_tuple(n) || is_word(n, "Tile");
    for (uint32_t i = 0; is_tuple(n) && i < n->count; i++)
        good &= is_word(n->items[i], "Tile");
    if (!good) {
        diagnose_error(d, ERROR_RESULT_ANNOTATION, n ? n->at : f->at,
                       "helper '%s' does not say that it gives tiles", f->name);
        diagnose_help(d, "write -> Tile, or -> tuple[Tile, Tile]");
    }
    return good;
}

static bool read_head(const ast_function *f, diagnostics *d) {
    bool good = f->has_header && read_results(f, d);
    for (uint32_t i = 0; i < f->decorator_count; i++) {
        const node *n = f->decorators[i];
        if (n->kind != NODE_ATTRIBUTE || strcmp(n->text, "auto") != 0) {
            diagnose_error(d, ERROR_HELPER, n->at,
                           "helper '%s' takes Tile, so it is part of the kernels that call it",
                           f->name);
            diagnose_help(d, "leave the decorator out; a kernel takes KTile[\"M\", \"N\", f32]");
            good = false;
        }
    }
    for (uint32_t i = 0; i < f->parameter_count; i++)
        good &= read_parameter(f, &f->parameters[i], d);
    if (f->parameter_count > CALL_MAX_ARGUMENTS) {
        diagnose_error(d, ERROR_TENSOR_LIMIT, f->at, "a helper has at most %d parameters",
                       CALL_MAX_ARGUMENTS);
        good = false;
    }
    if (scope_is_function(f->name)) {
        diagnose_error(d, ERROR_NAME_CLASH, f->at, "'%s' is a function of the language", f->name);
        good = false;
    }
    return good;
}

void helper_read(compiler_source *s, const ast_function *f, diagnostics *d) {
    if (read_head(f, d) && !f->broken)
        s->helpers[s->helper_count++] = f;
}

/* ---- a call ---- */

typedef struct helper_frame {
    const ast_function *function;
    const struct helper_frame *up;
} helper_frame;

static bool refuse_depth(checker *c, const ast_function *f, const node *n) {
    int depth = 0;
    bool again = false;
    for (const helper_frame *call = c->calls; call; call = call->up) {
        again |= call->function == f;
        depth++;
    }
    if (again) {
        diagnose_error(c->report, ERROR_HELPER, n->at,
                       "'%s' calls itself, and a call is written out", f->name);
        diagnose_note(c->report, f->at, "defined here");
    } else if (depth == LIMIT_HELPERS) {
        diagnose_error(c->report, ERROR_HELPER, n->at,
                       "helpers call each other at most %d deep, and this is one more",
                       LIMIT_HELPERS);
    }
    return again || depth == LIMIT_HELPERS;
}

static void put_names(checker *c, const ast_function *f, call_arguments *a) {
    text signature;
    text_init(&signature);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const ast_parameter *p = &f->parameters[i];
        memcpy(a->names[i], p->name, strlen(p->name));
        a->required[i] = !p->fallback;
        a->keyword_only[i] = p->keyword_only;
        text_printf(&signature, "%s%s%s", i ? ", " : "", p->name, p->fallback ? "=..." : "");
    }
    a->function = f->name;
    a->count = (int)f->parameter_count;
    a->signature = arena_strdup(&c->memory, signature.data);
    text_release(&signature);
}

static bool fits(checker *c, const ast_function *f, uint32_t index, const entity *e) {
    int kind = kind_of(f->parameters[index].annotation);
    for (int i = 0; i < 3; i++)
        if (parameter_kinds[kind].kinds[i] == e->kind)
            return true;
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "'%s' of %s() takes %s, not %s",
                   f->parameters[index].name, f->name, parameter_kinds[kind].meaning,
                   entity_describe(e));
    diagnose_note(c->report, f->parameters[index].at, "annotated here");
    if (e->kind == ENTITY_MEMORY)
        diagnose_help(c->report, "load a tile of it: tile.load(x, T.rows)");
    return false;
}

/* Parameters are names of the helper; what was not given is what its head says. */
static bool define_parameters(checker *c, const ast_function *f, call_arguments *a) {
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const ast_parameter *p = &f->parameters[i];
        if (!a->given[i]) {
            c->constants_only = true;
            a->values[i] = check_expression(c, p->fallback);
            c->constants_only = false;
        }
        if (a->values[i].kind == ENTITY_BROKEN || !fits(c, f, i, &a->values[i]))
            return false;
        scope_define(c, p->name, a->values[i], p->at, NULL);
    }
    return true;
}

static entity check_results(checker *c, const ast_function *f, const node *end) {
    uint32_t count = is_tuple(f->returns) ? f->returns->count : 1;
    if (!end->left) {
        diagnose_error(c->report, ERROR_EMPTY_RETURN, end->at, "a helper returns a tile");
        return entity_broken(end->at);
    }
    entity e = check_expression(c, end->left);
    uint32_t found = e.kind == ENTITY_TUPLE ? e.count : 1;
    bool good = e.kind != ENTITY_BROKEN;
    if (good && (found != count || is_tuple(f->returns) != (e.kind == ENTITY_TUPLE))) {
        diagnose_error(c->report, ERROR_RESULT_COUNT, end->left->at,
                       "%u values are returned, but the annotation names %u", found, count);
        diagnose_note(c->report, f->returns->at, "annotated here");
        good = false;
    }
    for (uint32_t i = 0; good && i < count; i++)
        good = argument_tensor(c, e.kind == ENTITY_TUPLE ? &e.items[i] : &e, "a returned value");
    return good ? e : entity_broken(end->at);
}

static entity check_helper(checker *c, const ast_function *f, call_arguments *a) {
    if (!define_parameters(c, f, a))
        return entity_broken(a->at);
    const node *end = check_until_return(c, f);
    return end ? check_results(c, f, end) : entity_broken(a->at);
}

static entity write_out(checker *c, const ast_function *f, call_arguments *a) {
    const helper_frame frame = {f, c->calls};
    const name_scope around = c->scope;
    uint32_t before = c->report->reported;
    c->calls = &frame;
    scope_init(&c->scope);
    entity e = check_helper(c, f, a);
    scope_release(&c->scope);
    c->scope = around;
    c->calls = frame.up;
    if (c->report->reported != before)
        diagnose_note(c->report, a->at, "'%s' is called here", f->name);
    e.at = a->at;
    return e;
}

entity helper_call(checker *c, const ast_function *f, const node *n) {
    if (!c->tiles) {
        diagnose_error(c->report, ERROR_TILE_KERNEL, n->left->at,
                       "'%s' takes tiles, and this is a kernel of whole tensors", f->name);
        diagnose_note(c->report, f->at, "defined here");
        return entity_broken(n->at);
    }
    call_arguments *a = ARENA_NEW(&c->memory, call_arguments, 1);
    a->at = n->at;
    put_names(c, f, a);
    return refuse_depth(c, f, n) || !bind_arguments(c, n, a) || !emit_count(c, n->at)
               ? entity_broken(n->at)
               : write_out(c, f, a);
}
