/* beside.h - implementations of others (--with) beside ours, as results say it: rows for a kernel,
 * and a line for each implementation at the end of a run. */
#ifndef TESSERA_HARNESS_REPORT_BESIDE_H
#define TESSERA_HARNESS_REPORT_BESIDE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* True where the result is an implementation's that was timed in turn with ours. */
bool beside_has(const json_t *result);
/* True where a column of that name is an implementation's. */
bool beside_is_column(const char *name);
/* Explains the rows below, in one line. */
void beside_legend(text *out);
/* One row: the case, ours, theirs, and their ratio; `ours` is our own result of that case, or NULL.
 * No wider than `width`, from 80 on. */
void beside_row(const json_t *result, const json_t *ours, int width, text *out);
/* The mean of the ratios of each implementation, and where ours is furthest behind; then how the
 * second and further ones compare with the first, over the cases that both have a time of. A mean
 * whose interval of 95 % holds 1 shows no difference. */
void beside_means(const json_t *results, text *out);
/* Tells how many cases hold where all of what others computed does, and `command`, which draws
 * others. Nothing where it is NULL. */
void beside_untried(const json_t *results, const char *command, text *out);

#endif
