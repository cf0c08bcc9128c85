/* expand_tiles.h - what the files that write out kernels of tiles share. */
#ifndef TESSERA_GRAPH_EXPAND_TILES_H
#define TESSERA_GRAPH_EXPAND_TILES_H

#include "ops/graph.h"

/* A tile that an instance gives: where it stands in its result. */
typedef struct placed_tile {
    ir_value value; /* of the result's rank */
    int64_t start[IR_MAX_RANK], size[IR_MAX_RANK];
} placed_tile;

typedef VEC(placed_tile) placed_tiles;
typedef VEC(ir_binding) index_values;

typedef struct expansion {
    ir_module *m;
    ir_builder b;
    ir_op tiles;
    ir_value *now;        /* by value of the blocks: what it is in the instance at hand */
    uint32_t value_count; /* of the module before anything was written out */
    index_values indices;
    placed_tiles *results; /* for each result of `tiles` */
    uint64_t operations;   /* written out */
    status *st;
} expansion;

/* Reports it at the place of `op` in the source. False. */
bool expansion_refuse(const expansion *e, ir_op op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const ir_type_data *expansion_type(const expansion *e, ir_value v);
/* The first places of x along each axis. */
ir_value expansion_cut(expansion *e, ir_value x, const int64_t *size);
/* A number of a list of dimensions, of the indices as they are. */
bool expansion_number(expansion *e, ir_op op, ir_attr dim, int64_t *out);
/* The first turn of a tessera.for, and the one behind the last. */
bool expansion_turns(expansion *e, ir_op loop, int64_t *first, int64_t *count);

/* join_tiles.c: operations on whole tensors stand in the place of tessera.tiles, where its
 * instances do the same; `whole`: with loops that are one contraction or written out. False: it
 * stays. */
bool join_instances(ir_module *m, ir_op tiles, bool whole);
/* expand_tiles.c: all instances, one by one. */
bool expand_instances_of(ir_module *m, ir_op tiles, status *st);

/* expand_tile.c: one operation that is not about blocks; `e->now` has its results. */
bool expansion_step(expansion *e, ir_op op);
bool expansion_load(expansion *e, ir_op op);
/* So many places of x from `begin` on; what is outside of x is what the load says. */
ir_value expansion_part(expansion *e, ir_op load, ir_value x, const int64_t *begin,
                        const int64_t *size);
/* expand_results.c: a tile for each result is noted, and in the end results are made of them. */
bool expansion_give(expansion *e, ir_op give);
bool expansion_join(expansion *e);

#endif
