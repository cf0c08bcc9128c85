/* rsqrt.c - y = 1 / sqrt(x), then one Newton step on the exact residual 1 - x y^2, as of f32
 * (math/rsqrt.c). */
#include "math/double/double.h"

ir_value double_rsqrt(math_sequence s, ir_value x) {
    ir_value one = f64(s, 1);
    ir_value y = ddiv(s, one, op1(s, MATH_OP_DSQRT, x));
    doubled p = doubled_product(s, x, y);
    ir_value e = dfma(s, dnegate(s, p.high), y, one);
    e = dfma(s, dnegate(s, p.low), y, e);
    ir_value better = dfma(s, dmul(s, f64(s, 0.5), e), y, y);
    return select32(s, dlt(s, e, one), better, y);
}
