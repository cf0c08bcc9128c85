/* execute_compiler.c - jobs of code that this compiler makes. */
#include <stdio.h>

#include "base/file.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "exec/staging.h"
#include "job/result.h"
#include "probe/probe.h"

static void put_hashes(const execution *e) {
    char hex[65];
    sha256_hex(&e->artifact.schedule_hash, hex);
    result_put_SCHEDULE_HASH(e->result, hex);
    sha256_hex(&e->artifact.module_hash, hex);
    result_put_MODULE_HASH(e->result, hex);
}

static compiler_options options_of(execution *e) {
    compiler_options options = job_compiler_options(e->job, e->context->kernel);
    options.stored = execution_stored(e);
    if (e->schedule_rejected)
        options.schedule = NULL;
    if (e->job->edits) { /* of a part of the kernel */
        options.constants = NULL;
        options.schedule_loose = true;
    }
    options.provenance = &e->provenance;
    return options;
}

/* Whose schedule it is. */
static const char *schedule_of(const execution *e, const compiler_options *options) {
    if (options->generic)
        return "generic";
    if (options->provenance->tuned)
        return "tuned";
    if (options->schedule)
        return "given";
    return compiler_is_scheduled(e->context->instance, options->source_schedule, options->isa)
               ? "source"
               : "default";
}

static bool build(execution *e, status *st);

/* A schedule tuned for another build need not fit this one: then the kernel's own is used, and the
 * result says so. */
static bool build_untuned(execution *e, status *st) {
    snprintf(e->note, sizeof e->note, "the tuned schedule is not used: %.300s", st->message);
    *st = (status)STATUS_INIT;
    e->schedule_rejected = true;
    e->provenance.tuned = NULL;
    result_put_SCHEDULE_VALUES(e->result, NULL);
    return build(e, st);
}

/* Takes what somebody else compiled, and a pack kept. */
static bool take_image(execution *e, status *st) {
    enum { IMAGE_BYTES_MAX = 1 << 30 };
    char *data;
    size_t size;
    text path;
    e->stage(e->stage_context, JOB_IMAGE_STAGE);
    text_init(&path);
    text_printf(&path, "%s/module.tsrm", e->job->images);
    const bool ok = file_read(path.data, IMAGE_BYTES_MAX, &data, &size, st);
    text_release(&path);
    if (ok)
        e->artifact = (compiler_artifact){
            .image = data, .image_size = size, .module_hash = sha256_of(data, size)};
    return ok;
}

static bool build(execution *e, status *st) {
    case_context *s = e->context;
    if (e->job->images)
        return take_image(e, st);
    compiler_options options = options_of(e);
    e->stage(e->stage_context, "compile");
    /* Schedules that a tuner only tries would crowd out what is used. */
    const char *cache = e->job->mode == JOB_TUNE ? NULL : e->job->cache;
    bool cached, ok = module_cache_build(cache, e->tried ? e->tried : s->instance, &options,
                                         &e->artifact, &cached, st);
    if (!ok && e->job->tuned && st->code == STATUS_INVALID && !e->schedule_rejected)
        return build_untuned(e, st);
    result_put_SCHEDULE(e->result, schedule_of(e, &options));
    if (!ok)
        return false;
    result_put_CONSTANTS(e->result, options.constants);
    put_hashes(e);
    result_put_COMPILE(e->result, (int64_t)e->artifact.compile_ns);
    result_put_COMPILE_CACHED(e->result, cached);
    execution_put_module_facts(e);
    execution_put_occupancy(e, &options);
    return true;
}

static bool build_cut(void *context, compiler_instance *cut, compiler_artifact *out, status *st) {
    return compiler_build(cut, context, out, st);
}

/* In which trees does the code add? Its profile is strict: the others may choose. */
static bool probe(execution *e, status *st) {
    probe_result found;
    compiler_options options = options_of(e);
    options.schedule_loose = true; /* the kernel is cut into parts */
    options.constants = NULL;
    e->stage(e->stage_context, "probe");
    const probe_request request = {.context = e->context,
                                   .build = build_cut,
                                   .build_context = &options,
                                   .device = e->device,
                                   .threads = options.threads};
    bool ok = probe_orders(&request, &found, st);
    if (ok && found.digest[0])
        result_put_ORDER_PROBE(e->result, found.digest);
    if (ok && !found.holds) {
        e->mismatch = true;
        result_set_outcome(e->result, OUTCOME_MISMATCH, found.why.data, EXIT_CHECK);
    }
    probe_result_release(&found);
    return ok;
}

static bool tune(execution *e, status *st) {
    return (!e->job->tried || execution_open_tried(e, st)) && build(e, st) && execution_tune(e, st);
}

static bool time_or_probe(execution *e, status *st) {
    bool probed = e->job->order_probe && !e->mismatch && e->profile == PROFILE_STRICT;
    return (!probed || probe(e, st)) && execution_time_bench(e, st);
}

static bool pack_code(execution *e, const staging *s, status *st) {
    return staging_put_levels(s, st) && build(e, st) && staging_put_module(s, &e->artifact, st);
}

const execution_class execution_of_compiler = {.held_to_golden = true,
                                               .build = build,
                                               .compute = execution_computed,
                                               .judge = execution_judge_repeated,
                                               .tune = tune,
                                               .time = time_or_probe,
                                               .pack_code = pack_code,
                                               .pack_outputs = execution_pack_computed};
