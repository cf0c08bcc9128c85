/* trigonometric.c - sin and cos: x less a multiple of pi/2, as a sum of two f64, then a polynomial.
 */
#include <math.h>

#include "math/correct/constants.h"
#include "math/correct/correct.h"

static angle64 sum_of(math_sequence s, ir_value quadrant, ir_value high, ir_value low) {
    ir_value sum = dadd(s, high, low);
    return (angle64){quadrant, sum, dadd(s, dsub(s, high, sum), low)};
}

/* Below 2^24: pi/2 in three parts, of which the quadrant's products with the first two are exact.
 */
static angle64 reduce_small(math_sequence s, ir_value a) {
    ir_value t = dfma(s, a, f64(s, CORRECT_TWO_OVER_PI), f64(s, CORRECT_ROUND));
    ir_value q = dsub(s, t, f64(s, CORRECT_ROUND));
    ir_value first = dfma(s, q, f64(s, -CORRECT_HALF_PI_1), a);
    ir_value taken = dmul(s, q, f64(s, CORRECT_HALF_PI_2));
    ir_value high = dsub(s, first, taken);
    ir_value back = dsub(s, first, high);
    ir_value lost = dadd(s, dsub(s, first, dadd(s, high, back)), dsub(s, back, taken));
    return sum_of(s, bits64(s, t), high, dfma(s, q, f64(s, -CORRECT_HALF_PI_3), lost));
}

/* An unsigned integer below 2^32 as f64, by its bits; and a signed one. */
static ir_value from_unsigned(math_sequence s, ir_value x) {
    ir_value bits = op2(s, MATH_OP_LOR, x, i64(s, UINT64_C(0x4330) << 48));
    return dsub(s, from_bits64(s, bits), f64(s, 0x1p52));
}

static ir_value from_signed(math_sequence s, ir_value x) {
    ir_value bits = op2(s, MATH_OP_LADD, x, i64(s, UINT64_C(0x4338) << 48));
    return dsub(s, from_bits64(s, bits), f64(s, CORRECT_ROUND));
}

/* 32 bits of 1 / (2 pi) that begin at bit 32 * (word + first) + shift, in the low half. */
static ir_value turn_bits(math_sequence s, const ir_value at_word[3], int first, ir_value shift) {
    static const uint64_t words[] = {CORRECT_TURN_0, CORRECT_TURN_1, CORRECT_TURN_2, CORRECT_TURN_3,
                                     CORRECT_TURN_4, CORRECT_TURN_5, CORRECT_TURN_6};
    ir_value word = i64(s, words[first]);
    for (int i = 0; i < 3; i++)
        word = select32(s, at_word[i], i64(s, words[first + i + 1]), word);
    return high_half(s, op2(s, MATH_OP_LSHL, word, shift));
}

/* From 2^24 on, x = m 2^j with m of 24 bits: whole turns fall out of the product of m with the bits
 * of 1 / (2 pi) from j on (M. Payne and R. Hanek, 1983). 96 bits of a turn are left. */
