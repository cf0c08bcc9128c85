/* math.c - which sequence a function is, and the polynomials that they share. */
#include "math/math.h"

#include <string.h>

#include "math/sequence.h"
#include "ops/graph.h"

ir_value math_horner(math_sequence s, ir_value x, const float *c, int count) {
    ir_value p = f32(s, c[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        p = fma32(s, p, x, f32(s, c[i]));
    return p;
}

math_function math_function_of(int opcode) {
    switch (opcode) {
#define F(ENUM, name)                                                                              \
    case GRAPH_##ENUM:                                                                             \
        return MATH_##ENUM;
#include "math/functions.def"
    default:
        return MATH_FUNCTION_COUNT;
    }
}

math_pair math_pair_of(int opcode) {
    switch (opcode) {
#define P(ENUM, name, first, second)                                                               \
    case GRAPH_##ENUM:                                                                             \
        return MATH_##ENUM;
#include "math/pairs.def"
    default:
        return MATH_PAIR_COUNT;
    }
}

ir_value math_build(const math_emit *s, math_function function, ir_value x) {
    switch (function) {
#define F(ENUM, name)                                                                              \
    case MATH_##ENUM:                                                                              \
        return math_##name(s, x);
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
    return 0;
}

ir_value math_build_pair(const math_emit *s, math_pair pair, ir_value first, ir_value second) {
    switch (pair) {
#define P(ENUM, name, one, other)                                                                  \
    case MATH_##ENUM:                                                                              \
        return math_##name(s, first, second);
#include "math/pairs.def"
    case MATH_PAIR_COUNT:
        break;
    }
    return 0;
}

bool math_set_named(const char *name, math_set *set_out) {
    bool correct = name && strcmp(name, "correct") == 0;
    *set_out = correct ? MATH_CORRECT : MATH_SPECIFIED;
    return correct || !name || !*name;
}
