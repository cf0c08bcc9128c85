/* parse_expression.c - expressions: Python's precedence, without what the tile language has no
 * meaning for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/parser_state.h"

static node *parse_binary(parser *p, int level);
static node *parse_unary(parser *p);

/* ---- what Python has and the tile language has not ---- */

static node *refuse(parser *p, span at, const char *what, const char *instead) {
    diagnose_error(p->report, ERROR_NOT_IN_LANGUAGE, at, "%s is not part of the tile language",
                   what);
    diagnose_help(p->report, "%s", instead);
    return NULL;
}

static node *refuse_keyword(parser *p) {
    static const struct {
        const char *word, *what, *instead;
    } refused[] = {
        {"lambda", "lambda", "write the expression where it is used"},
        {"await", "await", "kernels have no side effects to wait for"},
        {"yield", "yield", "return all outputs at once, as a tuple"},
        {"if", "if", "choose between values with where(condition, a, b)"},
        {"for", "for", "operations already act on whole tensors"},
    };
    const token *t = parser_peek(p, 0);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (t->kind == TOKEN_KEYWORD && strcmp(t->text, refused[i].word) == 0)
            return refuse(p, t->at, refused[i].what, refused[i].instead);
    return parser_unexpected(p, "an expression");
}

/* ---- atoms ---- */

static node *parse_integer(parser *p, const token *t, uint32_t first) {
    node *n = parser_node(p, NODE_INT, first);
    n->text = t->text;
    bool binary = t->text[0] == '0' && (t->text[1] == 'b' || t->text[1] == 'B');
    bool octal = t->text[0] == '0' && (t->text[1] == 'o' || t->text[1] == 'O');
    bool hexadecimal = t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X');
    errno = 0;
    n->integer = (int64_t)strtoull(t->text + (binary || octal ? 2 : 0), NULL,
                                   binary        ? 2
                                   : octal       ? 8
                                   : hexadecimal ? 16
                                                 : 10);
    n->kind = n->integer < 0 ? NODE_WIDE : NODE_INT;
    if (errno == ERANGE) {
        diagnose_error(p->report, ERROR_INTEGER_SIZE, n->at, "this integer does not fit 64 bits");
        diagnose_help(p->report, "write it as a float, with a point or an exponent");
        return NULL;
    }
    return n;
}

static bool constant_word(const char *word, node *n) {
    if (strcmp(word, "None") == 0) {
        n->kind = NODE_NONE;
        return true;
    }
    n->kind = NODE_BOOL;
    n->integer = strcmp(word, "True") == 0;
    return n->integer || strcmp(word, "False") == 0;
}

static node *parse_word(parser *p, uint32_t first) {
    node n = {.kind = NODE_NONE};
    if (!constant_word(parser_peek(p, 0)->text, &n))
        return refuse_keyword(p);
    parser_next(p);
    node *made = parser_node(p, n.kind, first);
    made->integer = n.integer;
    return made;
}

/* Items up to the closing symbol; `comma` says whether there was one. */
static bool parse_items(parser *p, uint32_t close, const char *closing, node_list *items,
                        bool *comma) {
    while (!parser_is(p, close)) {
        node *item = parse_expression(p);
        if (!item)
            return false;
        vec_push(items, item);
        if (parser_is_word(p, "for") || parser_is_word(p, "async")) {
            refuse(p, parser_peek(p, 0)->at, "a comprehension",
                   "operations already act on whole tensors");
            return false;
        }
        if (!parser_accept(p, SYMBOL1(',')))
            break;
        *comma = true;
    }
    return parser_expect(p, close, closing);
}

