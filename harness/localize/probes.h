/* probes.h - a failing case tried again and again, as it is behind a pass or without some of its
 * operations: does it still fail the same way? */
#ifndef TESSERA_HARNESS_LOCALIZE_PROBES_H
#define TESSERA_HARNESS_LOCALIZE_PROBES_H

#include <jansson.h>

#include "exec/worker.h"
#include "run/replay.h"

typedef enum probe {
    PROBE_RIGHT,
    PROBE_WRONG,   /* it fails as the case did, or a module that is evaluated is wrong */
    PROBE_UNKNOWN, /* it cannot be run so, or fails another way */
    PROBE_ENDED    /* the time is up, or the user interrupted */
} probe;

typedef struct probes {
    worker worker;
    job job;               /* the case's own */
    const char *fails_as;  /* the status of its result */
    const char *fails_why; /* ... and what it says of that */
    uint64_t end_ns;
    int64_t count;
    json_t *result; /* of the last one; owned */
} probes;

/* At most so many seconds for all of them. probes_close in any case. */
void probes_open(probes *p, const replay_case *c, const replay *r, uint64_t seconds);
void probes_close(probes *p);

/* Runs the job, its case's with these in place of its own. NULL: the code itself. */
probe probes_try(probes *p, const char *edits, const char *after);
/* A job of another mode, whose result stays in p->result; NULL: the time is up. */
const json_t *probes_ask(probes *p, job_mode mode, const char *edits, const char *after);
bool probes_ended(const probes *p);
/* Has the result failed as the case did, by a check of the kernel or not? */
bool probes_fails_by_check(const probes *p); /* is it by one? */
bool probes_same_failure(const probes *p, const json_t *result);
/* A case of several ranks that fails on one, too, is the case of one from now on. */
void probes_try_one_rank(probes *p);

#endif
