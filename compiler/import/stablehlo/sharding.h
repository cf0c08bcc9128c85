/* sharding.h - meshes of devices, and how values lie on them, as attributes of a module say it:
 * those of Shardy, and the older ones of XLA (mhlo.sharding). Nothing here knows Graph IR. */
#ifndef TESSERA_IMPORT_STABLEHLO_SHARDING_H
#define TESSERA_IMPORT_STABLEHLO_SHARDING_H

#include "import/stablehlo/shlo.h"

/* Most axes of a mesh, axes that a value is cut along, and devices. */
enum { MESH_AXES_MAX = 8, SHARDED_RANK_MAX = 8, MESH_DEVICES_MAX = 4096 };

/* Axes in row-major order: the last one counts devices one by one. */
typedef struct shlo_mesh {
    uint32_t axis_count;
    struct {
        const char *name; /* in the module's memory */
        int64_t size;
    } axes[MESH_AXES_MAX];
    int64_t devices;
    const int64_t *ids; /* of the device at each place; NULL: its number */
} shlo_mesh;

/* An axis, or a part of it: of `size` places, each of which stands for so many of the axis. */
typedef struct shlo_axis_part {
    uint32_t axis;
    int64_t size, stride;
} shlo_axis_part;

typedef struct shlo_sharding {
    shlo_mesh mesh;
    uint32_t rank;
    struct {
        uint32_t count; /* of axes that it is cut along, the outer ones first */
        shlo_axis_part axes[MESH_AXES_MAX];
    } dims[SHARDED_RANK_MAX];
} shlo_sharding;

/* Reads a sharding for a value of so many axes. NULL, or why it cannot be taken. */
const char *shlo_sharding_read(shlo_module *m, const shlo_attr *a, uint32_t rank,
                               shlo_sharding *out);
/* The same of the value number `i` of a list, which has `count`. */
const char *shlo_sharding_of_list(shlo_module *m, const shlo_attr *a, uint32_t i, uint32_t count,
                                  uint32_t rank, shlo_sharding *out);
/* Names in braces: {"x", "y"}, of axes of this mesh: a bit for each. */
const char *shlo_axes_read(const shlo_attr *a, const shlo_mesh *mesh, uint32_t *out);
/* Parts of a dimension, and the one that a device has. */
int64_t shlo_sharding_parts(const shlo_sharding *s, uint32_t dim);
int64_t shlo_sharding_part(const shlo_sharding *s, uint32_t dim, int64_t device);
/* Reads how the argument, or behind the arguments the result, of a function lies: false where
 * nothing is said of it; *why: it is, and cannot be taken. */
bool shlo_sharding_of(shlo_module *m, const shlo_function *f, uint32_t value, shlo_sharding *out,
                      const char **why);

/* Devices that a module is for. */
int64_t shlo_replicas(const shlo_module *m);
int64_t shlo_partitions(const shlo_module *m);

#endif
