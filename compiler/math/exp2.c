/* exp2.c - 2^x = 2^n 2^r, n = round(x), so that r = x - n is exact. Scaled in two halves like exp.
 */
#include "math/coefficients.h"
#include "math/sequence.h"

ir_value math_exp2(math_sequence s, ir_value x) {
    static const float c[] = {1.0f,        MATH_EXP2_0, MATH_EXP2_1, MATH_EXP2_2,
                              MATH_EXP2_3, MATH_EXP2_4, MATH_EXP2_5};
    x = at_most(s, at_least(s, x, -151.0f), 129.0f);
    ir_value t = add(s, x, f32(s, MATH_ROUND + 254.0f));
    ir_value r = sub(s, x, sub(s, t, f32(s, MATH_ROUND + 254.0f)));
    return math_scale_in_halves(s, math_horner(s, r, c, 7), t);
}
