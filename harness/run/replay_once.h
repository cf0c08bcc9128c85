/* replay_once.h - a job of a replay, run once in a worker of its own, and how it ended. */
#ifndef TESSERA_HARNESS_RUN_REPLAY_ONCE_H
#define TESSERA_HARNESS_RUN_REPLAY_ONCE_H

#include <jansson.h>

#include "job/job.h"
#include "repro/verdict.h"
#include "run/replay.h"

/* For the verdict. Digests are borrowed from the JSON. */
typedef struct replay_outcome {
    repro_outcome outcome;
    const char **sha256; /* owned */
    char stage[32];
} replay_outcome;
void replay_outcome_read(const json_t *status_holder, const json_t *digests, const char *stage,
                         replay_outcome *out);
void replay_outcome_release(replay_outcome *o);

enum { REPLAY_STEPS_MAX = 16 }; /* a job takes no longer than so many steps */

/* The result, owned; NULL: the user interrupted, and there is no outcome. */
json_t *replay_once(const job *j, uint64_t timeout_seconds, uint64_t memory_mib,
                    replay_outcome *out);

/* Fills in the verdict and the result: once where that settles it; else three times, to tell a
 * steady failure from an unsteady one. */
void replay_judge(const replay_case *c, const replay_outcome *recorded, replay *r);

#endif
