/* implementations.c - see implementations.h. */
#include "fuzz/implementations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/splitmix64.h"
#include "common/command_line.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "exec/worker.h"
#include "fuzz/drawn_case.h"
#include "job/result.h"
#include "run/pack_case.h"

enum { SHRINKS_MAX = 150, DRAWS_IN_VAIN = 200 };

/* A function under a profile. */
typedef struct target {
    size_t first, end; /* the kernel's cases in the corpus */
    const implementation *with;
    const char *symbol, *profile;
    uint64_t random, drawn, in_vain;
    bool done;
} target;

typedef struct fuzz_state {
    const fuzz_implementations_request *request;
    worker worker;
    VEC(target) targets;
    uint64_t compared, unsupported, unverified, unjudged;
    json_t *failed;
    uint64_t started_ns;
    bool shown; /* stderr is a terminal */
} fuzz_state;

/* ---- what is tried ---- */

static uint64_t hash(uint64_t from, const char *word) {
    for (; *word; word++)
        from = (from ^ (uint8_t)*word) * UINT64_C(1099511628211);
    return from;
}

static void add_target(fuzz_state *f, size_t first, size_t end, const implementation *with,
                       const char *symbol, const char *profile) {
    const char *kernel = f->request->corpus->cases.items[first].kernel->name;
    uint64_t random = hash(hash(hash(f->request->choice->seed, kernel), with->name), profile);
    vec_push(&f->targets, ((target){first, end, with, symbol, profile, random, 0, 0, false}));
}

static void add_kernel(fuzz_state *f, size_t first, size_t end, bool lone) {
    const job_choice *c = f->request->choice;
    const char *kernel = f->request->corpus->cases.items[first].kernel->name;
    for (uint32_t i = 0; i < c->implementation_count; i++) {
        const char *symbol = implementation_symbol(&c->implementations[i], kernel, lone);
        for (int p = 0; p < PROFILE_COUNT && symbol; p++)
            if (c->profiles_by_name ? c->profiles[p] : p == PROFILE_FAST)
                add_target(f, first, end, &c->implementations[i], symbol,
                           compiler_profile_name((compiler_profile)p));
    }
}

static void list_targets(fuzz_state *f) {
    const corpus *c = f->request->corpus;
    bool lone = corpus_is_of_one_kernel(c);
    for (size_t i = 0, end; i < c->cases.count; i = end) {
        for (end = i;
             end < c->cases.count && c->cases.items[end].kernel == c->cases.items[i].kernel;)
            end++;
        add_kernel(f, i, end, lone);
    }
}

/* ---- one case ---- */

static job job_of(const fuzz_state *f, const target *t, const drawn_case *d, const char *source) {
    const job_choice *c = f->request->choice;
    return (job){.path = d->kernel->path,
                 .kernel = d->kernel->name,
                 .case_name = DRAWN_CASE,
                 .line = d->kernel->line,
                 .backend = t->with->name,
                 .implementation = t->with->path,
                 .implementation_kind = (uint32_t)t->with->kind,
                 .implementation_symbol = t->symbol,
                 .profile = t->profile,
                 .threads = c->threads[c->thread_count - 1],
                 .seed = d->seed,
                 .quick = true,
                 .source = source,
                 .mode = JOB_CONTROL};
}

/* NULL: interrupted, or no case of the kernel. */
static json_t *run_case(fuzz_state *f, const target *t, const drawn_case *d) {
    text source;
    status ignored = STATUS_INIT;
    json_t *result = NULL;
    text_init(&source);
    if (drawn_case_source(d, &source, &ignored) && drawn_case_fits(d, &source)) {
        job j = job_of(f, t, d, source.data);
        result = worker_run(&f->worker, &j);
    }
    text_release(&source);
    return result;
}

/* A request that the kernel cannot make is no failure of the code that it is asked of. */
static bool is_asked_for(const json_t *result) {
    const json_t *key = result_get(result, RESULT_CASE_KEY);
    bool opened = key && !json_is_null(key);
    return opened || result_outcome(result) != OUTCOME_ERROR;
}

/* Step by step as long as it fails in the same way. */
static uint32_t shrink(fuzz_state *f, const target *t, drawn_case *d, job_outcome wanted) {
    uint32_t runs = 0;
    drawn_case smaller;
    for (uint32_t step = 0; drawn_case_smaller(d, step, &smaller) && runs < SHRINKS_MAX;) {
        bool alike = memcmp(&smaller, d, sizeof smaller) == 0;
        json_t *result = alike || interrupt_seen ? NULL : run_case(f, t, &smaller);
        bool kept = result && is_asked_for(result) && result_outcome(result) == wanted;
        runs += !alike;
        json_decref(result);
        if (kept)
            *d = smaller;
        step = kept ? 0 : step + 1;
    }
    return runs;
}

/* ---- a failure ---- */

static void pack(fuzz_state *f, const target *t, const drawn_case *d, const json_t *result,
                 text *path) {
    const job_choice *c = f->request->choice;
    status st = STATUS_INIT;
    text source;
    text_init(&source);
    if (drawn_case_source(d, &source, &st)) {
        job j = job_of(f, t, d, source.data);
        pack_request request = {.job = &j,
                                .result = result,
                                .stage = f->worker.stage,
                                .failures = f->request->failures,
                                .timeout_seconds = c->timeout_seconds,
                                .memory_mib = c->memory_mib};
        (void)pack_case(&request, path, &st);
    }
    if (st.code != STATUS_OK && st.code != STATUS_INTERRUPTED)
        say(stderr, "tsr: the case is not packed: %s\n", st.message);
    text_release(&source);
}

