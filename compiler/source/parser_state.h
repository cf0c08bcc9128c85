/* parser_state.h - what the parser's files share: the cursor, and expectations that explain
 * themselves. */
#ifndef TESSERA_SOURCE_PARSER_STATE_H
#define TESSERA_SOURCE_PARSER_STATE_H

#include "source/parser.h"

typedef struct parser {
    const source_text *source;
    arena *memory;
    diagnostics *report;
    token_list tokens;
    uint32_t at;
    uint32_t depth; /* of the expressions being parsed */
} parser;

typedef VEC(node *) node_list;

const token *parser_peek(const parser *p, uint32_t ahead);
const token *parser_next(parser *p);
bool parser_is(const parser *p, uint32_t symbol);
bool parser_is_word(const parser *p, const char *keyword);
bool parser_accept(parser *p, uint32_t symbol);
/* Reports "expected WHAT, found ..." and returns false where the symbol is not next. */
bool parser_expect(parser *p, uint32_t symbol, const char *what);
/* Reports what was expected and what is there. Returns NULL, for `return`. */
node *parser_unexpected(parser *p, const char *what);
/* The span of everything from token `first` to the last one taken. */
span parser_span(const parser *p, uint32_t first);

node *parser_node(parser *p, node_kind kind, uint32_t first_token);
void parser_take_items(parser *p, node *n,
                       node_list *items); /* moves the list into the node; releases it */
/* Sets the node's depth from its children; reports and returns NULL where the tree is too deep. */
node *parser_close_node(parser *p, node *n);

/* parse_module.c: past the end of this line and past the block that hangs below it; the end of a
 * line, reported where it is not there; one statement without the end of its line. */
void parser_skip_statement(parser *p);
bool parser_end_of_line(parser *p);
node *parser_statement(parser *p);
/* parse_block.c: is there a statement with a block below it; and that one, with all that hangs
 * below it. NULL when reported. */
bool parser_at_compound(const parser *p);
node *parser_compound(parser *p);

/* parse_module.c: NAME: annotation = default, of a parameter or a field. False when reported. */
bool parse_parameter(parser *p, ast_parameter *out);
/* parse_devices.c: takes devices out of the head's annotations. */
void parse_devices(parser *p, ast_function *f);
/* parse_module.c: at `def`. */
void parse_function(parser *p, ast_function *out);
/* At `from`, and at `class`. False when reported; the line's end is not taken. */
bool parse_import(parser *p, ast_import *out);
bool parse_record(parser *p, ast_record *out);

/* NULL when reported. */
node *parse_expression(parser *p);
/* One or more expressions; several, or a trailing comma, make a tuple. */
node *parse_expression_list(parser *p);

#endif
