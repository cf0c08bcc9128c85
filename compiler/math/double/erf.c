/* erf.c - a polynomial near 0; 1 - e^-g with a polynomial g beyond. Odd by its sign bit. */
#include "math/double/double.h"

static ir_value near_zero(math_sequence s, ir_value a) {
    static const double c[] = {DOUBLE_ERF};
    ir_value u = dfma(s, a, a, f64(s, -DOUBLE_ERF_CENTRE));
    return dfma(s, horner64(s, u, c, sizeof c / sizeof *c), a, a);
}

/* At 6, e^-g is below half a unit of 1. */
static ir_value far_away(math_sequence s, ir_value a) {
    static const double c[] = {DOUBLE_ERFC};
    ir_value v = dsub(s, dat_most(s, a, 6), f64(s, DOUBLE_ERFC_CENTRE));
    ir_value p = horner64(s, v, c, sizeof c / sizeof *c);
    ir_value rest = dfma(s, v, p, f64(s, DOUBLE_ERFC_FIRST_LOW));
    doubled g = doubled_any_sum(s, f64(s, DOUBLE_ERFC_FIRST), rest);
    double_reduced d = double_reduce(s, (doubled){dnegate(s, g.high), dnegate(s, g.low)});
    ir_value e = dadd(s, f64(s, 1), double_less_one(s, d.r).high);
    return dfma(s, dnegate(s, e), double_power_of_two(s, d.bits), f64(s, 1));
}

ir_value double_erf(math_sequence s, ir_value x) {
    ir_value a = dmagnitude(s, x);
    ir_value near = near_zero(s, a), far = far_away(s, a);
    return dwith_sign(s, select32(s, dlt(s, a, f64(s, DOUBLE_ERF_SPLIT)), near, far), x);
}