static void tell_failure(fuzz_state *f, const target *t, drawn_case *d, const json_t *first) {
    FILE *out = f->request->json ? stderr : stdout;
    text words, path;
    text_init(&words);
    text_init(&path);
    uint32_t runs = shrink(f, t, d, result_outcome(first));
    json_t *result = run_case(f, t, d);
    if (result) {
        drawn_case_words(d, &words);
        pack(f, t, d, result, &path);
        say(out, "%s on %s, %s: %s: %s\nshrunk in %u runs to, with --seed %" PRIu64 ":\n    %s\n",
            d->kernel->name, t->with->name, t->profile, result_text(result, RESULT_STATUS),
            result_text(result, RESULT_WHY), runs, d->seed, words.data);
        text word;
        text_init(&word);
        if (path.length)
            say(out, "%s\n", command_line_replay(&word, path.data, true));
        text_release(&word);
        json_array_append_new(
            f->failed, json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:I, s:o}", "kernel",
                                 d->kernel->name, "column", json_text(t->with->name), "profile",
                                 t->profile, "status", result_text(result, RESULT_STATUS), "why",
                                 json_text(result_text(result, RESULT_WHY)), "case",
                                 json_text(words.data), "seed", (json_int_t)d->seed, "pack",
                                 path.length ? json_text(path.data) : json_null()));
    }
    json_decref(result);
    text_release(&words);
    text_release(&path);
}

/* ---- the loop ---- */

static bool time_is_up(const fuzz_state *f) {
    return interrupt_seen || timer_now_ns() - f->started_ns > f->request->time_ns;
}

static void count(fuzz_state *f, const json_t *result) {
    job_outcome o = result_outcome(result);
    f->unsupported += o == OUTCOME_UNSUPPORTED;
    f->unjudged += o == OUTCOME_UNJUDGED;
    f->compared += o == OUTCOME_OK && strcmp(result_text(result, RESULT_AGAINST), "none") != 0;
    f->unverified += o == OUTCOME_OK && strcmp(result_text(result, RESULT_AGAINST), "none") == 0;
}

/* A kernel may have no case of most dimensions. */
static void try_target(fuzz_state *f, target *t) {
    const corpus *c = f->request->corpus;
    drawn_case d;
    const corpus_case *like =
        &c->cases.items[t->first + splitmix64(&t->random) % (t->end - t->first)];
    json_t *result = drawn_case_draw(&d, like, &t->random) ? run_case(f, t, &d) : NULL;
    if (!result || !is_asked_for(result)) {
        t->done = ++t->in_vain >= DRAWS_IN_VAIN;
    } else {
        t->drawn++;
        count(f, result);
        t->done = f->request->draws && t->drawn >= f->request->draws;
        if (outcome_is_failure(result_outcome(result))) {
            tell_failure(f, t, &d, result);
            t->done = true;
        }
    }
    json_decref(result);
    if (f->shown)
        say(stderr, "\r\033[K%" PRIu64 " cases compared, %zu failed; %s", f->compared,
            json_array_size(f->failed), like->kernel->name);
}

static void try_all(fuzz_state *f) {
    for (bool any = true; any && !time_is_up(f);) {
        any = false;
        for (size_t i = 0; i < f->targets.count && !time_is_up(f); i++) {
            target *t = &f->targets.items[i];
            if (!t->done)
                try_target(f, t);
            any |= !t->done;
        }
    }
    if (f->shown)
        say(stderr, "\r\033[K");
}

static void report(const fuzz_state *f) {
    if (f->request->json) {
        json_t *document = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:O}", "schema", "tsr.fuzz-implementations/1",
            "seed", (json_int_t)f->request->choice->seed, "functions", (json_int_t)f->targets.count,
            "compared", (json_int_t)f->compared, "not_verified", (json_int_t)f->unverified,
            "not_judged", (json_int_t)f->unjudged, "unsupported", (json_int_t)f->unsupported,
            "failed", f->failed);
        if (interrupt_seen)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 0);
        json_decref(document);
        return;
    }
    say(stdout,
        "seed %" PRIu64 ": %zu functions: %" PRIu64 " cases hold, %" PRIu64
        " not verified (no formula), %" PRIu64 " not judged (no bound), %" PRIu64
        " unsupported; %zu functions failed\n",
        f->request->choice->seed, f->targets.count, f->compared, f->unverified, f->unjudged,
        f->unsupported, json_array_size(f->failed));
}

int fuzz_implementations_run(const fuzz_implementations_request *request) {
    const job_choice *c = request->choice;
    fuzz_state f = {.request = request,
                    .failed = json_array(),
                    .started_ns = timer_now_ns(),
                    .shown = isatty(STDERR_FILENO) == 1};
    list_targets(&f);
    interrupt_watch();
    worker_init(&f.worker, c->timeout_seconds, c->memory_mib, &interrupt_seen);
    try_all(&f);
    worker_stop(&f.worker);
    if (!interrupt_settle())
        say(stderr, "tsr: interrupted: no more cases were drawn\n");
    report(&f);
    /* A shard may have none of the functions. */
    const bool asked = f.targets.count > 0 || !request->corpus->shard;
    bool none = f.compared + f.unverified == 0 && asked, failed = json_array_size(f.failed) > 0;
    exit_code code = failed ? EXIT_CHECK : none ? EXIT_NO_VERDICT : EXIT_DONE;
    vec_release(&f.targets);
    json_decref(f.failed);
    return (int)(interrupt_seen ? EXIT_INTERRUPTED
                                : exit_code_worse(request->corpus->problem, code));
}
