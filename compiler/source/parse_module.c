/* parse_module.c - the top of a file and its statements; after an error, parsing goes on at the
 * next statement. */
#include <string.h>

#include "source/parser_state.h"

/* ---- getting back on track ---- */

/* Past the end of this line and past the block that hangs below it. */
void parser_skip_statement(parser *p) {
    while (parser_peek(p, 0)->kind != TOKEN_NEWLINE && parser_peek(p, 0)->kind != TOKEN_END) {
        if (parser_peek(p, 0)->kind == TOKEN_INDENT || parser_peek(p, 0)->kind == TOKEN_DEDENT)
            break;
        parser_next(p);
    }
    if (parser_peek(p, 0)->kind == TOKEN_NEWLINE)
        parser_next(p);
    if (parser_peek(p, 0)->kind != TOKEN_INDENT)
        return;
    uint32_t open = 0;
    do {
        open += parser_peek(p, 0)->kind == TOKEN_INDENT;
        open -= parser_peek(p, 0)->kind == TOKEN_DEDENT;
        parser_next(p);
    } while (open > 0 && parser_peek(p, 0)->kind != TOKEN_END);
}

bool parser_end_of_line(parser *p) {
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_END || t->kind == TOKEN_DEDENT)
        return true;
    if (t->kind == TOKEN_NEWLINE) {
        parser_next(p);
        return true;
    }
    parser_unexpected(p, "the end of the line");
    return false;
}

/* ---- statements ---- */

static bool refuse_statement(parser *p, bool top) {
    static const struct {
        const char *word, *instead;
    } refused[] = {
        {"if", "conditions stand in kernels"},
        {"for", "loops stand in kernels"},
        {"while", "loops stand in kernels"},
        {"with", "it stands in kernels: with device(gpu), prefetch(x, into=\"smem\"):"},
        {"try", "operations do not fail once their shapes are checked"},
        {"class", "a record has the decorator @record: @record class Weights: ..."},
        {"async", "kernels have no side effects to wait for"},
        {"def", "define kernels at the top of the file"},
        {"pass", "a kernel returns tensors"},
        {"del", "names need not be deleted"},
        {"assert", "shapes are checked from the annotations"},
        {"raise", "operations do not fail once their shapes are checked"},
        {"global", "use module constants or keyword-only parameters"},
        {"nonlocal", "use module constants or keyword-only parameters"},
        {"break", "loops run to their end"},
        {"continue", "loops run to their end: choose between values with where()"},
        {"import", "write: from .norms import rmsnorm, of norms.tsr in this folder"},
        {"from", "imports stand at the top of the file"},
        {"return", "return belongs in a kernel"},
        {"elif", "it follows the block of an if"},
        {"else", "it follows the block of an if"},
    };
    const token *t = parser_peek(p, 0);
    for (size_t i = 0; t->kind == TOKEN_KEYWORD && i < sizeof(refused) / sizeof(refused[0]); i++) {
        bool compound = strcmp(t->text, "for") == 0 || strcmp(t->text, "while") == 0 ||
                        strcmp(t->text, "if") == 0 || strcmp(t->text, "with") == 0;
        if (strcmp(t->text, refused[i].word) == 0 && (top || !compound)) {
            diagnose_error(p->report, ERROR_NOT_IN_LANGUAGE, t->at,
                           "'%s' is not part of the tile language%s", t->text,
                           top ? "" : " inside a kernel");
            diagnose_help(p->report, "%s", refused[i].instead);
            return true;
        }
    }
    return false;
}

static bool is_target(const node *n) {
    if (n->kind == NODE_NAME)
        return true;
    bool all = n->kind == NODE_TUPLE || n->kind == NODE_LIST;
    for (uint32_t i = 0; all && i < n->count; i++)
        all = n->items[i]->kind == NODE_NAME;
    return all && n->count > 0;
}

static bool check_target(parser *p, const node *n) {
    if (is_target(n))
        return true;
    diagnose_error(p->report, ERROR_ASSIGNMENT_TARGET, n->at, "only names can be assigned to");
    if (n->kind == NODE_SUBSCRIPT)
        diagnose_help(p->report, "tensors do not change: build a new one with where() or concat()");
    return false;
}

