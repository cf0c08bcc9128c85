/* model.h - one lane of vdpbf16ps, as docs/numerics.md describes a pair of `pairs512`. */
#ifndef TESSERA_WITNESS_VDPBF16PS_MODEL_H
#define TESSERA_WITNESS_VDPBF16PS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A lane's operands: the higher half of x and y is the odd element. */
typedef struct lane {
    uint32_t sum, x, y;
} lane;

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Every NaN has the same bits. */
static inline uint32_t canonical_bits(uint32_t bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

/* The odd or the even element of an operand. */
static inline float lane_factor(uint32_t operand, bool odd) {
    return float_of_bits(odd ? operand & 0xffff0000u : operand << 16);
}

/* The model, and others that come near it. */
typedef enum model {
    MODEL_PAIRS,        /* the odd element first; what rounds to a tiny number is flushed */
    MODEL_EVEN_FIRST,   /* ... the even one first */
    MODEL_FLUSH_BEFORE, /* ... what is tiny before it is rounded is flushed */
    MODEL_FLUSH_STORED, /* ... what is stored as a subnormal number is flushed */
    MODEL_ONE_ROUNDING, /* ... both products and the sum are rounded once */
    MODEL_COUNT
} model;

/* The bits of the result; every NaN is 0x7fc00000. */
uint32_t model_result(model m, const lane *l);

#endif
