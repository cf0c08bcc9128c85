/* swizzle.h - where bytes of rows go that lie in a workgroup's memory so that 8 of them side by
 * side, 16 bytes of each, are on different banks.
 *
 * Of 16 bytes the number among those of 128 bytes becomes its exclusive or with the number of the
 * row. Rows of 32, 64 or 128 bytes, the number being that of the 128 bytes that they are in, are as
 * wgmma reads them (PTX ISA, "Shared Memory Matrix Layout"). A longer row is an odd number of times
 * a power of two long, and so are 8 rows side by side at 8 places of that: each has a number of its
 * own there. What lies in 128 bytes stays in them, so elements at two places stay at two. */
#ifndef TESSERA_TILE_SWIZZLE_H
#define TESSERA_TILE_SWIZZLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SWIZZLE_UNIT = 16,
    SWIZZLE_SHIFT = 3, /* of a number of 128 bytes to that of 16 of them */
    SWIZZLE_MOST = 128,
    SWIZZLE_ROWS = 8, /* of a pattern */
    SWIZZLE_ALIGNMENT = SWIZZLE_ROWS * SWIZZLE_MOST
};

/* The power of two that names the pattern of rows of so many bytes: the greatest that divides them;
 * 0: 8 of them are on different banks as they are. */
static inline int64_t swizzle_of_row(int64_t row_bytes) {
    int64_t power = row_bytes & -row_bytes;
    return power >= 2 * SWIZZLE_UNIT ? power : 0;
}

/* Bits of a place that change; of pattern 0 none do. */
static inline int64_t swizzle_mask(int64_t pattern) {
    return pattern ? (pattern < SWIZZLE_MOST ? pattern : SWIZZLE_MOST) - SWIZZLE_UNIT : 0;
}

/* Those that change them are so many bits above. */
static inline int swizzle_shift(int64_t pattern) {
    int shift = SWIZZLE_SHIFT;
    for (int64_t row = SWIZZLE_MOST; row < pattern; row *= 2)
        shift++;
    return shift;
}

static inline int64_t swizzled(int64_t byte, int64_t pattern) {
    return byte ^ (byte >> swizzle_shift(pattern) & swizzle_mask(pattern));
}

/* Is it a pattern that matrix units read by themselves, or 0? */
static inline bool swizzle_of_unit(int64_t pattern) {
    return pattern == 0 || (pattern <= SWIZZLE_MOST && swizzle_of_row(pattern) == pattern);
}

#endif
