/* index_range.h - between which numbers an index of Tile IR is, where that is known. */
#ifndef TESSERA_TILE_SIMT_INDEX_RANGE_H
#define TESSERA_TILE_SIMT_INDEX_RANGE_H

#include "tile/tile.h"

/* Both ends belong to it. */
typedef struct index_range {
    int64_t low, high;
} index_range;

extern const index_range index_range_anything;

index_range index_range_of(const ir_module *m, ir_value index);
index_range index_range_plus(index_range x, index_range y);
index_range index_range_scaled(index_range r, int64_t by);
/* The nearest number that a range can have. */
int64_t index_range_limited(int64_t x);

#endif
