/* execute_oracle.c - jobs of the interpreter. */
#include "exec/execution.h"
#include "job/result.h"

static const tensor *compute(execution *e, status *st) {
    e->stage(e->stage_context, "oracle");
    return case_context_interpret(e->context, st);
}

/* The interpreter's own bits against the golden, where there is one, and what the kernel promises.
 */
static bool judge(execution *e, const tensor *outputs, status *st) {
    case_context *s = e->context;
    verdict v = {.holds = true,
                 .against = "none",
                 .bitwise = true,
                 .has_ulp = true,
                 .max_error_over_bound = -1};
    verdict_request request = {.profile = PROFILE_STRICT,
                               .outputs = outputs,
                               .promises = true,
                               .sentinels = e->job->sentinels,
                               .told = e->job->told,
                               .stage = e->stage,
                               .context = e->stage_context};
    execution_put_digests(e, outputs);
    bool has_golden = s->golden_state == GOLDEN_PRESENT && e->job->mode != JOB_RECORD;
    result_set_outcome(e->result, OUTCOME_OK, "untimed: interp is the oracle", EXIT_DONE);
    text_init(&v.why);
    if (has_golden)
        verdict_release(&v);
    bool ok = has_golden
                  ? verdict_judge(s, &request, &v, st)
                  : verdict_same_as(s, &request, &v, st) && verdict_numerics(s, &request, &v, st) &&
                        verdict_promises(s, &request, &v, st) &&
                        verdict_sentinels(s, &request, &v, st);
    if (ok) {
        execution_put_verdict(e, &v);
        execution_put_sentinels(e, &v);
        if (!v.holds)
            result_set_outcome(e->result, OUTCOME_MISMATCH, v.why.data, EXIT_CHECK);
    }
    verdict_release(&v);
    bool record = ok && e->job->mode == JOB_RECORD && result_outcome(e->result) == OUTCOME_OK;
    return ok && (!record || execution_record(e, outputs, st));
}

static bool pack_outputs(execution *e, const tensor *expected, const tensor **actual, status *st) {
    (void)e;
    (void)st;
    *actual = expected;
    return true;
}

const execution_class execution_of_interpreter = {.build = execution_needs_nothing,
                                                  .compute = compute,
                                                  .judge = judge,
                                                  .time = execution_needs_nothing,
                                                  .pack_code = execution_packs_nothing,
                                                  .pack_outputs = pack_outputs};
