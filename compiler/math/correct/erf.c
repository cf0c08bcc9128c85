/* erf.c - a polynomial near 0; 1 - e^-g with a polynomial g beyond. Odd by its sign bit. */
#include "math/correct/constants.h"
#include "math/correct/correct.h"

static ir_value erf_near(math_sequence s, ir_value a) {
    static const double c[] = {CORRECT_ERF};
    ir_value tail = horner64(s, dmul(s, a, a), c, sizeof c / sizeof *c);
    return dfma(s, tail, a, a);
}

static ir_value erf_far(math_sequence s, ir_value a) {
    static const double c[] = {CORRECT_ERFC};
    ir_value v = dsub(s, a, f64(s, CORRECT_ERF_CENTRE));
    ir_value g = horner64(s, v, c, sizeof c / sizeof *c);
    exponential e = correct_exponential(s, dnegate(s, g));
    return dfma(s, dadd(s, f64(s, -1), dnegate(s, e.rest)), e.scale, f64(s, 1));
}

/* At 4 it is 1. */
ir_value correct_erf(math_sequence s, ir_value x) {
    ir_value a = widen(s, at_most(s, magnitude(s, x), 4.0f));
    ir_value near = dlt(s, a, f64(s, CORRECT_ERF_SPLIT));
    return with_sign(s, narrow(s, select32(s, near, erf_near(s, a), erf_far(s, a))), x);
}
