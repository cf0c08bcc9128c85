/* match.h - which result of one side belongs to which of the other. */
#ifndef TESSERA_HARNESS_DIFF_MATCH_H
#define TESSERA_HARNESS_DIFF_MATCH_H

#include "base/vec.h"
#include "diff/side.h"

typedef struct result_pair {
    const json_t *a, *b; /* borrowed from the sides; one is NULL where the other is alone */
} result_pair;

typedef VEC(result_pair) result_pairs;

/* Pairs results of the same case. They have the same backend, unless both sides name one; and the
 * same profile, unless one is of a backend that has none but strict, or both sides name one. A
 * result with another thread count is taken where there is none of the same. */
void match_results(const side *a, const side *b, result_pairs *out);

#endif
