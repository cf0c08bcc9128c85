/* collectives.h - how long operations over ranks take on a topology, by the way in which they are
 * done (collectives.def): rounds of flows, one behind the other.
 *
 *     T = begin + sum over rounds (round + flows) + bytes added / sum
 *
 * Ours are added behind the exchange, by a kernel; the others are fused, and add what the round
 * before brought while this one is on its way: a round takes the longer of both.
 *
 * The rounds of each way, with p ranks: Thakur, Rabenseifner and Gropp, IJHPCA 19, 2005, 49-66; of
 * the ring: Patarasuk and Yuan, JPDC 69, 2009, 117-124. A ring in a hierarchy is as many rings as
 * the first level has ranks, with 1 / so many of the bytes each; ring c enters a group of the level
 * at its member c, so that no two leave by the same one. */
#ifndef TESSERA_HARNESS_COMM_COLLECTIVES_H
#define TESSERA_HARNESS_COMM_COLLECTIVES_H

#include "comm/topology.h"

typedef enum collective {
#define COLLECTIVE(name, bus, payload) COLLECTIVE_##name,
#include "comm/collectives.def"
    COLLECTIVES
} collective;

typedef enum algorithm {
#define ALGORITHM(collective, name, ours, meaning) ALGORITHM_##collective##_##name,
#include "comm/collectives.def"
    ALGORITHMS
} algorithm;

typedef struct algorithm_info {
    collective of;
    const char *name, *meaning;
    bool ours;
} algorithm_info;

extern const algorithm_info algorithm_table[ALGORITHMS];
extern const char *const collective_names[COLLECTIVES];

/* In ns; INFINITY where the number of ranks is none for it (powers of two). */
double collective_ns(const topology *t, algorithm a, double bytes);
/* The bandwidth that NCCL tests would tell, in bytes in a ns. */
double collective_bus(collective c, uint32_t ranks, double bytes, double ns);
/* The fastest of ours. */
algorithm collective_choice(const topology *t, collective c, double bytes);

/* Messages of each rank to others of its group, of `count` ranks that are `stride` apart: to the
 * one i places further bytes[i]. All groups at once; one round. */
double collective_exchange_ns(const topology *t, uint32_t stride, uint32_t count,
                              const int64_t *bytes);

#endif
