/* describe.h - a comparison of elements for a person and as JSON. */
#ifndef TESSERA_HARNESS_DIFF_DESCRIBE_H
#define TESSERA_HARNESS_DIFF_DESCRIBE_H

#include <jansson.h>

#include "diff/elements.h"

typedef struct element_pair {
    dtype type;
    int rank;
    const int64_t *dims;
    const char *a_name, *b_name; /* of the sides */
    const element_diff *found;
} element_pair;

/* Describes how many differ, and the first with its index and both values. Every line begins with
 * `indent`. */
void describe_first(const element_pair *p, const char *indent, text *out);
/* The same, and the histogram. */
void describe_elements(const element_pair *p, const char *indent, text *out);
/* {"type", "shape", "elements", "differing", "nan_payloads", "max_ulp", "max_absolute",
 * "infinite_differences", "first",
 * "histogram"} (docs/diff.md). Owned. */
json_t *describe_elements_json(const element_pair *p);

/* "[3, 17]"; "[]" for rank 0. */
void describe_index(int rank, const int64_t *dims, int64_t flat, text *out);
/* 9 significant digits, 17 for f64; integers whole. */
void describe_value(dtype type, uint64_t bits, text *out);
void describe_bits(dtype type, uint64_t bits, text *out);

#endif
