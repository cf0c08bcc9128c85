/* execute.h - a job from beginning to end, inside a worker: prepare, compute, check, time. */
#ifndef TESSERA_HARNESS_EXEC_EXECUTE_H
#define TESSERA_HARNESS_EXEC_EXECUTE_H

#include "case/case_context.h"
#include "case/job.h"

/* Called at the start of each step that may take long: "prepare", "compile", "launch", "oracle",
 * "reference", "time", "pack". The watchdog counts from the last one. */
typedef void (*execute_stage_fn)(void *context, const char *stage);

/* What tries a job's relation again, whose case is open, and says in the result what came of it;
 * false where a run failed. */
typedef bool (*execute_relation_fn)(case_context *s, const job *j, json_t *result, status *st);

/* The result, with its "internal" part; never NULL. `s` is kept between jobs. `relation`
 * may be NULL where no job has one. */
json_t *execute_job(case_context *s, const job *j, execute_relation_fn relation,
                    execute_stage_fn stage, void *context);

#endif
