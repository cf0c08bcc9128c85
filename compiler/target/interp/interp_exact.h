/* interp_exact.h - sums in the order exact: the exact sum of the elements, rounded once.
 *
 * All of f64's range stands in words: number k holds the digits of weight 2^(32 k - 1074), its
 * upper half what is carried. */
#ifndef TESSERA_TARGET_INTERP_INTERP_EXACT_H
#define TESSERA_TARGET_INTERP_INTERP_EXACT_H

#include "base/dtype.h"

enum { INTERP_EXACT_WORDS = 67 };

typedef struct interp_exact {
    int64_t words[INTERP_EXACT_WORDS];
    double special; /* the sum of infinities and NaNs; 0 without */
    bool minus;     /* only -0 so far, and that */
    bool any;
} interp_exact;

/* One that is all zeros has no elements yet. At most 2^31 elements are added. */
void interp_exact_add(interp_exact *a, double x);
/* The sum, rounded once to f32 or f64: to nearest or, where it is none of the type's numbers, to
 * the neighbour whose last bit is 1. */
double interp_exact_round(const interp_exact *a, dtype to, bool odd);

float interp_exact_f32(const float *x, int64_t n);
double interp_exact_f64(const double *x, int64_t n, bool odd);

#endif
