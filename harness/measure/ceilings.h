/* ceilings.h - what this machine can do at best, measured: peak arithmetic and bandwidth.
 *
 * A ceiling is named RESOURCE.tN for N threads: "compute.f32.t2" in GFLOP/s (integers: GOP/s, a
 * multiply and an add each count), "memory.L2.read.t1" in GB/s. A copy counts the bytes read and
 * the bytes written. Each value is the best of several: what a shared machine takes away is never a
 * ceiling. A later probe of the same resource may raise it, never lower it.
 *
 * Bandwidth has modes that differ from minute to minute, and between the size of a cache and twice
 * that size it falls without a step. So it can also be measured over exactly the bytes of one case:
 * "memory.L3:1040KiB.t1", the best of all loops over a set of that size. */
#ifndef TESSERA_HARNESS_MEASURE_CEILINGS_H
#define TESSERA_HARNESS_MEASURE_CEILINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"

enum { CEILINGS_MAX = 2048, CEILING_LEVELS = 4, CEILING_NAME_BYTES = 48 };

typedef struct ceiling {
    char resource[CEILING_NAME_BYTES];
    const char *profile; /* set where only that profile (and fast) may use the unit; NULL: all */
    double value;
    const char *unit;
    bool stored; /* for the owner's use; false again when the value changes */
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

/* Ceilings that a kernel is held against: arithmetic of its type, bandwidth at the level of its
 * set. */
typedef struct ceilings_need {
    dtype type;
    bool dots; /* by the dot instruction of bf16, too */
    uint64_t set_bytes;
    uint32_t threads;
} ceilings_need;
/* Measures quickly what is needed and was not measured yet: for a set in the caches that a core has
 * to itself those caches, else all levels, since a shared cache may be slower than memory. */
bool ceilings_measure_needed(ceilings *c, const ceilings_need *need, status *st);
/* Measures arithmetic or a memory level by a resource's name again and keeps the greater value. */
bool ceilings_probe(ceilings *c, const char *resource, uint32_t threads, status *st);
/* Checks that such a set lives beyond the caches that a core has to itself: there, what others do
 * changes the bandwidth, and it is worth measuring beside every point. */
bool ceilings_set_is_shared(const ceilings *c, uint64_t set_bytes, uint32_t threads);

typedef struct ceiling_set_probe {
    uint64_t set_bytes;
    uint32_t threads;
    bool keep_greater; /* else the new value replaces an old one */
} ceiling_set_probe;
/* Measures the bandwidth over a set of this size; ceilings_memory then gives that for such a set.
 */
bool ceilings_probe_set(ceilings *c, const ceiling_set_probe *probe, status *st);

/* Adds, or raises, a value (also used when a stored run is taken up again). `profile` and `unit`
 * are static. */
void ceilings_put(ceilings *c, const char *resource, const char *profile, double value,
                  const char *unit);
const ceiling *ceilings_find(const ceilings *c, const char *resource);

/* Peak arithmetic for elements of `type`; `dots`: by the dot instruction of bf16, too. NULL where
 * it was not measured. */
const ceiling *ceilings_compute(const ceilings *c, dtype type, bool dots, uint32_t threads);
/* Ceiling measured over a set of this size; else the best of read, write and copy at the smallest
 * level that holds it, or at one further away where that is faster. */
const ceiling *ceilings_memory(const ceilings *c, uint64_t working_set_bytes, uint32_t threads);

#endif
