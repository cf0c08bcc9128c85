/* tile_walk.h - the walk of tile_run over a kernel, for the files that do its operations. */
#ifndef TESSERA_TARGET_INTERP_TILE_WALK_H
#define TESSERA_TARGET_INTERP_TILE_WALK_H

#include "target/interp/tile_run.h"
#include "tile/tile.h"

/* A value: a tile, an index, or memory. */
typedef struct tile_value {
    tensor tile; /* owned */
    int64_t index;
    char *memory;  /* borrowed */
    int64_t bytes; /* of it, from there on; below that address nothing is checked but by its room */
    char *begin;   /* of the room that it is in */
} tile_value;

typedef struct tile_walker {
    const ir_module *m;
    tile_value *values; /* by value */
    tile_value workspace, prepared, scratch;
    int64_t work; /* elements that may still be computed */
    status *st;
} tile_walker;

static inline tile_value *tile_operand(const tile_walker *w, const ir_op_data *d, uint32_t i) {
    return &w->values[d->operands[i]];
}
/* Room for a result in its own shape, in the place of what was there. */
tensor *tile_result(tile_walker *w, const ir_op_data *d, uint32_t i);
bool tile_unavailable(tile_walker *w, ir_op op);

/* Each does an operation of its kind; false with a status. */
bool tile_memory_op(tile_walker *w, ir_op op); /* loads and stores */
bool tile_shape_op(tile_walker *w, ir_op op);  /* moves within tiles, folds and scans */
bool tile_elementwise_op(tile_walker *w, ir_op op);
/* x of these as wide and as high as `out`: a copy, which the caller releases. */
bool tile_repeat(const tensor *x, const tensor *out, tensor *repeated, status *st);
bool tile_together(tile_walker *w, ir_op op, const char *kind, const tensor *x, const tensor *y,
                   tensor *out);

#endif
