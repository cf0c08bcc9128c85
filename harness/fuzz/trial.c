/* trial.c - the job of a random kernel. */
#include "fuzz/trial.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
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
                 .fault = fault_for(getenv("TSR_TEST_FAULT"), FUZZ_KERNEL, FUZZ_CASE),
                 .source = source,
                 .mode = JOB_CONTROL};
}

json_t *trial_run(worker *w, const trial_way *way, const char *source, uint64_t seed) {
    job j = trial_job(way, source, seed);
    return worker_run(w, &j);
}

bool trial_failed(const json_t *result) {
    const char *outcome = job_result_text(result, "status");
    return strcmp(outcome, "ok") != 0 && strcmp(outcome, "unsupported") != 0;
}