static node *parse_annotated(parser *p, node *target, uint32_t first) {
    parser_next(p);
    node *annotation = parse_expression(p);
    if (!annotation || target->kind != NODE_NAME)
        return annotation ? (check_target(p, target), parser_unexpected(p, "'='")) : NULL;
    if (!parser_expect(p, SYMBOL1('='), "'=' and a value"))
        return NULL;
    node *value = parse_expression_list(p);
    if (!value)
        return NULL;
    node_list items = {0};
    vec_push(&items, target);
    node *n = parser_node(p, NODE_ANNOTATED, first);
    n->left = value;
    n->right = annotation;
    parser_take_items(p, n, &items);
    return n;
}

static node *parse_augmented(parser *p, node *target, uint32_t first) {
    const token *t = parser_next(p);
    node *value = parse_expression_list(p);
    if (!value)
        return NULL;
    if (target->kind != NODE_NAME) {
        check_target(p, target);
        return NULL;
    }
    node_list items = {0};
    vec_push(&items, target);
    node *n = parser_node(p, NODE_AUGMENTED, first);
    n->left = value;
    n->symbol_at = t->at;
    n->symbol = t->symbol >> 16 ? t->symbol & 0xFFFF : t->symbol & 0xFF;
    parser_take_items(p, n, &items);
    return n;
}

static node *parse_assign(parser *p, node *target, uint32_t first) {
    node_list targets = {0};
    node *value = target;
    while (parser_accept(p, SYMBOL1('='))) {
        vec_push(&targets, value);
        value = check_target(p, value) ? parse_expression_list(p) : NULL;
        if (!value) {
            vec_release(&targets);
            return NULL;
        }
    }
    node *n = parser_node(p, NODE_ASSIGN, first);
    n->left = value;
    parser_take_items(p, n, &targets);
    return n;
}

static bool at_augmented(const parser *p) {
    const token *t = parser_peek(p, 0);
    if (t->kind != TOKEN_SYMBOL || t->symbol >> 8 == 0)
        return false;
    uint32_t last = t->symbol >> 16 ? t->symbol >> 16 : t->symbol >> 8;
    uint32_t one = t->symbol & 0xFF;
    bool comparison = t->symbol >> 16 == 0 &&
                      (one == '<' || one == '>' || one == '=' || one == '!' || one == ':');
    return last == '=' && !comparison;
}

static node *parse_return(parser *p, uint32_t first) {
    parser_next(p);
    node *value = NULL;
    token_kind next = parser_peek(p, 0)->kind;
    if (next != TOKEN_NEWLINE && next != TOKEN_END) {
        value = parse_expression_list(p);
        if (!value)
            return NULL;
    }
    node *n = parser_node(p, NODE_RETURN, first);
    n->left = value;
    return n;
}

static bool is_word(const node *n, const char *word) {
    return n->kind == NODE_NAME && strcmp(n->text, word) == 0;
}

static node *useless(parser *p, const node *n) {
    diagnose_error(p->report, ERROR_UNUSED_VALUE, n->at, "this value is not used");
    diagnose_help(p->report, n->kind == NODE_ELLIPSIS
                                 ? "the body of a kernel without a formula is '...' alone"
                             : is_word(n, "on")
                                 ? "a launch has one device; with device(gpu): says of which kind"
                                 : "give it a name, or return it");
    return NULL;
}

/* print(...), debug.NAME(...), and tile.NAME(...), of which some change what a name stands for. */
static bool is_effect(const node *n) {
    const node *callee = n->kind == NODE_CALL ? n->left : n;
    const node *of = callee->kind == NODE_ATTRIBUTE ? callee->left : callee;
    return callee != n &&
           (of == callee ? is_word(of, "print") : is_word(of, "tile") || is_word(of, "debug"));
}

