/* run_states.h - states of a run that a folder keeps (state/index.h): each rank writes its shards
 * of them, and reads those that it has, whatever number of ranks kept them. */
#ifndef TESSERA_HARNESS_CLI_RUN_STATES_H
#define TESSERA_HARNESS_CLI_RUN_STATES_H

#include <jansson.h>

#include "launch/launch.h"
#include "tessera/ranks.h"

typedef struct kept_states {
    const char *folder, *kernel, *program; /* the digest of its graph */
    const compiler_signature *signature;
    const int64_t (*shards)[SHARD_PART_DIMS]; /* of each input (compiler_shards); NULL: one */
    tensor *inputs;
    json_t *retried; /* how often ranks were lost (state/index.h): kept, and taken where it is empty
                        as yet */
    launch *ranks;   /* which keep and take by themselves; NULL: `inputs` are what is kept */
} kept_states;

/* An output replaces it. */
bool states_is_one(const compiler_signature *s, uint32_t input);
/* The inputs of this program as they are behind so many steps; all or nothing. */
bool states_keep(const kept_states *k, int64_t step, status *st);
/* Brings back what is kept, into `inputs` or, where there are ranks, those of each, and says behind
 * which step it is. */
bool states_take(const kept_states *k, int64_t *step, status *st);

#endif
