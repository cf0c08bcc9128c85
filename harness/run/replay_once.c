/* replay_once.c - see replay_once.h. */
#include "run/replay_once.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "exec/worker.h"
#include "job/result.h"
#include "run/pack_case.h"

enum { REPLAYS_MAX = 3 };

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

/* It ran where the pack was made, and something that it needs is not here. */
static bool cannot_run(const replay_outcome *recorded, const json_t *result) {
    return result && result_outcome(result) == OUTCOME_UNSUPPORTED &&
           outcome_from_name(recorded->outcome.status) != OUTCOME_UNSUPPORTED;
}

static bool is_again(repro_verdict v) {
    return v == REPRODUCED_EXACT || v == REPRODUCED_CLASS;
}

/* One of them; false: the user interrupted. */
static bool time_once(const replay_case *c, const job *j, const replay_outcome *recorded,
                      replay *r) {
    replay_outcome seen = {.stage = ""};
    json_t *result = replay_once(j, c->timeout_seconds, c->memory_mib, &seen);
    if (!result) {
        r->verdict = REPRO_NO_VERDICT;
        return false;
    }
    r->verdict = repro_judge(&recorded->outcome, &seen.outcome, 1);
    internal_put_INPUTS(result, /* of the case, which is the same */
                        json_incref(internal_get(result_internal(r->result), INTERNAL_INPUTS)));
    json_decref(r->result);
    r->result = result;
    replay_outcome_release(&seen);
    return true;
}

/* A failure that showed in timed launches alone, of other sets of inputs than the case's own, is
 * looked for in these, once the case by itself holds. A race need not lose each time. */
static void run_timed(const replay_case *c, const replay_outcome *recorded, replay *r) {
    static const char in_timed[] = "timed launches: ";
    const char *why = json_text_at(json_object_get(r->manifest, "outcome"), "why");
    job j = *c->job;
    if (r->verdict != NOT_REPRODUCED || strncmp(why, in_timed, strlen(in_timed)) != 0 ||
        j.ranks > 1)
        return;
    j.set = 0;
    j.perturbed = false;
    j.golden = NULL;
    j.timed = true;
    json_array_append_new(r->qualifiers, json_string("timed-launches"));
    for (int i = 0; i < REPLAYS_MAX && !is_again(r->verdict) && time_once(c, &j, recorded, r); i++)
        ;
}

void replay_judge(const replay_case *c, const replay_outcome *recorded, replay *r) {
    json_t *results[REPLAYS_MAX] = {NULL};
    replay_outcome seen[REPLAYS_MAX] = {{.stage = ""}};
    repro_outcome replays[REPLAYS_MAX];
    int count = 0;
    do {
        json_t *result = results[count] =
            replay_once(c->job, c->timeout_seconds, c->memory_mib, &seen[count]);
        if (!result) {
            r->verdict = REPRO_NO_VERDICT;
            break;
        }
        replays[count] = seen[count].outcome;
        count++;
        r->verdict = repro_judge(&recorded->outcome, replays, (size_t)count);
    } while (count < REPLAYS_MAX && !is_again(r->verdict));
    r->result = count ? json_incref(results[count - 1]) : NULL;
    run_timed(c, recorded, r);
    if (cannot_run(recorded, r->result)) {
        json_array_append_new(r->missing, json_text(result_text(r->result, RESULT_WHY)));
        r->verdict = INCOMPATIBLE;
    }
    for (int i = 0; i < REPLAYS_MAX; i++) {
        json_decref(results[i]);
        replay_outcome_release(&seen[i]);
    }
}
