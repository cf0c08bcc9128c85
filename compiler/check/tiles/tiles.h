/* tiles.h - the checker of a kernel that is made of tiles: what its files share. */
#ifndef TESSERA_CHECK_TILES_H
#define TESSERA_CHECK_TILES_H

#include "check/check.h"

/* The program instance: where it stands in the results, and how large its tiles are. Axes of the
 * first result before the last two are batches: an instance has one place of each. */
typedef struct tile_state {
    ir_op op;         /* tessera.tiles */
    ir_block outside; /* the kernel's block */
    uint32_t indices; /* named so far */
    int batch_rank;
    ir_dim batch[IR_MAX_RANK], batch_index[IR_MAX_RANK];
    tile_block rows, columns;   /* of the results; `number` is an index once it is used */
    bool has_rows, has_columns; /* used: instances stand along it */
    ir_dim sizes[TILE_SIZES];   /* of m, n, k, d */
    entity *stored;             /* by result: what tile.store() gave */
    uint32_t grid;              /* indices of instances: */
    const char *grid_names[IR_MAX_RANK + 2];
    ir_dim counts[IR_MAX_RANK + 2];
} tile_state;

/* A symbol that no dimension of the kernel has. */
const char *tiles_index_name(checker *c);
/* Blocks of the results' rows or columns, along which instances stand from now on. */
const tile_block *tiles_rows(checker *c);
const tile_block *tiles_columns(checker *c);
/* So many blocks, the last perhaps shorter. */
ir_dim tiles_block_count(checker *c, const tile_block *b);
ir_dim tiles_block_first(checker *c, const tile_block *b); /* of one that `starts` */
/* number * size. */
ir_dim tiles_start(checker *c, const tile_block *b);
entity tiles_block_entity(checker *c, entity_kind kind, tile_block block, span at);

/* i32: the places from `start` on, so many. */
entity tiles_axis_index(checker *c, ir_dim start, ir_dim size, span at);

/* Places of an axis of a tile: from `start` on, of `extent`. */
typedef struct tile_place {
    enum { PLACE_NONE, PLACE_ONE, PLACE_SEVERAL } kind;
    ir_dim start, extent;
} tile_place;
/* Finds the places of each axis by the loads that a tile is made of; `out` has IR_MAX_RANK. */
void tiles_places(checker *c, ir_value tile, tile_place *out);

entity tiles_store(checker *c, const call_arguments *a);

/* The hints among the arguments of a load from `memory`, or, where that is 0, of a loop; *out: 0
 * where there are none. False: one is refused. */
bool tiles_hints(checker *c, const call_arguments *a, ir_value memory, ir_attr *out);

extern const special_function tile_functions[];
extern const size_t tile_function_count;

#endif
