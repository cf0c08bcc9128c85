/* idle.h - columns of others' code that computed nothing. */
#ifndef TESSERA_HARNESS_REPORT_IDLE_H
#define TESSERA_HARNESS_REPORT_IDLE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* Is this a result of a column all of whose results are unsupported or skipped? */
bool idle_has(const json_t *results, const json_t *result);
bool idle_any(const json_t *results);
/* A line for each such column, with its reason where that is one. */
void idle_lines(const json_t *results, text *out);

#endif
