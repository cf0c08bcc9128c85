/* mesh.h - meshes of shards, and collectives over their axes (functions/collective.c,
 * functions/transform_shard.c). */
#ifndef TESSERA_CHECK_MESH_H
#define TESSERA_CHECK_MESH_H

#include "check/check.h"

/* An axis of the mesh of a shard_map() or pmap() around what is checked. */
enum { MESH_AXES_MAX = 8, MESH_SHARDS_MAX = 4096 };
typedef struct mesh_axis {
    const struct mesh_axis *around; /* or NULL */
    const char *name;
    ir_dim count; /* shards */
} mesh_axis;

entity special_shard_map(checker *c, const call_arguments *a);
entity special_mesh(checker *c, const call_arguments *a);
entity special_partition_spec(checker *c, const call_arguments *a);
entity special_all_reduce(checker *c, const call_arguments *a);
entity special_all_gather(checker *c, const call_arguments *a);
entity special_reduce_scatter(checker *c, const call_arguments *a);
entity special_shard_slice(checker *c, const call_arguments *a);
entity special_all_to_all(checker *c, const call_arguments *a);
entity special_permute(checker *c, const call_arguments *a);
entity special_broadcast(checker *c, const call_arguments *a);
entity special_axis_index(checker *c, const call_arguments *a);
entity special_axis_size(checker *c, const call_arguments *a);

#endif
