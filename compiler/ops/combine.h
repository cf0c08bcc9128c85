/* combine.h - combiners: tessera.reduce_with, tessera.sort, tessera.scatter.
 *
 * Their block takes 2N scalars, N of one place and N of another, and is element-wise, so it can run
 * on many places at once. graph/expand_combiners.c makes loops over whole tensors of them. */
#ifndef TESSERA_OPS_COMBINE_H
#define TESSERA_OPS_COMBINE_H

#include "ops/graph.h"

/* Operands, in this order: `count` tensors of one shape; of a reduction `count` scalars; of a
 * scatter the indices, and `count` updates. */
typedef struct combine_shape {
    uint32_t count;
    int axis, rank;
    ir_dim dims[IR_MAX_RANK];
    ir_dim updates; /* of a scatter: how many */
} combine_shape;

bool combine_verify(const ir_module *m, ir_op op, status *st);
/* Can the operation stand in a combiner's block? It is by element, of scalars. */
bool combine_takes(const ir_module *m, ir_op op);
/* The operation has been verified. */
combine_shape combine_shape_of(const ir_module *m, ir_op op);
/* Positions along the axis, and those of updates behind them, are i32, as far as they are numbers.
 */
bool combine_has_places(const ir_module *m, ir_op op, const combine_shape *s);

/* Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M):
 * in each pass the places i and i + distance, for all i with (i & bits) == value and i + distance <
 * length, are compared at once, and exchanged where they are not in order. Of the two elements the
 * one that stood later at the beginning goes first where the block says that it goes before the
 * other; so equal ones stay as they stand. */
typedef struct sort_pass {
    int64_t bits, value, distance;
} sort_pass;
/* Passes for a length: their number, the first, and the one behind `pass`. */
int64_t sort_passes(int64_t length);
sort_pass sort_pass_first(int64_t length);
sort_pass sort_pass_next(int64_t length, const sort_pass *pass);
/* Pairs that all passes compare. */
uint64_t sort_pairs(int64_t length);
/* The number of halvings of the length: 2^(this) is not below it. */
int sort_levels(int64_t length);

#endif
