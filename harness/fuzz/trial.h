/* trial.h - one random kernel through every way down that there is: each must give the bits of the
 * interpreter, or keep to the derived bound where its profile promises no more. */
#ifndef TESSERA_HARNESS_FUZZ_TRIAL_H
#define TESSERA_HARNESS_FUZZ_TRIAL_H

#include "exec/worker.h"
#include "job/job.h"

enum { TRIAL_WAYS_MAX = 32 };

/* A way down: profile, backend, ISA level, threads, optimised or not, for the kernel's
 * dimensions or for any. */
typedef struct trial_way {
    const char *profile, *backend, *isa;
    uint32_t threads;
    bool unoptimised, generic;
    const char *inject; /* FAULT[@KERNEL[/CASE]], or NULL */
    bool meaning;       /* compared with FUZZ_MEANING of the same source, too */
    bool may_refuse;    /* it has fewer kernels than there are: what it refuses is left out */
} trial_way;

/* The job of a kernel's text on a way; borrows both. */
job trial_job(const trial_way *way, const char *source, uint64_t seed);

/* Runs it; the result (owned), or NULL when interrupted. */
json_t *trial_run(worker *w, const trial_way *way, const char *source, uint64_t seed);
/* It ran and has the bits, or holds its bound. */
bool trial_compared(const json_t *result);
/* Not compared, for another reason than that the way, or a backend for tests, cannot express the
 * kernel. */
bool trial_failed(const trial_way *way, const json_t *result);

#endif
