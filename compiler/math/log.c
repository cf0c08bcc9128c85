/* log.c - log x = n log 2 + log(1 + f), 1 + f in [2/3, 4/3). */
#include <math.h>

#include "math/coefficients.h"
#include "math/sequence.h"

/* x where 0 < x < Inf does not hold: +-0, negative, Inf, NaN. */
static ir_value log_special(math_sequence s, ir_value x) {
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    ir_value special = select32(s, lt(s, x, f32(s, 0.0f)), nan, x);
    return select32(s, op2(s, MATH_OP_EQ, x, f32(s, 0.0f)), f32(s, -HUGE_VALF), special);
}

ir_value math_log_or_special(math_sequence s, ir_value x, ir_value p) {
    ir_value ordinary =
        op2(s, MATH_OP_LOGIC_AND, lt(s, f32(s, 0.0f), x), lt(s, x, f32(s, HUGE_VALF)));
    return select32(s, ordinary, p, log_special(s, x));
}

ir_value math_log_tail(math_sequence s, ir_value f) {
    static const float c[] = {-0.5f,      MATH_LOG_0, MATH_LOG_1, MATH_LOG_2, MATH_LOG_3,
                              MATH_LOG_4, MATH_LOG_5, MATH_LOG_6, MATH_LOG_7};
    return math_horner(s, f, c, 9);
}

/* The bits less those of 2/3 have n in their exponent field; taking n away from it leaves the
 * mantissa 1 + f. */
ir_value math_log_split(math_sequence s, ir_value x, ir_value *f) {
    ir_value tiny = lt(s, x, f32(s, 0x1p-126f));
    ir_value scaled = select32(s, tiny, mul(s, x, f32(s, 0x1p23f)), x);
    ir_value base = select32(s, tiny, i32(s, 23), i32(s, 0));
    ir_value bits = op1(s, MATH_OP_TO_BITS, scaled);
    ir_value offset = op2(s, MATH_OP_ISUB, bits, i32(s, MATH_LOG_SPLIT));
    ir_value exponent = op2(s, MATH_OP_SHR, offset, i32(s, 23));
    ir_value field = op2(s, MATH_OP_SHL, exponent, i32(s, 23));
    ir_value mantissa = op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_ISUB, bits, field));
    *f = sub(s, mantissa, f32(s, 1.0f));
    return op1(s, MATH_OP_TO_FLOAT, op2(s, MATH_OP_ISUB, exponent, base));
}

ir_value math_log(math_sequence s, ir_value x) {
    ir_value f, n = math_log_split(s, x, &f);
    ir_value p = fma32(s, math_log_tail(s, f), mul(s, f, f), f);
    return math_log_or_special(s, x, fma32(s, n, f32(s, MATH_LN2), p));
}
