/* logarithms.c - log x = n log 2 + log(1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and
 * log(1 + f) = 2 atanh(f / (2 + f)), of which all but the far terms are in two f64. */
#include <math.h>

#include "math/double/double.h"

enum { FRACTION_BITS = 52 };
static const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd);

ir_value double_exponent(math_sequence s, ir_value x) {
    ir_value offset = op2(s, MATH_OP_LSUB, bits64(s, x), i64(s, half_root));
    return op2(s, MATH_OP_LSHR, offset, i64(s, FRACTION_BITS));
}

static ir_value field_of(math_sequence s, ir_value n) {
    return op2(s, MATH_OP_LSHL, n, i64(s, FRACTION_BITS));
}

ir_value double_split(math_sequence s, ir_value x, ir_value *f) {
    ir_value tiny = dlt(s, x, f64(s, 0x1p-1022));
    ir_value scaled = select32(s, tiny, dmul(s, x, f64(s, 0x1p54)), x);
    ir_value n = double_exponent(s, scaled);
    ir_value mantissa = op2(s, MATH_OP_LSUB, bits64(s, scaled), field_of(s, n));
    *f = dsub(s, from_bits64(s, mantissa), f64(s, 1));
    return op2(s, MATH_OP_LSUB, n, select32(s, tiny, i64(s, 54), i64(s, 0)));
}

/* r (1 + z (1/3 + z (1/5 + z tail))), twice. */
doubled double_log_of(math_sequence s, doubled f) {
    static const double c[] = {DOUBLE_LOG};
    doubled d = doubled_any_sum(s, f64(s, 2), f.high);
    d.low = dadd(s, d.low, f.low);
    doubled r = doubled_quotient(s, f, d), z = doubled_times(s, r, r);
    ir_value tail = dmul(s, z.high, horner64(s, z.high, c, sizeof c / sizeof *c));
    doubled t = doubled_sum(s, f64(s, DOUBLE_FIFTH), tail);
    t.low = dadd(s, t.low, f64(s, DOUBLE_FIFTH_LOW));
    t = doubled_times(s, z, t);
    doubled u = doubled_sum(s, f64(s, DOUBLE_THIRD), t.high);
    u.low = dadd(s, u.low, dadd(s, t.low, f64(s, DOUBLE_THIRD_LOW)));
    u = doubled_times(s, r, doubled_times(s, z, u));
    doubled sum = doubled_sum(s, r.high, u.high);
    sum = doubled_sum(s, sum.high, dadd(s, sum.low, dadd(s, r.low, u.low)));
    return (doubled){dadd(s, sum.high, sum.high), dadd(s, sum.low, sum.low)};
}

/* x where 0 < x < Inf does not hold: +-0, negative, Inf, NaN. */
static ir_value special(math_sequence s, ir_value x) {
    ir_value nan = from_bits64(s, i64(s, UINT64_C(0x7ff8) << 48));
    ir_value result = select32(s, dlt(s, x, f64(s, 0)), nan, x);
    return select32(s, deq(s, x, f64(s, 0)), f64(s, -HUGE_VAL), result);
}

ir_value double_log_or_special(math_sequence s, ir_value x, ir_value p) {
    ir_value ordinary =
        op2(s, MATH_OP_LOGIC_AND, dlt(s, f64(s, 0), x), dlt(s, x, f64(s, HUGE_VAL)));
    return select32(s, ordinary, p, special(s, x));
}

/* n log 2 + l; n's product with the first part of log 2 is exact. */
static ir_value with_exponent(math_sequence s, ir_value n, doubled l) {
    doubled sum = doubled_sum(s, dmul(s, n, f64(s, DOUBLE_LN2_1)), l.high);
    ir_value low = dadd(s, sum.low, l.low);
    low = dfma(s, n, f64(s, DOUBLE_LN2_3), low);
    return dadd(s, sum.high, dfma(s, n, f64(s, DOUBLE_LN2_2), low));
}

ir_value double_log(math_sequence s, ir_value x) {
    ir_value f, n = double_from_integer(s, double_split(s, x, &f));
    doubled l = double_log_of(s, (doubled){f, f64(s, 0)});
    return double_log_or_special(s, x, with_exponent(s, n, l));
}

doubled double_log2_of(math_sequence s, ir_value x) {
    ir_value f, n = double_from_integer(s, double_split(s, x, &f));
    doubled l = double_log_of(s, (doubled){f, f64(s, 0)});
    l = doubled_times(s, l, (doubled){f64(s, DOUBLE_LOG2_E), f64(s, DOUBLE_LOG2_E_LOW)});
    doubled sum = doubled_sum(s, n, l.high);
    return doubled_sum(s, sum.high, dadd(s, sum.low, l.low));
}

ir_value double_log2(math_sequence s, ir_value x) {
    return double_log_or_special(s, x, double_log2_of(s, x).high);
}

/* 1 + x is carried with what it lacks, which is divided by 2^n in two steps, because 2^-n may be
 * too small for an f64. The result has the sign of x; around 0 it is x. */
ir_value double_log1p(math_sequence s, ir_value x) {
    doubled u = doubled_any_sum(s, f64(s, 1), x);
    ir_value exponent = double_exponent(s, u.high), field = field_of(s, exponent);
    ir_value mantissa = op2(s, MATH_OP_LSUB, bits64(s, u.high), field);
    ir_value shrink = op2(s, MATH_OP_LSUB, i64(s, UINT64_C(1) << 62), field);
    ir_value lost = dmul(s, dmul(s, u.low, from_bits64(s, shrink)), f64(s, 0.5));
    doubled f = doubled_any_sum(s, dsub(s, from_bits64(s, mantissa), f64(s, 1)), lost);
    ir_value n = double_from_integer(s, exponent);
    ir_value p = with_exponent(s, n, double_log_of(s, f));
    ir_value result = dwith_sign(s, double_log_or_special(s, u.high, p), x);
    return select32(s, dlt(s, dmagnitude(s, x), f64(s, 0x1p-54)), x, result);
}
