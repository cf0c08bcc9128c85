/* parse_import.c - what a file names beside its functions: imports of other files, and records. */
#include <string.h>

#include "source/parser_state.h"

/* ---- imports ---- */

/* `.` and `..` come as single dots, three of them as one symbol. */
static uint32_t parse_dots(parser *p) {
    uint32_t level = 0;
    for (;;)
        if (parser_accept(p, SYMBOL1('.')))
            level++;
        else if (parser_accept(p, SYMBOL3('.', '.', '.')))
            level += 3;
        else
            return level;
}

static bool parse_module_name(parser *p, ast_import *out) {
    text name;
    text_init(&name);
    bool good = true, more = true;
    for (; good && more; more = good && parser_accept(p, SYMBOL1('.'))) {
        const token *t = parser_peek(p, 0);
        good = t->kind == TOKEN_NAME || parser_unexpected(p, "the name of a file");
        if (good)
            text_printf(&name, "%s%s", name.length ? "." : "", parser_next(p)->text);
    }
    out->module = arena_strdup(p->memory, name.data);
    text_release(&name);
    return good;
}

static bool parse_imported_name(parser *p, ast_import_name *out) {
    const token *t = parser_peek(p, 0);
    if (t->kind != TOKEN_NAME)
        return parser_unexpected(p, "a name or '*'");
    parser_next(p);
    *out = (ast_import_name){t->text, t->text, t->at};
    if (!parser_is_word(p, "as"))
        return true;
    parser_next(p);
    const token *local = parser_peek(p, 0);
    if (local->kind != TOKEN_NAME)
        return parser_unexpected(p, "a name");
    parser_next(p);
    out->local = local->text;
    return true;
}

static bool parse_names(parser *p, ast_import *out) {
    VEC(ast_import_name) names = {0};
    bool parenthesis = parser_accept(p, SYMBOL1('(')), good = true;
    do {
        ast_import_name one;
        good = parse_imported_name(p, &one);
        if (good)
            vec_push(&names, one);
    } while (good && parser_accept(p, SYMBOL1(',')) &&
             !(parenthesis && parser_is(p, SYMBOL1(')'))));
    out->count = (uint32_t)names.count;
    if (names.count)
        out->names = arena_copy(p->memory, names.items, names.count * sizeof *names.items);
    vec_release(&names);
    return good && (!parenthesis || parser_expect(p, SYMBOL1(')'), "',' or ')'"));
}

bool parse_import(parser *p, ast_import *out) {
    parser_next(p);
    uint32_t first = p->at;
    out->level = parse_dots(p);
    if (!parse_module_name(p, out))
        return false;
    out->at = parser_span(p, first);
    if (!parser_is_word(p, "import"))
        return parser_unexpected(p, "'import'");
    parser_next(p);
    out->all = parser_accept(p, SYMBOL1('*'));
    return out->all || parse_names(p, out);
}
