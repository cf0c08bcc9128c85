/* exp.c - e^x = 2^n e^r, n = round(x log2 e), r = x - n log 2. */
#include "math/coefficients.h"
#include "math/sequence.h"

ir_value math_exp_tail(math_sequence s, ir_value r) {
    static const float c[] = {MATH_EXP_0, MATH_EXP_1, MATH_EXP_2, MATH_EXP_3, MATH_EXP_4};
    return math_horner(s, r, c, 5);
}

ir_value math_exp_reduced(math_sequence s, ir_value r) {
    ir_value p = fma32(s, math_exp_tail(s, r), r, f32(s, 1.0f));
    return fma32(s, p, r, f32(s, 1.0f));
}

/* n is cut in two halves, so that both scalings are powers of two in range and a subnormal result
 * rounds once. */
ir_value math_scale_in_halves(math_sequence s, ir_value x, ir_value t) {
    if (s->scale)
        return s->scale(s->context, x, t);
    ir_value whole = op1(s, MATH_OP_TO_BITS, t);
    ir_value half = op2(s, MATH_OP_USHR, whole, i32(s, 1));
    ir_value other = op2(s, MATH_OP_ISUB, whole, half);
    return mul(s, mul(s, x, exponent_from(s, half)), exponent_from(s, other));
}

/* Beyond the clamps the result is 0 or infinite anyway; at the lower one n is -151, so that no
 * result of that n is another than 0. */
ir_value math_exp(math_sequence s, ir_value x) {
    x = at_most(s, at_least(s, x, -105.0f), 89.0f);
    ir_value t = fma32(s, x, f32(s, MATH_LOG2_E), f32(s, MATH_ROUND + 254.0f));
    ir_value n = sub(s, t, f32(s, MATH_ROUND + 254.0f));
    ir_value r = fma32(s, n, f32(s, -MATH_LN2_HIGH), x);
    r = fma32(s, n, f32(s, -MATH_LN2_LOW), r);
    return math_scale_in_halves(s, math_exp_reduced(s, r), t);
}
