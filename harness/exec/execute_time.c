/* execute_time.c - times a kernel whose outputs hold: over several sets of inputs in turn, each of
 * which it must first compute right, and in every timed launch again. */
#include <stdlib.h>
#include <string.h>

#include "case/case_sample.h"
#include "check/compare.h"
#include "check/verdict.h"
#include "common/timer.h"
#include "exec/backend_device.h"
#include "exec/execution.h"
#include "job/result.h"
#include "measure/cache_size.h"
#include "measure/rotation.h"
#include "measure/sample.h"
#include "statistics/statistics.h"

enum { SETS_MOST = 4, SETS_LARGE = 2, HELD = 1, CACHE_LEVELS = 3, AWAKEN_NS = 40000 };
/* A part of code in another process begins and ends some hundred nanoseconds late, and what was
 * looked at in between lies in the caches of another core. */
enum { GUEST_GROUP_NS = 5000000, GUEST_GROUP_QUICK_NS = 500000 };

static uint64_t group_ns_of(const execution *e) {
    return !execution_has_guest(e) ? 0 : e->job->quick ? GUEST_GROUP_QUICK_NS : GUEST_GROUP_NS;
}
static const uint64_t sets_bytes_most = UINT64_C(2) << 30;

/* The kernel under way with its sets. */
typedef struct timed {
    execution *e;
    status *st;
    rotation *rotation;
    uint32_t sets, held; /* that rotate; and after them, those that no launch has before the end */
    launch plain;        /* unoptimised code of the same kernel; large cases */
    compiler_artifact plain_artifact;
    uint64_t *digests[SETS_MOST + HELD];
    const void **inputs[SETS_MOST + HELD];
    bool judged;          /* what is held back has no digests, but bounds */
    case_context *others; /* of all sets but the first */
    beside *beside;       /* ours, of an implementation */
    bool counting, cold;  /* launches are counted; find their arrays in no cache */
} timed;

/* ---- how many sets ---- */

static int cache_level_of(uint64_t bytes) {
    int level = 1;
    while (level <= CACHE_LEVELS && bytes > cache_size(level))
        level++;
    return level;
}

/* As many as the level of the memory holds that holds one; at least two where memory allows. */
static uint32_t choose_sets(const execution *e) {
    uint64_t bytes = launch_bytes(&e->launch);
    /* Arrays that were given are what is to be timed. */
    if (2 * bytes > sets_bytes_most || e->job->inputs)
        return 1;
    if (e->context->c->large || case_sample_applies(e->context))
        return SETS_LARGE;
    uint32_t sets = SETS_MOST;
    while (sets > 3 && cache_level_of(sets * bytes) > cache_level_of(bytes))
        sets--;
    return sets;
}

/* Interpreter and reference would take long, and cannot be had in part. */
static bool is_slow(case_context *s) {
    return s->c->large && !case_sample_applies(s);
}

static bool has_formula(const execution *e) {
    return !compiler_instance_is_contract(e->context->instance);
}

/* Holds none back where references are slow, under a profile that has other bits; without a formula
 * nobody knows what it would have to give. */
static uint32_t choose_held(const execution *e, uint32_t sets) {
    bool slow = is_slow(e->context) && e->profile != PROFILE_STRICT;
    return sets > 1 && !slow && has_formula(e) ? HELD : 0;
}

static case_context *case_context_of(const timed *t, uint32_t set) {
    return set ? &t->others[set - 1] : t->e->context;
}

/* ---- what the sets must give ---- */

static void keep_digests(timed *t, uint32_t set, const tensor *outputs) {
    for (uint32_t i = 0; i < t->e->launch.output_count; i++)
        t->digests[set][i] = rotation_digest(outputs[i].data, tensor_bytes(&outputs[i]));
}

static bool compute(timed *t, launch *l, const case_context *s, tensor *outputs) {
    return launch_write_inputs(l, s->inputs, t->st) && launch_poison_outputs(l, t->st) &&
           launch_run(l, t->st) && launch_read_outputs(l, &s->signature, outputs, t->st);
}

/* Against the interpreter, and under the weaker profiles against the bound. */
static bool judge(timed *t, uint32_t set, case_context *s, const tensor *outputs) {
    verdict v;
    verdict_request request = {.profile = t->e->profile,
                               .outputs = outputs,
                               .foreign = t->e->class->foreign,
                               .stage = t->e->stage,
                               .context = t->e->stage_context};
    bool ok = verdict_judge(s, &request, &v, t->st);
    if (ok && !v.holds)
        ok = status_set(t->st, STATUS_MISMATCH, "input set %u: %s", set, v.why.data);
    verdict_release(&v);
    return ok;
}

