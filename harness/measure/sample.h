/* sample.h - times one action until enough samples are there or the budget is spent.
 *
 * A sample is the least of a few groups; a group repeats a short action until it lasts
 * SAMPLE_GROUP_NS, so that the clock's own cost and resolution vanish. Outliers of a shared machine
 * are one-sided, which the least removes; the spread between samples remains and is reported. */
#ifndef TESSERA_HARNESS_MEASURE_SAMPLE_H
#define TESSERA_HARNESS_MEASURE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLE_GROUP_NS = 20000, SAMPLE_MAX = 201 };
/* Samples of an action so long that they take two seconds; each is an average by itself. */
enum { SAMPLE_LEAST_LONG = 5 };
#define SAMPLE_LONG_NS UINT64_C(2000000000)

typedef struct sample_plan {
    size_t least, most; /* samples; the budget cannot cut below `least` */
    uint64_t budget_ns;
    uint64_t warm_up_ns;
} sample_plan;

sample_plan sample_plan_for(bool quick);

/* Times `repeats` of an action together: nanoseconds of one. False when it failed; sampling then
 * stops at once. */
typedef bool (*sample_group)(void *context, uint64_t repeats, double *ns_each);

typedef struct sample_source {
    sample_group group;
    void *context;
    uint64_t group_ns; /* that a group lasts at least; 0: SAMPLE_GROUP_NS */
    uint64_t multiple; /* `repeats` is always one of it, or 1 where one takes as long as a group */
} sample_source;

typedef struct sample_set {
    double ns[SAMPLE_MAX]; /* per action, in the order taken */
    size_t count;
    uint64_t repeats; /* of a group */
} sample_set;

bool sample_take(const sample_plan *plan, const sample_source *source, sample_set *out);

/* True where at least so many samples are there, and the budget is spent; of long actions fewer do.
 */
bool sample_enough(size_t count, size_t least, uint64_t spent_ns, uint64_t budget_ns);

/* Its steps: groups for a while, of which the fastest tells how many repeats make one; a sample. */
bool sample_warm_up(uint64_t warm_up_ns, const sample_source *source, uint64_t *repeats);
bool sample_once(const sample_source *source, uint64_t repeats, double *ns);

#endif
