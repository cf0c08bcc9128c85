/* execute_beside.c - an implementation and ours, timed in turn: whatever slows the machine down
 * meets both. The guest is stopped while ours runs (measure/guests.h), so that no thread of it that
 * waits for work is in the way. */
#include <stdlib.h>

#include "base/arena.h"
#include "case/backend.h"
#include "common/timer.h"
#include "exec/execution.h"
#include "exec/module_cache.h"
#include "implementation/implementation.h"
#include "job/result.h"
#include "measure/pair.h"
#include "measure/rotation.h"

enum { AWAKEN_NS = 40000, SETS = 4 };
static const uint64_t bytes_most = UINT64_C(2) << 30;

struct beside {
    execution *e;
    status *st; /* of what is taken */
    compiler_artifact artifact;
    launch launch;
    rotation *rotation;
    uint32_t sets;
    const void **inputs[SETS];
};

/* Its own column says what is wrong with it; here it only has no time. */
static bool open_launch(beside *o) {
    const execution *e = o->e;
    job j = *e->job;
    bool cached;
    j.profile = j.beside;
    j.fault = NULL;
    compiler_options options = job_compiler_options(&j, e->context->kernel);
    status ignored = STATUS_INIT;
    if (!module_cache_build(j.cache, e->context->instance, &options, &o->artifact, &cached,
                            &ignored))
        return false;
    launch_request request = execution_request(e, j.threads);
    launch_request_artifact(&request, &o->artifact);
    if (execution_has_guest(e))
        request.device = 0; /* the host */
    else
        request.context = e->launch.context; /* the GPU's: a driver's threads are counted once */
    request.foreign = false;
    request.constants = j.constants;
    return launch_open(&o->launch, &request, &ignored) &&
           launch_write_inputs(&o->launch, e->context->inputs, &ignored) &&
           launch_run(&o->launch, &ignored); /* its threads are there from now on */
}

static bool open_rotation(beside *o, uint32_t sets) {
    execution *e = o->e;
    rotation_set given[SETS];
    bool fits = sets <= SETS && sets <= 1 + e->context->other_count &&
                2 * launch_bytes(&o->launch) <= bytes_most;
    o->sets = fits ? sets : 1;
    for (uint32_t set = 0; set < o->sets; set++) {
        const case_context *s = set ? &e->context->others[set - 1] : e->context;
        free(o->inputs[set]);
        o->inputs[set] = base_calloc((size_t)o->launch.input_count + 1, sizeof(const void *));
        for (uint32_t i = 0; i < o->launch.input_count; i++)
            o->inputs[set][i] = s->inputs[i].data;
        given[set] = (rotation_set){o->inputs[set], NULL};
    }
    rotation_request request = {.launch = &o->launch,
                                .set_count = o->sets,
                                .sets = given,
                                .seed = timer_now_ns(),
                                .awaken_ns = e->job->threads > 1 ? AWAKEN_NS : 0};
    o->rotation = rotation_open(&request, o->st);
    return o->rotation && rotation_learn(o->rotation, o->launch.kernel, o->st);
}

static bool time_ours(void *context, uint64_t repeats, double *ns_each) {
    beside *o = context;
    rotation_timing timing = {o->launch.kernel, repeats};
    return rotation_time(o->rotation, &timing, ns_each, o->st);
}

static json_t *interval(const statistics *s) {
    return json_pack("{s:f, s:f, s:f}", "median", s->median, "low", s->low, "high", s->high);
}

static const char *name_of_ours(const execution *e) {
    backend_id id = implementation_backend((implementation_kind)e->job->implementation_kind);
    return backend_table[backend_beside(id)].name;
}

static void put(execution *e, const pair_result *p) {
    result_put_BESIDE(e->result,
                      json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}", "backend", name_of_ours(e),
                                "profile", e->job->beside, "rounds", (json_int_t)p->ratio.samples,
                                "time_ns", interval(&p->b_ns), "ours_ns", interval(&p->a_ns),
                                "ratio", interval(&p->ratio)));
}

bool execution_beside_take(beside *o, const sample_source *theirs, status *st) {
    pair_result pair;
    if (!o)
        return true;
    o->st = st;
    pair_plan plan = {.least = 7,
                      .most = 15,
                      .budget_ns = o->e->job->quick ? 60000000 : 400000000,
                      .warm_up_ns = o->e->job->quick ? 3000000 : 20000000,
                      .hopeless = 1e9};
    if (!open_rotation(o, (uint32_t)theirs->multiple))
        return false;
    const sample_source own = {
        .group = time_ours, .context = o, .group_ns = theirs->group_ns, .multiple = o->sets};
    bool ok = pair_take(&plan, &own, theirs, &pair);
    if (ok)
        put(o->e, &pair);
    return ok;
}

beside *execution_beside_open(execution *e) {
    if (!e->class->foreign || !e->job->beside)
        return NULL;
    beside *o = base_calloc(1, sizeof *o);
    o->e = e;
    if (open_launch(o))
        return o;
    execution_beside_close(o);
    return NULL;
}

void execution_beside_close(beside *o) {
    if (!o)
        return;
    rotation_close(o->rotation);
    launch_close(&o->launch);
    compiler_artifact_release(&o->artifact);
    for (int set = 0; set < SETS; set++)
        free(o->inputs[set]);
    free(o);
}
