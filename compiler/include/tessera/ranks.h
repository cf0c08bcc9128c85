/* ranks.h - the rank that code is made for, of several that run a program together, each with some
 * of the shards of its meshes (docs/collectives.md). */
#ifndef TESSERA_RANKS_H
#define TESSERA_RANKS_H

#include <stdint.h>

typedef struct shard_ranks {
    uint32_t rank, count;
    const char *layout; /* "dp=2,tp=2": ranks along each axis; NULL: the first axes have as many as
                           they can */
} shard_ranks;

#endif
