/* functions.h - the specified functions for the interpreter: plain scalar C, one rounding at a
 * time.
 *
 * The same sequences as compiler/math, written apart, operation by operation (docs/numerics.md,
 * "Specified functions"). A NaN result may have any sign and payload; who stores it makes it
 * canonical. Pure; any thread. */
#ifndef TESSERA_TARGET_INTERP_FUNCTIONS_H
#define TESSERA_TARGET_INTERP_FUNCTIONS_H

#include <stddef.h>

#include "math/math.h"

#define F(ENUM, name) float function_##name(float x);
#include "math/functions.def"

/* The f32 nearest to the exact value at x, ties to even: not a sequence but a definition by value,
 * found by another method than compiled code's (functions_correct.c). */
float function_correct(math_function function, float x);
/* out[i] = function(in[i]); `out` may be `in`. The same bits as the calls above, with hardware fma
 * where there is one. */
void function_apply(math_set set, math_function function, float *out, const float *in,
                    size_t count);
#define P(ENUM, name, first, second) float function_##name(float first, float second);
#include "math/pairs.def"

/* out[i] = pair(first[i], second[i]), likewise. */
void function_apply_pair(math_pair pair, float *out, const float *first, const float *second,
                         size_t count);
/* "exp", ... */
const char *function_name(math_function function);

#endif
