/* diagnostics.h - the identifiers of the compiler's diagnostics, and what each of them means.
 *
 * A diagnostic is printed as "FILE:LINE:COLUMN: error[E0301]: MESSAGE". Messages may change from
 * one version to the next; identifiers do not. The table is compiler/source/diagnostics.def. */
#ifndef TESSERA_DIAGNOSTICS_H
#define TESSERA_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef struct compiler_diagnostic {
    const char *id;          /* "E0301" */
    const char *title;       /* a few words */
    const char *explanation; /* one paragraph, without newlines */
    const char *wrong;       /* a source that has the mistake; NULL: none is short enough */
    const char *right;       /* the same, mended; NULL with `wrong` */
} compiler_diagnostic;

/* All of them, by id; the table is constant. */
const compiler_diagnostic *compiler_diagnostics(size_t *count);
/* NULL: there is no such id. */
const compiler_diagnostic *compiler_diagnostic_of(const char *id);
/* The title of the ids that begin like this one: "Names and declarations". */
const char *compiler_diagnostic_group(const compiler_diagnostic *d);

/* The parameters of the kernel that examples without one of their own stand in, a line each. */
extern const char compiler_example_operands[];
/* Tells that an example needs them: it is the beginning of a body. */
bool compiler_example_is_body(const char *example);
/* An example as a source that can be compiled. */
void compiler_example_source(const char *example, text *out);

/* The first error in rendered diagnostics; NULL: there is none. */
const compiler_diagnostic *compiler_diagnostic_in(const char *rendered);

#endif
