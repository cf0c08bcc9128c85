/* execute.h - a job from beginning to end, inside a worker: prepare, compute, check, time. */
#ifndef TESSERA_HARNESS_EXEC_EXECUTE_H
#define TESSERA_HARNESS_EXEC_EXECUTE_H

#include "case/case_context.h"
#include "job/job.h"

/* Called at the start of each step that may take long: "prepare", "compile", "launch", "oracle",
 * "reference", "time", "close", "pack". The watchdog counts from the last one. */
typedef void (*execute_stage_fn)(void *context, const char *stage);

/* Tries a job's relation again, whose case is open, and says in the result what came of it; false
 * where a run failed. */
typedef bool (*execute_relation_fn)(case_context *s, const job *j, json_t *result, status *st);

/* Called when the kernel begins to run on another set of inputs; NULL: on several in turn, or not
 * at all. */
typedef void (*execute_set_fn)(void *context, const input_set *set);

typedef struct execute_hooks {
    execute_relation_fn relation; /* NULL where no job has one */
    execute_stage_fn stage;
    execute_set_fn set; /* NULL: nobody asks */
    void *context;      /* for `stage` and `set` */
} execute_hooks;

/* The result, with its "internal" part; never NULL. `s` is kept between jobs. */
json_t *execute_job(case_context *s, const job *j, const execute_hooks *hooks);

#endif
