/* execute_others.c - the module that has a device call code of others, and which files that is of.
 */
#include <stdlib.h>

#include "exec/execution.h"
#include "exec/opened.h"
#include "implementation/implementation.h"
#include "job/result.h"
#include "probe/probe.h"

double execution_tolerance(const execution *e) {
    const job *j = e->job;
    return j->tolerance && e->class->foreign && e->profile == PROFILE_FAST
               ? strtod(j->tolerance, NULL)
               : 0;
}

void execution_put_judged(const execution *e, const verdict *v) {
    if (v->unjudged)
        result_put_NOT_JUDGED(e->result, (int64_t)v->unjudged);
    if (v->sampled)
        result_put_SAMPLED(e->result, (int64_t)v->sampled);
    if (e->context->tolerance <= 0 || v->max_error_over_bound < 0 || v->elements == 0)
        return;
    result_put_TOLERANCE(e->result, e->context->tolerance);
    result_put_MATCHED(e->result, 1 - (double)v->tolerated / (double)v->elements);
}

static void put_digests_of_code(const execution *e) {
    const job *j = e->job;
    json_t *said = result_get(e->result, RESULT_IMPLEMENTATION); /* "sha256" is null */
    implementation_digest_of files[IMPLEMENTATION_FILES_MAX];
    arena memory;
    arena_init(&memory);
    uint32_t count = implementation_digests(
        j->implementation, (implementation_kind)j->implementation_kind, &memory, files);
    for (uint32_t i = 0; i < count; i++)
        if (files[i].sha256[0])
            json_object_set_new(said, files[i].key, json_string(files[i].sha256));
    arena_release(&memory);
}

static implementation_request request_of(const execution *e) {
    const job *j = e->job;
    return (implementation_request){.path = j->implementation,
                                    .symbol = j->implementation_symbol,
                                    .kernel = j->kernel,
                                    .folder = e->folder.path,
                                    .kind = (implementation_kind)j->implementation_kind,
                                    .threads = j->threads};
}

static bool build_instance(execution *e, compiler_instance *instance, compiler_artifact *out,
                           status *st) {
    const implementation_request request = request_of(e);
    return implementation_build(&request, instance, out, st);
}

static bool build_cut(void *context, compiler_instance *cut, compiler_artifact *out, status *st) {
    return build_instance(context, cut, out, st);
}

/* A plugin of PJRT says nothing of the order in which it adds, and StableHLO has no word for one:
 * under strict it runs what it is seen to add as the kernel says. */
static bool honours_strict(execution *e, status *st) {
    probe_result found;
    if (e->job->implementation_kind != IMPLEMENTATION_PJRT || e->profile != PROFILE_STRICT)
        return true;
    e->stage(e->stage_context, "probe");
    const probe_request request = {.context = e->context,
                                   .build = build_cut,
                                   .build_context = e,
                                   .device = e->device,
                                   .threads = e->job->threads,
                                   .foreign = true};
    bool ok = probe_orders(&request, &found, st);
    if (ok && found.digest[0])
        result_put_ORDER_PROBE(e->result, found.digest);
    if (ok && !found.holds)
        ok = status_set(st, STATUS_UNAVAILABLE,
                        "strict is not for this plugin: %.700s; --profile fast judges by bounds",
                        found.why.data);
    else if (ok && found.unknown)
        ok =
            status_set(st, STATUS_UNAVAILABLE,
                       "strict is not for this plugin: in which order it adds was not seen for %u "
                       "of the kernel's accumulations, which are too long or in no tree; --profile "
                       "fast judges by bounds",
                       found.unknown);
    probe_result_release(&found);
    return ok;
}

/* The module that has the device call an implementation. Its times are none of ours. */
static bool build(execution *e, status *st) {
    const job *j = e->job;
    if (j->implementation_kind >= IMPLEMENTATION_KIND_COUNT || !j->implementation_symbol)
        return status_set(st, STATUS_INTERNAL, "a job has an implementation of no kind");
    e->stage(e->stage_context, "compile");
    if (implementation_needs_folder((implementation_kind)j->implementation_kind) &&
        !e->folder.path && !scratch_folder_open(&e->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    put_digests_of_code(e);
    if (j->implementation_kind == IMPLEMENTATION_PJRT_AHEAD) {
        const implementation_request request = request_of(e);
        return execution_compile_ahead(e, &request, st);
    }
    return build_instance(e, e->context->instance, &e->artifact, st) && honours_strict(e, st);
}

void execution_put_opened(execution *e) {
    json_t *found = json_array();
    status ignored = STATUS_INIT;
    bool is_seen = e->job->implementation_kind == IMPLEMENTATION_SHARED_OBJECT;
    if (!e->launch.kernel) {
        e->stage(e->stage_context, "launch");
        launch_request request = execution_request(e, e->job->threads);
        bool opened = launch_open(&e->launch, &request, &ignored);
        if (is_seen)
            opened_look(found, e->job->implementation);
        if (opened && e->job->opens > 1)
            (void)execution_launch(e, &ignored);
    }
    if (is_seen)
        opened_look(found, e->job->implementation);
    opened_end(found, e->job->implementation);
    internal_put_OPENED(e->result, found);
}

static bool pack_code(execution *e, const struct staging *s, status *st) {
    (void)s;
    return build(e, st);
}

const execution_class execution_of_others = {.foreign = true,
                                             .held_to_golden = true,
                                             .build = build,
                                             .compute = execution_computed,
                                             .judge = execution_judge_repeated,
                                             .tune = NULL,
                                             .time = execution_time_bench,
                                             .pack_code = pack_code,
                                             .pack_outputs = execution_pack_computed};
