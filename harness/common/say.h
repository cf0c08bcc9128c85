/* say.h - the one way from the program to a terminal, a log or whoever reads its output.
 *
 * Everything that the harness prints passes here (ci/check-layers), so that a name from a pack, a
 * database or the environment is only ever shown (base/escape.h). Text that is put together before
 * it is printed is made with text_show, which does the same for its %s. */
#ifndef TESSERA_HARNESS_COMMON_SAY_H
#define TESSERA_HARNESS_COMMON_SAY_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/escape.h"

/* printf; each %s is foreign text: escaped, and cut. */
void say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "tsr: WORDS"; words of several lines, such as a diagnostic with its place, keep them, indented.
 */
void say_failure(FILE *out, const char *words);
/* Names the command that explains the first of the compiler's errors that were shown, alone or in
 * other words. Once a run of the program; say_failure does it by itself. */
void say_explain(FILE *out, const char *shown);
/* Text that may have such errors: say_text, then say_explain. */
void say_diagnostics(FILE *out, const char *composed);
/* Text of several lines that was made with text_show; its newlines and colours stay. */
void say_text(FILE *out, const char *composed);
/* Writes what another program reads, byte for byte. Where `out` is a terminal it is only shown. */
void say_data(FILE *out, const void *data, size_t size_bytes);
/* Lines that are orders to a CI system ("::error ..."), made by us, with their values escaped. */
void say_orders(FILE *out, const char *lines);
/* One JSON document, indented, with so many digits of each real number, and a newline. */
void say_json(FILE *out, const json_t *document, unsigned digits);

#endif
