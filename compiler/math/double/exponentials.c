/* exponentials.c - e^x = 2^n e^r, n = round(x log2 e), r = x - n log 2 in two f64; and functions
 * made of it: exp2, expm1, tanh, logistic. */
#include "math/double/double.h"

/* The integer nearest to t - DOUBLE_ROUND stands in the low bits of t. */
static ir_value integer_in(math_sequence s, ir_value t) {
    return op2(s, MATH_OP_LSUB, bits64(s, t), i64(s, UINT64_C(0x4338) << 48));
}

/* log 2 is in three parts, of which n's products with the first two are exact. */
double_reduced double_reduce(math_sequence s, doubled x) {
    ir_value t = dfma(s, x.high, f64(s, DOUBLE_LOG2_E), f64(s, DOUBLE_ROUND));
    ir_value n = dsub(s, t, f64(s, DOUBLE_ROUND));
    ir_value first = dfma(s, n, f64(s, -DOUBLE_LN2_1), x.high);
    doubled r = doubled_any_sum(s, first, dmul(s, n, f64(s, -DOUBLE_LN2_2)));
    ir_value low = dfma(s, n, f64(s, -DOUBLE_LN2_3), dadd(s, r.low, x.low));
    return (double_reduced){n, integer_in(s, t), doubled_sum(s, r.high, low)};
}

/* r + r^2/2 exactly, then r^3 and on. */
doubled double_less_one(math_sequence s, doubled r) {
    static const double c[] = {DOUBLE_EXP};
    doubled square = doubled_product(s, r.high, r.high);
    doubled sum = doubled_sum(s, r.high, dmul(s, f64(s, 0.5), square.high));
    ir_value p = horner64(s, r.high, c, sizeof c / sizeof *c);
    ir_value low = dfma(s, f64(s, 0.5), square.low, sum.low);
    low = dadd(s, low, dfma(s, r.high, r.low, r.low));
    low = dfma(s, dmul(s, r.high, square.high), p, low);
    return doubled_sum(s, sum.high, low);
}

/* 2^n = 2 h, and what h - 1/2 lacks. */
static doubled combine_less_one(math_sequence s, doubled e, ir_value n) {
    ir_value h = double_power_of_two(s, op2(s, MATH_OP_LSUB, n, i64(s, 1)));
    doubled base = doubled_any_sum(s, h, f64(s, -0.5));
    doubled sum = doubled_any_sum(s, base.high, dmul(s, e.high, h));
    ir_value low = dadd(s, sum.low, dfma(s, e.low, h, base.low));
    return doubled_sum(s, sum.high, low);
}

doubled double_whole_less_one(math_sequence s, doubled x) {
    double_reduced d = double_reduce(s, x);
    doubled half = combine_less_one(s, double_less_one(s, d.r), d.bits);
    return (doubled){dadd(s, half.high, half.high), dadd(s, half.low, half.low)};
}

/* 1 + e */
static doubled one_more(math_sequence s, doubled e) {
    doubled sum = doubled_sum(s, f64(s, 1), e.high);
    return doubled_sum(s, sum.high, dadd(s, sum.low, e.low));
}

/* Beyond the clamps the result is 0 or infinite anyway. */
ir_value double_exp(math_sequence s, ir_value x) {
    x = dat_most(s, dat_least(s, x, -746), 710);
    double_reduced d = double_reduce(s, (doubled){x, f64(s, 0)});
    return double_scale(s, one_more(s, double_less_one(s, d.r)).high, d.bits);
}

ir_value double_exp2_of(math_sequence s, doubled x) {
    ir_value none = f64(s, 0);
    ir_value low = select32(s, dlt(s, x.high, f64(s, -1080)), none, x.low);
    low = select32(s, dlt(s, f64(s, 1025), x.high), none, low);
    ir_value y = dat_most(s, dat_least(s, x.high, -1080), 1025);
    ir_value t = dadd(s, y, f64(s, DOUBLE_ROUND));
    doubled r = doubled_sum(s, dsub(s, y, dsub(s, t, f64(s, DOUBLE_ROUND))), low);
    r = doubled_times(s, r, (doubled){f64(s, DOUBLE_LN2), f64(s, DOUBLE_LN2_LOW)});
    return double_scale(s, one_more(s, double_less_one(s, r)).high, integer_in(s, t));
}

ir_value double_exp2(math_sequence s, ir_value x) {
    return double_exp2_of(s, (doubled){x, f64(s, 0)});
}

/* Below -40 the result is -1; around 0 it is x, sign of zero included. */
ir_value double_expm1(math_sequence s, ir_value x) {
    ir_value y = dat_most(s, dat_least(s, x, -40), 710);
    double_reduced d = double_reduce(s, (doubled){y, f64(s, 0)});
    doubled half = combine_less_one(s, double_less_one(s, d.r), d.bits);
    ir_value tiny = dlt(s, dmagnitude(s, x), f64(s, 0x1p-54));
    return select32(s, tiny, x, dadd(s, half.high, half.high));
}

/* e / (e + 2), e = e^2a - 1; tanh is 1 long before 20. */
ir_value double_tanh(math_sequence s, ir_value x) {
    ir_value a = dmagnitude(s, x), y = dat_most(s, a, 20);
    doubled e = double_whole_less_one(s, (doubled){dadd(s, y, y), f64(s, 0)});
    doubled d = doubled_any_sum(s, e.high, f64(s, 2));
    d.low = dadd(s, d.low, e.low);
    ir_value far = doubled_quotient(s, e, d).high;
    return dwith_sign(s, select32(s, dlt(s, a, f64(s, 0x1p-28)), a, far), x);
}

/* 1 / (1 + e), or e / (1 + e) where x is negative, e = e^-|x|: there e's power of two comes last,
 * so that a subnormal result rounds once. In the sum it counts down to 2^-1000. */
ir_value double_logistic(math_sequence s, ir_value x) {
    ir_value falls = dlt(s, x, f64(s, 0)), none = i64(s, 0);
    ir_value y = dat_least(s, dnegate(s, dmagnitude(s, x)), -746);
    double_reduced d = double_reduce(s, (doubled){y, f64(s, 0)});
    doubled e = one_more(s, double_less_one(s, d.r));
    ir_value tiny = dlt(s, d.n, f64(s, -1000));
    ir_value scale = double_power_of_two(s, select32(s, tiny, i64(s, (uint64_t)-1000), d.bits));
    doubled sum = doubled_sum(s, f64(s, 1), dmul(s, e.high, scale));
    sum.low = dfma(s, e.low, scale, sum.low);
    doubled above = {select32(s, falls, e.high, f64(s, 1)), select32(s, falls, e.low, f64(s, 0))};
    ir_value q = doubled_quotient(s, above, sum).high;
    return double_scale(s, q, select32(s, falls, d.bits, none));
}
