/* tally.h - how far each seed has been taken under which profiles, kept in a file between runs.
 *
 * A count holds for one build of tsr: another build begins each seed again. Several processes may
 * share the file, each with a seed of its own. */
#ifndef TESSERA_HARNESS_FUZZ_TALLY_H
#define TESSERA_HARNESS_FUZZ_TALLY_H

#include <stdint.h>

#include "base/status.h"

enum { TALLY_PROFILES_BYTES = 64 };

typedef struct tally {
    uint64_t seed;
    char profiles[TALLY_PROFILES_BYTES]; /* "strict,fast" */
    uint64_t next;                       /* number of the next kernel */
    uint64_t kernels;                    /* tried without a difference */
    uint64_t runs;                       /* compilations that were compared */
    uint64_t failures;                   /* kernels that failed */
} tally;

/* All zero where the file or the seed is not there yet. */
bool tally_read(const char *path, uint64_t seed, const char *profiles, tally *out, status *st);
/* Puts one seed's count into the file, whole or not at all. */
bool tally_write(const char *path, const tally *t, status *st);
/* Kernels of all seeds under these profiles, for this build. */
bool tally_total(const char *path, const char *profiles, uint64_t *kernels, uint64_t *failures,
                 status *st);

#endif
