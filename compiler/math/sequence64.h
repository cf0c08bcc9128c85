/* sequence64.h - short names for operations on f64 and i64. */
#ifndef TESSERA_MATH_SEQUENCE64_H
#define TESSERA_MATH_SEQUENCE64_H

#include "math/sequence.h"

static inline ir_value f64(math_sequence s, double value) {
    return s->f64(s->context, value);
}

static inline ir_value i64(math_sequence s, uint64_t value) {
    return s->i64(s->context, value);
}

static inline ir_value dadd(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DADD, a, b);
}

static inline ir_value dsub(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DSUB, a, b);
}

static inline ir_value dmul(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DMUL, a, b);
}

static inline ir_value ddiv(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DDIV, a, b);
}

static inline ir_value dfma(math_sequence s, ir_value a, ir_value b, ir_value c) {
    return s->op(s->context, MATH_OP_DFMA, a, b, c);
}

static inline ir_value dlt(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DLT, a, b);
}

static inline ir_value bits64(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_DTO_BITS, x);
}

static inline ir_value from_bits64(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_DFROM_BITS, x);
}

static inline ir_value dnegate(math_sequence s, ir_value x) {
    return from_bits64(s, op2(s, MATH_OP_LXOR, bits64(s, x), i64(s, UINT64_C(1) << 63)));
}

static inline ir_value deq(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_DEQ, a, b);
}

static inline ir_value dmagnitude(math_sequence s, ir_value x) {
    return from_bits64(s, op2(s, MATH_OP_LAND, bits64(s, x), i64(s, INT64_MAX)));
}

/* x, not negative, with the sign of `like`. */
static inline ir_value dwith_sign(math_sequence s, ir_value x, ir_value like) {
    ir_value sign = op2(s, MATH_OP_LAND, bits64(s, like), i64(s, UINT64_C(1) << 63));
    return from_bits64(s, op2(s, MATH_OP_LOR, bits64(s, x), sign));
}

/* x, not below `low`; a NaN stays. */
static inline ir_value dat_least(math_sequence s, ir_value x, double low) {
    return select32(s, dlt(s, x, f64(s, low)), f64(s, low), x);
}

static inline ir_value dat_most(math_sequence s, ir_value x, double high) {
    return select32(s, dlt(s, f64(s, high), x), f64(s, high), x);
}

static inline ir_value low_half(math_sequence s, ir_value x) {
    return op2(s, MATH_OP_LAND, x, i64(s, UINT32_MAX));
}

static inline ir_value high_half(math_sequence s, ir_value x) {
    return op2(s, MATH_OP_LUSHR, x, i64(s, 32));
}

/* c[count-1] x^(count-1) + ... + c[0] by Horner's rule. */
ir_value horner64(math_sequence s, ir_value x, const double *c, int count);

/* quadrant pi/2 + high + low, |high| <= pi/4; of the quadrant, an i64, the two low bits count. */
typedef struct angle64 {
    ir_value quadrant, high, low;
} angle64;
typedef struct polynomial64 {
    const double *c;
    int count;
} polynomial64;
/* Its sine, which with one quadrant more is the cosine; sin r = r + r^3 sine(r^2), cos r = 1 -
 * r^2/2 + r^4 cosine(r^2). */
ir_value sine64(math_sequence s, angle64 r, polynomial64 sine, polynomial64 cosine);

#endif
