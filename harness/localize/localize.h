/* localize.h - fault localization: the first pass, and the first operation, behind which a result
 * that is wrong is wrong.
 *
 * Everything of the pack runs in the replay's sandboxed worker: probes are jobs like a replay, each
 * of the case behind edits (tessera/edit.h) or of the module behind a pass (tessera/descent.h). */
#ifndef TESSERA_HARNESS_LOCALIZE_LOCALIZE_H
#define TESSERA_HARNESS_LOCALIZE_LOCALIZE_H

#include <jansson.h>

#include "run/pack_child.h"
#include "run/replay.h"

/* The case of a replay in which its failure happened again (replay_onward_fn). */
typedef struct localization {
    pack_place place;
    const char
        *against;  /* the program tsr of another build, to compare the way down with; or NULL */
    json_t *found; /* owned: docs/packs.md has its keys */
    text pack;     /* path of the pack that has it */
} localization;
bool localize_onward(void *self, const replay_case *c, const replay *r, status *st);

/* The same in at most so many seconds, without a pack. Owned. */
json_t *localize_find(const replay_case *c, const replay *r, uint64_t seconds);

/* As a manifest has it, owned: bits stand for values. */
json_t *localization_field(const json_t *found);
/* Appends it for a person. */
void localization_show(const json_t *found, text *out);

#endif
