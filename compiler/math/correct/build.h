/* build.h - the correctly rounded functions, for a math_emit. */
#ifndef TESSERA_MATH_CORRECT_BUILD_H
#define TESSERA_MATH_CORRECT_BUILD_H

#include "math/math.h"

/* The f32 nearest to the exact value of `function` at `x` (an f32 value of the emitter's kind). */
ir_value correct_build(const math_emit *emit, math_function function, ir_value x);

/* About how many vector instructions the sequence of a function takes for as many elements as a
 * vector of f32 has; those of f64 are two vectors. */
int math_length(math_set set, dtype element, math_function function);
int math_pair_length(dtype element, math_pair pair);

#endif
