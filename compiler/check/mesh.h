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

/* Entries of a spec from the argument `from` on: names of axes, tuples of such, or None; what says
 * of whom in words. And has the mesh these axes, each of them once? False when reported. */
bool mesh_entries(checker *c, const call_arguments *a, int from, const char *what, entity *spec);
bool mesh_has_axes(checker *c, const entity *spec, const entity *mesh);
/* A text of ops/sharding.h cuts a value of this type into equal parts; false when reported. */
bool sharding_divides(checker *c, const char *words, ir_type type, span at);

entity special_shard_map(checker *c, const call_arguments *a);
entity special_mesh(checker *c, const call_arguments *a);
entity special_partition_spec(checker *c, const call_arguments *a);
entity special_sharding(checker *c, const call_arguments *a);
entity special_reshard(checker *c, const call_arguments *a);
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