static node *parse_bracketed(parser *p, uint32_t first) {
    bool list = parser_is(p, SYMBOL1('[')), comma = false;
    parser_next(p);
    node_list items = {0};
    if (!parse_items(p, list ? SYMBOL1(']') : SYMBOL1(')'), list ? "',' or ']'" : "',' or ')'",
                     &items, &comma)) {
        vec_release(&items);
        return NULL;
    }
    if (!list && !comma && items.count == 1) {
        node *inner = items.items[0];
        vec_release(&items);
        inner->at = parser_span(p, first);
        return inner;
    }
    node *n = parser_node(p, list ? NODE_LIST : NODE_TUPLE, first);
    parser_take_items(p, n, &items);
    return parser_close_node(p, n);
}

static node *parse_string(parser *p, uint32_t first);

/* "NAME": VALUE */
static node *parse_entry(parser *p) {
    uint32_t first = p->at;
    const token *name = parser_peek(p, 0);
    if (name->kind != TOKEN_STRING)
        return parser_unexpected(p, "a name in quotes");
    const node *quoted = parse_string(p, first);
    if (!parser_expect(p, SYMBOL1(':'), "':'"))
        return NULL;
    node *value = parse_expression(p);
    if (!value)
        return NULL;
    node *n = parser_node(p, NODE_KEYWORD, first);
    n->text = quoted->text;
    n->symbol_at = quoted->at;
    n->left = value;
    return parser_close_node(p, n);
}

/* {"BM": 64} is dict(BM=64). */
static node *parse_dictionary(parser *p, uint32_t first) {
    node_list items = {0};
    bool good = true;
    parser_next(p);
    node *callee = parser_node(p, NODE_NAME, first);
    callee->text = "dict";
    while (good && !parser_is(p, SYMBOL1('}'))) {
        node *item = parse_entry(p);
        good = item != NULL;
        if (good)
            vec_push(&items, item);
        if (!parser_accept(p, SYMBOL1(',')))
            break;
    }
    if (!good || !parser_expect(p, SYMBOL1('}'), "',' or '}'")) {
        vec_release(&items);
        return NULL;
    }
    node *n = parser_node(p, NODE_CALL, first);
    n->left = callee;
    parser_take_items(p, n, &items);
    return parser_close_node(p, n);
}

/* Takes names in quotes: any other has no use here. */
static bool is_dictionary(parser *p) {
    const token *first = parser_peek(p, 1), *then = parser_peek(p, 2);
    return parser_is(p, SYMBOL1('{')) && first->kind == TOKEN_STRING &&
           then->kind == TOKEN_SYMBOL && then->symbol == SYMBOL1(':');
}

static node *parse_string(parser *p, uint32_t first) {
    text joined;
    text_init(&joined);
    while (parser_peek(p, 0)->kind == TOKEN_STRING)
        text_append(&joined, parser_next(p)->text);
    node *n = parser_node(p, NODE_STRING, first);
    n->text = arena_strdup(p->memory, joined.data);
    text_release(&joined);
    return n;
}

static node *parse_symbol_atom(parser *p, uint32_t first) {
    if (parser_is(p, SYMBOL1('(')) || parser_is(p, SYMBOL1('[')))
        return parse_bracketed(p, first);
    if (parser_accept(p, SYMBOL3('.', '.', '.')))
        return parser_node(p, NODE_ELLIPSIS, first);
    if (is_dictionary(p))
        return parse_dictionary(p, first);
    if (parser_is(p, SYMBOL1('{')))
        return refuse(p, parser_peek(p, 0)->at, "a set or dictionary", "write a tuple: (a, b)");
    if (parser_is(p, SYMBOL1('*')) || parser_is(p, SYMBOL2('*', '*')))
        return refuse(p, parser_peek(p, 0)->at, "unpacking with *", "write each item out");
    return parser_unexpected(p, "an expression");
}

