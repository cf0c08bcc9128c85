/* execute_launch.c - launches the module of a job, and judges its outputs. */
#include <string.h>

#include "check/compare.h"
#include "check/verdict.h"
#include "exec/execution.h"
#include "job/fault.h"
#include "job/result.h"
#include "measure/counters.h"

/* The first of the buffers that the fault `transposed` can mean, or -1. */
static int transposable(const struct compiler_buffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (fault_can_transpose(buffers[i].rank, buffers[i].dims))
            return (int)i;
    return -1;
}

void execution_transpose_output(const execution *e, tensor *outputs) {
    const compiler_signature *s = &e->context->signature;
    int place = transposable(s->outputs, s->output_count);
    if (fault_is_transposed(e->job->fault) && place >= 0)
        fault_transpose(&outputs[place]);
}

/* Under the fault `transposed`, where no output shows it, one input goes in transposed. */
static bool write_inputs(execution *e, launch *l, status *st) {
    const compiler_signature *s = &e->context->signature;
    tensor *inputs = e->context->inputs;
    int place = transposable(s->inputs, s->input_count);
    if (!fault_is_transposed(e->job->fault) || transposable(s->outputs, s->output_count) >= 0)
        return launch_write_inputs(l, inputs, st);
    if (place < 0)
        return status_set(st, STATUS_UNAVAILABLE,
                          "fault transposed does not apply: no tensor has "
                          "two axes that are longer than 1");
    tensor right = inputs[place], wrong;
    if (!tensor_init(&wrong, right.type, right.rank, right.dims, st))
        return false;
    memcpy(wrong.data, right.data, tensor_bytes(&right));
    fault_transpose(&wrong);
    inputs[place] = wrong;
    bool ok = launch_write_inputs(l, inputs, st);
    inputs[place] = right;
    tensor_release(&wrong);
    return ok;
}

/* Code of others may write anywhere in its tensors. */
static bool inputs_are_whole(const execution *e, launch *l, status *st) {
    const compiler_signature *s = &e->context->signature;
    bool ok = true;
    for (uint32_t i = 0; i < s->input_count && ok; i++) {
        const tensor *given = &e->context->inputs[i];
        tensor now;
        ok = tensor_init(&now, given->type, given->rank, given->dims, st);
        if (!ok)
            break;
        ok = launch_read_input(l, i, now.data, st);
        if (ok && memcmp(now.data, given->data, tensor_bytes(given)) != 0)
            ok = status_set(st, STATUS_MISMATCH, "it wrote to its input '%s'", s->inputs[i].name);
        tensor_release(&now);
    }
    return ok;
}

static bool launch_once(execution *e, launch *l, tensor *outputs, status *st) {
    bool ok = launch_poison_outputs(l, st) && launch_run(l, st) &&
              launch_read_outputs(l, &e->context->signature, outputs, st) &&
              fault_apply(e->job->fault, outputs, e->context->signature.output_count, st) &&
              (!e->class->foreign || inputs_are_whole(e, l, st));
    if (ok)
        execution_transpose_output(e, outputs);
    return ok;
}

bool execution_launch(execution *e, status *st) {
    return write_inputs(e, &e->launch, st) && launch_once(e, &e->launch, e->outputs, st);
}

launch_request execution_request(const execution *e, uint32_t threads) {
    launch_request request = {.device = e->device,
                              .threads = threads,
                              .kernel = e->job->kernel,
                              .dims = e->context->c->dims,
                              .dim_count = e->context->c->dim_count,
                              .constants =
                                  e->class->foreign || e->job->edits ? NULL : e->job->constants,
                              .foreign = e->class->foreign,
                              .stored = e->job->images != NULL};
    launch_request_artifact(&request, &e->artifact);
    if (e->job->ranks > 1) {
        request.rank_count = e->job->ranks;
        request.rank_modules = e->rank_modules;
        request.transport = e->job->transport;
        request.constants = NULL;
    }
    launch_request_buffers(&request, &e->context->signature);
    return request;
}

/* The same module with another number of threads. What differs goes to `repeat`, for the verdict.
 */
