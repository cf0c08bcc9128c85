/* trigonometric.c - sin and cos: x = q pi/2 + r, |r| <= pi/4, for every finite x (M. Payne and
 * R. Hanek, Radian reduction for trigonometric functions, SIGNUM 18, 1983).
 *
 * |x| is m 2^(e-52), m of 53 bits. Bits of 2/pi before a place that e tells give whole turns, those
 * 192 bits further on are too small. What is left of their product with m is a fixed-point number:
 * two bits of quarter turns, then a fraction. Below 1/2, x is r. */
#include <math.h>

#include "math/double/double.h"

enum { WORDS = 20, WINDOW = 4, LIMBS = 6 };
/* Bits before those that count: 64 zero bits, less one for each quarter that m 2^(e-52) has. */
enum { FIRST_PLACE = 10 };

/* WINDOW words of 2/pi from word `at` on: they move on by 16, 8, 4, 2 and 1. */
static void words_from(math_sequence s, ir_value at, ir_value *out) {
    static const uint64_t words[WORDS] = {DOUBLE_TWO_OVER_PI};
    ir_value now[WORDS];
    int count = WORDS;
    for (int i = 0; i < WORDS; i++)
        now[i] = i64(s, words[i]);
    for (int step = 16; step > 0; step /= 2) {
        ir_value bit = op2(s, MATH_OP_LAND, at, i64(s, (uint64_t)step));
        ir_value stays = op2(s, MATH_OP_LEQ, bit, i64(s, 0));
        int keep = step == 16 ? WORDS - 1 : WINDOW + step - 1;
        for (int i = 0; i < keep && i + step < count; i++)
            now[i] = select32(s, stays, now[i], now[i + step]);
        count = keep;
    }
    for (int i = 0; i < WINDOW; i++)
        out[i] = now[i];
}

/* 192 bits of 2/pi from bit `place` on, as words of 32 bits, the lowest first. */
static void bits_from(math_sequence s, ir_value place, ir_value *limbs) {
    ir_value words[WINDOW];
    words_from(s, op2(s, MATH_OP_LUSHR, place, i64(s, 6)), words);
    ir_value by = op2(s, MATH_OP_LAND, place, i64(s, 63));
    ir_value back = op2(s, MATH_OP_LSUB, i64(s, 63), by);
    for (int i = 0; i < LIMBS / 2; i++) {
        ir_value next = op2(s, MATH_OP_LUSHR, words[i + 1], i64(s, 1));
        ir_value word = op2(s, MATH_OP_LOR, op2(s, MATH_OP_LSHL, words[i], by),
                            op2(s, MATH_OP_LUSHR, next, back));
        limbs[LIMBS - 1 - 2 * i] = high_half(s, word);
        limbs[LIMBS - 2 - 2 * i] = low_half(s, word);
    }
}

/* The low 192 bits of m times the limbs, in their place. */
static void multiply(math_sequence s, ir_value m, ir_value *limbs) {
    ir_value low = low_half(s, m), high = high_half(s, m), carry = 0, before = 0;
    for (int i = 0; i < LIMBS; i++) {
        ir_value a = op2(s, MATH_OP_LMUL, low, limbs[i]), sum = low_half(s, a);
        ir_value b = before ? op2(s, MATH_OP_LMUL, high, before) : 0;
        sum = b ? op2(s, MATH_OP_LADD, sum, low_half(s, b)) : sum;
        sum = carry ? op2(s, MATH_OP_LADD, sum, carry) : sum;
        carry = op2(s, MATH_OP_LADD, high_half(s, a), high_half(s, sum));
        carry = b ? op2(s, MATH_OP_LADD, carry, high_half(s, b)) : carry;
        before = limbs[i];
        limbs[i] = low_half(s, sum);
    }
}

/* An integer below 2^32 times a power of two. */
static ir_value fraction(math_sequence s, ir_value integer, double unit) {
    ir_value bits = op2(s, MATH_OP_LOR, integer, i64(s, UINT64_C(0x4330) << 48));
    return dmul(s, dsub(s, from_bits64(s, bits), f64(s, 0x1p52)), f64(s, unit));
}

/* The rest of quarter turns, less the nearest whole number of them, as an angle. Its lower bits
 * are exchanged, not negated, where it is negative: that is off by 2^-190. */
