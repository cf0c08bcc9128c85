/* atan2.c - the angle of the point (x, y): k pi/4 + or - atan(q), |q| <= 1/2.
 *
 * q is the quotient of the smaller magnitude by the greater one, or, where that is above 1/2, of
 * their difference by their sum; it is carried in two f32, and so is k pi/4. */
#include <math.h>

#include "math/coefficients.h"
#include "math/sequence.h"

typedef struct quotient {
    ir_value steep;     /* |x| < |y| */
    ir_value diagonal;  /* of the difference by the sum */
    ir_value high, low; /* q */
} quotient;

static ir_value one_where(math_sequence s, ir_value mask) {
    return select32(s, mask, f32(s, 1.0f), f32(s, 0.0f));
}

/* Small and great by one power of two, so that the remainder of their quotient is an f32 and their
 * sum does not overflow. Infinities count as 1, and what stands beside one as 0; 0 is divided by 1.
 */
static void scale_both(math_sequence s, ir_value *small, ir_value *great) {
    ir_value infinity = f32(s, HUGE_VALF), one = f32(s, 1.0f), zero = f32(s, 0.0f);
    ir_value scale = select32(s, lt(s, *great, f32(s, 0x1p-60f)), f32(s, 0x1p64f), one);
    scale = select32(s, lt(s, f32(s, 0x1p100f), *great), f32(s, 0x1p-4f), scale);
    ir_value endless = op2(s, MATH_OP_EQ, *great, infinity);
    ir_value less = select32(s, endless, zero, mul(s, *small, scale));
    *small = select32(s, op2(s, MATH_OP_EQ, *small, infinity), one, less);
    ir_value unit = op2(s, MATH_OP_LOGIC_OR, endless, op2(s, MATH_OP_EQ, *great, zero));
    *great = select32(s, unit, one, mul(s, *great, scale));
}

static quotient divide(math_sequence s, ir_value y, ir_value x) {
    ir_value a = magnitude(s, y), b = magnitude(s, x);
    quotient q = {.steep = lt(s, b, a)};
    ir_value small = select32(s, q.steep, b, a), great = select32(s, q.steep, a, b);
    scale_both(s, &small, &great);
    q.diagonal = lt(s, mul(s, great, f32(s, 0.5f)), small);
    ir_value sum = add(s, great, small), lost = sub(s, small, sub(s, sum, great));
    lost = select32(s, q.diagonal, lost, f32(s, 0.0f));
    ir_value above = select32(s, q.diagonal, sub(s, small, great), small);
    ir_value below = select32(s, q.diagonal, sum, great);
    q.high = op2(s, MATH_OP_DIV, above, below);
    ir_value minus = negate(s, q.high);
    ir_value rest = fma32(s, minus, lost, fma32(s, minus, below, above));
    q.low = op2(s, MATH_OP_DIV, rest, below);
    return q;
}

/* k, and whether atan(q) is taken away from k pi/4. */
static ir_value eighths_of(math_sequence s, const quotient *q, ir_value x, ir_value *down) {
    ir_value negative = op2(s, MATH_OP_ILT, op1(s, MATH_OP_TO_BITS, x), i32(s, 0));
    ir_value k = one_where(s, q->diagonal);
    k = select32(s, q->steep, sub(s, f32(s, 2.0f), k), k);
    k = select32(s, negative, sub(s, f32(s, 4.0f), k), k);
    ir_value turned = one_where(s, negative);
    turned = select32(s, q->steep, sub(s, f32(s, 1.0f), turned), turned);
    *down = op2(s, MATH_OP_EQ, turned, f32(s, 1.0f));
    return k;
}

ir_value math_atan2(math_sequence s, ir_value y, ir_value x) {
    static const float c[] = {MATH_ATAN_0, MATH_ATAN_1, MATH_ATAN_2,
                              MATH_ATAN_3, MATH_ATAN_4, MATH_ATAN_5};
    quotient q = divide(s, y, x);
    ir_value z = mul(s, q.high, q.high);
    ir_value rest = fma32(s, negate(s, z), q.low, q.low);
    rest = fma32(s, math_horner(s, z, c, 6), mul(s, q.high, z), rest);

    ir_value down, k = eighths_of(s, &q, x, &down);
    ir_value base = mul(s, k, f32(s, MATH_EIGHTH_TURN));
    ir_value main = select32(s, down, negate(s, q.high), q.high);
    ir_value more = select32(s, down, negate(s, rest), rest);
    ir_value angle = add(s, base, main), lost = sub(s, main, sub(s, angle, base));
    more = add(s, fma32(s, k, f32(s, MATH_EIGHTH_TURN_LOW), more), lost);
    angle = with_sign(s, add(s, angle, more), y);
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    return select32(s, op2(s, MATH_OP_UNORDERED, y, x), nan, angle);
}
