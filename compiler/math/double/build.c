/* build.c - which sequence a function of f64 is. */
#include "math/double/build.h"

#include "math/double/double.h"

ir_value double_build(const math_emit *emit, math_function function, ir_value x) {
    switch (function) {
#define F(ENUM, name)                                                                              \
    case MATH_##ENUM:                                                                              \
        return double_##name(emit, x);
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
    return 0;
}

ir_value double_build_pair(const math_emit *emit, math_pair pair, ir_value first, ir_value second) {
    switch (pair) {
#define P(ENUM, name, one, other)                                                                  \
    case MATH_##ENUM:                                                                              \
        return double_##name(emit, first, second);
#include "math/pairs.def"
    case MATH_PAIR_COUNT:
        break;
    }
    return 0;
}
