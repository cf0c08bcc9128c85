/* build.h - the correctly rounded functions, for a math_emit. */
#ifndef TESSERA_MATH_CORRECT_BUILD_H
#define TESSERA_MATH_CORRECT_BUILD_H

#include "math/math.h"

/* The f32 nearest to the exact value of `function` at `x` (an f32 value of the emitter's kind). */
ir_value correct_build(const math_emit *emit, math_function function, ir_value x);

#endif
