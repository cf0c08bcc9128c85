/* execute.c - runs a job's steps and fills its result. */
#include "device/foreign/foreign.h"
#include "device/host/host.h"

#include "case/case_edited.h"
#include "exec/backend_device.h"
#include "exec/execution.h"
#include "exec/staging.h"
#include "implementation/implementation.h"
#include "job/result.h"

bool execution_has_guest(const execution *e) {
    return e->job->implementation &&
           implementation_has_guest((implementation_kind)e->job->implementation_kind);
}

static const execution_class *class_of(const backend *b, const job *j) {
    static const execution_class *const classes[BACKEND_CLASS_COUNT] = {
        [BACKEND_CLASS_INTERPRETER] = &execution_of_interpreter,
        [BACKEND_CLASS_COMPILER] = &execution_of_compiler,
        [BACKEND_CLASS_TOOLS] = &execution_of_tools,
        [BACKEND_CLASS_FOREIGN] = &execution_of_others};
    return j->after            ? &execution_of_steps
           : j->ranks > 1      ? &execution_of_ranks
           : j->implementation ? classes[BACKEND_CLASS_FOREIGN]
                               : classes[b->class];
}

/* The target of code that the compiler makes for the job; NULL: it makes none, or the tuner sets it
 * later. */
static const char *target_of(const execution *e) {
    bool ours = backend_is_ours(e->backend) && !e->class->foreign;
    if (!ours || e->job->mode == JOB_TUNE)
        return NULL;
    return e->job->isa ? e->job->isa : host_isa();
}

bool execution_needs_nothing(execution *e, status *st) {
    (void)e;
    (void)st;
    return true;
}

/* A failed step: what cannot be had here is unsupported, everything else an error. A lack of memory
 * is the kernel's own result; what a golden lacks is room on the disk. */
static void fail(execution *e, const status *failed) {
    const status named = execution_name_set(e, failed), *st = &named;
    if (st->code == STATUS_DEVICE_LOST && !execution_has_guest(e))
        internal_put_LOST(e->result, true);
    if (st->code == STATUS_UNAVAILABLE)
        result_set_outcome(e->result, OUTCOME_UNSUPPORTED, st->message, EXIT_ABSENT);
    else if (e->class->foreign)
        result_set_outcome(e->result, outcome_of_others(st), st->message, EXIT_CHECK);
    else if (st->code == STATUS_OUT_OF_MEMORY && e->job->mode != JOB_RECORD)
        result_set_outcome(e->result, OUTCOME_ERROR, st->message, EXIT_CHECK);
    else
        result_set_outcome(e->result, OUTCOME_ERROR, st->message, exit_code_of_status(st->code));
}

static bool skip(execution *e) {
    const case_context *s = e->context;
    result_set_outcome(e->result, OUTCOME_SKIPPED,
                       s->golden_skips                   ? s->golden_skips
                       : s->golden_state == GOLDEN_STALE ? "stale golden"
                                                         : "no golden",
                       EXIT_DONE);
    return true;
}

/* A second opinion that it is wrong holds, whatever the interpreter says. */
static bool judge(execution *e, const tensor *outputs, status *st) {
    bool wrong = false;
    const bool asked = e->job->opinion && !e->job->after;
    return (!asked || execution_ask_opinion(e, outputs, &wrong, st)) &&
           (wrong || e->class->judge(e, outputs, st));
}

static bool run(execution *e, status *st) {
    const job *j = e->job;
    const execution_class *class = e->class;
    if (j->relation && j->mode == JOB_REPLAY) {
        timeline_step(e->stage_context, "launch");
        return e->hooks->relation && e->hooks->relation(e->context, j, e->result, st);
    }
    if (j->mode == JOB_PACK)
        return execution_pack(e, st);
    if (j->mode == JOB_EMIT)
        return execution_emit(e, st);
    if (j->mode == JOB_STEPS || j->mode == JOB_RUNS)
        return j->mode == JOB_STEPS ? execution_list_steps(e, st) : execution_runs(e, st);
    if (j->mode == JOB_OPINION)
        return execution_opinion(e, st);
    if (j->mode == JOB_EXPORT)
        return execution_export(e, st);
    if (j->mode == JOB_VERIFY && class->held_to_golden &&
        e->context->golden_state != GOLDEN_PRESENT)
        return skip(e);
    if (j->mode == JOB_TUNE && class->tune)
        return class->tune(e, st);
    const tensor *outputs = class->build(e, st) ? class->compute(e, st) : NULL;
    return outputs && judge(e, outputs, st) && class->time(e, st);
}