static bool open_plain(timed *t) {
    execution *e = t->e;
    case_context *s = e->context;
    compiler_options options = {.profile = PROFILE_STRICT,
                                .isa = e->class->foreign ? NULL : e->job->isa,
                                .threads = e->job->threads,
                                .unoptimised = 1};
    if (t->plain.kernel)
        return true;
    e->stage(e->stage_context, "compile");
    if (!compiler_build(s->instance, &options, &t->plain_artifact, t->st))
        return false;
    launch_request request = execution_request(e, e->job->threads);
    launch_request_artifact(&request, &t->plain_artifact);
    request.constants = NULL;
    if (e->class->foreign) { /* ours runs on the host, with buffers of its own */
        request.device = 0;
        request.foreign = false;
    } else {
        request.beside = &e->launch;
    }
    return launch_open(&t->plain, &request, t->st);
}

/* Judges each element by its bound, where the strict bits are not promised and not there. */
static bool judge_by_bound(timed *t, uint32_t set, case_context *s, const tensor *outputs) {
    t->e->stage(t->e->stage_context, "reference");
    if (!case_context_reference(s, t->st))
        return false;
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        if (verdict_bound(s, i, &outputs[i]).beyond)
            return status_set(t->st, STATUS_MISMATCH,
                              "input set %u: output %u is not within its error bound", set, i);
    return true;
}

/* A large case, for which the interpreter is too slow: against unoptimised code. */
static bool judge_large(timed *t, uint32_t set, case_context *s, const tensor *outputs) {
    bool same = true;
    if (!open_plain(t))
        return false;
    tensor *plain = tensors_new(s->signature.output_count);
    t->e->stage(t->e->stage_context, "launch");
    bool ok = compute(t, &t->plain, s, plain);
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++)
        same &= compare_bits(&plain[i], &outputs[i]).differing == 0;
    tensors_free(plain);
    if (!ok || same)
        return ok;
    return t->e->profile == PROFILE_STRICT
               ? status_set(t->st, STATUS_MISMATCH,
                            "input set %u has other bits than unoptimised code gives", set)
               : judge_by_bound(t, set, s, outputs);
}

/* Keeps digests of the outputs for the set that failed: the result's own are of the case's own
 * inputs. */
static void put_outputs_of(timed *t, const tensor *outputs) {
    if (!outputs[0].data)
        return;
    result_put_failed_on(t->e->result, t->e->set);
    json_object_set_new(result_get(t->e->result, RESULT_FAILED_ON), "sha256",
                        execution_digests(t->e, outputs));
}

static bool learn_set(timed *t, uint32_t set) {
    case_context *s = &t->others[set - 1];
    tensor *outputs = tensors_new(s->signature.output_count);
    t->e->stage(t->e->stage_context, "launch");
    execution_set(t->e, &s->set);
    bool ok =
        compute(t, &t->e->launch, s, outputs) && (!has_formula(t->e) ? true
                                                  : is_slow(s) ? judge_large(t, set, s, outputs)
                                                               : judge(t, set, s, outputs));
    if (ok)
        keep_digests(t, set, outputs);
    else if (t->st->code == STATUS_MISMATCH)
        put_outputs_of(t, outputs);
    tensors_free(outputs);
    return ok;
}

/* Finds what it must give without the kernel: no launch has seen it. */
static bool foresee_held(timed *t, uint32_t set) {
    case_context *s = &t->others[set - 1];
    t->judged = t->e->profile != PROFILE_STRICT;
    if (t->judged) {
        t->e->stage(t->e->stage_context, "reference");
        return case_context_reference(s, t->st);
    }
    if (!is_slow(s)) {
        t->e->stage(t->e->stage_context, "oracle");
        const tensor *oracle = case_context_oracle(s, t->st);
        if (oracle)
            keep_digests(t, set, oracle);
        return oracle != NULL;
    }
    tensor *plain = tensors_new(s->signature.output_count);
    bool ok = open_plain(t) && compute(t, &t->plain, s, plain);
    if (ok)
        keep_digests(t, set, plain);
    tensors_free(plain);
    return ok;
}

static bool learn_sets(timed *t) {
    uint32_t all = t->sets + t->held;
    t->others = all > 1 ? case_context_others(t->e->context, all - 1, t->st) : NULL;
    keep_digests(t, 0, t->e->outputs);
    bool ok = all == 1 || t->others;
    for (uint32_t set = 1; set < all && ok; set++)
        ok = set < t->sets ? learn_set(t, set) : foresee_held(t, set);
    launch_close(&t->plain);
    compiler_artifact_release(&t->plain_artifact);
    return ok;
}

