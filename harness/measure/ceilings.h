/* ceilings.h - what this machine can do at best, measured: peak arithmetic and bandwidth.
 *
 * A ceiling is named RESOURCE.tN for N threads: "compute.f32.t2" in GFLOP/s (integers: GOP/s, a
 * multiply and an add each count), "memory.L2.read.t1" in GB/s. A copy counts the bytes read and
 * the bytes written. Each value is the median of several; a later probe of the same resource may
 * raise it (bandwidth has modes that differ from minute to minute), never lower it. */
#ifndef TESSERA_HARNESS_MEASURE_CEILINGS_H
#define TESSERA_HARNESS_MEASURE_CEILINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"

enum { CEILINGS_MAX = 256, CEILING_LEVELS = 4, CEILING_NAME_BYTES = 48 };

typedef struct ceiling {
    char resource[CEILING_NAME_BYTES];
    const char *profile; /* set where only that profile (and fast) may use the unit; NULL: all */
    double value;
    const char *unit;
} ceiling;

typedef struct ceiling_level {
    const char *name;    /* "L1", "L2", "L3", "DRAM" */
    uint64_t size_bytes; /* of one instance; DRAM: UINT64_MAX */
    bool shared;         /* by all cores: does not grow with threads */
} ceiling_level;

typedef struct ceilings {
    const char *isa;
    ceiling_level levels[CEILING_LEVELS];
    int level_count;
    ceiling items[CEILINGS_MAX];
    size_t count;
} ceilings;

/* Cache sizes, and no measurement yet. */
void ceilings_init(ceilings *c, const char *isa);
/* Measures all resources with `threads` threads; nothing where that was done. */
bool ceilings_measure(ceilings *c, uint32_t threads, bool quick, status *st);
/* Measures one resource by name again and keeps the greater value. */
bool ceilings_probe(ceilings *c, const char *resource, uint32_t threads, status *st);

/* Adds, or raises, a value (also used when a stored run is taken up again). `profile` and `unit`
 * are static. */
void ceilings_put(ceilings *c, const char *resource, const char *profile, double value,
                  const char *unit);
const ceiling *ceilings_find(const ceilings *c, const char *resource);

/* Peak arithmetic for elements of `type` under `profile`. NULL where it was not measured. */
const ceiling *ceilings_compute(const ceilings *c, dtype type, const char *profile,
                                uint32_t threads);
/* Best of read, write and copy at the smallest level that holds `working_set_bytes`, or at one
 * further away where that is faster. */
const ceiling *ceilings_memory(const ceilings *c, uint64_t working_set_bytes, uint32_t threads);

#endif
