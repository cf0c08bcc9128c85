/* log1p.c - log(1 + x) = n log 2 + log(1 + f), where 1 + x = 2^n (1 + f).
 *
 * 1 + x is carried as a sum and what it lacks, and so are f and n log 2 + f. Near 0, where n is 0,
 * f is x. The result has the sign of x, so that zeros keep theirs. */
#include "math/coefficients.h"
#include "math/sequence.h"

typedef struct pair {
    ir_value high, low;
} pair;

/* Knuth's exact sum. */
static pair one_more_than(math_sequence s, ir_value x) {
    ir_value one = f32(s, 1.0f);
    ir_value u = add(s, one, x);
    ir_value back = sub(s, u, one);
    return (pair){u, add(s, sub(s, one, sub(s, u, back)), sub(s, x, back))};
}

/* f and what it lacks, for u of this exponent field less that of 2/3; what u lacks is divided by
 * 2^n too, in two steps, because 2^-n may be too small for an f32 (and what u lacks is nothing
 * then). */
static pair mantissa(math_sequence s, pair u, ir_value field) {
    ir_value bits = op2(s, MATH_OP_ISUB, op1(s, MATH_OP_TO_BITS, u.high), field);
    ir_value whole = sub(s, op1(s, MATH_OP_FROM_BITS, bits), f32(s, 1.0f));
    ir_value shrink = op1(s, MATH_OP_FROM_BITS, op2(s, MATH_OP_ISUB, i32(s, 0x40000000), field));
    ir_value lost = mul(s, mul(s, u.low, shrink), f32(s, 0.5f));
    ir_value f = add(s, whole, lost);
    return (pair){f, sub(s, lost, sub(s, f, whole))};
}

ir_value math_log1p(math_sequence s, ir_value x) {
    pair u = one_more_than(s, x);
    ir_value offset = op2(s, MATH_OP_ISUB, op1(s, MATH_OP_TO_BITS, u.high), i32(s, MATH_LOG_SPLIT));
    ir_value exponent = op2(s, MATH_OP_SHR, offset, i32(s, 23));
    pair f = mantissa(s, u, op2(s, MATH_OP_SHL, exponent, i32(s, 23)));
    ir_value n = op1(s, MATH_OP_TO_FLOAT, exponent);
    ir_value high = mul(s, n, f32(s, MATH_LN2_HIGH));
    ir_value sum = add(s, high, f.high);
    ir_value low = sub(s, f.low, mul(s, f.high, f.low)); /* log(1 + f) changes by that much */
    low = add(s, low, sub(s, f.high, sub(s, sum, high)));
    low = fma32(s, n, f32(s, MATH_LN2_LOW), low);
    ir_value p = fma32(s, math_log_tail(s, f.high), mul(s, f.high, f.high), low);
    return with_sign(s, math_log_or_special(s, u.high, add(s, sum, p)), x);
}
