/* run.h - a benchmark run: every job through a worker, its record stored, then shown. */
#ifndef TESSERA_HARNESS_RUN_RUN_H
#define TESSERA_HARNESS_RUN_RUN_H

#include "job/job_plan.h"
#include "report/run_view.h"

typedef struct run_request {
    job_plan *plan; /* jobs that --last-failed excludes are removed */
    const job_choice *choice;
    const char *arguments; /* canonical text: --resume looks for equal ones */
    const char *database;
    bool database_named; /* by --db or $TSR_DB */
    const char *const *exports;
    size_t export_count;
    exit_code problem;    /* of the corpus: some source was wrong */
    const char *failures; /* where packs of failing cases go; NULL: where they usually do */
    bool resume, last_failed, fail_fast;
    const json_t *origin; /* report/origin.h; of a new run */
    const json_t *shard;  /* case/shard.h; NULL: the run is whole */
    const char *untried;  /* closing.h */
    run_view_options view;
} run_request;

/* Prints, stores and exports; returns the exit code. */
int run_bench(const run_request *request);

/* A worker over all jobs of a plan without storing anything (goldens): `visit` gets each result,
 * still with its "internal" part. Returns false when interrupted. */
typedef void (*run_result_fn)(void *context, const job *j, json_t *result);
bool run_jobs(const job_plan *p, const job_choice *choice, run_result_fn visit, void *context);

#endif
