/* execute_ranks.c - jobs on several ranks: a module for each, whose outputs are all the same. */
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "job/result.h"
#include "launch/ranks.h"

static compiler_options options_of(const execution *e, const shard_ranks *own) {
    compiler_options options = job_compiler_options(e->job, e->context->kernel);
    options.provenance = &e->provenance;
    options.constants = NULL;
    options.ranks = own;
    return options;
}

static bool build(execution *e, status *st) {
    const uint32_t count = e->job->ranks;
    int64_t ns = 0;
    bool ok = true, cached, all = true;
    e->stage(e->stage_context, "compile");
    e->rank_modules = base_calloc(count, sizeof *e->rank_modules);
    for (uint32_t i = 0; i < count && ok; i++) {
        const shard_ranks own = {i, count, e->job->layout};
        const compiler_options options = options_of(e, &own);
        ok = module_cache_build(e->job->cache, e->context->instance, &options, &e->rank_modules[i],
                                &cached, st);
        ns += (int64_t)e->rank_modules[i].compile_ns;
        all = all && cached;
    }
    if (!ok)
        return false;
    result_put_SCHEDULE(e->result, "default");
    result_put_COMPILE(e->result, ns);
    result_put_COMPILE_CACHED(e->result, all);
    return true;
}

static bool open_ranks(execution *e, status *st) {
    launch_request request = execution_request(e, e->job->threads);
    request.constants = NULL;
    request.rank_count = e->job->ranks;
    request.rank_modules = e->rank_modules;
    request.transport = e->job->transport;
    return launch_open(&e->launch, &request, st);
}

/* The output of another rank, if it has the same bits. */
static bool is_same(execution *e, uint32_t rank, uint32_t output, const tensor *of, status *st) {
    tensor other;
    bool ok = tensor_init(&other, of->type, of->rank, of->dims, st);
    if (!ok)
        return false;
    ok = launch_ranks_read(e->launch.ranks, rank, output, other.data, tensor_bytes(of), st) &&
         (compare_bits(of, &other).differing == 0 ||
          status_set(st, STATUS_MISMATCH, "output '%s' has other bits on rank %u than on rank 0",
                     e->context->signature.outputs[output].name, rank));
    tensor_release(&other);
    return ok;
}

/* The outputs of the first rank, if those of all others have the same bits. */
static bool run_all(execution *e, tensor *outputs, status *st) {
    const compiler_signature *s = &e->context->signature;
    bool ok = launch_poison_outputs(&e->launch, st) && launch_run(&e->launch, st) &&
              launch_read_outputs(&e->launch, s, outputs, st);
    for (uint32_t rank = 1; rank < e->job->ranks; rank++)
        for (uint32_t i = 0; i < s->output_count && ok; i++)
            ok = is_same(e, rank, i, &outputs[i], st);
    return ok;
}

static const tensor *compute(execution *e, status *st) {
    e->stage(e->stage_context, "launch");
    execution_set(e, &e->context->set);
    const bool ok = open_ranks(e, st) && launch_write_inputs(&e->launch, e->context->inputs, st) &&
                    run_all(e, e->outputs, st) && run_all(e, e->repeat, st);
    return ok ? e->outputs : NULL;
}

typedef struct rank_timing {
    execution *e;
    status *st;
} rank_timing;

static bool time_group(void *context, uint64_t repeats, double *ns_each) {
    const rank_timing *t = context;
    uint64_t ns;
    if (!launch_ranks_run(t->e->launch.ranks, repeats, &ns, t->st))
        return false;
    *ns_each = (double)ns / (double)repeats;
    return true;
}

/* Launches on the case's own inputs, as long as the slowest rank takes. */
static bool time_ranks(execution *e, status *st) {
    rank_timing t = {e, st};
    const sample_source source = {.group = time_group, .context = &t, .multiple = 1};
    const sample_plan plan = sample_plan_for(e->job->quick);
    sample_set samples;
    if (e->mismatch || e->job->mode != JOB_BENCH)
        return true;
    e->stage(e->stage_context, "time");
    if (!sample_take(&plan, &source, &samples))
        return false;
    execution_put_times(e, &samples);
    result_put_INPUT_SETS(e->result, 1);
    return true;
}

const execution_class execution_of_ranks = {.held_to_golden = true,
                                            .build = build,
                                            .compute = compute,
                                            .judge = execution_judge_repeated,
                                            .time = time_ranks,
                                            .pack_code = execution_packs_nothing,
                                            .pack_outputs = execution_pack_computed};

void execution_release_ranks(execution *e) {
    for (uint32_t i = 0; e->rank_modules && i < e->job->ranks; i++)
        compiler_artifact_release(&e->rank_modules[i]);
    free(e->rank_modules);
}
