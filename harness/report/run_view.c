/* run_view.c - chooses between the two ways to show results. */
#include "report/run_view.h"

#include <string.h>

static int max_int(int a, int b) {
    return a > b ? a : b;
}

void run_view_init(run_view *v, const run_view_options *options, const job_plan *plan) {
    *v = (run_view){.options = *options,
                    .table = {.name_width = 4, .profile_width = 7, .colour = options->colour},
                    .kernels = {.width = options->width,
                                .colour = options->colour,
                                .unicode = options->unicode}};
    for (size_t i = 0; i < plan->jobs.count; i++) {
        const job *j = &plan->jobs.items[i];
        v->table.name_width =
            max_int(v->table.name_width, (int)(strlen(j->kernel) + strlen(j->case_name) + 1));
        v->table.profile_width = max_int(v->table.profile_width, (int)strlen(j->profile));
        kernel_lines_expect(&v->kernels, j->kernel, j->backend, j->profile);
    }
}

void run_view_release(run_view *v) {
    kernel_lines_release(&v->kernels);
}

void run_view_header(const run_view *v, text *out) {
    if (v->options.none)
        return;
    if (v->options.verbose)
        table_header(&v->table, out);
    else
        kernel_lines_header(&v->kernels, out);
}

void run_view_result(run_view *v, json_t *result, double previous_ns, text *out) {
    if (v->options.none)
        return;
    if (v->options.verbose)
        table_line(&v->table, result, previous_ns, out);
    else
        kernel_lines_add(&v->kernels, result, previous_ns, out);
}

void run_view_end(run_view *v, text *out) {
    if (!v->options.none && !v->options.verbose)
        kernel_lines_end(&v->kernels, out);
}
