/* circle.c - sine and cosine: x = q pi/2 + r, |r| <= pi/4, for every finite x (M. Payne and
 * R. Hanek, Radian reduction for trigonometric functions, SIGNUM 18, 1983).
 *
 * |x| is an integer m of 24 bits times a power of two. Of 2/pi only 96 bits, from a place that the
 * exponent tells, decide where |x| 2/pi is within a turn: bits before them give whole turns, bits
 * after them are too small. The product with m is a fixed-point number: two bits of quarter turns,
 * then a fraction. Below 1, x is r. */
#include "math/coefficients.h"
#include "math/sequence.h"

enum {
    PLACE_BITS_NOT_FAR = -0x40000000,
    PLACE_BIT_64 = 0x20000000,
    PLACE_BIT_32 = 0x10000000,
    WINDOW_WORDS = 4
};

typedef struct argument {
    ir_value magnitude; /* |x| */
    ir_value place;     /* its bits less those of 1: the exponent from bit 23 on */
    ir_value far;       /* 1 <= |x| < Inf */
    ir_value m;         /* 0 where that is not so */
} argument;

typedef struct reduced {
    ir_value high, low; /* r; high is |x|, low and q are 0 where x is below 1 or not finite */
    ir_value quarter;   /* q in its two upper bits, once half a quarter turn is added */
} reduced;

static ir_value ushr(math_sequence s, ir_value x, int32_t by) {
    return op2(s, MATH_OP_USHR, x, i32(s, by));
}

static ir_value mask32(math_sequence s, ir_value x, int32_t mask) {
    return op2(s, MATH_OP_AND, x, i32(s, mask));
}

static ir_value is_clear(math_sequence s, ir_value x, int32_t mask) {
    return op2(s, MATH_OP_IEQ, mask32(s, x, mask), i32(s, 0));
}

static ir_value to_float(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_TO_FLOAT, x);
}

static argument take_apart(math_sequence s, ir_value x) {
    argument a = {.magnitude = magnitude(s, x)};
    ir_value bits = op1(s, MATH_OP_TO_BITS, a.magnitude);
    a.place = op2(s, MATH_OP_ISUB, bits, i32(s, 0x3f800000));
    a.far = is_clear(s, a.place, PLACE_BITS_NOT_FAR);
    ir_value mantissa = op2(s, MATH_OP_OR, mask32(s, bits, 0x007fffff), i32(s, 0x00800000));
    a.m = select32(s, a.far, mantissa, i32(s, 0));
    return a;
}

/* 32 bits of a stream, from bit `by` of `first` on. */
static ir_value window(math_sequence s, ir_value first, ir_value next, ir_value by) {
    ir_value tail = op2(s, MATH_OP_USHR, next, op2(s, MATH_OP_ISUB, i32(s, 32), by));
    return op2(s, MATH_OP_OR, op2(s, MATH_OP_SHL, first, by), tail);
}

/* 96 bits of 2/pi from a.place on: first whole words, then bits. */
static void select_window(math_sequence s, argument a, ir_value *word) {
    static const uint32_t stream[] = {MATH_TWO_OVER_PI_0, MATH_TWO_OVER_PI_1, MATH_TWO_OVER_PI_2,
                                      MATH_TWO_OVER_PI_3, MATH_TWO_OVER_PI_4, MATH_TWO_OVER_PI_5,
                                      MATH_TWO_OVER_PI_6};
    ir_value below_64 = is_clear(s, a.place, PLACE_BIT_64);
    ir_value below_32 = is_clear(s, a.place, PLACE_BIT_32);
    ir_value by = mask32(s, ushr(s, a.place, 23), 31);
    ir_value w[WINDOW_WORDS + 1];
    for (int i = 0; i <= WINDOW_WORDS; i++)
        w[i] = select32(s, below_64, i32(s, (int32_t)stream[i]), i32(s, (int32_t)stream[i + 2]));
    for (int i = 0; i < WINDOW_WORDS; i++)
        w[i] = select32(s, below_32, w[i], w[i + 1]);
    for (int i = 0; i < WINDOW_WORDS - 1; i++)
        word[i] = window(s, w[i], w[i + 1], by);
}

