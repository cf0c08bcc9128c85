/* schedules.h - random legal schedules of the kernels of a corpus: under strict each must give the
 * bits of the golden, or of the interpreter, at every ISA level and number of threads.
 *
 * Schedule I of a kernel under a seed is always the same for one build. One that fails loses values
 * as long as it still fails, and is printed as the command that runs it. */
#ifndef TESSERA_HARNESS_FUZZ_SCHEDULES_H
#define TESSERA_HARNESS_FUZZ_SCHEDULES_H

#include "case/case.h"
#include "job/job_plan.h"

typedef struct fuzz_schedules_request {
    const corpus *corpus;
    const job_choice *choice; /* isa (NULL: all that run here), threads, seed, limits */
    uint64_t schedules;       /* for each kernel, level and number of threads */
    uint64_t time_ns;         /* 0: until all are done */
    const char *failures;     /* the folder that receives packs; NULL: the usual one */
    bool json;
} fuzz_schedules_request;

/* Prints what it found; the exit code. */
int fuzz_schedules_run(const fuzz_schedules_request *request);

#endif
