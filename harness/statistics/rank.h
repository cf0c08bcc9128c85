/* rank.h - exact rank statistics of small samples: nothing is assumed of the noise but symmetry
 * (paired) or equal shape (two samples).
 *
 * Signed ranks: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6),
 * 1945. Estimates and intervals from the same statistic: J. L. Hodges and E. L. Lehmann, Estimates
 * of location based on rank tests, Ann. Math. Stat. 34(2), 1963. Rank sums: H. B. Mann and
 * D. R. Whitney, Ann. Math. Stat. 18(1), 1947. Distributions are enumerated, given the ties that
 * there are (midranks), not approximated. */
#ifndef TESSERA_HARNESS_STATISTICS_RANK_H
#define TESSERA_HARNESS_STATISTICS_RANK_H

#include <stddef.h>

enum { RANK_VALUES_MAX = 128 };

/* P(signed-rank sum at least as great as this one), where the values are symmetric about `shift` or
 * about less: small says that they lie above it. A value that equals `shift` counts against that.
 * 1 without values. */
double rank_above(const double *values, size_t count, double shift);
/* The same for values that lie below `shift`. */
double rank_below(const double *values, size_t count, double shift);
/* The least p that `count` values can have: 2^-count. */
double rank_least_p(size_t count);
/* Median of the means of all pairs, each value paired with itself, too. */
double rank_centre(const double *values, size_t count);

typedef struct rank_interval {
    double low, high;
    double confidence; /* what it really has: at least what was asked for, or all that so few
                          values can give */
} rank_interval;
rank_interval rank_centre_interval(const double *values, size_t count, double confidence);

/* Two independent samples, b against a. P(rank sum of b at least as great) where b is a moved by
 * `shift` or by less. */
typedef struct rank_samples {
    const double *a, *b;
    size_t a_count, b_count;
} rank_samples;
double rank_sum_above(const rank_samples *s, double shift);
double rank_sum_below(const rank_samples *s, double shift);
/* 1 / binomial(a + b, a). */
double rank_sum_least_p(size_t a_count, size_t b_count);
/* Median of all differences b - a, and its interval. */
double rank_shift(const rank_samples *s);
rank_interval rank_shift_interval(const rank_samples *s, double confidence);

#endif
