/* verdict.h - does what a backend computed hold under its profile? (NUMERICS, sections 1, 6 and 7)
 *
 * strict: bit for bit what the golden records, or what the interpreter computes where there is no
 * golden. deterministic: equal bits between launches; and either the strict bits, or within the
 * bound of the f64 reference. fast: within the bound. Integers that no rounded number has a part
 * in, and cases of small integers that are exact in any order, are bit for bit under every profile.
 * Of a kernel with @same_as the outputs are held to the named kernel's formula as well.
 * Of a kernel without a formula nothing is known: it is held against "none", and only has to give
 * equal bits twice.
 */
#ifndef TESSERA_HARNESS_CHECK_VERDICT_H
#define TESSERA_HARNESS_CHECK_VERDICT_H

#include "case/case_context.h"
#include "check/compare.h"
#include "tessera/nonfinite.h"

/* The promise of a function, in one call. */
typedef enum promise_by { PROMISE_NONE, PROMISE_PROOF, PROMISE_TEST } promise_by;
typedef struct promise_verdict {
    char function[160];
    uint32_t line; /* of the call */
    promise_by by;
    bool holds; /* where by something */
    text why;   /* what does not hold, or why nothing was found */
} promise_verdict;
const char *promise_by_name(promise_by by); /* "proof" */

typedef struct verdict {
    bool holds;
    int64_t elements, unjudged;  /* of the outputs; and of these, those that nothing is known of */
    int64_t tolerated;           /* and those that only the context's tolerance lets pass */
    const char *against;         /* "golden", "reference" or "none" */
    int64_t sampled;             /* elements that the interpreter or the f64 reference computed for
                                    it, of a large case, and others were held to what those say of
                                    them; 0: all, or none was needed */
    bool bitwise;                /* equal to the strict bits */
    bool has_ulp;                /* max_ulp is known */
    uint64_t max_ulp;            /* against the strict bits */
    double max_error_over_bound; /* negative: not computed */
    uint64_t max_ulp_f64;        /* from the f64 reference; where the error was computed */
    const char *numerics;      /* what @verify.numerics promises "holds" or is "violated"; NULL: the
                                  kernel has none */
    promise_verdict *promises; /* of functions that the kernel calls; or NULL */
    uint32_t promise_count;
    bool looked; /* for what made outputs so that are not finite; then: */
    compiler_nonfinite nonfinite;
    const char *unseen; /* outputs are not finite, and why nobody could tell; static; or NULL */
    text why;           /* what does not hold, "" when it does */
} verdict;

typedef void (*verdict_stage_fn)(void *context, const char *stage);
typedef struct verdict_request {
    compiler_profile profile;
    const tensor *outputs;
    const tensor *repeat;   /* outputs of a second launch, or NULL */
    bool promises;          /* look at those of functions, too */
    bool sentinels;         /* look for what made outputs so that are not finite */
    bool told;              /* ... which is no failure */
    bool foreign;           /* of code that need not go the formula's way */
    verdict_stage_fn stage; /* called before each step that may take long */
    void *context;
} verdict_request;

/* Checks that the outputs are what the kernel's @verify.numerics promises: bounds, and results that
 * are finite where the f64 reference's are, as if no type overflowed before f64 does; and so what
 * the formula has on the way, but for large cases and code of others. Where a promise is broken,
 * the verdict does not hold. False where the reference could not be computed. */
bool verdict_numerics(case_context *s, const verdict_request *request, verdict *out, status *st);

/* promises.c: holds functions that the kernel calls to their @verify.numerics, call by call, on
 * the interpreter: by a proof for any finite floats, else by what the call reads in the case. Not
 * of code of others. False where that could not be done. */
bool verdict_promises(case_context *s, const verdict_request *request, verdict *out, status *st);

/* Finds the operation that made outputs so that are not finite, where the request asks for it; then
 * the verdict does not hold, unless that is only told. Not for large cases and kernels without a
 * formula. False where the operations could not be run. */
bool verdict_sentinels(case_context *s, const verdict_request *request, verdict *out, status *st);

/* Holds the outputs to the kernel that @same_as names, too: to its bits under strict, where both
 * add in the same orders, else to the bound of its f64 reference. Nothing where the verdict does
 * not hold already, or no kernel is named. False where that could not be done. */
bool verdict_same_as(case_context *s, const verdict_request *request, verdict *out, status *st);

/* Output `output` against the f64 reference, which is there (case_context_reference); elements that
 * no bound judges, against the interpreter, but of a large case without its outputs at hand. What
 * is outside of a bound that is not the element's own is held to the reference itself. */
bound_check verdict_bound(case_context *s, uint32_t output, const tensor *got);
/* Does a verdict that holds rest on nothing? Then it is none. */
bool verdict_is_empty(const verdict *v);

/* False only where the check itself could not be done. verdict_release in any case. */
bool verdict_judge(case_context *s, const verdict_request *request, verdict *out, status *st);
void verdict_release(verdict *v);

#endif
