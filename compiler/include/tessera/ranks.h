/* ranks.h - the rank that code is made for, of several that run a program together, each with some
 * of the shards of its meshes (docs/collectives.md). */
#ifndef TESSERA_RANKS_H
#define TESSERA_RANKS_H

#include <stddef.h>
#include <stdint.h>

enum { SHARD_BUCKET_BYTES = 16 << 20 };

typedef struct shard_ranks {
    uint32_t rank, count;
    const char *layout; /* "dp=2,tp=2": ranks along each axis; NULL: the first axes have as many as
                           they can */
    const int64_t *whole; /* by the ranks along an axis, of 0 to count: the most bytes of a sum of
                             which each rank adds all, above which it adds a part; NULL: so many
                             elements as COLLECTIVE_WHOLE says. The same on all ranks */
    int64_t bucket_bytes; /* of sums that are sent together, the most, the same on all ranks; 0:
                             SHARD_BUCKET_BYTES; negative: each is sent by itself */
} shard_ranks;

/* The part of an input or output that the code of a rank takes or makes: along each dimension
 * shards `first` to `first + count` of `total`, of one axis of the mesh in another. */
enum { SHARD_PART_DIMS = 8, SHARD_PART_AXES = 4 };
typedef struct shard_span {
    int64_t first, count, total;
} shard_span;
typedef struct shard_part {
    uint32_t element_bytes, rank;   /* dimensions */
    int64_t dims[SHARD_PART_DIMS];  /* of the part */
    int64_t whole[SHARD_PART_DIMS]; /* ... and of all */
    uint32_t axes[SHARD_PART_DIMS]; /* spans of each dimension; 0: the part has all of it */
    shard_span spans[SHARD_PART_DIMS][SHARD_PART_AXES];
} shard_part;
/* Those of all inputs, then outputs, of a module for a rank; free(). NULL: all are whole. */
shard_part *compiler_parts(const void *image, size_t image_size);
/* Shards of each dimension of an input or, behind them, of an output, as its sharding has them; 1:
 * it is not cut. Parts of ranks begin and end between shards, whatever number of ranks there is. */
struct compiler_instance;
void compiler_shards(const struct compiler_instance *instance, uint32_t number,
                     int64_t shards[SHARD_PART_DIMS]);

#endif
