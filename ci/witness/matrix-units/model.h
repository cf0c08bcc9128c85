/* model.h - how matrix units add, executed bit for bit.
 *
 * One step takes `step` products and the sum so far, c. The products are exact. All are aligned to
 * the greatest exponent among them, cut to `fraction_bits` bits below it, and added exactly; the
 * sum is then made a float of the accumulator's type, and zero is +0. A product's exponent is the
 * sum of its factors' stored exponents, not normalised: 1.5 * 1.5 counts as 2^0. Products with a
 * factor zero, and c = 0, have none. An instruction with more products than a step takes several,
 * in ascending order of k.
 *
 * Source: MMA-Sim (github.com/microsoft/MMA-Sim; arXiv 2511.10909), corrected where the hardware
 * differs: docs/matrix-units.md. */
#ifndef MATRIX_UNITS_MODEL_H
#define MATRIX_UNITS_MODEL_H

#include <stddef.h>

#include "format.h"

enum { MODEL_MAX_K = 128 };

/* A row of A or a column of B, taken apart. */
typedef struct operands {
    size_t count;
    bool special; /* an infinity or a NaN is among them */
    const float_format *format;
    uint64_t code[MODEL_MAX_K];
    int64_t significand[MODEL_MAX_K]; /* with its sign */
    int32_t exponent[MODEL_MAX_K];
    int32_t nonzero_exponent[MODEL_MAX_K]; /* of a zero far below all others */
} operands;

typedef enum { ALIGN_CUT, ALIGN_DOWN, ALIGN_NEAREST } alignment;

typedef enum {
    SUM_ALIGNED, /* in steps, as above */
    SUM_CHAIN,   /* fma after fma of f64 in ascending k, from c */
    SUM_THEN_C,  /* fma after fma of f32 in ascending k, from +0; then c is added */
    SUM_PAIRS, /* f32: c + (a0 b0 + a1 b1) + (a2 b2 + a3 b3), a pair being an fma after a product */
} sum_order;

typedef struct sum_model {
    const char *name;
    sum_order order;
    /* The rest is for SUM_ALIGNED.
     * as_f16: 8-bit factors become f16; from +0 in two steps, of each four consecutive k the first
     * two and then the others; c is added in the end, to nearest even. */
    bool as_f16;
    int step;                 /* products in one aligned sum, if not as_f16 */
    int fraction_bits;        /* kept below the greatest exponent */
    alignment align;          /* of what goes below them */
    bool zero_counts;         /* a product with a factor zero takes part in the greatest exponent */
    int least_exponent;       /* the greatest exponent is at least this one */
    int result_fraction_bits; /* kept in the result of a step */
    rounding round;           /* of the result of a step */
} sum_model;

extern const sum_model sum_models[];
extern const size_t sum_model_count;

/* The model of that name, or NULL. */
const sum_model *model_named(const char *name);

/* A row of A, or a column of B, in the order in which the model takes it. */
void operands_decode(operands *row, const sum_model *model, const float_format *format,
                     const uint64_t *codes, size_t count);

/* The code of c + sum of a[k] * b[k], in c's format. a and b have the same count. */
uint64_t model_element(const sum_model *model, const operands *a, const operands *b,
                       const float_format *c_format, uint64_t c);

#endif
