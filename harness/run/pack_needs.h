/* pack_needs.h - what code of others opened beside its own file (exec/opened.h), for its pack: the
 * "needs" of the manifest, a list of {"how", "name", "held"}.
 *
 * Python's modules from the file's own folder, or below it, are held: they lie beside the file in
 * implementation/. Whatever else it opened is named alone: other modules, libraries, files that
 * were read, variables of the environment. */
#ifndef TESSERA_HARNESS_RUN_PACK_NEEDS_H
#define TESSERA_HARNESS_RUN_PACK_NEEDS_H

#include <jansson.h>

#include "base/text.h"
#include "job/job.h"

/* Puts a file into the pack as a member; false: it cannot be read. */
typedef bool (*pack_needs_hold_fn)(void *context, const char *member, const char *path);

/* Made from "opened", as the worker told it (or NULL). Owned; sorted, so that equal runs make equal
 * packs.
 */
json_t *pack_needs_make(const job *j, const json_t *opened, pack_needs_hold_fn hold, void *context);

/* "helper.py (imported), bias.txt (read), variable SCALE": those that are held, or are not; nothing
 * where there are none. */
void pack_needs_text(const json_t *needs, bool held, text *out);

#endif
