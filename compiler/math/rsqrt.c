/* rsqrt.c - y = 1 / sqrt(x), then one Newton step on the exact residual 1 - x y^2.
 *
 * x y is carried as h + low, which stays in range for subnormal x too. The residual is a NaN where
 * x is 0, infinite, negative or a NaN: then y stands. */
#include "math/sequence.h"

ir_value math_rsqrt(math_sequence s, ir_value x) {
    ir_value one = f32(s, 1.0f);
    ir_value y = op2(s, MATH_OP_DIV, one, op1(s, MATH_OP_SQRT, x));
    ir_value h = mul(s, x, y);
    ir_value low = fma32(s, x, y, negate(s, h));
    ir_value e = fma32(s, negate(s, h), y, one);
    e = fma32(s, negate(s, low), y, e);
    ir_value better = fma32(s, mul(s, f32(s, 0.5f), e), y, y);
    return select32(s, lt(s, e, one), better, y);
}