/* ---- timing ---- */

/* Within the bound: of what is held back that is all that is known, and `fast` may give other bits
 * each time. */
static bool is_within_bound(void *context, uint32_t set, uint32_t output, const void *data) {
    timed *t = context;
    case_context *s = case_context_of(t, set);
    status ignored = STATUS_INIT;
    if (!case_context_reference(s, &ignored))
        return false;
    tensor view = t->e->outputs[output];
    memcpy(&view.data, &data, sizeof data);
    return verdict_bound(s, output, &view).beyond == 0;
}

static void count_inside(void *context, bool begins) {
    timed *t = context;
    if (t->cold && begins)
        rotation_evict(t->rotation);
    if (!t->counting)
        return;
    if (begins)
        counters_resume(&t->e->counters);
    else
        counters_pause(&t->e->counters);
}

static bool open_rotation(timed *t) {
    const launch *l = &t->e->launch;
    rotation_set sets[SETS_MOST + HELD];
    for (uint32_t set = 0; set < t->sets + t->held; set++) {
        for (uint32_t i = 0; i < l->input_count; i++)
            t->inputs[set][i] = case_context_of(t, set)->inputs[i].data;
        bool known = set < t->sets || !t->judged;
        sets[set] = (rotation_set){t->inputs[set], known ? t->digests[set] : NULL};
    }
    rotation_request request = {
        .launch = l,
        .set_count = t->sets + t->held,
        .held_count = t->held,
        .sets = sets,
        .seed = timer_now_ns(),
        .threads = t->e->job->threads,
        .watch = &t->e->watch,
        .awaken_ns = t->e->job->threads > 1 ? AWAKEN_NS : 0,
        .judge = is_within_bound,
        .judge_context = t,
        .accept = t->e->profile == PROFILE_FAST && has_formula(t->e) ? is_within_bound : NULL,
        .accept_context = t,
        .around = count_inside,
        .around_context = t};
    t->rotation = rotation_open(&request, t->st);
    return t->rotation != NULL;
}

static bool time_group(void *context, uint64_t repeats, double *ns_each) {
    timed *t = context;
    rotation_timing timing = {t->e->launch.kernel, repeats};
    return rotation_time(t->rotation, &timing, ns_each, t->st);
}

/* Launches that are counted and not timed: switching counters costs more than a short launch. Of
 * long ones one part is enough. */
static bool count(timed *t, const sample_set *samples) {
    enum { PARTS = 5, LONG_NS = 10000000 };
    const int parts = samples->ns[0] >= LONG_NS ? 1 : PARTS;
    execution *e = t->e;
    counters_values values;
    double ignored;
    if (!backend_device_is_host(e->device))
        return true;
    uint64_t before = rotation_launches(t->rotation);
    t->counting = true;
    counters_start(&e->counters);
    counters_pause(&e->counters);
    bool ok = true;
    for (int i = 0; i < parts && ok; i++)
        ok = time_group(t, samples->repeats, &ignored);
    counters_stop(&e->counters, &values);
    t->counting = false;
    json_t *object = result_get(e->result, RESULT_COUNTERS);
    double launches = (double)(rotation_launches(t->rotation) - before);
    for (int i = 0; i < e->counters.count && ok; i++)
        json_object_set_new(object, e->counters.events[i].name,
                            values.value[i] < 0 ? json_null()
                                                : json_real(values.value[i] / launches));
    return ok;
}

/* Launches one by one, each on arrays that were just taken out of all caches. */
static bool sample_cold(timed *t) {
    enum { LEAST = 7, MOST = 31, BUDGET_NS = 400000000, BUDGET_QUICK_NS = 50000000 };
    execution *e = t->e;
    double ns[MOST];
    size_t count = 0;
    bool ok = true, seen = backend_device_is_host(e->device) || execution_has_guest(e);
    const uint64_t start = timer_now_ns(), budget = e->job->quick ? BUDGET_QUICK_NS : BUDGET_NS;
    if (!e->job->cold || !seen)
        return true;
    t->cold = true;
    while (ok && count < MOST && (count < LEAST || timer_now_ns() - start < budget))
        ok = time_group(t, 1, &ns[count++]);
    t->cold = false;
    if (!ok)
        return false;
    statistics s = statistics_of(ns, count);
    result_put_COLD(e->result, json_pack("{s:f, s:f, s:f, s:I}", "median", s.median, "low", s.low,
                                         "high", s.high, "samples", (json_int_t)s.samples));
    return true;
}

