/* plan.h - the statistics of a gate, fixed before it starts: when it looks, and what it may
 * conclude.
 *
 * For each case there is a series of log ratios (against over baseline), one for each pair of
 * processes with swapped slots. Four statements can be proved of a case:
 *   slower     its centre lies above +margin: REGRESSED
 *   faster     its centre lies below -margin: IMPROVED
 *   not slower by the bound, and not faster by it: both together EQUIVALENT (two one-sided tests:
 *              D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15(6), 1987)
 * Tests are exact signed-rank tests. They are made at looks that are fixed beforehand; each has a
 * share of the error that may be made, and the shares add up to all of it (alpha spending, with
 * Bonferroni's bound over looks: exact, whatever the looks have in common). The least of p / share
 * over the looks so far is a p-value again, valid whenever one stops; Holm's procedure (Scand. J.
 * Stat. 6(2), 1979) over these holds the family-wise error of a run. "Slower" and "faster" have
 * half of alpha each. "Equivalent" is wrong for a case that changed by the bound with probability
 * at most (1 - power) / 2. */
#ifndef TESSERA_HARNESS_STATISTICS_PLAN_H
#define TESSERA_HARNESS_STATISTICS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum { PLAN_LOOKS_MAX = 6, PLAN_PAIRS_MAX = 96 };

typedef struct plan_request {
    double margin; /* a change that is smaller is none; 0.005: half a percent */
    double bound;  /* the smallest change that must not be missed; 0.02 */
    double alpha;  /* family-wise error of a run; 0.01 */
    double power;  /* 0.95 */
    size_t family; /* cases that are timed */
    size_t pairs;  /* at most so many pairs; 0: as many as the plan needs */
} plan_request;

typedef struct plan_look {
    size_t pairs;
    double change_share; /* of alpha / 2 */
    double equal_level;
} plan_look;

typedef struct plan {
    plan_request request;
    double log_margin, log_bound; /* of log ratios */
    plan_look looks[PLAN_LOOKS_MAX];
    size_t look_count;
} plan;

/* Without a request's `pairs` the last look is where a change of the bound shows among so many
 * cases. */
void plan_make(plan *p, const plan_request *request);
/* The number of pairs after the next look at a series with `pairs`; 0 when it was the last. */
size_t plan_next(const plan *p, size_t pairs);

typedef struct plan_series {
    double values[PLAN_PAIRS_MAX];
    size_t count;
    double slower, faster; /* the least p / share so far; 1 at the start */
    bool equal;
    size_t looked; /* pairs at the last look */
} plan_series;

void plan_series_init(plan_series *s);
/* Looks, where the series has come to a look that it has not had. */
void plan_look_at(const plan *p, plan_series *s);

typedef enum plan_change { PLAN_NONE, PLAN_SLOWER, PLAN_FASTER } plan_change;

/* Holm's procedure over the whole family: what is proved of each series by now. Cases of the family
 * that have no series count as never proved. `adjusted` (may be NULL) receives p after Holm's
 * correction for the side that is the more likely. */
void plan_decide(const plan *p, const plan_series *const *all, size_t count, plan_change *out,
                 double *adjusted);

/* The smallest change that this plan finds with its power in a series as noisy as this one, if it
 * goes on to its last look of n pairs: margin + (z(level) + z(power)) * standard error of the
 * Hodges-Lehmann estimate. That is taken from the width of the exact interval so far, and shrinks
 * with the square root of the number of pairs. Infinite below five pairs, and where so few looks
 * can never prove a change. */
double plan_detectable(const plan *p, const plan_series *s);

/* Quantile of the standard normal distribution. */
double plan_normal_quantile(double probability);

/* Exact limits for a probability of which `hits` of `trials` were seen: C. J. Clopper and E. S.
 * Pearson, Biometrika 26(4), 1934. One-sided at the confidence each. */
double plan_lower_limit(size_t hits, size_t trials, double confidence);
double plan_upper_limit(size_t hits, size_t trials, double confidence);

#endif
