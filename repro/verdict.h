/* verdict.h - what a replay says: the recorded outcome against those of the replays. */
#ifndef TESSERA_REPRO_VERDICT_H
#define TESSERA_REPRO_VERDICT_H

#include <stddef.h>

/* Names, exit codes and meanings: verdict.def. Zero is no verdict: nothing is known yet, and what
 * ends like that was interrupted, or is a bug. */
typedef enum repro_verdict {
    REPRO_NO_VERDICT,
#define VERDICT(name, exit_code, meaning) name,
#include "verdict.def"
#undef VERDICT
    REPRO_VERDICT_COUNT
} repro_verdict;

/* Static storage; no verdict is "none", another number "unknown": both end with 70 and have an
 * empty meaning. */
const char *repro_verdict_name(repro_verdict v);
int repro_verdict_exit(repro_verdict v);
const char *repro_verdict_meaning(repro_verdict v);

/* Outcome of one run of the case. All borrowed; a NULL string is read as "". */
typedef struct repro_outcome {
    const char *status;        /* "ok", "mismatch", "error", "crash", "timeout" */
    const char *stage;         /* "compile", "launch", ... where it failed; "" */
    const char *class_;        /* what check failed at which op or pass; "" */
    const char *const *sha256; /* hex digests of the outputs, in order */
    size_t sha256_count;       /* 0 where it ended without outputs */
} repro_outcome;

/* The verdict of `count` replays; none of 0. Never INVALID_PACK, NEEDS_TRUST or INCOMPATIBLE: those
 * are known before anything runs. By the first line that fits: replays differ in status, stage,
 * class or digests    NONDETERMINISTIC recorded ok, replay ok, equal digests REPRODUCED_EXACT
 *   recorded ok, anything else                           DIFFERENT_FAILURE
 *   recorded a failure, replay ok                        NOT_REPRODUCED
 *   other status or stage                                DIFFERENT_FAILURE
 *   neither has outputs                                  REPRODUCED_CLASS
 *   same class and digests                               REPRODUCED_EXACT
 *   same class, other digests                            REPRODUCED_CLASS
 *   otherwise                                            DIFFERENT_FAILURE */
repro_verdict repro_judge(const repro_outcome *recorded, const repro_outcome *replays,
                          size_t count);

#endif
