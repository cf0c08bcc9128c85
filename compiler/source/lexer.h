/* lexer.h - from bytes to tokens: Python's lexical rules, as far as the tile language uses them.
 *
 * Newlines inside brackets vanish and indentation becomes INDENT and DEDENT. A byte that cannot be
 * part of any token is reported and left out, so the parser always gets a well-formed sequence that
 * ends with TOKEN_END. */
#ifndef TESSERA_SOURCE_LEXER_H
#define TESSERA_SOURCE_LEXER_H

#include "source/diagnostic.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_INDENT,
    TOKEN_DEDENT,
    TOKEN_NAME,
    TOKEN_KEYWORD, /* a word reserved by Python */
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_STRING,
    TOKEN_SYMBOL
} token_kind;

typedef struct token {
    token_kind kind;
    span at;
    uint32_t symbol;  /* TOKEN_SYMBOL: its characters, SYMBOL2('*', '*') */
    const char *text; /* names and keywords; strings without quotes; numbers without underscores */
} token;

#define SYMBOL1(a) ((uint32_t)(a))
#define SYMBOL2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define SYMBOL3(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)

typedef struct token_list {
    const token *items; /* in the arena */
    uint32_t count;
} token_list;

/* Is it a word that Python reserves? */
bool lexer_is_keyword(const char *word);
/* Tokens of a file, which is that part of the source. */
token_list lex_source(const source_text *source, span part, arena *a, diagnostics *d);
/* Tokens of a part that holds one expression (a quoted dimension): no lines, no indentation. */
token_list lex_expression(const source_text *source, span part, arena *a, diagnostics *d);

#endif
