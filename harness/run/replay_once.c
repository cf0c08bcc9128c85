/* replay_once.c - see replay_once.h. */
#include "run/replay_once.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "common/interrupt.h"
#include "exec/worker.h"
#include "job/result.h"
#include "run/pack_case.h"

void replay_outcome_read(const json_t *status_holder, const json_t *digests, const char *stage,
                         replay_outcome *out) {
    const char *ended = json_string_value(json_object_get(status_holder, "status"));
    snprintf(out->stage, sizeof out->stage, "%s", stage ? stage : "");
    out->sha256 = base_calloc(json_array_size(digests) + 1, sizeof *out->sha256);
    out->outcome = (repro_outcome){
        .status = ended ? ended : "", .stage = out->stage, .class_ = "", .sha256 = out->sha256};
    size_t i;
    json_t *digest;
    json_array_foreach(digests, i, digest) if (json_is_string(digest))
        out->sha256[out->outcome.sha256_count++] = json_string_value(digest);
}

void replay_outcome_release(replay_outcome *o) {
    free(o->sha256);
    *o = (replay_outcome){.stage = ""};
}

json_t *replay_once(const job *j, uint64_t timeout_seconds, uint64_t memory_mib,
                    replay_outcome *out) {
    worker w;
    worker_init(&w, timeout_seconds, memory_mib, &interrupt_seen);
    worker_limit(&w, REPLAY_STEPS_MAX * timeout_seconds);
    json_t *result = worker_run(&w, j);
    if (result)
        replay_outcome_read(result, result_get(result, RESULT_SHA256), pack_stage(result, w.stage),
                            out);
    worker_stop(&w);
    return result;
}
