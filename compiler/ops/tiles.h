/* tiles.h - kernels made of tiles: their operations in Graph IR.
 *
 * tessera.tiles has a block that runs once for each program instance. Indices, of instances and of
 * loops, are symbols: where a tile begins is a dimension such as 64*tile0, so it is known before
 * anything runs. Types in these blocks are those of whole tiles. */
#ifndef TESSERA_OPS_TILES_H
#define TESSERA_OPS_TILES_H

#include "ops/graph.h"

/* `around` is the opcode of the operation in whose block `op` stands. */
bool tiles_verify(const ir_module *m, ir_op op, int around, status *st);
/* The tessera.tiles of a kernel; 0: it is made of whole tensors. */
ir_op tiles_of(const ir_module *m);
/* Is it that of a kernel which is called? It takes values, and may stand in any block. */
bool tiles_are_called(const ir_module *m, ir_op op);
/* Tells that the name is an index of instances or loops of this module. */
bool tiles_has_index(const ir_module *m, const char *name);

/* The hint of this name of an operation; NULL: it has none. */
const ir_attr_data *tiles_hint_of(const ir_module *m, ir_op op, const char *name);
/* The loop whose trips repeat a load: the nearest around it; 0: it stands in none. */
ir_op tiles_loop_of(const ir_module *m, ir_op load);
/* The operation that says by "prefetch" or "stages" how far ahead a load is fetched: the load, else
 * its loop; 0: neither does. */
ir_op tiles_fetch_asker(const ir_module *m, ir_op load);

typedef enum memory_space {
#define SPACE(ID, name, what, bytes, chip_what, chip_bytes) MEMORY_SPACE_##ID,
#include "ops/spaces.def"
    MEMORY_SPACE_COUNT
} memory_space;
extern const char *const memory_space_names[MEMORY_SPACE_COUNT];

/* Orders of a tile's rows in a workgroup's memory. */
typedef enum tile_swizzle {
    TILE_SWIZZLE_PAD,  /* an odd number of 16 bytes apart */
    TILE_SWIZZLE_NONE, /* side by side */
    TILE_SWIZZLE_XOR,  /* ... where 16 bytes change places (tile/swizzle.h) */
    TILE_SWIZZLE_COUNT
} tile_swizzle;
extern const char *const tile_swizzle_names[TILE_SWIZZLE_COUNT];

/* Faults of the tiles that instances give for a result. */
typedef enum tile_fault {
    TILE_GIVEN_BY_NONE,
    TILE_GIVEN_TWICE,
    TILE_GIVEN_OUTSIDE,
    TILE_FAULT_COUNT
} tile_fault;
/* In words, for messages: of a place along an axis of the result with this number. */
void tiles_fault_text(const ir_module *m, tile_fault fault, uint32_t number, int axis,
                      int64_t place, char *out, size_t size);

#endif
