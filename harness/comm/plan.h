/* plan.h - a program on the ranks of a topology, before anything runs: the exchanges that its
 * module has, how long they take there, and the memory of a rank. */
#ifndef TESSERA_HARNESS_COMM_PLAN_H
#define TESSERA_HARNESS_COMM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "comm/topology.h"

enum { PLAN_AXES_MAX = 8 };

/* Ranks of a group are `stride` apart: along one axis of the layout. */
typedef struct plan_axis {
    uint32_t stride, ranks;
    uint64_t exchanges; /* in a launch */
    double bytes;       /* that a rank sends */
    double ns;
} plan_axis;

typedef struct plan {
    plan_axis axes[PLAN_AXES_MAX];
    uint32_t axis_count, ranks;
    bool bounded; /* a loop may end early, or a branch not be taken: what it has is counted once */
    double inputs, outputs, arena, constants; /* bytes of a rank */
} plan;

/* From the module of rank 0, which stands for all: along an axis it has the most shards. */
bool plan_of(const topology *t, const void *image, size_t size, plan *out, status *st);

#endif
