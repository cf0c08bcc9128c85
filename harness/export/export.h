/* export.h - the case of a pack as one file that needs nothing of ours, with its arrays beside it:
 * what computes it, and shows where what was recorded differs.
 *
 * FOLDER/KERNEL.c (or .py, .mlir), FOLDER/inputs/NAME.npy, expected/ and actual/ as the pack has
 * them. */
#ifndef TESSERA_HARNESS_EXPORT_EXPORT_H
#define TESSERA_HARNESS_EXPORT_EXPORT_H

#include <jansson.h>

#include "base/text.h"
#include "repro/pack.h"

typedef struct export_language export_language;

/* "c", "python", "stablehlo", "jax"; NULL: another name. */
const export_language *export_language_named(const char *name);
/* The level of the compiler that it is made of. */
const char *export_language_level(const export_language *language);

/* Writes the folder, which is made where it is not there, and else must be empty. `made` is the
 * worker's: its text, inputs and outputs. `how` receives the commands that run it. False:
 * STATUS_UNAVAILABLE where the pack left out what went in. */
typedef struct export_request {
    const pack *from;
    const json_t *made;
    const export_language *language;
    const char *folder;
} export_request;
bool export_write(const export_request *request, text *how, status *st);

#endif