/* The fraction as a sum of two f32: 23 bits, 24, and 15 with what the last word adds. Unit: 2^-32
 * quarter turns. */
static reduced fraction(math_sequence s, ir_value whole, ir_value part, ir_value tail) {
    ir_value signed_whole = op2(s, MATH_OP_SHL, whole, i32(s, 2));
    ir_value first = to_float(s, mask32(s, signed_whole, ~0x1ff));
    ir_value carried = mask32(s, op2(s, MATH_OP_SHL, whole, i32(s, 17)), 0x00fe0000);
    ir_value second = to_float(s, op2(s, MATH_OP_OR, carried, ushr(s, part, 15)));
    ir_value third = fma32(s, to_float(s, mask32(s, part, 0x7fff)), f32(s, 0x1p24f), tail);
    ir_value high = fma32(s, second, f32(s, 0x1p-15f), first);
    ir_value low = fma32(s, second, f32(s, 0x1p-15f), sub(s, first, high));
    return (reduced){high, fma32(s, third, f32(s, 0x1p-54f), low), whole};
}

static reduced reduce(math_sequence s, ir_value x) {
    const float unit = MATH_HALF_PI * 0x1p-32f;
    argument a = take_apart(s, x);
    ir_value word[WINDOW_WORDS - 1];
    select_window(s, a, word);
    ir_value whole = op2(s, MATH_OP_IADD, op2(s, MATH_OP_IMUL, a.m, word[0]),
                         op2(s, MATH_OP_UMULH, a.m, word[1]));
    ir_value part = op2(s, MATH_OP_IMUL, a.m, word[1]);
    ir_value tail = mul(s, to_float(s, a.m), to_float(s, ushr(s, word[2], 8)));
    reduced q = fraction(s, whole, part, tail);
    ir_value high = mul(s, q.high, f32(s, unit));
    ir_value low = fma32(s, q.high, f32(s, unit), negate(s, high));
    low = fma32(s, q.high, f32(s, MATH_HALF_PI_LOW * 0x1p-32f), low);
    low = fma32(s, q.low, f32(s, unit), low);
    return (reduced){select32(s, a.far, high, a.magnitude), low, whole};
}

/* The sine of r for even quarters, the cosine for odd ones, negative in the upper half turn; as
 * bits. Inf * low is the NaN of an infinite x. */
static ir_value sine_or_cosine(math_sequence s, reduced r, int32_t shift) {
    static const float odd[] = {MATH_SIN_0, MATH_SIN_1, MATH_SIN_2, MATH_SIN_3};
    static const float even[] = {1.0f, MATH_COS_0, MATH_COS_1, MATH_COS_2, MATH_COS_3};
    ir_value quarter = op2(s, MATH_OP_IADD, r.quarter, i32(s, shift));
    ir_value z = fma32(s, r.high, r.high, mul(s, add(s, r.high, r.high), r.low));
    ir_value cube = fma32(s, mul(s, r.high, z), math_horner(s, z, odd, 4), r.low);
    ir_value sine = add(s, r.high, cube);
    ir_value cosine = math_horner(s, z, even, 5);
    ir_value is_even = is_clear(s, quarter, 0x40000000);
    ir_value y = op1(s, MATH_OP_TO_BITS, select32(s, is_even, sine, cosine));
    return op2(s, MATH_OP_XOR, y, mask32(s, quarter, INT32_MIN));
}

ir_value math_sin(math_sequence s, ir_value x) {
    ir_value y = sine_or_cosine(s, reduce(s, x), 0x20000000);
    ir_value sign = mask32(s, op1(s, MATH_OP_TO_BITS, x), INT32_MIN);
    return op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_XOR, y, sign));
}

ir_value math_cos(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_FROM_BITS, sine_or_cosine(s, reduce(s, x), 0x60000000));
}