static angle64 angle_from(math_sequence s, const ir_value *limbs) {
    ir_value turn =
        op2(s, MATH_OP_LOR, op2(s, MATH_OP_LSHL, limbs[LIMBS - 1], i64(s, 32)), limbs[LIMBS - 2]);
    ir_value rounded = op2(s, MATH_OP_LADD, turn, i64(s, UINT64_C(1) << 61));
    ir_value quadrant = op2(s, MATH_OP_LUSHR, rounded, i64(s, 62));
    ir_value rest = op2(s, MATH_OP_LSUB, turn, op2(s, MATH_OP_LSHL, quadrant, i64(s, 62)));
    ir_value flip = op2(s, MATH_OP_LSHR, rest, i64(s, 63)), flip_low = low_half(s, flip);
    rest = op2(s, MATH_OP_LXOR, rest, flip);
    doubled above = doubled_sum(s, fraction(s, high_half(s, rest), 0x1p-30),
                                fraction(s, low_half(s, rest), 0x1p-62));
    ir_value third = op2(s, MATH_OP_LXOR, limbs[LIMBS - 3], flip_low);
    ir_value fourth = op2(s, MATH_OP_LXOR, limbs[LIMBS - 4], flip_low);
    doubled below = doubled_sum(s, fraction(s, third, 0x1p-94), fraction(s, fourth, 0x1p-126));
    doubled sum = doubled_sum(s, above.high, below.high);
    sum = doubled_sum(s, sum.high, dadd(s, sum.low, dadd(s, above.low, below.low)));
    sum = doubled_times(s, sum, (doubled){f64(s, DOUBLE_HALF_PI), f64(s, DOUBLE_HALF_PI_LOW)});
    ir_value sign = op2(s, MATH_OP_LAND, flip, i64(s, UINT64_C(1) << 63));
    return (angle64){quadrant, from_bits64(s, op2(s, MATH_OP_LXOR, bits64(s, sum.high), sign)),
                     from_bits64(s, op2(s, MATH_OP_LXOR, bits64(s, sum.low), sign))};
}

static angle64 reduce(math_sequence s, ir_value a) {
    ir_value bits = bits64(s, a), limbs[LIMBS];
    ir_value near = dlt(s, a, f64(s, 0.5)), zero = f64(s, 0);
    ir_value field = op2(s, MATH_OP_LUSHR, bits, i64(s, 52));
    ir_value place = op2(s, MATH_OP_LSUB, field, i64(s, 1023 - FIRST_PLACE));
    ir_value m = op2(s, MATH_OP_LAND, bits, i64(s, (UINT64_C(1) << 52) - 1));
    bits_from(s, select32(s, near, i64(s, 0), place), limbs);
    multiply(s, op2(s, MATH_OP_LOR, m, i64(s, UINT64_C(1) << 52)), limbs);
    angle64 far = angle_from(s, limbs);
    return (angle64){select32(s, near, i64(s, 0), far.quadrant), select32(s, near, a, far.high),
                     select32(s, near, zero, far.low)};
}

static ir_value from_quadrant(math_sequence s, angle64 r, ir_value quadrant) {
    static const double sine[] = {DOUBLE_SIN}, cosine[] = {DOUBLE_COS};
    return sine64(s, (angle64){quadrant, r.high, r.low},
                  (polynomial64){sine, sizeof sine / sizeof *sine},
                  (polynomial64){cosine, sizeof cosine / sizeof *cosine});
}

static ir_value where_finite(math_sequence s, ir_value a, ir_value result) {
    ir_value nan = from_bits64(s, i64(s, UINT64_C(0x7ff8) << 48));
    return select32(s, dlt(s, a, f64(s, HUGE_VAL)), result, nan);
}

ir_value double_sin(math_sequence s, ir_value x) {
    ir_value a = dmagnitude(s, x);
    angle64 r = reduce(s, a);
    ir_value value = bits64(s, from_quadrant(s, r, r.quadrant));
    ir_value sign = op2(s, MATH_OP_LAND, bits64(s, x), i64(s, UINT64_C(1) << 63));
    return where_finite(s, a, from_bits64(s, op2(s, MATH_OP_LXOR, value, sign)));
}

ir_value double_cos(math_sequence s, ir_value x) {
    ir_value a = dmagnitude(s, x);
    angle64 r = reduce(s, a);
    ir_value quadrant = op2(s, MATH_OP_LADD, r.quadrant, i64(s, 1));
    return where_finite(s, a, from_quadrant(s, r, quadrant));
}
