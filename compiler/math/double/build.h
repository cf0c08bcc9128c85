/* build.h - the specified functions of f64, for a math_emit. */
#ifndef TESSERA_MATH_DOUBLE_BUILD_H
#define TESSERA_MATH_DOUBLE_BUILD_H

#include "math/math.h"

/* The value of `function` at `x` (an f64 value of the emitter's kind), and of a function of two
 * operands. There are no correctly rounded versions. */
ir_value double_build(const math_emit *emit, math_function function, ir_value x);
ir_value double_build_pair(const math_emit *emit, math_pair pair, ir_value first, ir_value second);

#endif