static node *parse_atom(parser *p) {
    uint32_t first = p->at;
    const token *t = parser_peek(p, 0);
    node *n = NULL;
    switch (t->kind) {
    case TOKEN_NAME:
    case TOKEN_FLOAT:
        parser_next(p);
        n = parser_node(p, t->kind == TOKEN_NAME ? NODE_NAME : NODE_FLOAT, first);
        n->text = t->text;
        return n;
    case TOKEN_INT:
        parser_next(p);
        return parse_integer(p, t, first);
    case TOKEN_STRING:
        return parse_string(p, first);
    case TOKEN_KEYWORD:
        return parse_word(p, first);
    case TOKEN_SYMBOL:
        return parse_symbol_atom(p, first);
    default:
        return parser_unexpected(p, "an expression");
    }
}

/* ---- calls, subscripts, attributes ---- */

static node *parse_argument(parser *p) {
    uint32_t first = p->at;
    const token *name = parser_peek(p, 0), *after = parser_peek(p, 1);
    if (name->kind != TOKEN_NAME || after->kind != TOKEN_SYMBOL || after->symbol != SYMBOL1('='))
        return parse_expression(p);
    parser_next(p);
    parser_next(p);
    node *value = parse_expression(p);
    if (!value)
        return NULL;
    node *n = parser_node(p, NODE_KEYWORD, first);
    n->text = name->text;
    n->symbol_at = name->at;
    n->left = value;
    return parser_close_node(p, n);
}

static bool parse_arguments(parser *p, node_list *items) {
    bool named = false;
    while (!parser_is(p, SYMBOL1(')'))) {
        node *item = parse_argument(p);
        if (!item)
            return false;
        if (named && item->kind != NODE_KEYWORD) {
            diagnose_error(p->report, ERROR_POSITIONAL_AFTER_NAMED, item->at,
                           "a positional argument after a named one");
            return false;
        }
        named |= item->kind == NODE_KEYWORD;
        vec_push(items, item);
        if (parser_is_word(p, "for") || parser_is_word(p, "async")) {
            refuse(p, parser_peek(p, 0)->at, "a comprehension",
                   "operations already act on whole tensors");
            return false;
        }
        if (!parser_accept(p, SYMBOL1(',')))
            break;
    }
    return parser_expect(p, SYMBOL1(')'), "',' or ')'");
}

static bool slice_part(parser *p, node **part) {
    if (parser_is(p, SYMBOL1(':')) || parser_is(p, SYMBOL1(',')) || parser_is(p, SYMBOL1(']')))
        return true;
    *part = parse_expression(p);
    return *part != NULL;
}

static node *parse_index(parser *p) {
    uint32_t first = p->at;
    node *start = NULL, *stop = NULL, *step = NULL;
    if (!slice_part(p, &start))
        return NULL;
    if (!parser_accept(p, SYMBOL1(':')))
        return start ? start : parser_unexpected(p, "an index");
    if (!slice_part(p, &stop) || (parser_accept(p, SYMBOL1(':')) && !slice_part(p, &step)))
        return NULL;
    node *n = parser_node(p, NODE_SLICE, first);
    n->left = start;
    n->right = stop;
    n->third = step;
    return parser_close_node(p, n);
}

static bool parse_indices(parser *p, node_list *items) {
    do {
        if (items->count > 0 && parser_is(p, SYMBOL1(']')))
            break;
        node *index = parse_index(p);
        if (!index)
            return false;
        vec_push(items, index);
    } while (parser_accept(p, SYMBOL1(',')));
    return parser_expect(p, SYMBOL1(']'), "',' or ']'");
}

static node *parse_trailer(parser *p, node *base, uint32_t first) {
    bool call = parser_is(p, SYMBOL1('('));
    node_list items = {0};
    parser_next(p);
    if (!(call ? parse_arguments(p, &items) : parse_indices(p, &items))) {
        vec_release(&items);
        return NULL;
    }
    node *n = parser_node(p, call ? NODE_CALL : NODE_SUBSCRIPT, first);
    n->left = base;
    parser_take_items(p, n, &items);
    return parser_close_node(p, n);
}

