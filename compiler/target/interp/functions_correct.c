/* functions_correct.c - correctly rounded functions by their definition, without the sequences of
 * compiler/math/correct: libm in f64 where that is far enough from the middle between two f32, long
 * double where it is not.
 *
 * Nothing here depends on libm's last bits: f64 is believed within 16 units of its last place. What
 * is open then was compared with MPFR at all inputs (ci/exhaustive). */
#include <math.h>

#include "target/interp/functions.h"

#define BELIEVED 0x1p-48

static double logistic_f64(double x) {
    return 1 / (1 + exp(-x));
}

/* Near 0 it is 1/2 + x/4 - x^3/48 + ...: where the first two are the middle between two f32, the
 * third decides, which no format holds beside them. */
static long double logistic_long(long double x) {
    if (fabsl(x) < 0x1p-14L)
        return nextafterl(0.5L + x / 4, x > 0 ? 0 : 1);
    return 1 / (1 + expl(-x));
}

/* Two results lie within 2^-42 of a spacing of the middle, where x^3/3 almost makes up for what
 * x - x^2/2 is off: closer than long double can tell. */
static long double log1p_long(long double x) {
    return x == 0x1.800006p-21L    ? 0x1.7ffffep-21L
           : x == -0x1.7ffffap-21L ? -0x1.800002p-21L
                                   : log1pl(x);
}

static double rsqrt_f64(double x) {
    return 1 / sqrt(x);
}

static long double rsqrt_long(long double x) {
    return 1 / sqrtl(x);
}

#define logistic logistic_f64
#define logisticl logistic_long
#define log1pl log1p_long
#define rsqrt rsqrt_f64
#define rsqrtl rsqrt_long

float function_correct(math_function function, float x) {
    static double (*const in_f64[])(double) = {
#define F(ENUM, name) [MATH_##ENUM] = name,
#include "math/functions.def"
    };
    static long double (*const in_long[])(long double) = {
#define F(ENUM, name) [MATH_##ENUM] = name##l,
#include "math/functions.def"
    };
    double value = in_f64[function]((double)x);
    float low = (float)(value * (1 - BELIEVED)), high = (float)(value * (1 + BELIEVED));
    bool decided = low == high || isnan(value) || isinf(value);
    return decided ? high : (float)in_long[function]((long double)x);
}
