/* rsqrt.c - in f64, whose two roundings are far from the middle between two f32. */
#include "math/correct/correct.h"

ir_value correct_rsqrt(math_sequence s, ir_value x) {
    return narrow(s, ddiv(s, f64(s, 1), op1(s, MATH_OP_DSQRT, widen(s, x))));
}
