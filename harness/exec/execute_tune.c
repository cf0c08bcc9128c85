/* execute_tune.c - a schedule that the tuner tries, beside the kernel's own: it must have the same
 * bits, then both are timed in turn. */
#include <stdlib.h>

#include "case/case.h"
#include "check/compare.h"
#include "common/timer.h"
#include "exec/backend_device.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "job/result.h"
#include "measure/pair.h"

static const char other_order[] =
    "other bits than those of the kernel's own tiles: another order, or another meaning";

static void put_pair(execution *e, const pair_result *p) {
    internal_put_TUNE(e->result, json_pack("{s:f, s:f, s:f, s:f, s:f, s:I}", "default_ns",
                                           p->a_ns.median, "tuned_ns", p->b_ns.median, "ratio",
                                           p->ratio.median, "low", p->ratio.low, "high",
                                           p->ratio.high, "pairs", (json_int_t)p->ratio.samples));
}

typedef struct timed_launch {
    launch *launch;
    status *st;
} timed_launch;

static bool time_launches(void *context, uint64_t repeats, double *ns_each) {
    const timed_launch *t = context;
    uint64_t cost = timer_cost_ns(), start = timer_now_ns();
    for (uint64_t i = 0; i < repeats; i++)
        if (!launch_run(t->launch, t->st))
            return false;
    uint64_t took = timer_now_ns() - start;
    *ns_each = (double)(took > cost ? took - cost : took) / (double)repeats;
    return true;
}

bool execution_open_tried(execution *e, status *st) {
    case_context *s = e->context;
    const compiler_case *c = compiler_case_choose(s->source, s->kernel, s->c, e->job->tried, st);
    e->tried = c ? case_instance(s->source, s->kernel, c, st) : NULL;
    return e->tried != NULL;
}

/* The schedule that is tried against the kernel's own, whose bits it must have under strict. */
static bool compare_and_time(execution *e, launch *own, tensor *outputs, status *st) {
    const compiler_signature *s = &e->context->signature;
    pair_result pair;
    timed_launch first = {own, st}, second = {&e->launch, st};
    const sample_source a = {.group = time_launches, .context = &first, .multiple = 1},
                        b = {.group = time_launches, .context = &second, .multiple = 1};
    pair_plan plan = e->job->quick ? (pair_plan){.least = 3,
                                                 .most = 9,
                                                 .budget_ns = 40000000,
                                                 .warm_up_ns = 3000000,
                                                 .hopeless = 1.1}
                                   : (pair_plan){.least = 11,
                                                 .most = 61,
                                                 .budget_ns = 500000000,
                                                 .warm_up_ns = 20000000,
                                                 .hopeless = 10};
    if (!launch_write_inputs(own, e->context->inputs, st) || !launch_poison_outputs(own, st) ||
        !launch_run(own, st) || !launch_read_outputs(own, s, outputs, st))
        return false;
    for (uint32_t i = 0; i < s->output_count && e->profile == PROFILE_STRICT; i++)
        if (compare_bits(&outputs[i], &e->outputs[i]).differing > 0) {
            result_set_outcome(
                e->result, OUTCOME_MISMATCH,
                e->tried ? other_order : "it has other bits than the default schedule", EXIT_CHECK);
            return true;
        }
    e->stage(e->stage_context, "time");
    if (!pair_take(&plan, &a, &b, &pair))
        return false;
    put_pair(e, &pair);
    result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return true;
}

/* A large case without a golden is held to the default schedule alone: its oracle takes too long.
 */
bool execution_tune(execution *e, status *st) {
    compiler_artifact own = {0};
    launch other = {0};
    job plain = *e->job;
    plain.schedule = NULL;
    compiler_options options = job_compiler_options(&plain, e->context->kernel);
    bool judged = e->profile != PROFILE_STRICT || e->context->golden_state == GOLDEN_PRESENT;
    if (!execution_compute(e, st) || (judged && !execution_judge(e, e->repeat, st)))
        return false;
    if (e->mismatch && e->tried)
        result_set_outcome(e->result, OUTCOME_MISMATCH, other_order, EXIT_CHECK);
    if (e->mismatch)
        return true;
    e->stage(e->stage_context, "compile");
    options.fault = NULL;
    const case_context *s = e->context;
    tensor *outputs = tensors_new(s->signature.output_count);
    bool cached, ok = module_cache_build(e->job->cache, s->instance, &options, &own, &cached, st);
    if (ok) {
        launch_request request = execution_request(e, e->job->threads);
        launch_request_artifact(&request, &own);
        request.beside = &e->launch;
        ok = launch_open(&other, &request, st) && compare_and_time(e, &other, outputs, st);
        launch_close(&other);
    }
    tensors_free(outputs);
    compiler_artifact_release(&own);
    return ok;
}
