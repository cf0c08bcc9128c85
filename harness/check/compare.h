/* compare.h - two tensors, bit for bit, or one against a reference with its error bound. */
#ifndef TESSERA_HARNESS_CHECK_COMPARE_H
#define TESSERA_HARNESS_CHECK_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tensor.h"
#include "base/text.h"

typedef struct comparison {
    int64_t count, differing;
    int64_t first;    /* flat index of the first difference, -1: none */
    uint64_t max_ulp; /* UINT64_MAX where a NaN meets a number */
} comparison;

/* Same type and shape. */
comparison compare_bits(const tensor *expected, const tensor *got);

/* The reference of an output: f64 tensors of its shape. */
typedef struct bound_reference {
    const tensor *values, *bounds;
    const tensor *limits; /* see compiler_references; NULL or without data: none */
    const tensor *strict; /* the output's bits under strict; NULL: not at hand */
    double tolerated; /* error over the greater of the reference and `scale` that passes outside of
                         the bound, too; 0: none does */
    double scale;     /* compare_scale */
} bound_reference;
/* The root of the mean square of the finite values of an f64 tensor: against it, what is near 0 is
 * small. */
double compare_scale(const tensor *values);

typedef struct bound_check {
    int64_t count, beyond; /* elements outside their bound */
    int64_t tolerated;     /* outside, and within what is tolerated: not counted in `beyond` */
    int64_t unjudged;      /* nothing was there to hold them to */
    int64_t first;         /* the first outside, -1: none */
    double worst;          /* greatest error / bound; infinite where a bound of 0 is missed */
    uint64_t max_ulp; /* from the reference, rounded to the type; NaN against a number left out */
} bound_check;

/* NaN matches NaN, an infinity one of its sign; where the bound straddles the overflow threshold of
 * got's type, an infinity passes. An element without a finite bound, or a NaN where one may come
 * but need not, is outside where its limits exclude it, and else not judged, unless it has the
 * strict bits. */
bound_check compare_bound(const bound_reference *reference, const tensor *got);

/* "output C[3, 17]: expected 1.25 (0x3fa00000), got 1.5 (0x3fc00000), 2097152 ULP apart; 5 of 4096
 * differ". */
void compare_describe(const char *name, const tensor *expected, const tensor *got,
                      const comparison *c, text *out);
void compare_describe_bound(const char *name, const bound_reference *reference, const tensor *got,
                            const bound_check *c, text *out);

/* Elements that are none of what is promised of a kernel's numbers. */
typedef struct range_check {
    int64_t beyond, first; /* how many, and the first such; -1: none */
    int64_t worst;         /* compare_range: the one that is furthest off; -1: none */
    double distance;       /* ... and how far; infinite: it is a NaN, or an infinity */
} range_check;
/* From low to high; a NaN is not. */
range_check compare_range(const tensor *got, double low, double high);
/* Finite; where `reference`, an f64 tensor of the same shape, is not, anything goes. NULL: none is
 * known. */
range_check compare_finite(const tensor *reference, const tensor *got);
/* "output out[0, 3] is 101.5 (0x42cb0000)" */
void compare_describe_value(const char *name, const tensor *got, int64_t flat, text *out);

#endif
