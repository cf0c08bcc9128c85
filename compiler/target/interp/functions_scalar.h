/* functions_scalar.h - what the transcriptions of the specified functions are written in: scalar
 * f32 and u32. Selection is by value: every line is computed. */
#ifndef TESSERA_INTERP_FUNCTIONS_SCALAR_H
#define TESSERA_INTERP_FUNCTIONS_SCALAR_H

#include <math.h>

#include "base/dtype.h"
#include "math/coefficients.h"

#define SEQUENCE static inline __attribute__((always_inline)) float

enum { EXPONENT_SHIFT = 23 };

static inline __attribute__((always_inline)) uint32_t bits_of(float x) {
    union {
        float value;
        uint32_t bits;
    } both = {.value = x};
    return both.bits;
}

SEQUENCE from_bits(uint32_t bits) {
    union {
        uint32_t bits;
        float value;
    } both = {.bits = bits};
    return both.value;
}

SEQUENCE fma32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

#endif
