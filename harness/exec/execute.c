/* execute.c - runs a job's steps and fills its result. */
#include "exec/execution.h"

#include "device/foreign/foreign.h"
#include "device/host/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "case/fault.h"
#include "case/implementation.h"
#include "case/result.h"
#include "check/compare.h"
#include "check/verdict.h"
#include "common/json_text.h"
#include "exec/backend_device.h"
#include "exec/mlir_backend.h"
#include "exec/module_cache.h"
#include "exec/opened.h"
#include "exec/staging.h"
#include "measure/counters.h"
#include "probe/probe.h"

bool execution_has_guest(const execution *e) {
    return e->job->implementation &&
           implementation_has_guest((implementation_kind)e->job->implementation_kind);
}

/* A failed step: what cannot be had here is unsupported, everything else an error. A lack of memory
 * is the kernel's own result; what a golden lacks is room on the disk. */
static void fail(execution *e, const status *failed) {
    const status named = execution_name_set(e, failed), *st = &named;
    if (st->code == STATUS_DEVICE_LOST && !execution_has_guest(e))
        json_object_set_new(json_object_get(e->result, "internal"), "lost", json_true());
    if (st->code == STATUS_UNAVAILABLE)
        result_set_outcome(e->result, OUTCOME_UNSUPPORTED, st->message, EXIT_ABSENT);
    else if (e->job->implementation)
        result_set_outcome(e->result, outcome_of_others(st), st->message, EXIT_CHECK);
    else if (st->code == STATUS_OUT_OF_MEMORY && e->job->mode != JOB_RECORD)
        result_set_outcome(e->result, OUTCOME_ERROR, st->message, EXIT_CHECK);
    else
        result_set_outcome(e->result, OUTCOME_ERROR, st->message, exit_code_of_status(st->code));
}

static void put_hash(json_t *object, const char *name, const sha256 *digest) {
    char hex[65];
    sha256_hex(digest, hex);
    json_object_set_new(object, name, json_string(hex));
}

/* ---- interp ---- */

/* The interpreter's own bits against the golden, where there is one, and what the kernel promises.
 */
static bool judge_oracle(execution *e, const tensor *outputs, status *st) {
    case_context *s = e->subject;
    verdict v = {.holds = true,
                 .against = "none",
                 .bitwise = true,
                 .has_ulp = true,
                 .max_error_over_bound = -1};
    verdict_request request = {
        .profile = PROFILE_STRICT, .outputs = outputs, .stage = e->stage, .context = e->context};
    bool has_golden = s->golden_state == GOLDEN_PRESENT && e->job->mode != JOB_RECORD;
    result_set_outcome(e->result, OUTCOME_OK, "untimed: interp is the oracle", EXIT_DONE);
    text_init(&v.why);
    if (has_golden)
        verdict_release(&v);
    bool ok = has_golden
                  ? verdict_judge(s, &request, &v, st)
                  : verdict_same_as(s, &request, &v, st) && verdict_numerics(s, &request, &v, st);
    if (ok) {
        execution_put_verdict(e, &v);
        if (!v.holds)
            result_set_outcome(e->result, OUTCOME_MISMATCH, v.why.data, EXIT_CHECK);
    }
    verdict_release(&v);
    return ok;
}

static bool run_interpreter(execution *e, status *st) {
    case_context *s = e->subject;
    e->stage(e->context, "oracle");
    const tensor *outputs = case_context_interpret(s, st);
    if (!outputs)
        return false;
    execution_put_digests(e, outputs);
    if (!judge_oracle(e, outputs, st))
        return false;
    bool record = e->job->mode == JOB_RECORD && result_outcome(e->result) == OUTCOME_OK;
    return !record || execution_record(e, outputs, st);
}

/* ---- backends of the runtime ---- */
static compiler_options options_of(const execution *e) {
    compiler_options options = job_compiler_options(e->job, e->subject->kernel);
    if (e->schedule_rejected)
        options.schedule = NULL;
    options.provenance = &e->provenance;
    return options;
}

/* Whose schedule it is. */
static const char *schedule_of(const compiler_options *options) {
    if (options->generic)
        return "generic";
    if (options->provenance->tuned)
        return "tuned";
    if (options->schedule)
        return "given";
    return compiler_schedule_is_for(options->written, options->isa) ? "source" : "default";
}

static bool build(execution *e, status *st);

/* What was tuned for another build need not fit this one: then the kernel's own schedule is used,
 * and the result says so. */
static bool build_untuned(execution *e, status *st) {
    snprintf(e->note, sizeof e->note, "the tuned schedule is not used: %.300s", st->message);
    *st = (status)STATUS_INIT;
    e->schedule_rejected = true;
    e->provenance.tuned = NULL;
    json_object_set_new(e->result, "schedule_values", json_null());
    return build(e, st);
}

