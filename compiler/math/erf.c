/* erf.c - a polynomial near 0; 1 - e^-g with a polynomial g beyond. Odd by its sign bit. */
#include "math/coefficients.h"
#include "math/sequence.h"

static ir_value erf_near(math_sequence s, ir_value a) {
    static const float c[] = {MATH_ERF_0, MATH_ERF_1, MATH_ERF_2, MATH_ERF_3,
                              MATH_ERF_4, MATH_ERF_5, MATH_ERF_6, MATH_ERF_7};
    ir_value u = fma32(s, a, a, f32(s, -MATH_ERF_CENTRE));
    return fma32(s, math_horner(s, u, c, 8), a, a);
}

/* At 4, e^-g is below half a unit of 1. */
static ir_value erf_far(math_sequence s, ir_value a) {
    static const float c[] = {MATH_ERFC_0, MATH_ERFC_1, MATH_ERFC_2,
                              MATH_ERFC_3, MATH_ERFC_4, MATH_ERFC_5};
    ir_value y = at_most(s, a, 4.0f);
    ir_value g = fma32(s, math_horner(s, y, c, 6), y, y);
    ir_value t = fma32(s, g, f32(s, -MATH_LOG2_E), f32(s, MATH_ROUND + 127.0f));
    ir_value n = sub(s, t, f32(s, MATH_ROUND + 127.0f));
    ir_value r = fma32(s, n, f32(s, -MATH_LN2), negate(s, g));
    ir_value scale = exponent_from(s, op1(s, MATH_OP_TO_BITS, t));
    return fma32(s, negate(s, math_exp_reduced(s, r)), scale, f32(s, 1.0f));
}

ir_value math_erf(math_sequence s, ir_value x) {
    ir_value a = magnitude(s, x);
    ir_value near = erf_near(s, a);
    ir_value far = erf_far(s, a);
    return with_sign(s, select32(s, lt(s, a, f32(s, MATH_ERF_SPLIT)), near, far), x);
}
