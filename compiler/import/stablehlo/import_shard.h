/* import_shard.h - programs of several devices, from the inside of the importer: the shards around
 * an operation, and how groups of devices lie in them. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_SHARD_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_SHARD_H

#include "import/stablehlo/import.h"

/* ---- import_groups.c ---- */

/* Devices that work together, as places in the shards around: row-major over their axes. */
typedef struct device_groups {
    int64_t places;
    uint32_t count;    /* of groups */
    uint32_t size;     /* of the largest one */
    bool uniform;      /* all are as large, and each place is in one */
    int64_t *members;  /* [count, size]; -1: a smaller one has no more */
    int64_t *group;    /* of each place, -1: none */
    int64_t *position; /* ... in its group */
} device_groups;
/* The groups of an operation; false when refused. Release them either way. */
bool groups_read(importer *im, const shlo_op *op, device_groups *g);
void groups_release(device_groups *g);
/* Pairs of a permutation, as the place that each one gets from, -1: none. The caller frees them;
 * NULL when refused. */
int64_t *groups_sources(importer *im, const shlo_op *op);
/* Is an attribute there that says yes? */
bool groups_flag(const shlo_op *op, const char *name);
int64_t groups_places(const importer *im);
/* The axes along which each group is all shards, in row-major order: a bit for each; 0: there are
 * none. */
uint32_t groups_axes(const importer *im, const device_groups *g);
/* Places that one behind counts so many of. */
int64_t groups_stride(const importer *im, uint32_t axis);

/* ---- import_shard.c ---- */

/* A value lies as its sharding says, or the devices themselves as leading axes. */
typedef struct lying {
    shlo_sharding s;
    bool leading;
} lying;

/* Operations that stand on the shards: makes results of values, in the block that is built. */
typedef struct shard_job {
    importer *im;
    const shlo_op *op;                     /* for messages */
    uint32_t first, count;                 /* its axes, of those around */
    uint32_t mesh_axes[MESH_AXES_MAX + 2]; /* the axis of the mesh that each is */
    const lying *in, *out;                 /* of each value in a row */
    uint32_t inputs, outputs;
    const ir_type *types; /* of the results of one device */
    bool (*body)(const struct shard_job *j, const ir_value *values, import_values *results);
    void *context;
} shard_job;

/* The operations of a job from one of its axes on: 0 is all. Values and results in rows. */
bool shard_run(const shard_job *j, uint32_t level, const ir_value *values, import_values *results);

#endif
