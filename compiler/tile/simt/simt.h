/* simt.h - Tile IR for targets whose workgroups are many threads: where memory is, which thread
 * holds which elements of a tile, and where threads have to wait for each other.
 *
 * All threads of a workgroup run the same operations; indices, and so the control flow, are the
 * same in all of them. Tiles are spread over them by their layouts (ir.h). */
#ifndef TESSERA_TILE_SIMT_H
#define TESSERA_TILE_SIMT_H

#include "tile/tile.h"

/* Threads of a workgroup. */
enum { SIMT_THREADS = 128 };

/* A fold goes through the workgroup's memory: 64 elements, then 8, of up to 8 bytes each. */
enum { SIMT_FOLD_LANES = 64, SIMT_FOLD_PARTS = 8 };
enum { SIMT_FOLD_BYTES = (SIMT_FOLD_LANES + SIMT_FOLD_PARTS) * 8 };

/* What was memory of a thread becomes memory of the workgroup (tile.scratch, of which there are at
 * most `shared_bytes`), or, where that is too little, a piece of the workspace for each workgroup.
 * Folds get their place to exchange lanes. */
bool simt_place_memory(ir_module *m, int64_t shared_bytes, status *st);
/* Every tile gets a layout threads<...> of so many threads. */
bool simt_assign_layout(ir_module *m, int threads, status *st);
/* A tile.barrier wherever a thread may touch what another one has written, or is yet to read, since
 * the last one. */
bool simt_insert_barriers(ir_module *m, status *st);

#endif
