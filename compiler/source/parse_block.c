/* parse_block.c - statements with a block below them, and lines of several statements: `for`,
 * `while`, `if`, `with` and `;`. */
#include <string.h>

#include "source/parser_state.h"

/* ---- the block below a line ---- */

static node *take_block(parser *p, uint32_t first, node_list *body) {
    node *n = parser_node(p, NODE_BLOCK, first);
    parser_take_items(p, n, body);
    return parser_close_node(p, n);
}

/* One statement of a block, and those behind `;` on its line. */
static bool parse_line(parser *p, node_list *body) {
    do {
        if (parser_peek(p, 0)->kind == TOKEN_NEWLINE)
            break;
        node *n = parser_statement(p);
        if (!n)
            return false;
        vec_push(body, n);
        if (n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_IF ||
            n->kind == NODE_WITH)
            return true;
    } while (parser_accept(p, SYMBOL1(';')));
    return parser_end_of_line(p);
}

static bool parse_lines(parser *p, node_list *body) {
    bool good = true;
    while (parser_peek(p, 0)->kind != TOKEN_DEDENT && parser_peek(p, 0)->kind != TOKEN_END) {
        bool deeper = parser_peek(p, 0)->kind == TOKEN_INDENT;
        if (deeper) {
            diagnose_error(p->report, ERROR_UNEXPECTED_INDENT, parser_peek(p, 0)->at,
                           "this line is indented deeper than its block");
        }
        if (deeper || !parse_line(p, body)) {
            good = false;
            parser_skip_statement(p);
        }
    }
    if (parser_peek(p, 0)->kind == TOKEN_DEDENT)
        parser_next(p);
    return good;
}

/* ": statements" on the same line or indented below it; NULL when reported. */
static node *parse_block(parser *p) {
    uint32_t first = p->at;
    node_list body = {0};
    bool good = parser_expect(p, SYMBOL1(':'), "':'");
    if (good && parser_peek(p, 0)->kind != TOKEN_NEWLINE) {
        good = parse_line(p, &body);
    } else if (good && parser_peek(p, 1)->kind != TOKEN_INDENT) {
        parser_next(p);
        parser_unexpected(p, "an indented line below this one");
        good = false;
    } else if (good) {
        parser_next(p);
        parser_next(p);
        good = parse_lines(p, &body);
    }
    if (good)
        return take_block(p, first, &body);
    vec_release(&body);
    return NULL;
}

/* ---- for, if, with ---- */

/* Takes the range or the condition of a loop, and the block of a turn. */
static node *parse_turns(parser *p, node *n) {
    n->left = parse_expression(p);
    n->third = n->left ? parse_block(p) : NULL;
    return n->third ? parser_close_node(p, n) : NULL;
}

static node *parse_for(parser *p) {
    uint32_t first = p->at;
    parser_next(p);
    const token *name = parser_peek(p, 0);
    if (name->kind != TOKEN_NAME)
        return parser_unexpected(p, "the name of the loop's index");
    parser_next(p);
    node *target = parser_node(p, NODE_NAME, p->at - 1);
    target->text = name->text;
    if (!parser_is_word(p, "in"))
        return parser_unexpected(p, "'in'");
    parser_next(p);
    node *n = parser_node(p, NODE_FOR, first);
    n->right = target;
    return parse_turns(p, n);
}

static node *parse_while(parser *p) {
    uint32_t first = p->at;
    parser_next(p);
    return parse_turns(p, parser_node(p, NODE_WHILE, first));
}

static node *parse_with(parser *p) {
    uint32_t first = p->at;
    node_list items = {0};
    node *one;
    parser_next(p);
    do {
        one = parse_expression(p);
        if (one)
            vec_push(&items, one);
    } while (one && parser_accept(p, SYMBOL1(',')));
    node *n = parser_node(p, NODE_WITH, first);
    parser_take_items(p, n, &items);
    n->third = one ? parse_block(p) : NULL;
    return n->third ? parser_close_node(p, n) : NULL;
}

static node *parse_if(parser *p) {
    uint32_t first = p->at;
    parser_next(p);
    node *n = parser_node(p, NODE_IF, first);
    n->left = parse_expression(p);
    n->right = n->left ? parse_block(p) : NULL;
    if (!n->right)
        return NULL;
    bool otherwise = parser_is_word(p, "else");
    if (parser_is_word(p, "elif")) {
        n->third = parse_if(p);
    } else if (otherwise) {
        parser_next(p);
        n->third = parse_block(p);
    } else {
        return parser_close_node(p, n);
    }
    return n->third ? parser_close_node(p, n) : NULL;
}

bool parser_at_compound(const parser *p) {
    return parser_is_word(p, "for") || parser_is_word(p, "while") || parser_is_word(p, "if") ||
           parser_is_word(p, "with");
}

node *parser_compound(parser *p) {
    /* Deep nesting ends before the stack does. */
    if (p->depth >= AST_MAX_DEPTH) {
        diagnose_error(p->report, ERROR_DEPTH_LIMIT, parser_peek(p, 0)->at,
                       "statements are nested more than %d deep", AST_MAX_DEPTH);
        return NULL;
    }
    p->depth++;
    node *n = parser_is_word(p, "for")     ? parse_for(p)
              : parser_is_word(p, "while") ? parse_while(p)
              : parser_is_word(p, "with")  ? parse_with(p)
                                           : parse_if(p);
    p->depth--;
    return n;
}
