/* index.h - states that ranks keep in parts: a file of each rank's shards, and state.json, which is
 * written last and says which files those are. A state that is not yet whole is not named by it.
 *
 *   {"schema": "tsr.state/1", "kernel", "program": digest of its graph, "step", "ranks",
 *    "files": [names, in the same folder],
 *    "tensors": [{"name", "dtype", "shape", "shards": of each dimension,
 *                 "parts": [{"file": which of `files`, "sha256": of the shard's bytes}]}],
 *    "retried": [{"step", "from", "to": ranks, "why"}], where ranks were lost; may be missing
 *    "sha256": of all of this but `ranks`, `files`, `file` and `retried`, as compact JSON with
 *    sorted keys}
 *
 * So the same state has the same hash whatever number of ranks kept it. */
#ifndef TESSERA_HARNESS_STATE_INDEX_H
#define TESSERA_HARNESS_STATE_INDEX_H

#include <jansson.h>

#include "base/status.h"
#include "base/vec.h"
#include "state/grid.h"

#define STATE_SCHEMA "tsr.state/1"

typedef struct state_tensor {
    const char *name;
    state_grid grid;
    const json_t *parts; /* by shard */
} state_tensor;

typedef struct state_index {
    char *path; /* of state.json */
    json_t *root;
    const char *kernel, *program; /* of `root` */
    int64_t step;
    const json_t *files;
    json_t *retried; /* NULL: nothing was */
    VEC(state_tensor) tensors;
} state_index;

/* Is a state kept there, by this tsr or an earlier one? */
bool state_is_kept(const char *folder);
/* Holds all of it to its hash. STATUS_CORRUPT, STATUS_INVALID: the message says what to do.
 * state_index_close in any case. */
bool state_index_open(state_index *x, const char *folder, status *st);
void state_index_close(state_index *x);
/* File and hash of a shard, of which `file` is appended with its folder. */
const char *state_index_shard(const state_index *x, const state_tensor *t, int64_t shard,
                              text *file);
/* A tensor of an index that is being made; parts are added to the result's "parts". */
json_t *state_index_tensor(const char *name, const state_grid *g);
/* Adds schema and hash, writes the index, all or nothing, and removes files of states before it. */
bool state_index_write(const char *folder, json_t *root, status *st);

#endif
