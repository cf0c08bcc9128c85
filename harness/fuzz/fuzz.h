/* fuzz.h - random kernels on every backend under the chosen profiles, until the time is up.
 *
 * Kernel N of seed S is always the same. One that fails is shrunk, written out and packed, and the
 * run goes on with the next. */
#ifndef TESSERA_HARNESS_FUZZ_FUZZ_H
#define TESSERA_HARNESS_FUZZ_FUZZ_H

#include "case/shard.h"
#include "job/job_plan.h"

#define FUZZ_MINUTE_NS UINT64_C(60000000000)

typedef enum fuzz_family {
    FUZZ_TENSORS,
    FUZZ_TILES,      /* kernels of tiles, each beside its computation on tensors */
    FUZZ_PROGRAMS,   /* branches, loops, calls, sorts, in @graph */
    FUZZ_BATCHES,    /* vmap of kernels of tensors, each beside a loop of it */
    FUZZ_DERIVATIVES /* of random functions, forward and in reverse */
} fuzz_family;

typedef struct fuzz_request {
    const job_choice *choice; /* backends, isa, threads, seed, limits */
    uint64_t time_ns;
    uint64_t kernels;  /* at most so many; 0: no limit */
    const char *tally; /* the file of counts */
    shard_name shard;  /* of N shards each tries every Nth kernel */
    const char
        *failures; /* the folder that receives packs and shrunk kernels; NULL: the usual one */
    fuzz_family family;
    bool json;
} fuzz_request;

/* Prints what it found; the exit code. */
int fuzz_run(const fuzz_request *request);
/* The source of one kernel on stdout. */
void fuzz_show(uint64_t seed, uint64_t number, fuzz_family family);

#endif
