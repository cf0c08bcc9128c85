/* tanh.c - a polynomial near 0; 1 - 2e/(1 + e) with e = e^-2a beyond. Odd by its sign bit. */
#include "math/coefficients.h"
#include "math/sequence.h"

static ir_value tanh_near(math_sequence s, ir_value a) {
    static const float c[] = {MATH_TANH_0, MATH_TANH_1, MATH_TANH_2, MATH_TANH_3,
                              MATH_TANH_4, MATH_TANH_5, MATH_TANH_6, MATH_TANH_7};
    ir_value u = fma32(s, a, a, f32(s, -MATH_TANH_CENTRE));
    return fma32(s, math_horner(s, u, c, 8), a, a);
}

/* n and r stay small here, so that one constant is enough to reduce. tanh is 1 long before 10. */
static ir_value tanh_far(math_sequence s, ir_value a) {
    ir_value y = at_most(s, a, 10.0f);
    ir_value t = fma32(s, y, f32(s, -2.0f * MATH_LOG2_E), f32(s, MATH_ROUND + 127.0f));
    ir_value n = sub(s, t, f32(s, MATH_ROUND + 127.0f));
    ir_value r = fma32(s, n, f32(s, -0.5f * MATH_LN2), negate(s, y));
    r = add(s, r, r);
    ir_value e = mul(s, math_exp_reduced(s, r), exponent_from(s, op1(s, MATH_OP_TO_BITS, t)));
    ir_value u = op2(s, MATH_OP_DIV, add(s, e, e), add(s, f32(s, 1.0f), e));
    return sub(s, f32(s, 1.0f), u);
}

ir_value math_tanh(math_sequence s, ir_value x) {
    ir_value a = magnitude(s, x);
    ir_value near = tanh_near(s, a);
    ir_value far = tanh_far(s, a);
    return with_sign(s, select32(s, lt(s, a, f32(s, MATH_TANH_SPLIT)), near, far), x);
}
