/* table.h - results as lines for a person, one for each. */
#ifndef TESSERA_HARNESS_REPORT_TABLE_H
#define TESSERA_HARNESS_REPORT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

#define TABLE_GREEN "\033[32m"
#define TABLE_RED "\033[31m"
#define TABLE_YELLOW "\033[33m"
#define TABLE_DIM "\033[2m"
#define TABLE_PLAIN "\033[0m"

enum { TABLE_RESOURCE_BYTES = 64 };

typedef struct table {
    int name_width, profile_width; /* of the widest line to come */
    bool colour;
    const char *said; /* the reason shown last; borrowed from its result */
} table;

/* `previous_ns` is the median of the last comparable run, negative where there is none. */
void table_header(const table *t, text *out);
/* The reason that was shown last is not shown again; the results stay until the last line. */
void table_line(table *t, const json_t *result, double previous_ns, text *out);
/* Counts of results by status; what they were checked against. A line each. */
void table_counts(const json_t *results, text *out);
void table_checked(const json_t *results, text *out);

/* The ceiling that bounds a result, "compute.f32" or "memory.L3": without its number of threads and
 * the size of its set. "" where there is none. */
void table_resource(const json_t *result, char out[TABLE_RESOURCE_BYTES]);
/* A name in `width` columns: of one that is too long the middle is left out, since names of kernels
 * differ at their ends. */
void table_cut(const char *name, int width, text *out);
/* "1.23 ms", "17.4 us". */
void table_duration(double ns, text *out);

#endif
