/* dims.h - index arithmetic that folds constants, and the values of dimensions that a launch gives.
 */
#ifndef TESSERA_TILE_DIMS_H
#define TESSERA_TILE_DIMS_H

#include "base/vec.h"
#include "ir/dim.h"
#include "tile/tile.h"

typedef struct dim_value {
    ir_dim dim;
    ir_value index;
} dim_value;

/* Dimensions of one phase: each is computed once, at its beginning. */
typedef struct dim_values {
    ir_module *of;  /* the module of the expressions */
    ir_attr names;  /* of the dimensions, as a launch gives them; in the Tile IR */
    ir_builder top; /* before anything that the phase computes */
    VEC(dim_value) known;
    const char *missing; /* a symbol that is none of them */
} dim_values;

/* At the beginning of a phase's block, which is empty but for its argument. */
void dim_values_begin(dim_values *d, ir_builder *in);
ir_value dim_values_get(dim_values *d, ir_dim dim);

ir_value tile_index_add(ir_builder *b, ir_value x, ir_value y);
ir_value tile_index_sub(ir_builder *b, ir_value x, ir_value y);
ir_value tile_index_mul(ir_builder *b, ir_value x, ir_value y);
ir_value tile_index_min(ir_builder *b, ir_value x, ir_value y);
ir_value tile_index_max(ir_builder *b, ir_value x, ir_value y);
/* x, or the bound that it passes; `high` where low is above it. */
ir_value tile_index_clamp(ir_builder *b, ir_value x, ir_value low, ir_value high);
/* low + x * factor + constant. */
ir_value tile_index_step(ir_builder *b, ir_value low, ir_value x, int64_t factor, int64_t constant);
/* x rounded down to a multiple. */
ir_value tile_index_floor(ir_builder *b, ir_value x, int64_t multiple);
/* The end of whole steps from `low` to `high`. */
ir_value tile_index_whole(ir_builder *b, ir_value low, ir_value high, int64_t step);
/* Quotient of a non-negative index. */
ir_value tile_index_quotient(ir_builder *b, ir_value x, ir_value y);

#endif
