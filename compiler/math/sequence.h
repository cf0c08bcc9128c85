/* sequence.h - short names for one operation each, with which the sequences are written. */
#ifndef TESSERA_MATH_SEQUENCE_H
#define TESSERA_MATH_SEQUENCE_H

#include "math/math.h"

typedef const math_emit *math_sequence;

static inline ir_value f32(math_sequence s, float value) {
    return s->f32(s->context, value);
}

static inline ir_value i32(math_sequence s, int32_t value) {
    return s->i32(s->context, value);
}

static inline ir_value op1(math_sequence s, math_op op, ir_value a) {
    return s->op(s->context, op, a, 0, 0);
}

static inline ir_value op2(math_sequence s, math_op op, ir_value a, ir_value b) {
    return s->op(s->context, op, a, b, 0);
}

static inline ir_value fma32(math_sequence s, ir_value a, ir_value b, ir_value c) {
    return s->op(s->context, MATH_OP_FMA, a, b, c);
}

static inline ir_value select32(math_sequence s, ir_value mask, ir_value then, ir_value otherwise) {
    return s->op(s->context, MATH_OP_SELECT, mask, then, otherwise);
}

static inline ir_value lt(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_LT, a, b);
}

static inline ir_value add(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_ADD, a, b);
}

static inline ir_value sub(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_SUB, a, b);
}

static inline ir_value mul(math_sequence s, ir_value a, ir_value b) {
    return op2(s, MATH_OP_MUL, a, b);
}

/* x, not below `low`; a NaN stays. */
static inline ir_value at_least(math_sequence s, ir_value x, float low) {
    return select32(s, lt(s, x, f32(s, low)), f32(s, low), x);
}

static inline ir_value at_most(math_sequence s, ir_value x, float high) {
    return select32(s, lt(s, f32(s, high), x), f32(s, high), x);
}

static inline ir_value negate(math_sequence s, ir_value x) {
    ir_value bits = op2(s, MATH_OP_XOR, op1(s, MATH_OP_TO_BITS, x), i32(s, INT32_MIN));
    return op1(s, MATH_OP_FROM_BITS, bits);
}

static inline ir_value magnitude(math_sequence s, ir_value x) {
    ir_value bits = op2(s, MATH_OP_AND, op1(s, MATH_OP_TO_BITS, x), i32(s, INT32_MAX));
    return op1(s, MATH_OP_FROM_BITS, bits);
}

/* x, not negative, with the sign of `like`. */
static inline ir_value with_sign(math_sequence s, ir_value x, ir_value like) {
    ir_value sign = op2(s, MATH_OP_AND, op1(s, MATH_OP_TO_BITS, like), i32(s, INT32_MIN));
    return op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_OR, op1(s, MATH_OP_TO_BITS, x), sign));
}

/* The low bits of `integer` (an i32) as the exponent field of an f32. */
static inline ir_value exponent_from(math_sequence s, ir_value integer) {
    return op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_SHL, integer, i32(s, 23)));
}

/* c[count-1] x^(count-1) + ... + c[0] by Horner's rule. */
ir_value math_horner(math_sequence s, ir_value x, const float *c, int count);
/* (e^r - 1 - r) / r^2 for |r| <= log(2)/2. */
ir_value math_exp_tail(math_sequence s, ir_value r);
/* e^r there. */
ir_value math_exp_reduced(math_sequence s, ir_value r);
/* x 2^n, one rounding, where t is an f32 of which the low bits are n + 254: MATH_ROUND + 254 + n.
 */
ir_value math_scale_in_halves(math_sequence s, ir_value x, ir_value t);
/* For 0 < x < Inf: n, and f with x = 2^n (1 + f), 2/3 <= 1 + f < 4/3. */
ir_value math_log_split(math_sequence s, ir_value x, ir_value *f);
/* (log(1 + f) - f) / f^2 there. */
ir_value math_log_tail(math_sequence s, ir_value f);
/* p where 0 < x < Inf, else the logarithm of x. */
ir_value math_log_or_special(math_sequence s, ir_value x, ir_value p);

#define F(ENUM, name) ir_value math_##name(math_sequence s, ir_value x);
#include "math/functions.def"

#define P(ENUM, name, first, second)                                                               \
    ir_value math_##name(math_sequence s, ir_value first, ir_value second);
#include "math/pairs.def"

#endif
