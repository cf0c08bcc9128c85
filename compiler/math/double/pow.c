/* pow.c - |x|^y = 2^(y log2 |x|), with log2 |x| in two f64: its error is multiplied by up to 2^10.
 */
#include <math.h>

#include "math/double/double.h"

/* Is y, not negative, an integer; and its lowest bit, if it is one. From 2^53 on all are even. */
static ir_value is_whole(math_sequence s, ir_value y, ir_value *odd) {
    ir_value small = dlt(s, y, f64(s, 0x1p52));
    ir_value t = select32(s, small, dadd(s, y, f64(s, 0x1p52)), y);
    ir_value back = select32(s, small, dsub(s, t, f64(s, 0x1p52)), y);
    ir_value bit = op2(s, MATH_OP_LAND, bits64(s, t), i64(s, 1));
    *odd = select32(s, dlt(s, y, f64(s, 0x1p53)), bit, i64(s, 0));
    return deq(s, back, y);
}

/* The sign of x where y is odd; a NaN where x is negative and y is not whole. */
static ir_value with_sign_of_base(math_sequence s, ir_value power, ir_value x, ir_value y) {
    ir_value odd, whole = is_whole(s, dmagnitude(s, y), &odd);
    ir_value sign = op2(s, MATH_OP_LAND, op2(s, MATH_OP_LSHL, odd, i64(s, 63)), bits64(s, x));
    sign = select32(s, whole, sign, i64(s, 0));
    ir_value value = from_bits64(s, op2(s, MATH_OP_LXOR, bits64(s, power), sign));
    ir_value negative =
        op2(s, MATH_OP_LOGIC_AND, dlt(s, x, f64(s, 0)), dlt(s, f64(s, -HUGE_VAL), x));
    ir_value nan = from_bits64(s, i64(s, UINT64_C(0x7ff8) << 48));
    return select32(s, negative, select32(s, whole, value, nan), value);
}

ir_value double_pow(math_sequence s, ir_value x, ir_value y) {
    ir_value zero = f64(s, 0), infinity = f64(s, HUGE_VAL), a = dmagnitude(s, x);
    ir_value b = dat_most(s, dat_least(s, y, -0x1p66), 0x1p66);
    doubled l = double_log2_of(s, a), p = doubled_product(s, b, l.high);
    p.low = dfma(s, b, l.low, p.low);
    ir_value power = double_exp2_of(s, p);

    ir_value falls = dlt(s, y, zero);
    ir_value at_zero = select32(s, falls, infinity, zero);
    ir_value at_infinity = select32(s, falls, zero, infinity);
    power = select32(s, deq(s, a, zero), at_zero, power);
    power = select32(s, deq(s, a, infinity), at_infinity, power);
    power = with_sign_of_base(s, power, x, y);
    ir_value nan = from_bits64(s, i64(s, UINT64_C(0x7ff8) << 48));
    power = select32(s, op2(s, MATH_OP_DUNORDERED, x, y), nan, power);
    ir_value one = op2(s, MATH_OP_LOGIC_OR, deq(s, x, f64(s, 1)), deq(s, y, zero));
    return select32(s, one, f64(s, 1), power);
}
