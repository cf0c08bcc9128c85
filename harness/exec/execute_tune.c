/* execute_tune.c - a schedule that the tuner tries, beside the kernel's own: it must have the same
 * bits, then both are timed in turn, or, where nothing is timed, weighed by the cost model. */
#include <stdlib.h>

#include "case/case.h"
#include "check/compare.h"
#include "common/abi_status.h"
#include "common/timer.h"
#include "exec/backend_device.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "job/result.h"
#include "launch/clock.h"
#include "measure/pair.h"

static const char other_order[] =
    "other bits than those of the kernel's own tiles: another order, or another meaning";

static void put_pair(execution *e, const pair_result *p) {
    tsr_device_info_t info = {.struct_size = sizeof info};
    bool named =
        !backend_device_is_host(e->device) && tsrGetDeviceInfo(e->device, &info) == TSR_SUCCESS;
    internal_put_TUNE(e->result, json_pack("{s:f, s:f, s:f, s:f, s:f, s:I, s:s*}", "default_ns",
                                           p->a_ns.median, "tuned_ns", p->b_ns.median, "ratio",
                                           p->ratio.median, "low", p->ratio.low, "high",
                                           p->ratio.high, "pairs", (json_int_t)p->ratio.samples,
                                           "device", named ? info.name : NULL));
}

typedef struct timed_launch {
    launch *launch;
    const launch_clock *clock; /* not open: the host's */
    status *st;
} timed_launch;

static bool time_on_the_device(const timed_launch *t, uint64_t repeats, uint64_t *ns) {
    tsr_status_t code = launch_clock_begin(t->clock);
    bool ok = true;
    for (uint64_t i = 0; i < repeats && code == TSR_SUCCESS && ok; i++)
        ok = launch_queue(t->launch, t->clock->stream, t->st);
    code = launch_clock_end(t->clock, code, ns);
    return ok && abi_ok(code, "timing a kernel", t->st);
}

static bool time_launches(void *context, uint64_t repeats, double *ns_each) {
    const timed_launch *t = context;
    uint64_t on_device;
    if (t->clock->stream) {
        bool ok = time_on_the_device(t, repeats, &on_device);
        *ns_each = ok ? (double)on_device / (double)repeats : 0;
        return ok;
    }
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

static bool time_both(execution *e, launch *own, const launch_clock *clock, status *st) {
    pair_result pair;
    timed_launch first = {own, clock, st}, second = {&e->launch, clock, st};
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
    if (!pair_take(&plan, &a, &b, &pair))
        return false;
    put_pair(e, &pair);
    return true;
}

static bool cycles_of(execution *e, compiler_instance *instance, const char *schedule, double *out,
                      status *st) {
    compiler_space space;
    job j = *e->job;
    j.schedule = schedule;
    compiler_options options = job_compiler_options(&j, e->context->kernel);
    bool ok = compiler_space_of(instance, &options, &space, st);
    *out = ok ? space.cycles : 0;
    compiler_space_release(&space);
    return ok;
}

/* A device that is not timed: an estimate, which has no interval. */
static bool weigh_both(execution *e, status *st) {
    double own, tried;
    compiler_instance *instance = e->context->instance;
    if (!cycles_of(e, instance, NULL, &own, st) ||
        !cycles_of(e, e->tried ? e->tried : instance, e->job->schedule, &tried, st))
        return false;
    double ratio = own > 0 ? tried / own : 1;
    internal_put_TUNE(e->result,
                      json_pack("{s:f, s:f, s:f, s:f, s:f}", "default_cycles", own, "tuned_cycles",
                                tried, "ratio", ratio, "low", ratio, "high", ratio));
    return true;
}

/* The schedule that is tried against the kernel's own, whose bits it must have under strict. */
static bool compare_and_time(execution *e, launch *own, tensor *outputs, status *st) {
    const compiler_signature *s = &e->context->signature;
    launch_clock clock = {0};
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
    bool ok = !e->backend->timed
                  ? weigh_both(e, st)
                  : (!own->is_async || launch_clock_open(&clock, own->context, st)) &&
                        time_both(e, own, &clock, st);
    launch_clock_close(&clock);
    if (ok)
        result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return ok;
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
