/* lexer_state.h - what the lexer's files share. */
#ifndef TESSERA_SOURCE_LEXER_STATE_H
#define TESSERA_SOURCE_LEXER_STATE_H

#include "source/lexer.h"

typedef struct lexer {
    const source_text *source;
    arena *memory;
    diagnostics *report;
    uint32_t at, end;
    VEC(token) tokens;
    VEC(uint32_t) brackets; /* offsets of those still open */
    VEC(uint32_t) indents;  /* widths of the blocks around this line */
} lexer;

/* The byte `ahead` of here, or -1 at the end. */
static inline int lexer_peek(const lexer *l, uint32_t ahead) {
    return ahead < l->end - l->at ? (unsigned char)l->source->data[l->at + ahead] : -1;
}

void lexer_push(lexer *l, token_kind kind, uint32_t start, uint32_t end, const char *word);
void lexer_refuse_byte(lexer *l);
void lexer_step(lexer *l);
void lex_number(lexer *l);
token_list lexer_finish(lexer *l);

#endif
