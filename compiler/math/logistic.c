/* logistic.c - c / (c + c e^-x) with c = 2^-32, so that nothing leaves the normal range before the
 * last product; the exponential and the sum are carried as an f32 and what it lacks, and the
 * reciprocal is corrected once. */
#include "math/coefficients.h"
#include "math/sequence.h"

typedef struct pair {
    ir_value high, low;
} pair;

/* c e^-x */
static pair scaled_exponential(math_sequence s, ir_value x) {
    ir_value t = fma32(s, x, f32(s, -MATH_LOG2_E), f32(s, MATH_ROUND + 95.0f));
    ir_value n = sub(s, t, f32(s, MATH_ROUND + 95.0f));
    ir_value r = fma32(s, n, f32(s, -MATH_LN2_HIGH), negate(s, x));
    r = fma32(s, n, f32(s, -MATH_LN2_LOW), r);
    ir_value one = add(s, f32(s, 1.0f), r);
    ir_value lost = sub(s, r, sub(s, one, f32(s, 1.0f)));
    ir_value low = fma32(s, math_exp_tail(s, r), mul(s, r, r), lost);
    ir_value high = add(s, one, low);
    low = sub(s, low, sub(s, high, one));
    ir_value scale = exponent_from(s, op1(s, MATH_OP_TO_BITS, t));
    return (pair){mul(s, high, scale), mul(s, low, scale)};
}

/* c + e: Knuth's exact sum of c and the high part, and what is left. */
static pair add_to_constant(math_sequence s, pair e, ir_value c) {
    ir_value d = add(s, e.high, c);
    ir_value back = sub(s, d, e.high);
    ir_value rest = add(s, sub(s, e.high, sub(s, d, back)), sub(s, c, back));
    return (pair){d, add(s, rest, e.low)};
}

ir_value math_logistic(math_sequence s, ir_value x) {
    ir_value c = f32(s, 0x1p-32f);
    x = at_most(s, at_least(s, x, -104.0f), 18.0f);
    pair d = add_to_constant(s, scaled_exponential(s, x), c);
    ir_value q = op2(s, MATH_OP_DIV, f32(s, 1.0f), d.high);
    ir_value minus = negate(s, q);
    ir_value e = fma32(s, minus, d.high, f32(s, 1.0f));
    e = fma32(s, minus, d.low, e);
    return mul(s, fma32(s, e, q, q), c);
}