static void release(execution *e) {
    tensors_free(e->outputs);
    tensors_free(e->repeat);
    launch_close(&e->launch);
    execution_release_ranks(e);
    if (e->class->foreign)
        foreign_end_left_behind(NULL);
    counters_close(&e->counters);
    compiler_artifact_release(&e->artifact);
    compiler_instance_free(e->tried);
    if (e->folder.path)
        scratch_folder_close(&e->folder);
}

/* The source of a case that was refused before there was a graph of it. */
static void pack_source(execution *e) {
    const staging s = {e->job, e->context, e->stage, e->stage_context};
    status st = STATUS_INIT;
    if (!staging_put_source(&s, &st))
        fail(e, &st);
}

/* The case that the job's edits leave becomes that of the execution. */
static bool edit(execution *e, case_edited *edited, status *st) {
    const job *j = e->job;
    if (!j->edits)
        return true;
    e->stage(e->stage_context, "edit");
    const compiler_options options = job_compiler_options(j, e->context->kernel);
    bool ok = case_edited_open(e->context, &options, j->edits, edited, st);
    if (ok)
        e->context = &edited->context;
    e->edited = ok ? &edited->edited : NULL;
    if (ok)
        execution_put_size(e, &edited->edited);
    return ok;
}

static void put_facts(execution *e) {
    execution_put_work(e);
    execution_put_fallbacks(e);
    execution_put_identity(e);
    execution_put_tiles(e);
}

json_t *execute_job(case_context *s, const job *j, const execute_hooks *hooks) {
    execution e = {.context = s, .job = j, .stage = timeline_step, .hooks = hooks};
    status st = STATUS_INIT;
    backend_id id = backend_from_name(j->backend);
    if (j->implementation)
        id = implementation_backend((implementation_kind)j->implementation_kind);
    const backend *b = &backend_table[id < BACKEND_COUNT ? id : BACKEND_INTERP];
    e.backend = b;
    e.class = class_of(b, j);
    case_context_request request = {.path = j->path,
                                    .kernel = j->kernel,
                                    .case_name = j->case_name,
                                    .golden_path = j->golden_path,
                                    .golden = j->golden,
                                    .seed = j->seed,
                                    .source = j->source,
                                    .dims = j->dims,
                                    .inputs = j->inputs,
                                    .set = {j->set, j->perturbed},
                                    .space = j->space,
                                    .space_held = j->held,
                                    .target = target_of(&e)};
    e.result = result_new(j, OUTCOME_ERROR, NULL);
    e.profile = profile_from_name(j->profile);
    timeline_begin(&e.timeline, hooks->stage, hooks->context);
    e.stage_context = &e.timeline;
    timeline_step(e.stage_context, "prepare");
    bool known = (id < BACKEND_COUNT && e.profile != PROFILE_COUNT) ||
                 status_set(&st, STATUS_INVALID, "no backend %s with profile %s is known",
                            j->backend, j->profile);
    case_edited edited = {.inputs = NULL};
    const bool opened = known && backend_device(b, j->device, &e.device, &st) &&
                        case_context_open(s, &request, &st);
    bool ok = opened && edit(&e, &edited, &st);
    s->tolerance = execution_tolerance(&e);
    if (ok) {
        e.outputs = tensors_new(e.context->signature.output_count);
        e.repeat = tensors_new(e.context->signature.output_count);
        if (j->mode != JOB_EMIT) /* that runs none of the passes, one of which may die */
            put_facts(&e);
        if (j->tuned)
            e.provenance.tuned = j->schedule ? j->schedule : "";
        ok = run(&e, &st);
    }
    if (!ok)
        fail(&e, &st);
    if (!opened && j->mode == JOB_PACK)
        pack_source(&e);
    execution_put_failed_set(&e);
    timeline_end(&e.timeline, j->mode == JOB_BENCH ? e.result : NULL);
    release(&e);
    case_edited_close(&edited);
    return e.result;
}