static bool build_ours(execution *e, status *st) {
    case_context *s = e->subject;
    compiler_options options = options_of(e);
    e->stage(e->context, "compile");
    /* Schedules that a tuner only tries would crowd out what is used. */
    const char *cache = e->job->mode == JOB_TUNE ? NULL : e->job->cache;
    bool cached, ok = module_cache_build(cache, e->tried ? e->tried : s->instance, &options,
                                         &e->artifact, &cached, st);
    if (!ok && e->job->tuned && st->code == STATUS_INVALID && !e->schedule_rejected)
        return build_untuned(e, st);
    json_object_set_new(e->result, "schedule", json_string(schedule_of(&options)));
    if (!ok)
        return false;
    json_object_set_new(e->result, "constants", json_text(e->job->constants));
    put_hash(e->result, "schedule_hash", &e->artifact.schedule_hash);
    put_hash(e->result, "module_hash", &e->artifact.module_hash);
    json_object_set_new(e->result, "compile_ns", json_integer((json_int_t)e->artifact.compile_ns));
    json_object_set_new(e->result, "compile_cached", json_boolean(cached));
    execution_put_module_facts(e);
    return true;
}

static bool build(execution *e, status *st) {
    return e->job->implementation ? execution_build_foreign(e, st) : build_ours(e, st);
}

/* The first of the buffers that the fault `transposed` can mean, or -1. */
static int transposable(const struct compiler_buffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (fault_can_transpose(buffers[i].rank, buffers[i].dims))
            return (int)i;
    return -1;
}

static void transpose_output(const execution *e, tensor *outputs) {
    const compiler_signature *s = &e->subject->signature;
    int place = transposable(s->outputs, s->output_count);
    if (fault_is_transposed(e->job->fault) && place >= 0)
        fault_transpose(&outputs[place]);
}

