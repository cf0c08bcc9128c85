/* parse_record.c - @record class NAME and @state class NAME: parameters in Generic["M", "T"],
 * fields, methods. */
#include <string.h>

#include "source/parser_state.h"

/* Past a string that describes what follows. */
static void skip_docstring(parser *p) {
    if (parser_peek(p, 0)->kind != TOKEN_STRING)
        return;
    parser_next(p);
    parser_end_of_line(p);
}

static bool parse_field(parser *p, ast_parameter *out) {
    if (!parse_parameter(p, out))
        return false;
    if (out->annotation)
        return parser_end_of_line(p);
    diagnose_error(p->report, ERROR_RECORD, out->at, "field '%s' has no annotation", out->name);
    diagnose_help(p->report, "write %s: Tensor[\"M\", \"N\", f32]", out->name);
    return false;
}

static void parse_members(parser *p, ast_record *out) {
    VEC(ast_parameter) fields = {0};
    VEC(ast_function) methods = {0};
    while (parser_peek(p, 0)->kind != TOKEN_DEDENT && parser_peek(p, 0)->kind != TOKEN_END) {
        ast_parameter one = {0};
        ast_function method = {0};
        uint32_t first = p->at;
        if (parser_is_word(p, "def")) {
            parse_function(p, &method);
            method.whole = parser_span(p, first);
            vec_push(&methods, method);
        } else if (parse_field(p, &one)) {
            vec_push(&fields, one);
        } else {
            parser_skip_statement(p);
        }
    }
    if (parser_peek(p, 0)->kind == TOKEN_DEDENT)
        parser_next(p);
    out->field_count = (uint32_t)fields.count;
    if (fields.count)
        out->fields = arena_copy(p->memory, fields.items, fields.count * sizeof *fields.items);
    out->method_count = (uint32_t)methods.count;
    if (methods.count)
        out->methods = arena_copy(p->memory, methods.items, methods.count * sizeof *methods.items);
    vec_release(&fields);
    vec_release(&methods);
}

/* (Generic["M", "T"]) behind the name. */
static bool parse_generic(parser *p, ast_record *out) {
    if (!parser_accept(p, SYMBOL1('(')))
        return true;
    const node *n = parse_expression(p);
    bool good = n && n->kind == NODE_SUBSCRIPT && n->left->kind == NODE_NAME &&
                strcmp(n->left->text, "Generic") == 0;
    for (uint32_t i = 0; good && i < n->count; i++)
        good = n->items[i]->kind == NODE_STRING;
    if (n && !good) {
        diagnose_error(p->report, ERROR_RECORD, n->at, "a record inherits from nothing");
        diagnose_help(p->report,
                      "its parameters are written as class %s(Generic[\"M\", \"T\"]):", out->name);
    }
    if (!good)
        return false;
    out->generic = n;
    return parser_expect(p, SYMBOL1(')'), "')'");
}

bool parse_record(parser *p, ast_record *out) {
    parser_next(p);
    const token *name = parser_peek(p, 0);
    if (name->kind != TOKEN_NAME) {
        parser_unexpected(p, "the record's name");
        parser_skip_statement(p);
        return false;
    }
    parser_next(p);
    out->name = name->text;
    out->at = name->at;
    bool opened = parse_generic(p, out) && parser_expect(p, SYMBOL1(':'), "':'");
    if (!opened || parser_peek(p, 0)->kind != TOKEN_NEWLINE ||
        parser_peek(p, 1)->kind != TOKEN_INDENT) {
        if (opened)
            parser_unexpected(p, "an indented list of fields on the next line");
        parser_skip_statement(p);
        return false;
    }
    parser_next(p);
    parser_next(p);
    skip_docstring(p);
    parse_members(p, out);
    return true;
}