/* NULL when reported; the line's end is not taken. */
static node *parse_simple(parser *p) {
    uint32_t first = p->at;
    if (parser_is_word(p, "return"))
        return parse_return(p, first);
    node *n = parse_expression_list(p);
    if (!n)
        return NULL;
    if (parser_is(p, SYMBOL1(':')))
        return parse_annotated(p, n, first);
    if (at_augmented(p))
        return parse_augmented(p, n, first);
    if (parser_is(p, SYMBOL1('=')))
        return parse_assign(p, n, first);
    return n->kind == NODE_STRING || n->kind == NODE_ELLIPSIS || is_effect(n) ? n : useless(p, n);
}

node *parser_statement(parser *p) {
    if (parser_at_compound(p))
        return parser_compound(p);
    if (!parser_is_word(p, "return") && refuse_statement(p, false))
        return NULL;
    node *n = parse_simple(p);
    bool literal = n && (n->kind == NODE_STRING || n->kind == NODE_ELLIPSIS);
    return literal ? useless(p, n) : n;
}

/* ---- functions ---- */

typedef VEC(ast_parameter) parameter_list;

bool parse_parameter(parser *p, ast_parameter *out) {
    const token *name = parser_peek(p, 0);
    if (name->kind != TOKEN_NAME) {
        parser_unexpected(p, "a parameter's name");
        return false;
    }
    parser_next(p);
    out->name = name->text;
    out->at = name->at;
    if (parser_accept(p, SYMBOL1(':')) && !(out->annotation = parse_expression(p)))
        return false;
    return !parser_accept(p, SYMBOL1('=')) || (out->fallback = parse_expression(p)) != NULL;
}

static bool parse_parameters(parser *p, parameter_list *out) {
    bool keyword_only = false;
    while (!parser_is(p, SYMBOL1(')'))) {
        const token *t = parser_peek(p, 0);
        const token *after = parser_peek(p, 1);
        if (!keyword_only && parser_is(p, SYMBOL1('*')) && after->kind == TOKEN_SYMBOL &&
            after->symbol == SYMBOL1(',')) {
            keyword_only = true;
            parser_next(p);
        } else if (parser_is(p, SYMBOL1('*')) || parser_is(p, SYMBOL2('*', '*')) ||
                   parser_is(p, SYMBOL1('/'))) {
            diagnose_error(p->report, ERROR_UNNAMED_PARAMETERS, t->at,
                           "a kernel has a fixed list of parameters");
            diagnose_help(
                p->report,
                "write def f(x: Tensor[...], *, scale=1.0): a bare '*' starts the constants");
            return false;
        } else {
            ast_parameter one = {.keyword_only = keyword_only};
            if (!parse_parameter(p, &one))
                return false;
            vec_push(out, one);
        }
        if (!parser_accept(p, SYMBOL1(',')))
            break;
    }
    return parser_expect(p, SYMBOL1(')'), "',' or ')'");
}

static bool parse_header(parser *p, ast_function *f) {
    parser_next(p);
    const token *name = parser_peek(p, 0);
    f->at = name->at;
    f->name = name->kind == TOKEN_NAME ? name->text : "";
    if (name->kind != TOKEN_NAME) {
        parser_unexpected(p, "the kernel's name");
        return false;
    }
    parser_next(p);
    parameter_list parameters = {0};
    bool good = parser_expect(p, SYMBOL1('('), "'('") && parse_parameters(p, &parameters);
    f->parameter_count = (uint32_t)parameters.count;
    if (parameters.count) {
        f->parameters =
            arena_copy(p->memory, parameters.items, parameters.count * sizeof(ast_parameter));
    }
    vec_release(&parameters);
    if (good && parser_accept(p, SYMBOL2('-', '>'))) {
        f->returns = parse_expression(p);
        good = f->returns != NULL;
    }
    if (good)
        parse_devices(p, f);
    return good && parser_expect(p, SYMBOL1(':'), "':'");
}

static void parse_compound(parser *p, ast_function *f, node_list *body) {
    node *n = parser_compound(p);
    if (n) {
        vec_push(body, n);
    } else {
        f->broken = true;
        parser_skip_statement(p);
    }
}

