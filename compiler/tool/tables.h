/* tables.h - tables of pages, for tsr-opt. */
#ifndef TESSERA_TOOL_TABLES_H
#define TESSERA_TOOL_TABLES_H

#include "base/text.h"

void print_limits(text *out);
/* What a device says of itself, and what @specialize may ask of it. */
void print_capabilities(text *out);

#endif
