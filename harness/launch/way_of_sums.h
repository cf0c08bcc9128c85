/* way_of_sums.h - how the ranks of a program add up, by a model of exchanges that was measured. */
#ifndef TESSERA_HARNESS_LAUNCH_WAY_OF_SUMS_H
#define TESSERA_HARNESS_LAUNCH_WAY_OF_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* As in shard_ranks. `whole`: owned (free), by the fit of the transport that is nearest; NULL where
 * neither TESSERA_COMM_MODEL nor the policy names a model, or it has none of this transport.
 * `bucket_bytes`: of the policy. */
typedef struct way_of_sums {
    int64_t *whole, bucket_bytes;
} way_of_sums;

bool way_of_sums_find(const char *transport, uint32_t ranks, way_of_sums *out, status *st);

#endif
