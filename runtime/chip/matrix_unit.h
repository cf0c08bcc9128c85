/* matrix_unit.h - how matrix units add, executed bit for bit: one element of
 *
 *     d = c + a[0]*b[0] + a[1]*b[1] + ...
 *
 * as one instruction of a named unit gives it, and as a chain of such instructions over any number
 * of products: each takes the next k of them, and the accumulator that it returns, rounded to the
 * accumulator's type, is the c of the next one. The units are lines of matrix_units.def; each has
 * its source there, and whether hardware was compared with it. docs/matrix-units.md has the rules
 * in words.
 *
 * Numbers are codes: the bits of their format in the low bits of a uint64_t. Nothing here depends
 * on the floating-point environment but the default one. All functions can be called by any thread;
 * none fails. */
#ifndef TESSERA_CHIP_MATRIX_UNIT_H
#define TESSERA_CHIP_MATRIX_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/binary_format.h"

/* Rules by which a step is added. */
typedef enum matrix_unit_rule {
    MATRIX_UNIT_ALIGNED, /* NVIDIA: products and c are cut at the greatest exponent, added exactly
                          */
    MATRIX_UNIT_ALIGNED_AS_F16, /* 8-bit factors as f16: of each four consecutive k first two, then
                                   the others, from +0; c is added in the end, to nearest even */
    MATRIX_UNIT_FMA,            /* a chain of fma in ascending k, from c */
    MATRIX_UNIT_FMA_THEN_C,     /* a chain of fma of f32 from +0; then c is added */
    MATRIX_UNIT_FMA_PAIRS,      /* f32: c + (a0 b0 + a1 b1), a pair being an fma after a product */
    MATRIX_UNIT_TREE,           /* f32: products, halved pairwise by additions; then c is added */
    MATRIX_UNIT_TREE_FLUSHED,   /* the same without subnormals */
    MATRIX_UNIT_DOWN,         /* products cut at the greatest exponent; their sum and c rounded down
                                 at the greater one of theirs; to nearest even */
    MATRIX_UNIT_DOWN_HALVES,  /* the same, even and odd products apart before they join */
    MATRIX_UNIT_ODD_FIRST,    /* fma without subnormals, of each pair the odd element first */
    MATRIX_UNIT_LANES,        /* ... even and odd elements in chains of their own, from +0 */
    MATRIX_UNIT_ROUND_TO_ODD, /* c + (a0 b0 + a1 b1), each rounded to odd, without subnormals */
    MATRIX_UNIT_FUSED_PAIR,   /* c + (a0 b0 + a1 b1): the pair rounded once, then the sum */
    MATRIX_UNIT_EXACT,        /* integers, modulo 2^32 */
} matrix_unit_rule;

typedef enum { ALIGN_CUT, ALIGN_DOWN, ALIGN_NEAREST } matrix_alignment;

/* The exponent of what is zero: below those of all numbers, or as if it were that number. */
enum { MATRIX_UNIT_NOWHERE = -4096 };

typedef struct matrix_unit {
    const char *name;
    matrix_unit_rule rule;
    const binary_format *factors[2]; /* a and b are of either; the second may be NULL */
    const binary_format *accumulator;
    int k;    /* products of one instruction, in its longest form */
    int step; /* products that are added at once */
    /* Aligned sums alone: */
    int fraction_bits;        /* kept below the greatest exponent */
    matrix_alignment align;   /* of what goes below them */
    int zero_exponent;        /* of a factor or a c that is zero */
    int least_exponent;       /* the greatest exponent is at least this one */
    int result_fraction_bits; /* kept in the result of a step */
    binary_rounding round;    /* of the result of a step */
    const char *matched;      /* the hardware that gave these bits, and when; NULL: a model */
    const char *source;       /* of the rule */
} matrix_unit;

extern const matrix_unit matrix_units[];
extern const size_t matrix_unit_count;

/* The unit of that name, or NULL. */
const matrix_unit *matrix_unit_find(const char *name);
/* Does it multiply numbers of this format? */
bool matrix_unit_takes(const matrix_unit *unit, const binary_format *format);

/* Does it take subnormal factors for zero? */
bool matrix_unit_flushes(const matrix_unit *unit);

/* Whole numbers whose magnitudes add up to at most 2^bits are added exactly, in whatever order. */
int matrix_unit_whole_bits(const matrix_unit *unit);

/* A multiple of every unit's k. */
enum { MATRIX_UNIT_MAX_K = 128 };

/* A row of A or a column of B, taken apart for a unit. */
typedef struct matrix_factors {
    size_t count;
    bool special; /* an infinity or a NaN is among them */
    const binary_format *format;
    uint64_t code[MATRIX_UNIT_MAX_K];
    union {
        int64_t significand[MATRIX_UNIT_MAX_K]; /* with its sign: aligned sums, integers */
        double value[MATRIX_UNIT_MAX_K];        /* all others */
    };
    int32_t exponent[MATRIX_UNIT_MAX_K];
} matrix_factors;

/* Products that can be taken apart at once: several instructions' or, where their order within one
 * is not that of k, those of one. */
size_t matrix_unit_span(const matrix_unit *unit);
/* At most matrix_unit_span codes. */
void matrix_factors_decode(matrix_factors *out, const matrix_unit *unit,
                           const binary_format *format, const uint64_t *codes, size_t count);

/* The accumulator after all products of a and b, which have the same count: instructions of k
 * products one after the other, the last one with as many as are left. c and the result are codes
 * of the unit's accumulator. */
uint64_t matrix_unit_dot(const matrix_unit *unit, const matrix_factors *a, const matrix_factors *b,
                         uint64_t c);

#endif