void execution_put_times(execution *e, const sample_set *samples) {
    double sorted[SAMPLE_MAX];
    memcpy(sorted, samples->ns, samples->count * sizeof sorted[0]);
    statistics t = statistics_of(sorted, samples->count);
    result_put_MEDIAN(e->result, t.median);
    result_put_LOW(e->result, t.low);
    result_put_HIGH(e->result, t.high);
    result_put_CONFIDENCE(e->result, t.confidence);
    result_put_SAMPLES(e->result, (int64_t)t.samples);
    result_put_MIN(e->result, t.minimum);
    result_put_IQR(e->result, t.interquartile);
    result_put_P95(e->result, t.p95);
    double ns = t.median > 0 ? t.median : 1;
    result_put_GFLOPS(e->result, (double)e->context->flops / ns);
    result_put_GBPS(e->result, (double)e->context->bytes / ns);
    json_t *list = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(list, json_real(samples->ns[i]));
    internal_put_SAMPLES(e->result, list);
}

/* All sets lie in the caches while launches are timed together. A launch timed alone finds its own
 * as near as the checks before it left it. */
static void put_sets(const timed *t, uint64_t repeats) {
    const execution *e = t->e;
    uint64_t working_set = e->context->working_set_bytes * (repeats > 1 ? t->sets : 1);
    result_put_INPUT_SETS(e->result, t->sets);
    internal_put_WORKING_SET(e->result, (int64_t)working_set);
    internal_put_OWN_MEMORY(e->result,
                            !backend_device_is_host(e->device) && !execution_has_guest(e));
}

/* The set on which a timed launch failed; of a mismatch, what the kernel gives for it once more,
 * where it is wrong again. */
static void note_failed_set(timed *t) {
    int set = t->rotation ? rotation_failed_set(t->rotation) : -1;
    status why = STATUS_INIT, *own = t->st;
    if (set < 0)
        return;
    case_context *s = case_context_of(t, (uint32_t)set);
    execution_set(t->e, &s->set);
    if (own->code != STATUS_MISMATCH || is_slow(s) || !has_formula(t->e))
        return;
    tensor *outputs = tensors_new(s->signature.output_count);
    t->st = &why;
    if (compute(t, &t->e->launch, s, outputs) && !judge(t, (uint32_t)set, s, outputs) &&
        why.code == STATUS_MISMATCH)
        put_outputs_of(t, outputs);
    tensors_free(outputs);
    t->st = own;
}

static bool sample(timed *t) {
    execution *e = t->e;
    sample_plan plan = sample_plan_for(e->job->quick);
    sample_set samples;
    e->stage(e->stage_context, "time");
    uint64_t start = timer_now_ns();
    const sample_source source = {
        .group = time_group, .context = t, .group_ns = group_ns_of(e), .multiple = t->sets};
    execution_set(e, NULL);
    bool ok = sample_take(&plan, &source, &samples) && count(t, &samples) && sample_cold(t) &&
              rotation_check_unseen(t->rotation, e->launch.kernel, t->st) &&
              execution_beside_take(t->beside, &source, t->st);
    rotation_timing timing = {e->launch.kernel, samples.repeats};
    if (ok && t->held)
        execution_set(e, &case_context_of(t, t->sets)->set);
    if (!ok || !rotation_finish(t->rotation, &timing, t->st)) {
        note_failed_set(t);
        return false;
    }
    execution_set(e, NULL);
    execution_put_times(e, &samples);
    put_sets(t, samples.repeats);
    internal_put_TIMED_NS(e->result, (int64_t)(timer_now_ns() - start));
    e->stage(e->stage_context, "close");
    return true;
}

static void make_room(timed *t) {
    const launch *l = &t->e->launch;
    for (uint32_t set = 0; set < t->sets + t->held; set++) {
        t->digests[set] = base_calloc((size_t)l->output_count + 1, sizeof **t->digests);
        t->inputs[set] = base_calloc((size_t)l->input_count + 1, sizeof **t->inputs);
    }
}

bool execution_time(execution *e, status *st) {
    timed t = {.e = e, .st = st, .sets = choose_sets(e)};
    t.held = choose_held(e, t.sets);
    make_room(&t);
    bool ok = learn_sets(&t);
    t.beside = ok ? execution_beside_open(e) : NULL;
    ok = ok && open_rotation(&t) && sample(&t);
    rotation_close(t.rotation);
    execution_beside_close(t.beside);
    for (uint32_t set = 0; set < t.sets + t.held; set++) {
        free(t.digests[set]);
        free(t.inputs[set]);
    }
    if (ok || st->code != STATUS_MISMATCH)
        return ok;
    result_set_outcome(e->result, OUTCOME_MISMATCH, st->message, EXIT_CHECK);
    e->mismatch = true;
    return true;
}