static void parse_statement(parser *p, ast_function *f, node_list *body) {
    if (parser_at_compound(p)) {
        parse_compound(p, f, body);
        return;
    }
    if (!parser_is_word(p, "return") && refuse_statement(p, false)) {
        f->broken = true;
        parser_skip_statement(p);
        return;
    }
    node *n = parse_simple(p);
    bool first = body->count == 0 && !f->summary;
    bool more = body->count > 0 && body->items[0]->kind == NODE_ELLIPSIS;
    if (n && more)
        n = useless(p, body->items[0]);
    else if (n && ((n->kind == NODE_STRING && !first) || (n->kind == NODE_ELLIPSIS && body->count)))
        n = useless(p, n);
    bool goes_on = n && parser_accept(p, SYMBOL1(';'));
    if (!n || (!goes_on && !parser_end_of_line(p))) {
        f->broken = true;
        parser_skip_statement(p);
    } else if (n->kind == NODE_STRING) {
        f->summary = n->text;
    } else {
        vec_push(body, n);
    }
    if (goes_on && parser_peek(p, 0)->kind == TOKEN_NEWLINE)
        parser_next(p);
}

static void take_body(parser *p, ast_function *f, node_list *body) {
    f->body_count = (uint32_t)body->count;
    f->body = body->count ? arena_copy(p->memory, body->items, body->count * sizeof(node *)) : NULL;
    vec_release(body);
}

/* `def f(...): return x` on one line, or `: ...`, as stubs of Python have it. */
static bool parse_short_body(parser *p, ast_function *f) {
    node_list body = {0};
    if (parser_peek(p, 0)->kind == TOKEN_NEWLINE || parser_at_compound(p))
        return false;
    do {
        parse_statement(p, f, &body);
    } while (p->tokens.items[p->at - 1].symbol == SYMBOL1(';'));
    take_body(p, f, &body);
    return true;
}

static void parse_body(parser *p, ast_function *f) {
    if (parse_short_body(p, f))
        return;
    if (parser_peek(p, 0)->kind != TOKEN_NEWLINE || parser_peek(p, 1)->kind != TOKEN_INDENT) {
        parser_unexpected(p, "an indented body on the next line");
        f->broken = true;
        parser_skip_statement(p);
        return;
    }
    parser_next(p);
    parser_next(p);
    node_list body = {0};
    while (parser_peek(p, 0)->kind != TOKEN_DEDENT && parser_peek(p, 0)->kind != TOKEN_END) {
        if (parser_peek(p, 0)->kind == TOKEN_INDENT) {
            diagnose_error(p->report, ERROR_UNEXPECTED_INDENT, parser_peek(p, 0)->at,
                           "this line is indented deeper than its block");
            f->broken = true;
            parser_skip_statement(p);
            continue;
        }
        parse_statement(p, f, &body);
    }
    if (parser_peek(p, 0)->kind == TOKEN_DEDENT)
        parser_next(p);
    take_body(p, f, &body);
}

static bool parse_decorator(parser *p, node_list *decorators) {
    parser_next(p);
    node *n = parse_expression(p);
    if (!n || !parser_end_of_line(p)) {
        parser_skip_statement(p);
        return false;
    }
    vec_push(decorators, n);
    return true;
}

static void take_decorators(ast_function *f, parser *p, node_list *decorators) {
    f->decorator_count = (uint32_t)decorators->count;
    f->decorators = decorators->count ? arena_copy(p->memory, decorators->items,
                                                   decorators->count * sizeof(node *))
                                      : NULL;
    vec_release(decorators);
}

void parse_function(parser *p, ast_function *f) {
    if (!parser_is_word(p, "def")) {
        parser_unexpected(p, "'def' after a decorator");
        f->broken = true;
        f->name = "";
        parser_skip_statement(p);
    } else if (parse_header(p, f)) {
        f->has_header = true;
        parse_body(p, f);
    } else {
        f->broken = true;
        parser_skip_statement(p);
    }
}

/* ---- the file ---- */

typedef struct module_parts {
    node_list constants;
    VEC(ast_function) functions;
    VEC(ast_record) records;
    VEC(ast_import) imports;
} module_parts;

