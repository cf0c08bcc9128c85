/* table.h - results as lines for a person, and the closing summary. */
#ifndef TESSERA_HARNESS_REPORT_TABLE_H
#define TESSERA_HARNESS_REPORT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

typedef struct table {
    int name_width, profile_width; /* of the widest line to come */
    bool colour;
} table;

/* `previous_ns` is the median of the last comparable run, negative where there is none; `resource`
 * names the ceiling that bounds the result, or NULL. */
void table_header(const table *t, text *out);
void table_line(const table *t, const json_t *result, const char *resource, double previous_ns,
                text *out);
/* Counts by status, what was checked against what, the slowest compile. */
void table_summary(const json_t *results, text *out);

/* "1.23 ms", "17.4 us". */
void table_duration(double ns, text *out);

#endif
