/* inputs.h - lanes for vdpbf16ps, the same in each run: random bits, and numbers where a wrong rule
 * would show. */
#ifndef TESSERA_WITNESS_VDPBF16PS_INPUTS_H
#define TESSERA_WITNESS_VDPBF16PS_INPUTS_H

#include "model.h"

typedef enum input_kind {
    INPUT_BITS,      /* any bits */
    INPUT_SPECIAL,   /* zeros, infinities, NaNs, subnormals, the ends of the range */
    INPUT_NUMBERS,   /* of like magnitudes, so that all digits of each meet */
    INPUT_BORDER,    /* sums and products near the least normal number */
    INPUT_CANCELS,   /* sums that one of the products takes away but for some last digits */
    INPUT_ROUNDS_UP, /* results less than one last digit below the least normal number */
    INPUT_KIND_COUNT
} input_kind;

extern const char *const input_names[INPUT_KIND_COUNT];

/* Lane number `at` of a kind. */
lane input_lane(input_kind kind, uint64_t at);

#endif
