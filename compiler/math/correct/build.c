/* build.c - which sequence a correctly rounded function is. */
#include "math/correct/build.h"

#include "math/correct/correct.h"

ir_value correct_build(const math_emit *emit, math_function function, ir_value x) {
    switch (function) {
#define F(ENUM, name)                                                                              \
    case MATH_##ENUM:                                                                              \
        return correct_##name(emit, x);
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
    return 0;
}
