/* trial.c - the job of a random kernel. */
#include "fuzz/trial.h"

#include <string.h>

#include "case/backend.h"
#include "fuzz/generate.h"
#include "job/fault.h"
#include "job/result.h"

job trial_job(const trial_way *way, const char *source, uint64_t seed) {
    return (job){.path = "fuzzed.tsr",
                 .kernel = FUZZ_KERNEL,
                 .case_name = FUZZ_CASE,
                 .backend = way->backend,
                 .profile = way->profile,
                 .isa = way->isa,
                 .threads = way->threads,
                 .seed = seed,
                 .quick = true,
                 .unoptimised = way->unoptimised,
                 .generic = way->generic,
                 .fault = fault_for(way->inject, FUZZ_KERNEL, FUZZ_CASE),
                 .source = source,
                 .mode = JOB_CONTROL};
}

/* The bits of the computation on whole tensors must be those of `result`. NULL: interrupted. */
static json_t *compare_meaning(worker *w, job j, json_t *result) {
    j.kernel = FUZZ_MEANING;
    json_t *meaning = worker_run(w, &j);
    if (!meaning) {
        json_decref(result);
        return NULL;
    }
    if (!trial_compared(meaning))
        result_set_outcome(result, result_outcome(meaning), result_text(meaning, RESULT_WHY),
                           result_exit(meaning));
    else if (!json_equal(result_get(meaning, RESULT_SHA256), result_get(result, RESULT_SHA256)))
        result_set_outcome(result, OUTCOME_MISMATCH,
                           "'" FUZZ_KERNEL "' and '" FUZZ_MEANING "' have other bits", EXIT_CHECK);
    json_decref(meaning);
    return result;
}

json_t *trial_run(worker *w, const trial_way *way, const char *source, uint64_t seed) {
    job j = trial_job(way, source, seed);
    json_t *result = worker_run(w, &j);
    return result && way->meaning && trial_compared(result) ? compare_meaning(w, j, result)
                                                            : result;
}

bool trial_compared(const json_t *result) {
    return result_outcome(result) == OUTCOME_OK;
}

/* A kernel that is valid must be taken by every product; a backend for tests may pass. What no
 * bound judges is not compared, and no failure. */
bool trial_failed(const trial_way *way, const json_t *result) {
    const backend *b = backend_named(result_text(result, RESULT_BACKEND));
    bool passes = (way->may_refuse || !b->product) && result_outcome(result) == OUTCOME_UNSUPPORTED;
    return !trial_compared(result) && !passes && result_outcome(result) != OUTCOME_UNJUDGED;
}
