/* probes.c - see probes.h. */
#include "localize/probes.h"

#include <string.h>

#include "common/interrupt.h"
#include "common/timer.h"
#include "job/result.h"

enum { SECOND_NS = 1000000000 };

void probes_open(probes *p, const replay_case *c, const replay *r, uint64_t seconds) {
    *p = (probes){.job = *c->job,
                  .fails_as = result_text(r->result, RESULT_STATUS),
                  .fails_why = result_text(r->result, RESULT_WHY),
                  .end_ns = timer_now_ns() + seconds * SECOND_NS};
    worker_init(&p->worker, c->timeout_seconds, c->memory_mib, &interrupt_seen);
}

void probes_close(probes *p) {
    worker_stop(&p->worker);
    json_decref(p->result);
}

bool probes_ended(const probes *p) {
    return interrupt_seen || timer_now_ns() >= p->end_ns;
}

/* NULL: there is no time, or the user interrupted. */
static const json_t *run(probes *p, const job *j) {
    const uint64_t now_ns = timer_now_ns();
    json_decref(p->result);
    p->result = NULL;
    if (probes_ended(p))
        return NULL;
    worker_limit(&p->worker, (p->end_ns - now_ns) / SECOND_NS + 1);
    p->result = worker_run(&p->worker, j);
    p->count++;
    return p->result;
}

const json_t *probes_ask(probes *p, job_mode mode, const char *edits, const char *after) {
    job j = p->job;
    j.mode = mode;
    j.edits = edits && *edits ? edits : NULL;
    j.after = after;
    return run(p, &j);
}

/* A module that computes something else, or touches what is not its memory, is wrong, however its
 * case fails. */
static bool is_wrong_module(const probes *p) {
    const job_outcome o = result_outcome(p->result);
    return o == OUTCOME_MISMATCH ||
           (o == OUTCOME_ERROR && strcmp(p->worker.stage, "evaluate") == 0);
}

probe probes_try(probes *p, const char *edits, const char *after) {
    job j = p->job;
    j.edits = edits && *edits ? edits : NULL;
    j.after = after;
    const json_t *result = run(p, &j);
    if (!result)
        return PROBE_ENDED;
    const job_outcome o = result_outcome(result);
    if (o == OUTCOME_OK)
        return PROBE_RIGHT;
    const bool same = strcmp(result_text(result, RESULT_STATUS), p->fails_as) == 0;
    return same || (after && is_wrong_module(p)) ? PROBE_WRONG : PROBE_UNKNOWN;
}

/* The kernel's own check, which fails for its values; numbers are wrong else. */
static bool is_of_check(const char *why) {
    static const char check[] = "debug.check ";
    return strncmp(why, check, sizeof check - 1) == 0;
}

bool probes_fails_by_check(const probes *p) {
    return is_of_check(p->fails_why);
}

bool probes_same_failure(const probes *p, const json_t *result) {
    return strcmp(result_text(result, RESULT_STATUS), p->fails_as) == 0 &&
           (p->job.opinion ||
            is_of_check(result_text(result, RESULT_WHY)) == is_of_check(p->fails_why));
}

void probes_try_one_rank(probes *p) {
    const job own = p->job;
    if (own.ranks < 2)
        return;
    p->job.ranks = 0;
    p->job.transport = p->job.layout = NULL;
    if (probes_try(p, NULL, NULL) != PROBE_WRONG)
        p->job = own;
}
