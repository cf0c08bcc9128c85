/* execute_ranks.c - jobs on several ranks: a module for each, whose outputs are all the same. */
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "job/result.h"
#include "launch/ranks.h"
#include "launch/way_of_sums.h"

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
    way_of_sums sums;
    bool ok = way_of_sums_find(e->job->transport, count, &sums, st), cached, all = true;
    e->stage(e->stage_context, "compile");
    e->rank_modules = base_calloc(count, sizeof *e->rank_modules);
    for (uint32_t i = 0; i < count && ok; i++) {
        const shard_ranks own = {i, count, e->job->layout, sums.whole, sums.bucket_bytes};
        const compiler_options options = options_of(e, &own);
        ok = module_cache_build(e->job->cache, e->context->instance, &options, &e->rank_modules[i],
                                &cached, st);
        ns += (int64_t)e->rank_modules[i].compile_ns;
        all = all && cached;
    }
    free(sums.whole);
    if (!ok)
        return false;
    result_put_SCHEDULE(e->result, "default");
    result_put_COMPILE(e->result, ns);
    result_put_COMPILE_CACHED(e->result, all);
    return true;
}

/* The output of another rank, if it has the same bits. */
static bool is_same(execution *e, uint32_t rank, uint32_t output, const tensor *of, status *st) {
    tensor other;
    bool ok = tensor_init(&other, of->type, of->rank, of->dims, st);
    if (!ok)
        return false;
    ok = launch_ranks_read(e->launch.ranks, rank, output, other.data, tensor_bytes(of), st) &&
         (compare_bits(of, &other).differing == 0 ||
          status_set(st, STATUS_MISMATCH,
                     "output '%s' has other bits on rank %u than it had on rank 0",
                     e->context->signature.outputs[output].name, rank));
    tensor_release(&other);
    return ok;
}

/* One launch more, of which all ranks have the outputs of the first one. */
static bool are_same(execution *e, status *st) {
    bool ok = launch_poison_outputs(&e->launch, st) && launch_run(&e->launch, st);
    for (uint32_t rank = 0; rank < e->job->ranks; rank++)
        for (uint32_t i = 0; i < e->context->signature.output_count && ok; i++)
            ok = is_same(e, rank, i, &e->outputs[i], st);
    return ok;
}

static const tensor *compute(execution *e, status *st) {
    const bool faulty = e->job->fault != NULL; /* on purpose, in what was read of the first rank */
    return execution_compute(e, st) && (faulty || are_same(e, st)) ? e->outputs : NULL;
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
    return timeline_launch(&e->timeline, &e->launch, st);
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
