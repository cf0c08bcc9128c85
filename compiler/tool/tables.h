/* tables.h - tables of pages, for tsr-opt. */
#ifndef TESSERA_TOOL_TABLES_H
#define TESSERA_TOOL_TABLES_H

#include "base/text.h"

typedef void page_print(text *out);

/* The page of an option such as "--limits"; NULL: it names none. */
page_print *page_find(const char *option);

/* The names of the language for Python's tools: the part of language.pyi that tables know. */
void print_pyi(text *out);

#endif
