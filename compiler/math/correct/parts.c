/* parts.c - polynomials, exponentials and logarithms in f64, and exceptions. */
#include "math/correct/constants.h"
#include "math/correct/correct.h"

/* n stands, with the exponent's bias, in the low bits of the sum with CORRECT_ROUND. */
exponential correct_exponential(math_sequence s, ir_value x) {
    static const double c[] = {CORRECT_EXP};
    ir_value t = dfma(s, x, f64(s, CORRECT_LOG2_E), f64(s, CORRECT_ROUND + 1023));
    ir_value n = dsub(s, t, f64(s, CORRECT_ROUND + 1023));
    ir_value r = dfma(s, n, f64(s, -CORRECT_LN2_HIGH), x);
    r = dfma(s, n, f64(s, -CORRECT_LN2_LOW), r);
    ir_value tail = horner64(s, r, c, sizeof c / sizeof *c);
    ir_value rest = dfma(s, dmul(s, tail, r), r, r);
    ir_value scale = from_bits64(s, op2(s, MATH_OP_LSHL, bits64(s, t), i64(s, 52)));
    return (exponential){scale, rest};
}

ir_value correct_less_one(math_sequence s, exponential e) {
    return dfma(s, e.scale, e.rest, dsub(s, e.scale, f64(s, 1)));
}

/* The bits less those of sqrt(1/2) have n in their exponent field. With 1 + f the mantissa and
 * w = f / (2 + f): log(1 + f) = f - f^2/2 + w (f^2/2 + w^2 P(w^2)), and f - f^2/2 is carried with
 * what its rounding loses (fdlibm's e_log.c, after P. T. P. Tang, ACM TOMS 16, 1990). */
logarithm correct_logarithm(math_sequence s, ir_value x) {
    static const double c[] = {CORRECT_LOG};
    const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd), rounded = UINT64_C(0x4338) << 48;
    ir_value bits = bits64(s, x);
    ir_value offset = op2(s, MATH_OP_LSUB, bits, i64(s, half_root));
    ir_value exponent = op2(s, MATH_OP_LSHR, offset, i64(s, 52));
    ir_value field = op2(s, MATH_OP_LSHL, exponent, i64(s, 52));
    ir_value f = dsub(s, from_bits64(s, op2(s, MATH_OP_LSUB, bits, field)), f64(s, 1));
    ir_value w = ddiv(s, f, dadd(s, f64(s, 2), f));
    ir_value z = dmul(s, w, w);
    ir_value square = dmul(s, dmul(s, f64(s, 0.5), f), f);
    ir_value tail = dfma(s, z, horner64(s, z, c, sizeof c / sizeof *c), square);
    ir_value high = dsub(s, f, square);
    ir_value lost = dsub(s, dsub(s, f, high), square);
    ir_value n = from_bits64(s, op2(s, MATH_OP_LADD, exponent, i64(s, rounded)));
    n = dsub(s, n, f64(s, CORRECT_ROUND));
    return (logarithm){n, high, dfma(s, w, tail, lost)};
}

ir_value correct_except(math_sequence s, ir_value x, ir_value result, const correct_exception *list,
                        size_t count) {
    ir_value bits = op1(s, MATH_OP_TO_BITS, x);
    for (size_t i = 0; i < count; i++) {
        ir_value there = op2(s, MATH_OP_IEQ, bits, i32(s, (int32_t)list[i].at));
        result = select32(s, there, f32(s, f32_from_bits(list[i].result)), result);
    }
    return result;
}
