/* run_view.h - how a person sees a run go on: a line for each kernel, or with -v for each result.
 */
#ifndef TESSERA_HARNESS_REPORT_RUN_VIEW_H
#define TESSERA_HARNESS_REPORT_RUN_VIEW_H

#include "job/job_plan.h"
#include "report/kernel_lines.h"
#include "report/table.h"

typedef struct run_view_options {
    bool none; /* shows nothing: --json */
    bool verbose, colour, unicode;
    int width;
} run_view_options;

typedef struct run_view {
    run_view_options options;
    table table;
    kernel_lines kernels;
} run_view;

void run_view_init(run_view *v, const run_view_options *options, const job_plan *plan);
void run_view_release(run_view *v);
/* Each appends what is to be printed now. */
void run_view_header(const run_view *v, text *out);
void run_view_result(run_view *v, json_t *result, double previous_ns, text *out);
void run_view_end(run_view *v, text *out);

#endif
