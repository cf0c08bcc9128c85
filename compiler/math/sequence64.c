/* sequence64.c - polynomials of f64, and the sine of a reduced angle. */
#include "math/sequence64.h"

ir_value horner64(math_sequence s, ir_value x, const double *c, int count) {
    ir_value p = f64(s, c[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        p = dfma(s, p, x, f64(s, c[i]));
    return p;
}

static ir_value near_zero(math_sequence s, angle64 r, ir_value z, polynomial64 sine) {
    ir_value p = horner64(s, z, sine.c, sine.count);
    return dadd(s, r.high, dfma(s, dmul(s, r.high, z), p, r.low));
}

/* 1 - z/2 with what its rounding, and that of z, lose. */
static ir_value near_one(math_sequence s, angle64 r, ir_value z, polynomial64 cosine) {
    ir_value p = horner64(s, z, cosine.c, cosine.count);
    ir_value half = dmul(s, f64(s, 0.5), z);
    ir_value high = dsub(s, f64(s, 1), half);
    ir_value lost = dsub(s, dsub(s, f64(s, 1), high), half);
    ir_value z_lost = dfma(s, r.high, r.high, dnegate(s, z));
    ir_value low = dfma(s, dmul(s, z, z), p, lost);
    low = dfma(s, f64(s, -0.5), z_lost, low);
    low = dfma(s, dnegate(s, r.high), r.low, low);
    return dadd(s, high, low);
}

/* Odd quadrants exchange sin and cos; the upper two change the sign. */
ir_value sine64(math_sequence s, angle64 r, polynomial64 sine, polynomial64 cosine) {
    ir_value z = dmul(s, r.high, r.high);
    ir_value odd = op2(s, MATH_OP_LAND, r.quadrant, i64(s, 1));
    ir_value even = op2(s, MATH_OP_LEQ, odd, i64(s, 0));
    ir_value value = select32(s, even, near_zero(s, r, z, sine), near_one(s, r, z, cosine));
    ir_value upper = op2(s, MATH_OP_LAND, r.quadrant, i64(s, 2));
    ir_value sign = op2(s, MATH_OP_LSHL, upper, i64(s, 62));
    return from_bits64(s, op2(s, MATH_OP_LXOR, bits64(s, value), sign));
}