static node *parse_attribute(parser *p, node *base, uint32_t first) {
    parser_next(p);
    const token *name = parser_peek(p, 0);
    if (name->kind != TOKEN_NAME)
        return parser_unexpected(p, "a name after '.'");
    parser_next(p);
    node *n = parser_node(p, NODE_ATTRIBUTE, first);
    n->text = name->text;
    n->symbol_at = name->at;
    n->left = base;
    return parser_close_node(p, n);
}

static node *parse_postfix(parser *p) {
    uint32_t first = p->at;
    node *n = parse_atom(p);
    while (n)
        if (parser_is(p, SYMBOL1('(')) || parser_is(p, SYMBOL1('[')))
            n = parse_trailer(p, n, first);
        else if (parser_is(p, SYMBOL1('.')))
            n = parse_attribute(p, n, first);
        else
            return n;
    return NULL;
}

/* ---- operators ---- */

static node *make_operator(parser *p, node_kind kind, const token *t, node *left, node *right) {
    if (!left || (kind != NODE_UNARY && !right))
        return NULL;
    node *n = ARENA_NEW(p->memory, node, 1);
    *n = (node){.kind = kind,
                .symbol = t->symbol,
                .symbol_at = t->at,
                .left = left,
                .right = right,
                .depth = 1};
    n->at = right ? span_join(left->at, right->at) : span_join(t->at, left->at);
    return parser_close_node(p, n);
}

static node *parse_unary(parser *p);

/* Binds its right side first, and a sign on its left last: -x ** y ** 2 is -(x ** (y ** 2)). */
static node *parse_power(parser *p) {
    node *base = parse_postfix(p);
    const token *t = parser_peek(p, 0);
    if (base && parser_accept(p, SYMBOL2('*', '*')))
        return make_operator(p, NODE_BINARY, t, base, parse_unary(p));
    return base;
}

/* Guards the parser's own recursion: every cycle of the grammar passes here. */
static node *parse_unary(parser *p) {
    const token *t = parser_peek(p, 0);
    if (p->depth >= AST_MAX_DEPTH) {
        diagnose_error(p->report, ERROR_DEPTH_LIMIT, t->at,
                       "this expression is nested more than %d deep", AST_MAX_DEPTH);
        diagnose_help(p->report, "give parts of it a name");
        return NULL;
    }
    p->depth++;
    node *n;
    if (parser_accept(p, SYMBOL1('-')) || parser_accept(p, SYMBOL1('+')) ||
        parser_accept(p, SYMBOL1('~')))
        n = make_operator(p, NODE_UNARY, t, parse_unary(p), NULL);
    else
        n = parse_power(p);
    p->depth--;
    return n;
}

/* Levels of binary operators, loosest first: | ^ & shifts sums products. */
static bool in_level(const token *t, int level) {
    static const uint32_t symbols[][5] = {
        {SYMBOL1('|')},
        {SYMBOL1('^')},
        {SYMBOL1('&')},
        {SYMBOL2('<', '<'), SYMBOL2('>', '>')},
        {SYMBOL1('+'), SYMBOL1('-')},
        {SYMBOL1('*'), SYMBOL1('/'), SYMBOL2('/', '/'), SYMBOL1('%'), SYMBOL1('@')},
    };
    for (int i = 0; t->kind == TOKEN_SYMBOL && i < 5; i++)
        if (symbols[level][i] == t->symbol && t->symbol != 0)
            return true;
    return false;
}

static node *parse_binary(parser *p, int level) {
    enum { TIGHTEST = 5 };
    node *left = level == TIGHTEST ? parse_unary(p) : parse_binary(p, level + 1);
    while (left && in_level(parser_peek(p, 0), level)) {
        const token *t = parser_next(p);
        node *right = level == TIGHTEST ? parse_unary(p) : parse_binary(p, level + 1);
        left = make_operator(p, NODE_BINARY, t, left, right);
    }
    return left;
}

