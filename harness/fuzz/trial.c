/* trial.c - the job of a random kernel. */
#include "fuzz/trial.h"

#include <string.h>

#include "case/backend.h"
#include "case/fault.h"
#include "case/result.h"
#include "fuzz/generate.h"

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

json_t *trial_run(worker *w, const trial_way *way, const char *source, uint64_t seed) {
    job j = trial_job(way, source, seed);
    return worker_run(w, &j);
}

bool trial_compared(const json_t *result) {
    return result_outcome(result) == OUTCOME_OK;
}

/* A kernel that is valid must be taken by every product; a backend for tests may pass. */
bool trial_failed(const json_t *result) {
    const backend *b = backend_named(result_text(result, RESULT_BACKEND));
    bool passes = !b->product && result_outcome(result) == OUTCOME_UNSUPPORTED;
    return !trial_compared(result) && !passes;
}
