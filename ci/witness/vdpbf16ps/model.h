/* model.h - one lane of vdpbf16ps, as docs/numerics.md describes a pair of `pairs512`. */
#ifndef TESSERA_WITNESS_VDPBF16PS_MODEL_H
#define TESSERA_WITNESS_VDPBF16PS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* A lane's operands: the higher half of x and y is the odd element. */
typedef struct lane {
    uint32_t sum, x, y;
} lane;

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
