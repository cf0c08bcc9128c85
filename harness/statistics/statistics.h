/* statistics.h - a median with its spread, without assuming any distribution. */
#ifndef TESSERA_HARNESS_STATISTICS_STATISTICS_H
#define TESSERA_HARNESS_STATISTICS_STATISTICS_H

#include <stddef.h>

/* [low, high] are order statistics; they hold the true median with probability `confidence`, which
 * is exact for independent samples: 1 - 2 * P(Binomial(n, 1/2) < j) for the j-th smallest and j-th
 * largest (Conover, Practical Nonparametric Statistics, 3.2). The smallest such interval with at
 * least 95 % is taken; where too few samples reach that, it is the whole range and `confidence`
 * says what that is worth. Units are those of the samples. */
typedef struct statistics {
    size_t samples;
    double median, low, high, confidence, minimum, interquartile;
    double p95; /* the 95th percentile */
} statistics;

/* `values` is sorted in place; count >= 1. */
statistics statistics_of(double *values, size_t count);

#endif
