/* pow.c - |x|^y = 2^(y log2 |x|), with log2 |x| in two f32: its error is multiplied by up to 2^7.
 *
 * log2 x = n + log2 m with log's n and m = 1 + f, and log2 m = s (2/ln2 + 2/(3 ln2) z + z^2
 * tail(z)), s = f/(2 + f), z = s^2. The first two terms are carried in two f32, the tail in one. */
#include <math.h>

#include "math/coefficients.h"
#include "math/sequence.h"

/* high + low; |low| is at most about half a unit in the last place of high. */
typedef struct two_floats {
    ir_value high, low;
} two_floats;

/* a + b, where |a| >= |b| or a is 0: nothing is lost. */
static two_floats sum_of(math_sequence s, ir_value a, ir_value b) {
    ir_value high = add(s, a, b);
    return (two_floats){high, sub(s, b, sub(s, high, a))};
}

static two_floats product_of(math_sequence s, ir_value a, ir_value b) {
    ir_value high = mul(s, a, b);
    return (two_floats){high, fma32(s, a, b, negate(s, high))};
}

/* f/(2 + f) */
static two_floats ratio_of(math_sequence s, ir_value f) {
    ir_value d = add(s, f, f32(s, 2.0f)), d_low = sub(s, f, sub(s, d, f32(s, 2.0f)));
    ir_value q = op2(s, MATH_OP_DIV, f, d), minus = negate(s, q);
    ir_value rest = fma32(s, minus, d_low, fma32(s, minus, d, f));
    return (two_floats){q, op2(s, MATH_OP_DIV, rest, d)};
}

/* 2/ln2 + 2/(3 ln2) z + z^2 tail(z), z = r^2 */
static two_floats series_at(math_sequence s, two_floats r) {
    static const float c[] = {MATH_RATIO_0, MATH_RATIO_1, MATH_RATIO_2, MATH_RATIO_3};
    two_floats z = product_of(s, r.high, r.high);
    z.low = fma32(s, add(s, r.high, r.high), r.low, z.low);
    ir_value tail = math_horner(s, z.high, c, 4);
    two_floats t = product_of(s, z.high, f32(s, MATH_RATIO_SECOND));
    t.low = fma32(s, z.high, f32(s, MATH_RATIO_SECOND_LOW), t.low);
    t.low = fma32(s, z.low, f32(s, MATH_RATIO_SECOND), t.low);
    two_floats u = sum_of(s, f32(s, MATH_RATIO_FIRST), t.high);
    ir_value low = add(s, u.low, add(s, t.low, f32(s, MATH_RATIO_FIRST_LOW)));
    tail = mul(s, z.high, tail);
    low = fma32(s, add(s, z.low, z.low), tail, low);
    return (two_floats){u.high, fma32(s, z.high, tail, low)};
}

/* For 0 < x < Inf. */
static two_floats logarithm(math_sequence s, ir_value x) {
    ir_value f, n = math_log_split(s, x, &f);
    two_floats r = ratio_of(s, f), u = series_at(s, r);
    two_floats v = product_of(s, r.high, u.high);
    v.low = fma32(s, r.high, u.low, v.low);
    v.low = fma32(s, r.low, u.high, v.low);
    two_floats whole = sum_of(s, n, v.high);
    return sum_of(s, whole.high, add(s, whole.low, v.low));
}

/* 2^(p.high + p.low); beyond the clamps it is 0 or infinite anyway. */
static ir_value power_of_two(math_sequence s, two_floats p) {
    static const float c[] = {MATH_EXP2_1, MATH_EXP2_2, MATH_EXP2_3, MATH_EXP2_4, MATH_EXP2_5};
    const float round = MATH_ROUND + 254.0f;
    ir_value none = f32(s, 0.0f);
    ir_value low = select32(s, lt(s, p.high, f32(s, -151.0f)), none, p.low);
    low = select32(s, lt(s, f32(s, 129.0f), p.high), none, low);
    ir_value x = at_most(s, at_least(s, p.high, -151.0f), 129.0f);
    ir_value t = add(s, x, f32(s, round));
    two_floats r = sum_of(s, sub(s, x, sub(s, t, f32(s, round))), low);
    ir_value tail = math_horner(s, r.high, c, 5);
    two_floats a = product_of(s, r.high, f32(s, MATH_EXP2_0));
    a.low = fma32(s, r.low, f32(s, MATH_EXP2_0), a.low);
    two_floats sum = sum_of(s, f32(s, 1.0f), a.high);
    ir_value rest = add(s, sum.low, fma32(s, tail, mul(s, r.high, r.high), a.low));
    return math_scale_in_halves(s, add(s, sum.high, rest), t);
}

/* y as an integer, where it is one (`whole`); from 2^24 on all f32 are even numbers. */
static ir_value integer_of(math_sequence s, ir_value y, ir_value *whole) {
    ir_value c = at_most(s, at_least(s, y, -0x1p25f), 0x1p25f);
    c = select32(s, op2(s, MATH_OP_UNORDERED, c, c), f32(s, 0.0f), c);
    ir_value integer = op1(s, MATH_OP_TO_INT, c);
    *whole = op2(s, MATH_OP_EQ, op1(s, MATH_OP_TO_FLOAT, integer), c);
    return integer;
}

/* The sign of x where y is odd; a NaN where x is negative and y is not whole. */
static ir_value with_sign_of_base(math_sequence s, ir_value power, ir_value x, ir_value y) {
    ir_value whole, integer = integer_of(s, y, &whole);
    ir_value odd = op2(s, MATH_OP_SHL, integer, i32(s, 31));
    ir_value sign = op2(s, MATH_OP_AND, odd, op1(s, MATH_OP_TO_BITS, x));
    sign = select32(s, whole, sign, i32(s, 0));
    ir_value bits = op2(s, MATH_OP_XOR, op1(s, MATH_OP_TO_BITS, power), sign);
    ir_value negative =
        op2(s, MATH_OP_LOGIC_AND, lt(s, x, f32(s, 0.0f)), lt(s, f32(s, -HUGE_VALF), x));
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    ir_value value = op1(s, MATH_OP_FROM_BITS, bits);
    return select32(s, negative, select32(s, whole, value, nan), value);
}

ir_value math_pow(math_sequence s, ir_value x, ir_value y) {
    ir_value zero = f32(s, 0.0f), infinity = f32(s, HUGE_VALF);
    ir_value a = magnitude(s, x);
    ir_value b = at_most(s, at_least(s, y, -0x1p32f), 0x1p32f);
    two_floats l = logarithm(s, a), p = product_of(s, b, l.high);
    p.low = fma32(s, b, l.low, p.low);
    ir_value power = power_of_two(s, p);

    ir_value falls = lt(s, y, zero);
    ir_value at_zero = select32(s, falls, infinity, zero);
    ir_value at_infinity = select32(s, falls, zero, infinity);
    power = select32(s, op2(s, MATH_OP_EQ, a, zero), at_zero, power);
    power = select32(s, op2(s, MATH_OP_EQ, a, infinity), at_infinity, power);
    power = with_sign_of_base(s, power, x, y);
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    power = select32(s, op2(s, MATH_OP_UNORDERED, x, y), nan, power);
    ir_value one =
        op2(s, MATH_OP_LOGIC_OR, op2(s, MATH_OP_EQ, x, f32(s, 1.0f)), op2(s, MATH_OP_EQ, y, zero));
    return select32(s, one, f32(s, 1.0f), power);
}