/* Under the fault `transposed`, where no output shows it, one input goes in transposed. */
static bool write_inputs(execution *e, launch *l, status *st) {
    const compiler_signature *s = &e->subject->signature;
    tensor *inputs = e->subject->inputs;
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
    const compiler_signature *s = &e->subject->signature;
    bool ok = true;
    for (uint32_t i = 0; i < s->input_count && ok; i++) {
        const tensor *given = &e->subject->inputs[i];
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
              launch_read_outputs(l, &e->subject->signature, outputs, st) &&
              fault_apply(e->job->fault, outputs, e->subject->signature.output_count, st) &&
              (!e->job->implementation || inputs_are_whole(e, l, st));
    if (ok)
        transpose_output(e, outputs);
    return ok;
}

bool execution_launch(execution *e, status *st) {
    return write_inputs(e, &e->launch, st) && launch_once(e, &e->launch, e->outputs, st);
}

launch_request execution_request(const execution *e, uint32_t threads) {
    launch_request request = {.device = e->device,
                              .threads = threads,
                              .kernel = e->job->kernel,
                              .dims = e->subject->c->dims,
                              .dim_count = e->subject->c->dim_count,
                              .constants = e->job->implementation ? NULL : e->job->constants,
                              .foreign = e->job->implementation != NULL};
    launch_request_artifact(&request, &e->artifact);
    launch_request_buffers(&request, &e->subject->signature);
    return request;
}

/* The same module with another number of threads. What differs goes to `repeat`, for the verdict.
 */
static bool launch_elsewhere(execution *e, uint32_t threads, bool *differs, status *st) {
    launch other;
    tensor outputs[COMPILER_MAX_PARAMETERS] = {{0}};
    launch_request request = execution_request(e, threads);
    uint32_t count = e->subject->signature.output_count;
    bool ok = launch_open(&other, &request, st) && write_inputs(e, &other, st) &&
              launch_once(e, &other, outputs, st);
    *differs = false;
    for (uint32_t i = 0; i < count && ok; i++)
        *differs |= compare_bits(&e->outputs[i], &outputs[i]).differing > 0;
    if (*differs) {
        tensor_release_all(e->repeat, count);
        memcpy(e->repeat, outputs, sizeof outputs);
    } else {
        tensor_release_all(outputs, count);
    }
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

bool execution_compute(execution *e, status *st) {
    e->stage(e->context, "launch");
    execution_set(e, &e->subject->set);
    fault_trigger(e->job->fault);
    /* Before the kernel's threads exist, so that they inherit. */
    counters_open(&e->counters);
    watch_begin(&e->watch, e->job->threads - 1);
    launch_request request = execution_request(e, e->job->threads);
    return launch_open(&e->launch, &request, st) && write_inputs(e, &e->launch, st) &&
           launch_once(e, &e->launch, e->outputs, st) &&
           launch_once(e, &e->launch, e->repeat, st) &&
           (e->profile != PROFILE_DETERMINISTIC || repeat_elsewhere(e, st));
}

static const char not_judged[] =
    "not judged: no element of the outputs has a finite error bound here, nor the interpreter's "
    "bits, so nothing says that they are right; nothing was timed. --profile strict compares bits";

static void settle(execution *e, const verdict *v) {
    execution_put_verdict(e, v);
    e->mismatch = !v->holds || verdict_is_empty(v);
    if (verdict_is_empty(v))
        result_set_outcome(e->result, OUTCOME_UNJUDGED, not_judged, EXIT_NO_VERDICT);
    else if (v->holds && compiler_instance_is_contract(e->subject->instance))
        result_set_outcome(e->result, OUTCOME_OK, EXECUTION_NOT_VERIFIED, EXIT_DONE);
    else if (v->holds)
        result_set_outcome(e->result, OUTCOME_OK, e->note, EXIT_DONE);
    else
        execution_mismatch(e, v->why.data);
}

/* `repeat`: the outputs of a second launch; NULL where that would only compile the same again. */
bool execution_judge(execution *e, const tensor *repeat, status *st) {
    verdict v;
    verdict_request request = {.profile = e->profile,
                               .outputs = e->outputs,
                               .repeat = repeat,
                               .foreign = e->job->implementation != NULL,
                               .stage = e->stage,
                               .context = e->context};
    execution_put_digests(e, e->outputs);
    bool ok = verdict_judge(e->subject, &request, &v, st);
    if (ok)
        settle(e, &v);
    verdict_release(&v);
    return ok;
}

/* In which trees does the code add? Its profile is strict: the others may choose. */
static bool probe(execution *e, status *st) {
    probe_result found;
    compiler_options options = options_of(e);
    options.schedule_loose = true; /* the kernel is cut into parts */
    options.constants = NULL;
    e->stage(e->context, "probe");
    probe_request request = {e->subject, &options, e->device};
    bool ok = probe_orders(&request, &found, st);
    if (ok && found.digest[0])
        json_object_set_new(e->result, "order_probe", json_string(found.digest));
    if (ok && !found.holds) {
        e->mismatch = true;
        result_set_outcome(e->result, OUTCOME_MISMATCH, found.why.data, EXIT_CHECK);
    }
    probe_result_release(&found);
    return ok;
}

/* The outputs of programs of others. Faults of our compiler cannot be made there. */
static bool ask_tools(execution *e, status *st) {
    if (fault_of_code(e->job->fault))
        return status_set(st, STATUS_UNAVAILABLE, "fault %s does not apply: %s is not made by us",
                          e->job->fault, e->job->backend);
    e->stage(e->context, "compile");
    if (!mlir_backend_run(e->subject, e->job->unoptimised, e->outputs, st) ||
        !fault_apply(e->job->fault, e->outputs, e->subject->signature.output_count, st))
        return false;
    transpose_output(e, e->outputs);
    return true;
}

static bool run_backend(execution *e, const backend *b, status *st) {
    if (e->job->mode == JOB_VERIFY && e->subject->golden_state != GOLDEN_PRESENT) {
        result_set_outcome(e->result, OUTCOME_SKIPPED,
                           e->subject->apart                          ? e->subject->apart
                           : e->subject->golden_state == GOLDEN_STALE ? "stale golden"
                                                                      : "no golden",
                           EXIT_DONE);
        return true;
    }
    if (backend_is_tools(b))
        return ask_tools(e, st) && execution_judge(e, NULL, st);
    if (e->job->mode == JOB_TUNE)
        return (!e->job->tried || execution_open_tried(e, st)) && build(e, st) &&
               execution_tune(e, st);
    if (!build(e, st) || !execution_compute(e, st) || !execution_judge(e, e->repeat, st))
        return false;
    bool probed = e->job->order_probe && !e->job->implementation && !e->mismatch &&
                  e->profile == PROFILE_STRICT;
    if (probed && !probe(e, st))
        return false;
    if (e->mismatch || e->job->mode != JOB_BENCH || !b->timed)
        return true;
    bool timed = execution_time(e, st);
    execution_put_device_memory(e);
    return timed && (e->mismatch || timeline_launch(&e->timeline, &e->launch, st));
}

/* ---- packs ---- */

/* The interpreter's outputs, of the kernel that @same_as names where there is one. */
static bool put_expected(const execution *e, const staging *s, const tensor *own, status *st) {
    case_context *named;
    if (!case_context_named(e->subject, &named, st))
        return false;
    const tensor *expected = named ? case_context_oracle(named, st) : own;
    return expected && staging_put_tensors(s, "expected", expected, st);
}

/* What does not need the kernel to run comes first: a crash on the way leaves that. */
static bool pack_members(execution *e, const backend *b, status *st) {
    staging s = {e->job, e->subject, e->stage, e->context};
    const tensor *expected, *actual = NULL;
    bool ours = backend_is_ours(b) && !e->job->implementation;
    if (e->job->opens)
        opened_begin(e->job->staging);
    if (!staging_put_sources(&s, st) || (ours && !staging_put_levels(&s, st)))
        return false;
    if ((ours || e->job->implementation) && !build(e, st))
        return false;
    if (ours && !staging_put_module(&s, &e->artifact, st))
        return false;
    e->stage(e->context, "oracle");
    bool known = !compiler_instance_is_contract(e->subject->instance);
    expected = known ? case_context_oracle(e->subject, st) : NULL;
    if (known && (!expected || !put_expected(e, &s, expected, st)))
        return false;
    if (!*b->driver || !e->job->launches)
        actual = *b->driver ? NULL : expected;
    else if (backend_is_tools(b) ? ask_tools(e, st) : execution_compute(e, st))
        actual = e->outputs;
    else
        return false;
    if (actual)
        execution_put_digests(e, actual);
    if (e->job->opens)
        execution_put_opened(e);
    result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return !actual || staging_put_tensors(&s, "actual", actual, st);
}

static void release(execution *e) {
    tensor_release_all(e->outputs, COMPILER_MAX_PARAMETERS);
    tensor_release_all(e->repeat, COMPILER_MAX_PARAMETERS);
    launch_close(&e->launch);
    if (e->job->implementation)
        foreign_end_left_behind(NULL);
    counters_close(&e->counters);
    compiler_artifact_release(&e->artifact);
    compiler_instance_free(e->tried);
    if (e->folder.path)
        scratch_folder_close(&e->folder);
}

json_t *execute_job(case_context *s, const job *j, const execute_hooks *hooks) {
    execution e = {.subject = s, .job = j, .stage = timeline_step, .hooks = hooks};
    status st = STATUS_INIT;
    backend_id id = backend_from_name(j->backend);
    if (j->implementation)
        id = implementation_backend((implementation_kind)j->implementation_kind);
    const backend *b = &backend_table[id < BACKEND_COUNT ? id : BACKEND_INTERP];
    bool ours = backend_is_ours(b) && !j->implementation;
    case_context_request request = {
        .path = j->path,
        .kernel = j->kernel,
        .case_name = j->case_name,
        .golden_path = j->golden_path,
        .seed = j->seed,
        .source = j->source,
        .dims = j->dims,
        .inputs = j->inputs,
        .set = {j->set, j->perturbed},
        .space = j->space,
        .space_held = j->held,
        .target = ours && j->mode != JOB_TUNE ? j->isa ? j->isa : host_isa() : NULL};
    e.result = result_new(j, OUTCOME_ERROR, NULL);
    e.profile = profile_from_name(j->profile);
    json_object_set_new(e.result, "internal", json_object());
    timeline_begin(&e.timeline, hooks->stage, hooks->context);
    e.context = &e.timeline;
    timeline_step(e.context, "prepare");
    bool known = (id < BACKEND_COUNT && e.profile != PROFILE_COUNT) ||
                 status_set(&st, STATUS_INVALID, "no backend %s with profile %s is known",
                            j->backend, j->profile);
    bool ok = known && backend_device(b, j->device, &e.device, &st) &&
              case_context_open(s, &request, &st);
    s->tolerance = execution_tolerance(&e);
    if (ok) {
        execution_put_work(&e);
        execution_put_fallbacks(&e);
        execution_put_identity(&e);
        execution_put_tiles(&e);
        if (j->tuned)
            e.provenance.tuned = j->schedule ? j->schedule : "";
        if (j->relation && j->mode == JOB_REPLAY) {
            timeline_step(e.context, "launch");
            ok = hooks->relation && hooks->relation(s, j, e.result, &st);
        } else if (j->mode == JOB_PACK) {
            ok = pack_members(&e, b, &st);
        } else {
            ok = *b->driver ? run_backend(&e, b, &st) : run_interpreter(&e, &st);
        }
    }
    if (!ok)
        fail(&e, &st);
    execution_put_failed_set(&e);
    timeline_end(&e.timeline, j->mode == JOB_BENCH ? e.result : NULL);
    release(&e);
    return e.result;
}
