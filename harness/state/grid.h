/* grid.h - the shards of a tensor, as the sharding of its program cuts it, and the box of a rank's
 * part in which each lies. Shards depend on the program alone, so what is kept by shards is the
 * same on any number of ranks. */
#ifndef TESSERA_HARNESS_STATE_GRID_H
#define TESSERA_HARNESS_STATE_GRID_H

#include "base/tensor.h"
#include "base/text.h"
#include "tessera/ranks.h"

/* Shards have numbers from 0 on, in the order of rows. */
typedef struct state_grid {
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];   /* of all of the tensor */
    int64_t shards[TENSOR_MAX_RANK]; /* of each dimension, which is a multiple of them */
} state_grid;

int64_t grid_count(const state_grid *g); /* of shards */
void grid_shard_dims(const state_grid *g, int64_t out[TENSOR_MAX_RANK]);
/* Appends the name of a shard's tensor: that of the tensor where it is one shard, else
 * "NAME@1,0", the shard's number along each dimension. */
void grid_shard_name(const state_grid *g, const char *name, int64_t shard, text *out);
/* False: the part has nothing of the shard. `out`: the shard, as a part of the rank's part, which
 * is its whole (state/part.h takes and puts it). `part` NULL: all of the tensor. */
bool grid_place(const state_grid *g, const shard_part *part, int64_t shard, shard_part *out);

#endif
