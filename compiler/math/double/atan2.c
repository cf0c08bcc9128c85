/* atan2.c - the angle of the point (x, y), as of f32 (math/atan2.c): k pi/4 + or - atan(q), |q| <=
 * 1/2.
 *
 * q is the quotient of the smaller magnitude by the greater one, or, where that is above 1/2, of
 * their difference by their sum; it is carried in two f64, and so is k pi/4. */
#include <math.h>

#include "math/double/double.h"

typedef struct quotient {
    ir_value steep;     /* |x| < |y| */
    ir_value diagonal;  /* of the difference by the sum */
    ir_value high, low; /* q */
} quotient;

static ir_value one_where(math_sequence s, ir_value mask) {
    return select32(s, mask, f64(s, 1.0), f64(s, 0.0));
}

/* Small and great by one power of two, so that the remainder of their quotient is an f64 and their
 * sum does not overflow. Infinities count as 1, and what stands beside one as 0; 0 is divided by 1.
 */
static void scale_both(math_sequence s, ir_value *small, ir_value *great) {
    ir_value infinity = f64(s, HUGE_VAL), one = f64(s, 1.0), zero = f64(s, 0.0);
    ir_value scale = select32(s, dlt(s, *great, f64(s, 0x1p-900)), f64(s, 0x1p1000), one);
    scale = select32(s, dlt(s, f64(s, 0x1p1000), *great), f64(s, 0x1p-4), scale);
    ir_value endless = deq(s, *great, infinity);
    ir_value less = select32(s, endless, zero, dmul(s, *small, scale));
    *small = select32(s, deq(s, *small, infinity), one, less);
    ir_value unit = op2(s, MATH_OP_LOGIC_OR, endless, deq(s, *great, zero));
    *great = select32(s, unit, one, dmul(s, *great, scale));
}

static quotient divide(math_sequence s, ir_value y, ir_value x) {
    ir_value a = dmagnitude(s, y), b = dmagnitude(s, x);
    quotient q = {.steep = dlt(s, b, a)};
    ir_value small = select32(s, q.steep, b, a), great = select32(s, q.steep, a, b);
    scale_both(s, &small, &great);
    q.diagonal = dlt(s, dmul(s, great, f64(s, 0.5)), small);
    ir_value sum = dadd(s, great, small), lost = dsub(s, small, dsub(s, sum, great));
    lost = select32(s, q.diagonal, lost, f64(s, 0.0));
    ir_value above = select32(s, q.diagonal, dsub(s, small, great), small);
    ir_value below = select32(s, q.diagonal, sum, great);
    q.high = op2(s, MATH_OP_DDIV, above, below);
    ir_value minus = dnegate(s, q.high);
    ir_value rest = dfma(s, minus, lost, dfma(s, minus, below, above));
    q.low = op2(s, MATH_OP_DDIV, rest, below);
    return q;
}

/* k, and whether atan(q) is taken away from k pi/4. */
static ir_value eighths_of(math_sequence s, const quotient *q, ir_value x, ir_value *down) {
    ir_value negative =
        op2(s, MATH_OP_LEQ, op2(s, MATH_OP_LUSHR, bits64(s, x), i64(s, 63)), i64(s, 1));
    ir_value k = one_where(s, q->diagonal);
    k = select32(s, q->steep, dsub(s, f64(s, 2.0), k), k);
    k = select32(s, negative, dsub(s, f64(s, 4.0), k), k);
    ir_value turned = one_where(s, negative);
    turned = select32(s, q->steep, dsub(s, f64(s, 1.0), turned), turned);
    *down = deq(s, turned, f64(s, 1.0));
    return k;
}

ir_value double_atan2(math_sequence s, ir_value y, ir_value x) {
    static const double c[] = {DOUBLE_ATAN};
    quotient q = divide(s, y, x);
    ir_value z = dmul(s, q.high, q.high);
    ir_value rest = dfma(s, dnegate(s, z), q.low, q.low);
    rest = dfma(s, horner64(s, z, c, sizeof c / sizeof *c), dmul(s, q.high, z), rest);

    ir_value down, k = eighths_of(s, &q, x, &down);
    ir_value base = dmul(s, k, f64(s, DOUBLE_EIGHTH_TURN));
    ir_value main = select32(s, down, dnegate(s, q.high), q.high);
    ir_value more = select32(s, down, dnegate(s, rest), rest);
    ir_value angle = dadd(s, base, main), lost = dsub(s, main, dsub(s, angle, base));
    more = dadd(s, dfma(s, k, f64(s, DOUBLE_EIGHTH_TURN_LOW), more), lost);
    angle = dwith_sign(s, dadd(s, angle, more), y);
    ir_value nan = from_bits64(s, i64(s, UINT64_C(0x7ff8) << 48));
    return select32(s, op2(s, MATH_OP_DUNORDERED, y, x), nan, angle);
}
