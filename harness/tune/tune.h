/* tune.h - tsr tune: finds schedules of a corpus within a budget, keeps them in the cache, and
 * gives them to the jobs of a bench. */
#ifndef TESSERA_HARNESS_TUNE_TUNE_H
#define TESSERA_HARNESS_TUNE_TUNE_H

#include "case/case.h"
#include "job/job_plan.h"
#include "tune/tuned.h"

typedef struct tune_request {
    const corpus *corpus;
    const job_choice *choice;
    tuned_files *places; /* where what is found is kept */
    uint64_t budget_s;   /* for all cases together */
    bool budget_given;   /* it is not to be cut short by what sources say */
    bool again;          /* also cases that are in the cache */
    bool json;
} tune_request;

/* Prints what it found; the exit code. */
int tune_run(const tune_request *request);

/* Gives each job that compiles, and has no schedule of its own, the one that the cache has for it.
 * The strings are borrowed from `t`. Returns how many. */
uint32_t tune_apply(tuned_files *t, const corpus *all, job_plan *plan);

#endif
