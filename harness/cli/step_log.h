/* step_log.h - numbers of each step of a run, in files that others read while it goes on: results
 * that are one number and are kept of every step, such as a loss, and the time of the step. */
#ifndef TESSERA_HARNESS_CLI_STEP_LOG_H
#define TESSERA_HARNESS_CLI_STEP_LOG_H

#include <stdio.h>

#include "cli/options.h"
#include "tessera/compiler.h"

enum { STEP_LOGS_MAX = 8 };

typedef struct step_log {
    const char *kernel;
    const compiler_signature *signature;
    FILE *lines[STEP_LOGS_MAX];         /* of --export jsonl=FILE */
    const char *metrics[STEP_LOGS_MAX]; /* of --export openmetrics=FILE */
    int line_count, metrics_count;
    int64_t steps;  /* that this process took, */
    double taken_s; /* ... and how long they took together */
} step_log;

/* True of a result without axes that is no bool and no state, and is not printed or checked alone.
 */
bool step_log_takes(const struct compiler_buffer *output);
/* Fails where --export asks for a format that steps have not. */
bool step_log_check(const options *o, status *st);
/* Opens the files of --export, which was checked. Behind `done` steps of an earlier run a file of
 * lines keeps those of the steps before, and is cut there; of any other run it begins anew. */
bool step_log_open(step_log *log, const options *o, int64_t done, status *st);
/* Adds a step's line. */
bool step_log_add(step_log *log, int64_t step, const tensor *outputs, double seconds, status *st);
/* Writes the metrics of a step. */
bool step_log_metrics(const step_log *log, int64_t step, const tensor *outputs, status *st);
void step_log_close(step_log *log);

#endif
