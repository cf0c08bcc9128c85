/* parts.c - numbers in two f64 (T. J. Dekker, A floating-point technique for extending the
 * available precision, Numer. Math. 18, 1971; products by fma). */
#include "math/double/double.h"

doubled doubled_sum(math_sequence s, ir_value a, ir_value b) {
    ir_value high = dadd(s, a, b);
    return (doubled){high, dsub(s, b, dsub(s, high, a))};
}

doubled doubled_any_sum(math_sequence s, ir_value a, ir_value b) {
    ir_value high = dadd(s, a, b);
    ir_value back = dsub(s, high, a);
    ir_value lost = dsub(s, a, dsub(s, high, back));
    return (doubled){high, dadd(s, lost, dsub(s, b, back))};
}

doubled doubled_product(math_sequence s, ir_value a, ir_value b) {
    ir_value high = dmul(s, a, b);
    return (doubled){high, dfma(s, a, b, dnegate(s, high))};
}

doubled doubled_times(math_sequence s, doubled a, doubled b) {
    doubled p = doubled_product(s, a.high, b.high);
    p.low = dfma(s, a.high, b.low, p.low);
    p.low = dfma(s, a.low, b.high, p.low);
    return doubled_sum(s, p.high, p.low);
}

doubled doubled_quotient(math_sequence s, doubled a, doubled b) {
    ir_value inverse = ddiv(s, f64(s, 1), b.high);
    ir_value q = dmul(s, a.high, inverse), minus = dnegate(s, q);
    ir_value rest = dfma(s, minus, b.high, a.high);
    rest = dadd(s, dfma(s, minus, b.low, rest), a.low);
    return doubled_sum(s, q, dmul(s, rest, inverse));
}

ir_value double_power_of_two(math_sequence s, ir_value n) {
    ir_value biased = op2(s, MATH_OP_LADD, n, i64(s, 1023));
    return from_bits64(s, op2(s, MATH_OP_LSHL, biased, i64(s, 52)));
}

ir_value double_scale(math_sequence s, ir_value x, ir_value n) {
    ir_value half = op2(s, MATH_OP_LSHR, n, i64(s, 1));
    ir_value other = op2(s, MATH_OP_LSUB, n, half);
    return dmul(s, dmul(s, x, double_power_of_two(s, half)), double_power_of_two(s, other));
}

/* Through the bits of the sum with 1.5 * 2^52. */
ir_value double_from_integer(math_sequence s, ir_value n) {
    ir_value bits = op2(s, MATH_OP_LADD, n, i64(s, UINT64_C(0x4338) << 48));
    return dsub(s, from_bits64(s, bits), f64(s, DOUBLE_ROUND));
}
