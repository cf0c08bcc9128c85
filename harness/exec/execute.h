/* execute.h - a job from beginning to end, inside a worker: prepare, compute, check, time. */
#ifndef TESSERA_HARNESS_EXEC_EXECUTE_H
#define TESSERA_HARNESS_EXEC_EXECUTE_H

#include "case/case_context.h"
#include "case/job.h"

/* Called at the start of each step that may take long: "prepare", "compile", "launch", "oracle",
 * "reference", "time", "pack". The watchdog counts from the last one. */
typedef void (*execute_stage_fn)(void *context, const char *stage);

/* The result, with its "internal" part; never NULL. `s` is kept between jobs. */
json_t *execute_job(case_context *s, const job *j, execute_stage_fn stage, void *context);

#endif