static angle64 reduce_large(math_sequence s, ir_value a) {
    ir_value bits = bits64(s, a);
    ir_value j = op2(s, MATH_OP_LSUB, op2(s, MATH_OP_LUSHR, bits, i64(s, 52)), i64(s, 1023 + 23));
    j = op2(s, MATH_OP_LAND, j, i64(s, 127));
    ir_value mantissa =
        op2(s, MATH_OP_LAND, op2(s, MATH_OP_LUSHR, bits, i64(s, 29)), i64(s, 0x7fffff));
    ir_value m = op2(s, MATH_OP_LOR, mantissa, i64(s, 0x800000));
    ir_value word = op2(s, MATH_OP_LUSHR, j, i64(s, 5));
    ir_value shift = op2(s, MATH_OP_LAND, j, i64(s, 31));
    ir_value at_word[3], product[4], carry = 0;
    for (uint64_t i = 0; i < 3; i++)
        at_word[i] = op2(s, MATH_OP_LEQ, word, i64(s, i + 1));
    for (int i = 3; i >= 0; i--) {
        product[i] = op2(s, MATH_OP_LMUL, m, turn_bits(s, at_word, i, shift));
        product[i] = carry ? op2(s, MATH_OP_LADD, product[i], carry) : product[i];
        carry = high_half(s, product[i]);
    }
    ir_value turn =
        op2(s, MATH_OP_LOR, op2(s, MATH_OP_LSHL, product[0], i64(s, 32)), low_half(s, product[1]));
    ir_value quadrant =
        op2(s, MATH_OP_LUSHR, op2(s, MATH_OP_LADD, turn, i64(s, UINT64_C(1) << 61)), i64(s, 62));
    ir_value rest = op2(s, MATH_OP_LSUB, turn, op2(s, MATH_OP_LSHL, quadrant, i64(s, 62)));
    ir_value high = from_signed(s, op2(s, MATH_OP_LSHR, rest, i64(s, 32)));
    ir_value low = dfma(s, from_unsigned(s, low_half(s, product[2])), f64(s, 0x1p-32),
                        from_unsigned(s, low_half(s, rest)));
    ir_value part = dmul(s, high, f64(s, CORRECT_TURN_HIGH));
    ir_value more = dfma(s, high, f64(s, CORRECT_TURN_HIGH), dnegate(s, part));
    more = dfma(s, high, f64(s, CORRECT_TURN_LOW), more);
    more = dfma(s, low, f64(s, CORRECT_TURN_HIGH * 0x1p-32), more);
    return sum_of(s, quadrant, part, more);
}

static angle64 reduce(math_sequence s, ir_value a) {
    angle64 small = reduce_small(s, a), large = reduce_large(s, a);
    ir_value below = dlt(s, a, f64(s, 0x1p24));
    return (angle64){select32(s, below, small.quadrant, large.quadrant),
                     select32(s, below, small.high, large.high),
                     select32(s, below, small.low, large.low)};
}

static ir_value from_quadrant(math_sequence s, angle64 r, ir_value quadrant) {
    static const double sine[] = {CORRECT_SIN}, cosine[] = {CORRECT_COS};
    return narrow(s, sine64(s, (angle64){quadrant, r.high, r.low},
                            (polynomial64){sine, sizeof sine / sizeof *sine},
                            (polynomial64){cosine, sizeof cosine / sizeof *cosine}));
}

static ir_value where_finite(math_sequence s, ir_value a, ir_value result) {
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    return select32(s, lt(s, a, f32(s, HUGE_VALF)), result, nan);
}

ir_value correct_sin(math_sequence s, ir_value x) {
    static const correct_exception wrong[] = {{0x46199998, 0xbeb1fa5d}};
    ir_value a = magnitude(s, x);
    angle64 r = reduce(s, widen(s, a));
    ir_value value = correct_except(s, a, from_quadrant(s, r, r.quadrant), wrong, 1);
    value = op1(s, MATH_OP_TO_BITS, value);
    ir_value sign = op2(s, MATH_OP_AND, op1(s, MATH_OP_TO_BITS, x), i32(s, INT32_MIN));
    value = op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_XOR, value, sign));
    return where_finite(s, a, value);
}

ir_value correct_cos(math_sequence s, ir_value x) {
    static const correct_exception wrong[] = {{0x5f18b878, 0x3f7f14bb}, {0x6115cb11, 0x3f78142f}};
    ir_value a = magnitude(s, x);
    angle64 r = reduce(s, widen(s, a));
    ir_value quadrant = op2(s, MATH_OP_LADD, r.quadrant, i64(s, 1));
    ir_value value = correct_except(s, a, from_quadrant(s, r, quadrant), wrong, 2);
    return where_finite(s, a, value);
}
