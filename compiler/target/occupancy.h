/* occupancy.h - how many workgroups a compute unit of a chip holds at once. */
#ifndef TESSERA_TARGET_OCCUPANCY_H
#define TESSERA_TARGET_OCCUPANCY_H

#include "target/target.h"

typedef enum occupancy_limit {
    LIMITED_BY_NOTHING, /* the unit is full */
    LIMITED_BY_THREADS,
    LIMITED_BY_WORKGROUPS,
    LIMITED_BY_REGISTERS,
    LIMITED_BY_SHARED,
    OCCUPANCY_LIMIT_COUNT
} occupancy_limit;

typedef struct occupancy {
    int64_t workgroups; /* 0: not even one fits */
    double share;       /* of the threads that the unit could hold */
    occupancy_limit by;
} occupancy;

/* Takes workgroups of so many threads with so many registers each, and so much memory. */
occupancy occupancy_of(const target_unit *unit, int64_t threads, int64_t registers,
                       int64_t shared_bytes);

#endif
