/* evaluate.h - the specified functions of f64 over arrays, operation by operation: the
 * interpreter's. */
#ifndef TESSERA_MATH_DOUBLE_EVALUATE_H
#define TESSERA_MATH_DOUBLE_EVALUATE_H

#include <stddef.h>

#include "math/math.h"

/* out[i] = function(in[i]); `out` may be an operand. A NaN may have any sign and payload. */
void double_apply(math_function function, double *out, const double *in, size_t count);
void double_apply_pair(math_pair pair, double *out, const double *first, const double *second,
                       size_t count);

#endif
