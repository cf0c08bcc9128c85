/* import_complex.h - functions of complex numbers, and the steps that they share. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_COMPLEX_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_COMPLEX_H

#include "import/stablehlo/import_real.h"

typedef struct complex_value {
    ir_value re, im;
} complex_value;

/* An operand of an operation; im 0: it is not complex. */
complex_value complex_operand(const importer *im, const shlo_op *op, uint32_t i);
complex_value complex_widened(importer *im, complex_value x); /* as f64 */
complex_value complex_rounded(importer *im, complex_value x, dtype to);
complex_value complex_product(importer *im, complex_value x, complex_value y);
/* i z, and -i z */
complex_value complex_turned(importer *im, complex_value x, bool back);
/* The magnitudes of the parts, the greater as `re`. */
complex_value complex_sizes(importer *im, complex_value x);

/* These of f32 are computed in f64, and rounded once. */
ir_value complex_magnitude(importer *im, complex_value x);
complex_value complex_quotient(importer *im, complex_value x, complex_value y);
complex_value complex_power(importer *im, complex_value x, complex_value y);
complex_value complex_atan2(importer *im, complex_value y, complex_value x);

/* A function of one number; false: there is none for this operation. */
bool complex_function(importer *im, shlo_opcode opcode, complex_value x, complex_value *y);

/* ---- import_complex_inverse.c: of f64 ---- */
complex_value complex_asin(importer *im, complex_value x);
complex_value complex_acos(importer *im, complex_value x);
complex_value complex_asinh(importer *im, complex_value x);
complex_value complex_acosh(importer *im, complex_value x);
complex_value complex_atan(importer *im, complex_value x);
complex_value complex_atanh(importer *im, complex_value x);
/* ln g + ln(1 + (s/g)^2) / 2 of these sizes: ln |z|, unless that is near 0. */
ir_value complex_log_size(importer *im, complex_value sizes);

#endif
