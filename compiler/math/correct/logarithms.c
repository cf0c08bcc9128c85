/* logarithms.c - log, log2 and log1p from one logarithm in f64. */
#include <math.h>

#include "math/correct/constants.h"
#include "math/correct/correct.h"

/* A logarithm whose argument is not between `pole` and infinity. */
static ir_value special(math_sequence s, ir_value x, float pole) {
    ir_value nan = op1(s, MATH_OP_FROM_BITS, i32(s, 0x7fc00000));
    ir_value below = select32(s, lt(s, x, f32(s, pole)), nan, x);
    return select32(s, op2(s, MATH_OP_EQ, x, f32(s, pole)), f32(s, -HUGE_VALF), below);
}

static ir_value where_ordinary(math_sequence s, ir_value x, float pole, ir_value result) {
    ir_value ordinary =
        op2(s, MATH_OP_LOGIC_AND, lt(s, f32(s, pole), x), lt(s, x, f32(s, HUGE_VALF)));
    return select32(s, ordinary, result, special(s, x, pole));
}

/* n times the upper part of log 2 is exact, and either 0 or greater than what is added to it. */
static ir_value natural(math_sequence s, logarithm l) {
    ir_value whole = dmul(s, l.n, f64(s, CORRECT_LN2_HIGH));
    ir_value high = dadd(s, whole, l.high);
    ir_value lost = dadd(s, dsub(s, whole, high), l.high);
    ir_value low = dfma(s, l.n, f64(s, CORRECT_LN2_LOW), l.low);
    return dadd(s, high, dadd(s, lost, low));
}

ir_value correct_log(math_sequence s, ir_value x) {
    static const correct_exception wrong[] = {{0x3c413d3a, 0xc08e158f},
                                              {0x41178feb, 0x400fe5e7},
                                              {0x4c5d65a5, 0x418f034b},
                                              {0x65d890d3, 0x4254d1f9},
                                              {0x6f31a8ec, 0x42845a89}};
    logarithm l = correct_logarithm(s, widen(s, x));
    ir_value result = correct_except(s, x, narrow(s, natural(s, l)), wrong, 5);
    return where_ordinary(s, x, 0.0f, result);
}

ir_value correct_log2(math_sequence s, ir_value x) {
    logarithm l = correct_logarithm(s, widen(s, x));
    ir_value scale = f64(s, CORRECT_LOG2_E);
    ir_value part = dmul(s, l.high, scale);
    ir_value low = dfma(s, l.high, scale, dnegate(s, part));
    low = dfma(s, l.high, f64(s, CORRECT_LOG2_E_LOW), low);
    low = dfma(s, l.low, scale, low);
    ir_value high = dadd(s, l.n, part);
    ir_value lost = dadd(s, dsub(s, l.n, high), part);
    return where_ordinary(s, x, 0.0f, narrow(s, dadd(s, high, dadd(s, lost, low))));
}

/* Below 2^-26 the nearest f32 is x, and 1 + x might not be exact. */
ir_value correct_log1p(math_sequence s, ir_value x) {
    static const correct_exception wrong[] = {
        {0x3710001b, 0x370ffff3}, {0x3efd81ad, 0x3ecdeee1}, {0x41078feb, 0x400fe5e7},
        {0x65d890d3, 0x4254d1f9}, {0x6f31a8ec, 0x42845a89}, {0xb70fffe5, 0xb710000d},
        {0xbb0ec8c4, 0xbb0ef0a5}, {0x35400003, 0x353fffff}, {0xb53ffffd, 0xb5400001}};
    logarithm l = correct_logarithm(s, dadd(s, widen(s, x), f64(s, 1)));
    ir_value result = correct_except(s, x, narrow(s, natural(s, l)), wrong, 9);
    result = select32(s, lt(s, magnitude(s, x), f32(s, 0x1p-26f)), x, result);
    return where_ordinary(s, x, -1.0f, result);
}