static void parse_top_level_line(parser *p, module_parts *parts) {
    if (parser_is_word(p, "from")) {
        ast_import one = {0};
        if (parse_import(p, &one) && parser_end_of_line(p))
            vec_push(&parts->imports, one);
        else
            parser_skip_statement(p);
        return;
    }
    if (refuse_statement(p, true)) {
        parser_skip_statement(p);
        return;
    }
    node *n = parse_simple(p);
    if (n && n->kind != NODE_STRING && n->kind != NODE_ASSIGN) {
        diagnose_error(p->report, ERROR_TOP_LEVEL_ASSIGNMENT, n->at,
                       "only constants can be assigned here");
        n = NULL;
    }
    if (!n || !parser_end_of_line(p))
        parser_skip_statement(p);
    else if (n->kind == NODE_ASSIGN)
        vec_push(&parts->constants, n);
}

static bool has_only(const ast_function *decorated, const char *word) {
    const node *only = decorated->decorator_count == 1 ? decorated->decorators[0] : NULL;
    return only && only->kind == NODE_NAME && strcmp(only->text, word) == 0;
}

/* Decorators, and the function or the class below them. */
static void parse_decorated(parser *p, module_parts *parts) {
    uint32_t first = p->at;
    node_list decorators = {0};
    ast_function f = {0};
    while (parser_is(p, SYMBOL1('@')))
        f.broken |= !parse_decorator(p, &decorators);
    take_decorators(&f, p, &decorators);
    if (parser_is_word(p, "class") && (has_only(&f, "record") || has_only(&f, "state"))) {
        ast_record record = {.is_state = has_only(&f, "state")};
        if (parse_record(p, &record))
            vec_push(&parts->records, record);
        return;
    }
    parse_function(p, &f);
    f.whole = parser_span(p, first);
    vec_push(&parts->functions, f);
}

static void parse_part(parser *p, module_parts *parts) {
    token_kind kind = parser_peek(p, 0)->kind;
    if (kind == TOKEN_INDENT) {
        diagnose_error(p->report, ERROR_UNEXPECTED_INDENT, parser_peek(p, 0)->at,
                       "this line is indented but belongs to no block");
        parser_skip_statement(p);
    } else if (kind == TOKEN_NEWLINE || kind == TOKEN_DEDENT) {
        parser_next(p);
    } else if (parser_is(p, SYMBOL1('@')) || parser_is_word(p, "def")) {
        parse_decorated(p, parts);
    } else {
        parse_top_level_line(p, parts);
    }
}

/* The list in the arena, its length in *count. */
#define KEEP(a, list, length)                                                                      \
    (*(length) = (uint32_t)(list).count,                                                           \
     (list).count ? arena_copy((a), (list).items, (list).count * sizeof *(list).items) : NULL)

ast_module *parse_module(const source_text *source, span part, arena *a, diagnostics *d) {
    parser p = {
        .source = source, .memory = a, .report = d, .tokens = lex_source(source, part, a, d)};
    module_parts parts = {0};
    while (parser_peek(&p, 0)->kind != TOKEN_END) {
        p.depth = 0;
        parse_part(&p, &parts);
    }
    ast_module *m = ARENA_NEW(a, ast_module, 1);
    m->constants = KEEP(a, parts.constants, &m->constant_count);
    m->functions = KEEP(a, parts.functions, &m->function_count);
    m->records = KEEP(a, parts.records, &m->record_count);
    m->imports = KEEP(a, parts.imports, &m->import_count);
    vec_release(&parts.constants);
    vec_release(&parts.functions);
    vec_release(&parts.records);
    vec_release(&parts.imports);
    return m;
}

node *parse_quoted(const source_text *source, span part, arena *a, diagnostics *d) {
    parser p = {
        .source = source, .memory = a, .report = d, .tokens = lex_expression(source, part, a, d)};
    node *n = parse_expression(&p);
    if (n && parser_peek(&p, 0)->kind != TOKEN_END)
        return parser_unexpected(&p, "the end of the dimension");
    return n;
}
