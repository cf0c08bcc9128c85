/* correct.h - what the correctly rounded functions share.
 *
 * Each function computes in f64 to about 2^-53 of its result and rounds once to f32. The few inputs
 * whose exact results are closer than that to the middle between two f32, and that went wrong, were
 * found by trying all (ci/exhaustive); they are selected by value. */
#ifndef TESSERA_MATH_CORRECT_CORRECT_H
#define TESSERA_MATH_CORRECT_CORRECT_H

#include "math/sequence64.h"

/* f32 to f64, exactly; f64 to f32, nearest even. */
static inline ir_value widen(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_WIDEN, x);
}

static inline ir_value narrow(math_sequence s, ir_value x) {
    return op1(s, MATH_OP_NARROW, x);
}

/* e^x = scale * (1 + rest), scale a power of two; x, an f64, from -1000 to 700. */
typedef struct exponential {
    ir_value scale, rest;
} exponential;
exponential correct_exponential(math_sequence s, ir_value x);
/* scale * (1 + rest) - 1, also near 0. */
ir_value correct_less_one(math_sequence s, exponential e);

/* log of a positive normal f64 = n log 2 + high + low, high exact to f64's last place. */
typedef struct logarithm {
    ir_value n, high, low;
} logarithm;
logarithm correct_logarithm(math_sequence s, ir_value x);

/* Results that computation leaves wrong: at the f32 with bits `at` it is that with bits `result`.
 */
typedef struct correct_exception {
    uint32_t at, result;
} correct_exception;
ir_value correct_except(math_sequence s, ir_value x, ir_value result, const correct_exception *list,
                        size_t count);

ir_value correct_exp(math_sequence s, ir_value x);
ir_value correct_exp2(math_sequence s, ir_value x);
ir_value correct_expm1(math_sequence s, ir_value x);
ir_value correct_log(math_sequence s, ir_value x);
ir_value correct_log2(math_sequence s, ir_value x);
ir_value correct_log1p(math_sequence s, ir_value x);
ir_value correct_tanh(math_sequence s, ir_value x);
ir_value correct_logistic(math_sequence s, ir_value x);
ir_value correct_erf(math_sequence s, ir_value x);
ir_value correct_sin(math_sequence s, ir_value x);
ir_value correct_cos(math_sequence s, ir_value x);
ir_value correct_rsqrt(math_sequence s, ir_value x);

#endif
