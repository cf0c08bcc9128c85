/* changepoints.h - where a series of times changed its level.
 *
 * E-divisive (D. S. Matteson and N. A. James, "A nonparametric approach for multiple change point
 * analysis of multivariate data", JASA 109 (2014) 334-345), on the logarithms of the times, with
 * exponent 1: a split of a segment into X (n values) and Y (m values) is scored by
 *
 *   Q = n m / (n + m) * (2 / (n m) sum |x - y| - sum |x - x'| / C(n, 2) - sum |y - y'| / C(m, 2))
 *
 * and the split of greatest Q is kept where it is greater than almost all of those that the same
 * values give in random order. Nothing is assumed about their distribution. Two things differ from
 * the paper: Y reaches to the end of the segment instead of to a second free point, and each half
 * is then tested by itself, not together with all others. So for a series without a change the
 * probability to report one is at most `significance`; values that depend on their predecessors (a
 * machine with moods) are no such series.
 *
 * The permutations come from Philox by `seed`: equal series, equal answers. Cost: (permutations +
 * 1)
 * * n log n for a segment that is split, and a few permutations for one that is not. */
#ifndef TESSERA_HARNESS_STATISTICS_CHANGEPOINTS_H
#define TESSERA_HARNESS_STATISTICS_CHANGEPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct changepoint_options {
    double significance;   /* of each test; not below 1 / (permutations + 1) */
    uint32_t permutations; /* at most */
    size_t shortest;       /* values that a segment has at least, >= 2: fewer are outliers */
    uint64_t seed;
} changepoint_options;
/* 1 %, 199, 5, 1. */
changepoint_options changepoint_defaults(void);

typedef struct changepoint_segment {
    size_t begin, end; /* values [begin, end) */
    double median;     /* unit of the values */
    double p;          /* that it begins here by chance; 1 for the first */
} changepoint_segment;

/* At least one segment, in order, without gaps; a change point is the beginning of each but the
 * first. */
typedef struct changepoints {
    changepoint_segment *segments; /* owned */
    size_t count;
} changepoints;

/* False, and `out` empty, where a value is not finite or not positive, or there is none: callers
 * leave such values out and say so. */
bool changepoints_find(const double *values, size_t count, const changepoint_options *o,
                       changepoints *out);
void changepoints_release(changepoints *c);

#endif
