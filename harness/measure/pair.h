/* pair.h - two actions timed in turn, A B, then B A: whatever slows the machine down meets both.
 *
 * A sample of each is the least of a few groups, as in sample.h; what counts is the ratio of a
 * pair. */
#ifndef TESSERA_HARNESS_MEASURE_PAIR_H
#define TESSERA_HARNESS_MEASURE_PAIR_H

#include "measure/sample.h"
#include "statistics/statistics.h"

typedef struct pair_plan {
    size_t least, most; /* pairs; the budget cannot cut below `least`, or what long
                           actions need (sample_enough) */
    uint64_t budget_ns, warm_up_ns;
    double hopeless; /* three pairs whose ratios are all above this end it */
} pair_plan;

typedef struct pair_result {
    statistics ratio; /* of B to A */
    statistics a_ns, b_ns;
} pair_result;

/* False when an action failed. */
bool pair_take(const pair_plan *plan, const sample_source *a, const sample_source *b,
               pair_result *out);

#endif
