/* parser_state.c - the parser's cursor, its complaints, and the making of nodes. */
#include "source/parser_state.h"

#include <string.h>

const token *parser_peek(const parser *p, uint32_t ahead) {
    uint32_t last = p->tokens.count - 1;
    return &p->tokens.items[ahead < last - p->at ? p->at + ahead : last];
}

const token *parser_next(parser *p) {
    const token *t = parser_peek(p, 0);
    p->at += p->at + 1 < p->tokens.count;
    return t;
}

bool parser_is(const parser *p, uint32_t symbol) {
    const token *t = parser_peek(p, 0);
    return t->kind == TOKEN_SYMBOL && t->symbol == symbol;
}

bool parser_is_word(const parser *p, const char *keyword) {
    const token *t = parser_peek(p, 0);
    return t->kind == TOKEN_KEYWORD && strcmp(t->text, keyword) == 0;
}

bool parser_accept(parser *p, uint32_t symbol) {
    if (!parser_is(p, symbol))
        return false;
    parser_next(p);
    return true;
}

static const char *describe(parser *p, const token *t) {
    switch (t->kind) {
    case TOKEN_END:
        return "the end of the file";
    case TOKEN_NEWLINE:
        return "the end of the line";
    case TOKEN_INDENT:
        return "an indented line";
    case TOKEN_DEDENT:
        return "the end of the block";
    default: {
        uint32_t length = t->at.end - t->at.start;
        return arena_printf(p->memory, "'%.*s'", (int)(length > 40 ? 40 : length),
                            p->source->data + t->at.start);
    }
    }
}

node *parser_unexpected(parser *p, const char *what) {
    const token *t = parser_peek(p, 0);
    if (!diagnosed_on_line(p->report, t->at.start)) {
        diagnose_error(p->report, ERROR_SYNTAX, t->at, "expected %s, found %s", what,
                       describe(p, t));
    }
    return NULL;
}

bool parser_expect(parser *p, uint32_t symbol, const char *what) {
    if (parser_accept(p, symbol))
        return true;
    parser_unexpected(p, what);
    return false;
}

span parser_span(const parser *p, uint32_t first) {
    span start = p->tokens.items[first].at;
    return p->at > first ? span_join(start, p->tokens.items[p->at - 1].at) : start;
}

node *parser_node(parser *p, node_kind kind, uint32_t first_token) {
    node *n = ARENA_NEW(p->memory, node, 1);
    n->kind = kind;
    n->at = parser_span(p, first_token);
    n->depth = 1;
    return n;
}

void parser_take_items(parser *p, node *n, node_list *items) {
    n->count = (uint32_t)items->count;
    n->items =
        items->count ? arena_copy(p->memory, items->items, items->count * sizeof(node *)) : NULL;
    vec_release(items);
}

static void deepen(node *n, const node *child) {
    if (child && child->depth >= n->depth)
        n->depth = child->depth + 1;
}

node *parser_close_node(parser *p, node *n) {
    deepen(n, n->left);
    deepen(n, n->right);
    deepen(n, n->third);
    for (uint32_t i = 0; i < n->count; i++)
        deepen(n, n->items[i]);
    if (n->depth <= AST_MAX_DEPTH)
        return n;
    diagnose_error(p->report, ERROR_DEPTH_LIMIT, (span){n->at.start, n->at.start + 1},
                   "this expression is nested more than %d deep", AST_MAX_DEPTH);
    diagnose_help(p->report, "give parts of it a name");
    return NULL;
}
