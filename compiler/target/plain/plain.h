/* plain.h - a kernel's Tile IR as one function of a language that needs nothing of ours: strict
 * C11, or Python with NumPy. Both do what the operations say one by one, so the bits are those of
 * strict.
 */
#ifndef TESSERA_TARGET_PLAIN_PLAIN_H
#define TESSERA_TARGET_PLAIN_PLAIN_H

#include "base/text.h"
#include "ir/ir.h"

typedef enum plain_language { PLAIN_C, PLAIN_PYTHON, PLAIN_LANGUAGES } plain_language;

/* "c" and "python"; PLAIN_LANGUAGES: another name. */
plain_language plain_language_from_name(const char *name);

/* Appends the operations on elements, and kernel(arrays): inputs, then outputs. Of a kernel for one
 * thread, with numbers for its dimensions and functions written out. False: STATUS_UNAVAILABLE with
 * the operation that has no such form. */
bool plain_export(const ir_module *m, plain_language language, text *out, status *st);

#endif