static bool launch_elsewhere(execution *e, uint32_t threads, bool *differs, status *st) {
    launch other;
    launch_request request = execution_request(e, threads);
    uint32_t count = e->context->signature.output_count;
    tensor *outputs = tensors_new(count);
    bool ok = launch_open(&other, &request, st) && write_inputs(e, &other, st) &&
              launch_once(e, &other, outputs, st);
    *differs = false;
    for (uint32_t i = 0; i < count && ok; i++)
        *differs |= compare_bits(&e->outputs[i], &outputs[i]).differing > 0;
    if (*differs) {
        tensor *same = e->repeat;
        e->repeat = outputs;
        outputs = same;
    }
    tensors_free(outputs);
    launch_close(&other);
    return ok;
}

/* `deterministic` promises equal bits for any thread count and timing: one thread, and more threads
 * than there are cores, so that they are held up at random. */
static bool repeat_elsewhere(execution *e, status *st) {
    const uint32_t threads[] = {1, 2 * e->job->threads + 1};
    bool differs = false;
    for (int i = 0; i < 2 && !differs; i++)
        if (!launch_elsewhere(e, threads[i], &differs, st))
            return false;
    return true;
}

/* Launches again, donated inputs in place. */
static bool launch_again(execution *e, status *st) {
    bool shared = launch_share_donated(&e->launch, true);
    bool ok = launch_once(e, &e->launch, e->repeat, st);
    return shared ? ok && launch_share_donated(&e->launch, false) && write_inputs(e, &e->launch, st)
                  : ok;
}

/* Behind an image, which was loaded. */
static bool begin_launch(execution *e) {
    if (e->job->images)
        e->stage(e->stage_context, "launch");
    return true;
}

bool execution_compute(execution *e, status *st) {
    e->stage(e->stage_context, e->job->images ? JOB_IMAGE_STAGE : "launch");
    execution_set(e, &e->context->set);
    fault_trigger(e->job->fault);
    /* Before the kernel's threads exist, so that they inherit. */
    counters_open(&e->counters);
    watch_begin(&e->watch, e->job->threads - 1);
    launch_request request = execution_request(e, e->job->threads);
    return launch_open(&e->launch, &request, st) && begin_launch(e) &&
           write_inputs(e, &e->launch, st) && launch_once(e, &e->launch, e->outputs, st) &&
           launch_again(e, st) && (e->profile != PROFILE_DETERMINISTIC || repeat_elsewhere(e, st));
}

static const char not_judged[] =
    "not judged: no element of the outputs has a finite error bound here, nor the interpreter's "
    "bits, so nothing says that they are right; nothing was timed. --profile strict compares bits";

static void settle(execution *e, const verdict *v) {
    execution_put_verdict(e, v);
    execution_put_sentinels(e, v);
    e->mismatch = !v->holds || verdict_is_empty(v);
    if (verdict_is_empty(v))
        result_set_outcome(e->result, OUTCOME_UNJUDGED, not_judged, EXIT_NO_VERDICT);
    else if (v->holds && compiler_instance_is_contract(e->context->instance))
        result_set_outcome(e->result, OUTCOME_OK, EXECUTION_NOT_VERIFIED, EXIT_DONE);
    else if (v->holds)
        result_set_outcome(e->result, OUTCOME_OK, e->note, EXIT_DONE);
    else {
        execution_mismatch(e, v->why.data);
        execution_put_wrong(e);
    }
}

bool execution_judge(execution *e, const tensor *repeat, status *st) {
    verdict v;
    verdict_request request = {.profile = e->profile,
                               .outputs = e->outputs,
                               .repeat = repeat,
                               .foreign = e->class->foreign,
                               .promises = e->job->edits == NULL, /* they are of the whole */
                               .sentinels = e->job->sentinels,
                               .told = e->job->told,
                               .stage = e->stage,
                               .context = e->stage_context};
    execution_put_digests(e, e->outputs);
    bool ok = verdict_judge(e->context, &request, &v, st);
    if (ok)
        settle(e, &v);
    verdict_release(&v);
    return ok;
}

const tensor *execution_computed(execution *e, status *st) {
    return execution_compute(e, st) ? e->outputs : NULL;
}

bool execution_judge_repeated(execution *e, const tensor *outputs, status *st) {
    (void)outputs;
    return execution_judge(e, e->repeat, st);
}

bool execution_time_bench(execution *e, status *st) {
    const bool wanted = e->job->mode == JOB_BENCH || (e->job->mode == JOB_REPLAY && e->job->timed);
    if (e->mismatch || !wanted || !e->backend->timed)
        return true;
    bool timed = execution_time(e, st);
    execution_put_device_memory(e);
    return timed && (e->mismatch || timeline_launch(&e->timeline, &e->launch, st));
}
