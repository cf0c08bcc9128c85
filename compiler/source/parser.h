/* parser.h - from tokens to the syntax tree, by recursive descent; goes on at the next statement
 * after an error. */
#ifndef TESSERA_SOURCE_PARSER_H
#define TESSERA_SOURCE_PARSER_H

#include "source/ast.h"

/* A file, which is that part of the source. */
ast_module *parse_module(const source_text *source, span part, arena *a, diagnostics *d);
/* The expression inside a quoted dimension; `part` is the span between the quotes. NULL when
 * reported. */
node *parse_quoted(const source_text *source, span part, arena *a, diagnostics *d);

#endif
