/* tensor_map.h - tensor maps: how the chip's own copies (cp.async.bulk.tensor) see an argument of a
 * kernel.
 *
 * A tile.fetch copies a box of a tensor of 2 dimensions, or where it has blocks of 4. The innermost
 * one is a row of the argument from its beginning on; then rows; with blocks the rows of a block,
 * the blocks from one that it takes to the next, and those that it takes. Whoever launches the code
 * makes a map of the argument's address, and gives it to the kernel (docs/modules.md). */
#ifndef TESSERA_TILE_TENSOR_MAP_H
#define TESSERA_TILE_TENSOR_MAP_H

#include "schedule/simt/simt.h"
#include "tile/tile.h"

enum { TENSOR_MAP_RANK = 4, TENSOR_MAPS_MOST = 8, TENSOR_MAP_BYTES = 128 };

typedef struct tensor_map {
    uint32_t argument; /* of the kernel */
    dtype element;
    uint32_t rank;
    int64_t dims[TENSOR_MAP_RANK];    /* elements */
    int64_t strides[TENSOR_MAP_RANK]; /* ... from one to the next; the first is 1 */
    int64_t box[TENSOR_MAP_RANK];
} tensor_map;

/* False: the fetch is none that such a copy can do. */
bool tensor_map_of(const ir_module *m, ir_op fetch, tensor_map *out);
/* Different ones of a phase, in the order of its fetches; returns how many. */
uint32_t tensor_map_list(const ir_module *m, ir_op phase, tensor_map maps[TENSOR_MAPS_MOST]);
/* The number of the fetch's among them. */
uint32_t tensor_map_number(const ir_module *m, ir_op phase, ir_op fetch);
/* Threads of a workgroup that load: of the kernel, in all of its phases. */
int tile_loaders(const ir_module *m);

#endif
