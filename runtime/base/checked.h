/* checked.h - arithmetic of sizes that may not fit 64 bits: the result is the nearest number that
 * does, and *beyond is set. It is never cleared, so that a whole formula is asked about once. */
#ifndef TESSERA_BASE_CHECKED_H
#define TESSERA_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t checked_multiply(int64_t a, int64_t b, bool *beyond) {
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    *beyond = true;
    return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

/* For counts, which have no sign: the greatest number where there are more. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t saturating_multiply(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
