/* statistics.c - order statistics of samples. */
#include "statistics/statistics.h"

#include <math.h>
#include <stdlib.h>

#define WANTED_CONFIDENCE 0.95

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan). */
static double quantile(const double *sorted, size_t count, double q) {
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

/* P(X < j) of Binomial(n, 1/2), through logarithms so that large n does not overflow. */
static double tail_below(size_t n, size_t j) {
    double sum = 0;
    for (size_t i = 0; i < j; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                   (double)n * log(2));
    return sum;
}

statistics statistics_of(double *values, size_t count) {
    qsort(values, count, sizeof *values, ascending);
    size_t j = 1;
    while (2 * (j + 1) <= count && 1 - 2 * tail_below(count, j + 1) >= WANTED_CONFIDENCE)
        j++;
    double confidence = 1 - 2 * tail_below(count, j);
    return (statistics){.samples = count,
                        .median = quantile(values, count, 0.5),
                        .low = values[j - 1],
                        .high = values[count - j],
                        .confidence = confidence > 0 ? confidence : 0,
                        .minimum = values[0],
                        .p95 = quantile(values, count, 0.95),
                        .interquartile =
                            quantile(values, count, 0.75) - quantile(values, count, 0.25)};
}
