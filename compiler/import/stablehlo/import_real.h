/* import_real.h - steps on f64 that functions are made of: what a rounding loses, signs, and
 * numbers beside a value. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_REAL_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_REAL_H

#include "import/stablehlo/import.h"

/* With one number, the same for every element. */
ir_value real_times(importer *im, ir_value x, double number);
ir_value real_plus(importer *im, ir_value x, double number);
/* x ? number: "lt", "ge" and so on. */
ir_value real_is(importer *im, const char *predicate, ir_value x, double number);
ir_value real_choose(importer *im, ir_value condition, ir_value yes, ir_value no);
ir_value real_abs(importer *im, ir_value x);
ir_value real_negated(importer *im, ir_value x);
ir_value real_sqrt(importer *im, ir_value x);
/* A result that has no sign, with that of `of`, of a zero, too. */
ir_value real_signed(importer *im, ir_value magnitude, ir_value of);
/* x y + z, rounded once. */
ir_value real_fma(importer *im, ir_value x, ir_value y, ir_value z);
/* p[0] x^n + ... + p[n], each step by fma. */
ir_value real_polynomial(importer *im, ir_value x, const double *p, int count);

/* A result and what its rounding lost: T. J. Dekker, Numer. Math. 18 (1971). */
typedef struct real_pair {
    ir_value high, low;
} real_pair;
real_pair real_sum(importer *im, ir_value x, ir_value y);
real_pair real_product(importer *im, ir_value x, ir_value y);
real_pair real_squares(importer *im, ir_value x, ir_value y); /* x^2 + y^2, x >= y >= 0 */
/* With f64 great >= small >= 0: sqrt(great^2 + small^2) without overflow on the way, from squares
 * in pairs, and great^2 + small^2 - 1, in which nothing cancels. */
ir_value real_hypotenuse(importer *im, ir_value great, ir_value small);
ir_value real_beyond_one(importer *im, ir_value great, ir_value small);

#endif
