/* expm1.c - e^x - 1 = 2 ((h - 1/2) + h (e^r - 1)), h = 2^(n-1).
 *
 * h - 1/2 and h r, r's greater part, are added with what their sum lacks, and only then what is
 * small. Around 0 the result is x, sign of zero included. */
#include "math/coefficients.h"
#include "math/sequence.h"

/* Below -18 the result is -1. */
ir_value math_expm1(math_sequence s, ir_value x) {
    static const float tail[] = {MATH_EXPM1_0, MATH_EXPM1_1, MATH_EXPM1_2,
                                 MATH_EXPM1_3, MATH_EXPM1_4, MATH_EXPM1_5};
    ir_value y = at_most(s, at_least(s, x, -18.0f), 89.0f);
    ir_value t = fma32(s, y, f32(s, MATH_LOG2_E), f32(s, MATH_ROUND + 126.0f));
    ir_value n = sub(s, t, f32(s, MATH_ROUND + 126.0f));
    ir_value high = fma32(s, n, f32(s, -MATH_LN2_HIGH), y);
    ir_value low = mul(s, n, f32(s, -MATH_LN2_LOW));
    ir_value r = add(s, high, low);
    ir_value h = exponent_from(s, op1(s, MATH_OP_TO_BITS, t));
    ir_value rest = fma32(s, math_horner(s, r, tail, 6), mul(s, r, r), low);
    ir_value c = sub(s, h, f32(s, 0.5f));
    ir_value lost = sub(s, sub(s, h, c), f32(s, 0.5f));
    ir_value product = mul(s, high, h);
    ir_value sum = add(s, c, product);
    lost = add(s, lost, sub(s, product, sub(s, sum, c)));
    sum = add(s, sum, fma32(s, rest, h, lost));
    return select32(s, lt(s, magnitude(s, x), f32(s, 0x1p-64f)), x, add(s, sum, sum));
}
