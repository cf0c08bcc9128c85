/* roofline.h - where a measurement lies under this machine's ceilings.
 *
 * Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009. A kernel that must do F operations
 * and move B bytes takes at least max(F / peak, B / bandwidth); the greater one is the bound, and
 * the fraction is that least time over the measured time. Nothing is clamped: above ROOFLINE_LIMIT
 * the measurement, the count or the ceiling is wrong. */
#ifndef TESSERA_HARNESS_MEASURE_ROOFLINE_H
#define TESSERA_HARNESS_MEASURE_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/ceilings.h"

#define ROOFLINE_LIMIT 1.05

typedef struct roofline_query {
    dtype type;
    const char *profile;
    bool pairs; /* its order is that of the dot instruction of bf16 */
    uint32_t threads;
    uint64_t flops, bytes;
    uint64_t working_set_bytes;
    double time_ns;
} roofline_query;

typedef struct roofline_point {
    bool compute_bound;
    double ceiling; /* GFLOP/s or GB/s */
    double fraction;
    double intensity;     /* FLOP a byte */
    const char *resource; /* borrowed from the ceilings */
} roofline_point;

/* Measures the ceilings that the query is held against, where that was not done: the whole
 * machine's, or where it must be quick those alone. */
bool roofline_measure(ceilings *c, const roofline_query *query, bool quick, status *st);
/* False where the ceilings that it needs were not measured, or there is no work. */
bool roofline_place(const ceilings *c, const roofline_query *query, roofline_point *out);

#endif
