/* ranks.h - the rank that code is made for, of several that run a program together, each with some
 * of the shards of its meshes (docs/collectives.md). */
#ifndef TESSERA_RANKS_H
#define TESSERA_RANKS_H

#include <stdint.h>

typedef struct shard_ranks {
    uint32_t rank, count;
    const char *layout; /* "dp=2,tp=2": ranks along each axis; NULL: the first axes have as many as
                           they can */
    const int64_t *whole; /* by the ranks along an axis, of 0 to count: the most bytes of a sum of
                             which each rank adds all, above which it adds a part; NULL: so many
                             elements as COLLECTIVE_WHOLE says. The same on all ranks */
} shard_ranks;

#endif
