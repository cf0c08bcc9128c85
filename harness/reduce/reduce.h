/* reduce.h - delta debugging: a failing case without all that its failure has no need of.
 *
 * Operations go first, then dimensions, then what its inputs hold. Each attempt is a job in the
 * replay's sandboxed worker, of the case behind edits (tessera/edit.h): one that still fails the
 * same way, behind the same pass where that is known, is the case from then on. */
#ifndef TESSERA_HARNESS_REDUCE_REDUCE_H
#define TESSERA_HARNESS_REDUCE_REDUCE_H

#include <jansson.h>

#include "run/pack_child.h"
#include "run/replay.h"

typedef struct reduction {
    uint64_t budget_seconds; /* for all of it */
    pack_place place;
    json_t *told; /* owned: docs/packs.md has its keys */
    text pack;    /* path of the pack of the smaller case */
} reduction;
/* replay_onward_fn. What was found by then is packed where the time is up, or the user interrupts.
 */
bool reduce_onward(void *self, const replay_case *c, const replay *r, status *st);

/* Appends it for a person. */
void reduction_show(const json_t *told, text *out);

#endif
