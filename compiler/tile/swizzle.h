/* swizzle.h - where bytes of rows go that lie in a workgroup's memory so that 8 of them side by
 * side, 16 bytes of each, are on different banks: PTX ISA, "Shared Memory Matrix Layout", as wgmma
 * reads them.
 *
 * Rows have 32, 64 or 128 bytes and begin at a multiple of 8 rows. The number of 16 bytes in their
 * row becomes its exclusive or with that of the 128 bytes that they are in. */
#ifndef TESSERA_TILE_SWIZZLE_H
#define TESSERA_TILE_SWIZZLE_H

#include <stdint.h>

enum {
    SWIZZLE_UNIT = 16,
    SWIZZLE_SHIFT = 3,
    SWIZZLE_MOST = 128,
    SWIZZLE_ROWS = 8, /* of a pattern */
    SWIZZLE_ALIGNMENT = SWIZZLE_ROWS * SWIZZLE_MOST
};

/* Bits of a place that change, with those SWIZZLE_SHIFT above them; rows of 0 bytes: none do. */
static inline int64_t swizzle_mask(int64_t row_bytes) {
    return row_bytes ? row_bytes - SWIZZLE_UNIT : 0;
}

static inline int64_t swizzled(int64_t byte, int64_t row_bytes) {
    return byte ^ (byte >> SWIZZLE_SHIFT & swizzle_mask(row_bytes));
}

static inline int64_t swizzle_valid(int64_t row_bytes) {
    return row_bytes == 0 || row_bytes == 32 || row_bytes == 64 || row_bytes == SWIZZLE_MOST;
}

#endif
