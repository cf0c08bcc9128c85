/* abreast.h - the workers of a run: jobs in which nothing is timed run beside each other, on the
 * cores there are, and their results are taken in the order of the jobs. What is timed runs alone.
 */
#ifndef TESSERA_HARNESS_RUN_ABREAST_H
#define TESSERA_HARNESS_RUN_ABREAST_H

#include "base/map.h"
#include "exec/worker.h"
#include "job/job_plan.h"

/* A long job holds up none of those behind it: so many may have ended before it does. */
enum { ABREAST_MOST = 4, ABREAST_AHEAD = 32 };

typedef struct abreast_place {
    enum { PLACE_FREE, PLACE_BEGUN, PLACE_ENDED } state;
    json_t *result; /* where it has ended; NULL: interrupted */
    char stage[32]; /* the last of its job, also after its result was taken */
} abreast_place;

typedef struct abreast {
    const job_plan *plan;
    worker workers[ABREAST_MOST];
    size_t count;
    const map *done; /* keys of jobs that are not run: they have their results */
    abreast_place places[ABREAST_AHEAD];
} abreast;

void abreast_init(abreast *a, const job_plan *plan, const job_choice *choice, const map *done);
void abreast_stop(abreast *a);
/* worker_run of a job of the plan; those behind it are begun if none of them is timed. */
json_t *abreast_run(abreast *a, const job *j);
/* The step in which the job ended that was run last. */
const char *abreast_stage(const abreast *a, const job *j);

#endif
