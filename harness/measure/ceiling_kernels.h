/* ceiling_kernels.h - loops that a compiler cannot shorten: the units' peak, and streams through
 * memory. */
#ifndef TESSERA_HARNESS_MEASURE_CEILING_KERNELS_H
#define TESSERA_HARNESS_MEASURE_CEILING_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs `rounds` rounds and returns the operations done (an fma is two). */
typedef double (*ceiling_compute_fn)(uint64_t rounds);
/* One pass over `bytes` (a multiple of 4096) at `data`; returns the bytes moved. Copies go from the
 * first half to the second. */
typedef double (*ceiling_memory_fn)(void *data, size_t bytes);

typedef struct ceiling_compute_kernel {
    const char *element;   /* "f32" */
    const char *isa;       /* level it is made for */
    const char *profile;   /* see ceiling.profile */
    const char *feature;   /* beyond the level, as in /proc/cpuinfo, or NULL */
    bool (*allowed)(void); /* asks the system for the unit; NULL: none needs to be asked */
    const char *unit;
    ceiling_compute_fn run;
} ceiling_compute_kernel;

typedef struct ceiling_memory_kernel {
    const char
        *operation; /* "read", "write", "copy", "copy-nt", "fan-nt": one read, four written */
    const char *isa;
    ceiling_memory_fn run;
} ceiling_memory_kernel;

extern const ceiling_compute_kernel ceiling_compute_kernels[];
extern const size_t ceiling_compute_kernel_count;
extern const ceiling_memory_kernel ceiling_memory_kernels[];
extern const size_t ceiling_memory_kernel_count;

#endif
