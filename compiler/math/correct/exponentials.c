/* exponentials.c - exp, exp2, expm1, tanh and logistic from one exponential in f64. */
#include "math/correct/constants.h"
#include "math/correct/correct.h"

ir_value correct_exp(math_sequence s, ir_value x) {
    x = at_most(s, at_least(s, x, -104.0f), 89.0f);
    exponential e = correct_exponential(s, widen(s, x));
    return narrow(s, dmul(s, dadd(s, f64(s, 1), e.rest), e.scale));
}

/* 2^x = 2^n 2^r, n nearest to x; r is exact. */
ir_value correct_exp2(math_sequence s, ir_value x) {
    static const double c[] = {CORRECT_EXP2};
    static const correct_exception wrong[] = {{0x3b429d37, 0x3f804385}, {0xbcf3a937, 0x3f7ac6b1}};
    ir_value d = widen(s, at_most(s, at_least(s, x, -151.0f), 129.0f));
    ir_value t = dadd(s, d, f64(s, CORRECT_ROUND + 1023));
    ir_value r = dsub(s, d, dsub(s, t, f64(s, CORRECT_ROUND + 1023)));
    ir_value p = dfma(s, horner64(s, r, c, sizeof c / sizeof *c), r, f64(s, 1));
    ir_value scale = from_bits64(s, op2(s, MATH_OP_LSHL, bits64(s, t), i64(s, 52)));
    return correct_except(s, x, narrow(s, dmul(s, p, scale)), wrong, 2);
}

/* The sign is that of x, also at -0. */
ir_value correct_expm1(math_sequence s, ir_value x) {
    ir_value y = at_most(s, at_least(s, x, -104.0f), 89.0f);
    exponential e = correct_exponential(s, widen(s, y));
    return with_sign(s, narrow(s, correct_less_one(s, e)), x);
}

/* (e^2a - 1) / (e^2a + 1); at 10 it is 1. */
ir_value correct_tanh(math_sequence s, ir_value x) {
    ir_value a = widen(s, at_most(s, magnitude(s, x), 10.0f));
    ir_value u = correct_less_one(s, correct_exponential(s, dadd(s, a, a)));
    return with_sign(s, narrow(s, ddiv(s, u, dadd(s, u, f64(s, 2)))), x);
}

/* Near 0 it is 1/2 + x/4 - x^3/48: the sum of the first two is exact and may lie in the middle
 * between two f32, so its last bit goes where the third points. */
static ir_value logistic_near(math_sequence s, ir_value x, ir_value d) {
    ir_value sum = dfma(s, d, f64(s, 0.25), f64(s, 0.5));
    ir_value down = op2(s, MATH_OP_LSUB, bits64(s, sum), i64(s, 1));
    ir_value up = op2(s, MATH_OP_LADD, bits64(s, sum), i64(s, 1));
    return from_bits64(s, select32(s, lt(s, x, f32(s, 0.0f)), up, down));
}

ir_value correct_logistic(math_sequence s, ir_value x) {
    static const correct_exception wrong[] = {{0xba928601, 0x3effdb5f}};
    ir_value d = widen(s, at_most(s, at_least(s, x, -104.0f), 18.0f));
    exponential e = correct_exponential(s, dnegate(s, d));
    ir_value power = dmul(s, dadd(s, f64(s, 1), e.rest), e.scale);
    ir_value far = ddiv(s, f64(s, 1), dadd(s, f64(s, 1), power));
    ir_value tiny = lt(s, magnitude(s, x), f32(s, 0x1p-14f));
    ir_value result = narrow(s, select32(s, tiny, logistic_near(s, x, d), far));
    return correct_except(s, x, result, wrong, 1);
}
