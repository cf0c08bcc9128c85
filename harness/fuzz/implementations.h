/* implementations.h - random cases of kernels for code of others: shapes at edges, every
 * distribution, special values; each result is held to what the kernel means, under the profile.
 *
 * Case I of a kernel and column under a seed is always the same. One that fails is made smaller as
 * long as it still fails in the same way, packed, and shown as a case that can stand in the source;
 * then that kernel is done with for that column. */
#ifndef TESSERA_HARNESS_FUZZ_IMPLEMENTATIONS_H
#define TESSERA_HARNESS_FUZZ_IMPLEMENTATIONS_H

#include "case/case.h"
#include "job/job_plan.h"

typedef struct fuzz_implementations_request {
    const corpus *corpus;
    const job_choice *choice; /* implementations, profiles, threads, seed, limits */
    uint64_t draws;           /* for each kernel, column and profile; 0: until the time is up */
    uint64_t time_ns;
    const char *failures; /* the folder that receives packs; NULL: the usual one */
    bool json;
} fuzz_implementations_request;

/* Prints what it found; the exit code. */
int fuzz_implementations_run(const fuzz_implementations_request *request);

#endif
