/* reference.h - the tables of operations as a page for people: docs/ir.md. */
#ifndef TESSERA_IR_REFERENCE_H
#define TESSERA_IR_REFERENCE_H

#include "base/text.h"

/* Markdown: a table for each registered level. */
void reference_print(text *out);

#endif