static bool at_comparison(const parser *p) {
    static const uint32_t symbols[] = {SYMBOL1('<'),      SYMBOL1('>'),      SYMBOL2('<', '='),
                                       SYMBOL2('>', '='), SYMBOL2('=', '='), SYMBOL2('!', '=')};
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (parser_is(p, symbols[i]))
            return true;
    return false;
}

/* x is None, x is not None */
static node *parse_identity(parser *p, node *left) {
    token is = *parser_next(p);
    bool negated = parser_is_word(p, "not");
    if (negated)
        parser_next(p);
    if (!parser_is_word(p, "None"))
        return refuse(p, is.at, "an identity test of anything but None",
                      "compare values with == or !=");
    is.symbol = negated ? SYMBOL2('!', '=') : SYMBOL2('=', '=');
    return make_operator(p, NODE_COMPARE, &is, left, parse_binary(p, 0));
}

static node *parse_comparison(parser *p) {
    node *left = parse_binary(p, 0);
    if (left && at_comparison(p)) {
        const token *t = parser_next(p);
        left = make_operator(p, NODE_COMPARE, t, left, parse_binary(p, 0));
    }
    if (left && at_comparison(p))
        return refuse(p, parser_peek(p, 0)->at, "a chained comparison", "write (a < b) & (b < c)");
    if (left && parser_is_word(p, "is"))
        return parse_identity(p, left);
    if (left && (parser_is_word(p, "in") || parser_is_word(p, "not"))) {
        return refuse(p, parser_peek(p, 0)->at, "a membership test",
                      "compare values with == or !=");
    }
    return left;
}

static node *parse_not(parser *p) {
    if (!parser_is_word(p, "not"))
        return parse_comparison(p);
    const token *t = parser_next(p);
    if (++p->depth > AST_MAX_DEPTH) {
        diagnose_error(p->report, ERROR_DEPTH_LIMIT, t->at,
                       "this expression is nested more than %d deep", AST_MAX_DEPTH);
        p->depth--;
        return NULL;
    }
    node *n = make_operator(p, NODE_UNARY, t, parse_not(p), NULL);
    p->depth--;
    return n;
}

/* Between constants; `and` binds tighter. */
static node *parse_connected(parser *p, bool conjunction) {
    node *left = conjunction ? parse_not(p) : parse_connected(p, true);
    while (left && parser_is_word(p, conjunction ? "and" : "or")) {
        token word = *parser_next(p);
        word.symbol = conjunction ? SYMBOL3('a', 'n', 'd') : SYMBOL2('o', 'r');
        left = make_operator(p, NODE_BINARY, &word, left,
                             conjunction ? parse_not(p) : parse_connected(p, true));
    }
    return left;
}

node *parse_expression(parser *p) {
    node *n = parse_connected(p, false);
    const token *t = parser_peek(p, 0);
    if (n && parser_is_word(p, "if")) {
        return refuse(p, t->at, "a conditional expression",
                      "choose between values with where(condition, a, b)");
    }
    if (n && parser_is(p, SYMBOL2(':', '=')))
        return refuse(p, t->at, "':='", "assign in a statement of its own");
    return n;
}

node *parse_expression_list(parser *p) {
    uint32_t first = p->at;
    node *one = parse_expression(p);
    if (!one || !parser_is(p, SYMBOL1(',')))
        return one;
    node_list items = {0};
    vec_push(&items, one);
    while (parser_accept(p, SYMBOL1(','))) {
        const token *t = parser_peek(p, 0);
        if (t->kind == TOKEN_NEWLINE || t->kind == TOKEN_END || parser_is(p, SYMBOL1('=')))
            break;
        one = parse_expression(p);
        if (!one) {
            vec_release(&items);
            return NULL;
        }
        vec_push(&items, one);
    }
    node *n = parser_node(p, NODE_TUPLE, first);
    parser_take_items(p, n, &items);
    return parser_close_node(p, n);
}
