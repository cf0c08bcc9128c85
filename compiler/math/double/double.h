/* double.h - what the specified functions of f64 share: numbers in two f64, exponentials and
 * logarithms of them.
 *
 * Nearly all is carried in two f64 and rounded once, so that results are off by little more than
 * half a unit. Names of sequences: double_<name>. */
#ifndef TESSERA_MATH_DOUBLE_DOUBLE_H
#define TESSERA_MATH_DOUBLE_DOUBLE_H

#include "math/double/constants.h"
#include "math/sequence64.h"

/* high + low; |low| is at most about a unit in the last place of high. */
typedef struct doubled {
    ir_value high, low;
} doubled;

/* a + b, where |a| >= |b| or a is 0: nothing is lost. */
doubled doubled_sum(math_sequence s, ir_value a, ir_value b);
/* Knuth's: of any two. */
doubled doubled_any_sum(math_sequence s, ir_value a, ir_value b);
doubled doubled_product(math_sequence s, ir_value a, ir_value b);
/* a * b, but for 2^-104 of it or so. */
doubled doubled_times(math_sequence s, doubled a, doubled b);
/* a / b, likewise. */
doubled doubled_quotient(math_sequence s, doubled a, doubled b);

/* n = round(x log2 e), r = x - n log 2. */
typedef struct double_reduced {
    ir_value n;    /* an f64 */
    ir_value bits; /* an i64, the low bits of which are n */
    doubled r;
} double_reduced;
double_reduced double_reduce(math_sequence s, doubled x);
/* e^r - 1 for |r| <= log(2)/2, also near 0; a relative 2^-57. */
doubled double_less_one(math_sequence s, doubled r);
/* e^x - 1, -60 <= x <= 60. */
doubled double_whole_less_one(math_sequence s, doubled x);
/* 2^n, n an i64 (its low bits) from -1022 to 1023. */
ir_value double_power_of_two(math_sequence s, ir_value n);
/* x 2^n, n from -2044 to 2046, which rounds once. */
ir_value double_scale(math_sequence s, ir_value x, ir_value n);
/* 2^x with one rounding; the sum of the parts is anything. */
ir_value double_exp2_of(math_sequence s, doubled x);

/* For 0 < x < Inf: n as an i64, and 1 + f = x / 2^n from sqrt(1/2) to sqrt(2). */
ir_value double_split(math_sequence s, ir_value x, ir_value *f);
/* The field of n in the bits of an f64 of this exponent. */
ir_value double_exponent(math_sequence s, ir_value x);
ir_value double_from_integer(math_sequence s, ir_value n);
/* log(1 + f) there; a relative 2^-70. */
doubled double_log_of(math_sequence s, doubled f);
/* log2 x for 0 < x < Inf; a relative 2^-68. */
doubled double_log2_of(math_sequence s, ir_value x);
/* p where 0 < x < Inf, else the logarithm of x. */
ir_value double_log_or_special(math_sequence s, ir_value x, ir_value p);

#define F(ENUM, name) ir_value double_##name(math_sequence s, ir_value x);
#include "math/functions.def"

#define P(ENUM, name, first, second)                                                               \
    ir_value double_##name(math_sequence s, ir_value first, ir_value second);
#include "math/pairs.def"

#endif
