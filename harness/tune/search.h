/* search.h - looks for a faster schedule of one case: the cost model ranks, measurements decide.
 *
 * First a beam: parameter by parameter, every value that the table proposes is joined to the best
 * schedules so far, and the cheapest by schedule/cost.h stay. The first of them are measured
 * against the kernel's own schedule, pair by pair in one process. Then single parameters of the
 * best one are turned as long as that helps, which also finds what the model has no opinion on.
 * What won is measured once more, longer: it is taken where the upper end of the interval of its
 * ratio stays below 0.99. A candidate whose bits are wrong, or that crashes, is noted and never
 * wins.
 *
 * Where nothing is timed, as on an emulator, the cheapest that has the bits is taken if the model
 * gives it less than 0.9 of the cycles. */
#ifndef TESSERA_HARNESS_TUNE_SEARCH_H
#define TESSERA_HARNESS_TUNE_SEARCH_H

#include "exec/worker.h"
#include "tune/draft.h"

typedef struct search_request {
    worker *worker;
    const job *job; /* JOB_TUNE, without a schedule; with `tried`: of other tiles, whose own
                       schedule is worth measuring, too */
    const draft_kernel *kernel;
    bool weighed; /* nothing is timed: the model decides, and what it prefers must have the bits */
    uint64_t budget_ns;
} search_request;

typedef struct search_result {
    text schedule;                       /* empty: the kernel's own is the best that was found */
    bool faster;                         /* ... than the kernel's own, of its own tiles */
    double default_ns, tuned_ns, ratio;  /* equal, and 1, where nothing better was found: then as
                                            last measured */
    double default_cycles, tuned_cycles; /* by the model, where nothing was timed; else 0 */
    text device;   /* that was timed, where that is not this CPU; else empty */
    json_t *tried; /* {"schedule", "cycles", "ratio", "why"} in the order tried */
    bool measured; /* at least one candidate was */
} search_result;

/* False: interrupted, or the kernel cannot be scheduled (`st`). search_release in any case. */
bool search_run(const search_request *request, search_result *out, status *st);
void search_release(search_result *r);

#endif
