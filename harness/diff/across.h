/* across.h - tsr diff --across: the same kernels on all backends of one or several runs, wherever
 * they were made: who has whose bits. */
#ifndef TESSERA_HARNESS_DIFF_ACROSS_H
#define TESSERA_HARNESS_DIFF_ACROSS_H

#include "diff/runs.h"

enum { ACROSS_RUNS_MAX = 16 };

/* A column for each backend of each run, a row for each kernel and profile. Bits are held against
 * those of the reference of a case: the first column's that has outputs, the interpreter's before
 * all others. Differences under strict are looked into as diff_runs does; other profiles
 * promise no such bits. EXIT_CHECK where bits of strict differ, EXIT_NO_VERDICT where no case has
 * outputs in two columns, else EXIT_DONE. */
exit_code diff_across(const side *runs, size_t count, const diff_request *request, text *out,
                      json_t **document);

#endif
