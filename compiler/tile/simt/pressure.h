/* pressure.h - how many registers a thread needs at once for the parts of tiles that it holds, by
 * laid-out Tile IR alone: what code generation adds (addresses, masks) or saves (values that are
 * made again, loads that it moves) is not in it. */
#ifndef TESSERA_TILE_SIMT_PRESSURE_H
#define TESSERA_TILE_SIMT_PRESSURE_H

#include "tile/tile.h"

typedef struct pressure {
    int64_t registers; /* of 32 bits, of a thread, at the worst place */
    ir_op at;          /* the operation behind which that is; 0: no tile is held anywhere */
} pressure;

/* Pressure of one tile.phase. */
pressure simt_pressure_of(const ir_module *m, ir_op phase);

#endif
