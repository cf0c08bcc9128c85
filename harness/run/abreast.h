/* abreast.h - the workers of a run: jobs in which nothing is timed run beside each other, on the
 * cores there are, and their results are taken in the order of the jobs. What is timed runs alone.
 */
#ifndef TESSERA_HARNESS_RUN_ABREAST_H
#define TESSERA_HARNESS_RUN_ABREAST_H

#include "base/map.h"
#include "exec/worker.h"
#include "job/job_plan.h"

enum { ABREAST_MOST = 4 };

typedef struct abreast {
    const job_plan *plan;
    worker workers[ABREAST_MOST];
    size_t count;
    const map *done; /* keys of jobs that are not run: they have their results */
} abreast;

void abreast_init(abreast *a, const job_plan *plan, const job_choice *choice, const map *done);
void abreast_stop(abreast *a);
/* The worker of a job of the plan: what it said of its end. */
worker *abreast_worker(abreast *a, const job *j);
/* worker_run of a job of the plan; those behind it are begun if none of them is timed. */
json_t *abreast_run(abreast *a, const job *j);

#endif
