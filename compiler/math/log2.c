/* log2.c - log2 x = n + log2(1 + f), with log's n and f.
 *
 * f log2 e is carried as a product and what it lacks, and so is its sum with n. */
#include "math/coefficients.h"
#include "math/sequence.h"

ir_value math_log2(math_sequence s, ir_value x) {
    static const float c[] = {MATH_LOG2_0, MATH_LOG2_1, MATH_LOG2_2, MATH_LOG2_3, MATH_LOG2_4,
                              MATH_LOG2_5, MATH_LOG2_6, MATH_LOG2_7, MATH_LOG2_8, MATH_LOG2_9};
    ir_value f, n = math_log_split(s, x, &f);
    ir_value high = mul(s, f, f32(s, MATH_LOG2_E));
    ir_value low = fma32(s, f, f32(s, MATH_LOG2_E), negate(s, high));
    ir_value sum = add(s, n, high);
    low = add(s, low, sub(s, high, sub(s, sum, n)));
    ir_value p = fma32(s, math_horner(s, f, c, 10), f, low);
    return math_log_or_special(s, x, add(s, sum, p));
}
