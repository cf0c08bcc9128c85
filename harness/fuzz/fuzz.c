/* fuzz.c - the loop: generate, run every way down, shrink and pack what fails, count. */
#include "fuzz/fuzz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "case/backend.h"
#include "common/command_line.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host/host.h"
#include "fuzz/generate.h"
#include "fuzz/shrink.h"
#include "fuzz/tally.h"
#include "fuzz/trial.h"
#include "job/result.h"
#include "report/progress.h"
#include "run/failures.h"
#include "run/pack_case.h"

enum { SHRINK_ATTEMPTS = 600, SAVE_EVERY = 50 };

typedef struct fuzz_state {
    const fuzz_request *request;
    worker worker;
    trial_way ways[TRIAL_WAYS_MAX]; /* the first `always` are always run, the others in turn */
    uint32_t way_count, always;
    tally tally;
    uint64_t tried;      /* kernels, by this run */
    uint64_t uncompared; /* ... that no way took, */
    text why;            /* ... and what the last one said */
    json_t *failed;
    uint64_t started_ns;
    bool shown; /* stderr is a terminal */
} fuzz_state;

/* ---- the ways down ---- */

static void add_way(fuzz_state *f, trial_way way) {
    way.inject = f->request->choice->fault;
    /* Program instances that are written out one by one have limited room, and a dispatch of a
     * program can have more operands than a kernel. */
    way.may_refuse = f->request->family != FUZZ_TENSORS;
    if (f->way_count < TRIAL_WAYS_MAX)
        f->ways[f->way_count++] = way;
}

/* Unoptimised code contracts like the other, so where bits are free it has nothing to add. */
static void add_backend(fuzz_state *f, const backend *b, compiler_profile profile) {
    const job_choice *c = f->request->choice;
    const char *name = compiler_profile_name(profile);
    uint32_t most = c->threads[c->thread_count - 1];
    if (!backend_honours(b, name))
        return;
    bool meaning = (f->request->family == FUZZ_TILES || f->request->family == FUZZ_BATCHES) &&
                   profile == PROFILE_STRICT;
    const char *isa = backend_target_for(b, c->isa, c->own[b - backend_table]);
    add_way(f, (trial_way){name, b->name, isa, most, false, false, NULL, meaning, false});
    if (profile == PROFILE_STRICT)
        add_way(f, (trial_way){name, b->name, isa, 1, true, false, NULL, false, false});
}

/* Kernels of tiles and programs have no code for any dimensions. */
static void add_generic(fuzz_state *f, const backend *b) {
    const job_choice *c = f->request->choice;
    const char *name = compiler_profile_name(PROFILE_STRICT),
               *isa = backend_target_for(b, c->isa, c->own[b - backend_table]);
    if (c->profiles[PROFILE_STRICT] && backend_honours(b, name) && b->product &&
        f->request->family == FUZZ_TENSORS)
        add_way(f, (trial_way){name, b->name, isa, c->threads[c->thread_count - 1], false, true,
                               NULL, false, false});
}

static void add_level(fuzz_state *f, const char *level, compiler_profile profile) {
    const job_choice *c = f->request->choice;
    const char *name = compiler_profile_name(profile), *cpu = backend_table[BACKEND_CPU].name;
    add_way(f, (trial_way){name, cpu, level, 1, false, false, NULL, false, false});
    uint32_t most = c->threads[c->thread_count - 1];
    if (profile == PROFILE_STRICT)
        add_way(f, (trial_way){name, cpu, level, most, true, false, NULL, false, false});
}

static void list_ways(fuzz_state *f) {
    const job_choice *c = f->request->choice;
    const char *level;
    for (int id = 0; id < BACKEND_COUNT; id++)
        for (int p = 0; p < PROFILE_COUNT; p++)
            if (c->backends[id] && backend_is_compiled(&backend_table[id]) && c->profiles[p])
                add_backend(f, &backend_table[id], (compiler_profile)p);
    if (c->backends[BACKEND_CPU])
        add_generic(f, &backend_table[BACKEND_CPU]);
    f->always = f->way_count;
    for (int id = 0; id < BACKEND_COUNT; id++)
        if (c->backends[id] && backend_is_compiled(&backend_table[id]) && *backend_table[id].target)
            add_generic(f, &backend_table[id]);
    for (size_t i = 0; c->backends[BACKEND_CPU] && !c->isa && (level = host_isa_level(i)); i++)
        for (int p = 0; p < PROFILE_COUNT; p++)
            if (host_isa_supports(level) && strcmp(level, host_isa()) != 0 && c->profiles[p])
                add_level(f, level, (compiler_profile)p);
}

/* ---- a failure ---- */

typedef struct failure {
    fuzz_state *f;
    const trial_way *way;
    const char *outcome; /* of the first one */
} failure;

/* The generator of each family, and its name in the counts. */
static const struct family {
    void (*generate)(choices *c, text *source);
    const char *name;
} families[] = {[FUZZ_TENSORS] = {fuzz_generate, ""},
                [FUZZ_TILES] = {fuzz_generate_tiles, "tiles"},
                [FUZZ_PROGRAMS] = {fuzz_generate_programs, "programs"},
                [FUZZ_BATCHES] = {fuzz_generate_batches, "batches"},
                [FUZZ_DERIVATIVES] = {fuzz_generate_derivatives, "derivatives"}};

static void generate(const fuzz_state *f, const choice_list *given, text *source) {
    choices c;
    choices_replay(&c, given);
    families[f->request->family].generate(&c, source);
    choices_release(&c);
}

static bool fails_alike(void *context, const choice_list *candidate) {
    failure *x = context;
    text source;
    text_init(&source);
    generate(x->f, candidate, &source);
    json_t *result = trial_run(&x->f->worker, x->way, source.data, x->f->request->choice->seed);
    bool alike = result && strcmp(result_text(result, RESULT_STATUS), x->outcome) == 0;
    json_decref(result);
    text_release(&source);
    return alike && !interrupt_seen;
}

static void write_source(const fuzz_state *f, uint64_t number, const text *source, text *path) {
    status st = STATUS_INIT;
    const char *folder = f->request->failures ? f->request->failures : FAILURES_FOLDER;
    text_printf(path, "%s/fuzz-%" PRIu64 "-%" PRIu64 ".tsr", folder, f->request->choice->seed,
                number);
    if (!file_make_dirs(folder, &st) ||
        !file_write_atomic(path->data, source->data, source->length, &st))
        say(stderr, "tsr: %s\n", st.message);
    else if (!f->request->failures)
        failures_trim(FAILURES_FOLDER, path->data, FAILURES_KEPT, FAILURES_KEPT_BYTES);
}

/* False: interrupted. */
static bool pack(const fuzz_state *f, const trial_way *way, const text *source,
                 const json_t *result, text *path) {
    const job_choice *c = f->request->choice;
    status st = STATUS_INIT;
    job j = trial_job(way, source->data, c->seed);
    pack_request request = {.job = &j,
                            .result = result,
                            .stage = f->worker.stage,
                            .failures = f->request->failures,
                            .timeout_seconds = c->timeout_seconds,
                            .memory_mib = c->memory_mib};
    if (!pack_case(&request, path, &st) && st.code != STATUS_INTERRUPTED)
        say(stderr, "tsr: the kernel is not packed: %s\n", st.message);
    return st.code != STATUS_INTERRUPTED;
}

static void describe_way(const trial_way *way, text *out) {
    bool strict = strcmp(way->profile, "strict") == 0;
    text_printf(out, "%s%s%s%s%s, %u thread%s%s", way->backend, way->isa ? " " : "",
                way->isa ? way->isa : "", strict ? "" : ", ", strict ? "" : way->profile,
                way->threads, way->threads == 1 ? "" : "s",
                way->unoptimised ? ", unoptimised"
                : way->generic   ? ", for any dimensions"
                                 : "");
}

/* A failure as it was shrunk. */
typedef struct shrunk {
    const char *outcome; /* of the first failure */
    uint32_t attempts;
    const json_t *result;
    text source, path, packed, how;
} shrunk;

static void tell_shrunk(fuzz_state *f, const shrunk *s) {
    FILE *out = f->request->json ? stderr : stdout;
    const char *why = result_text(s->result, RESULT_WHY);
    say(out, "kernel %" PRIu64 " of seed %" PRIu64 ", %s: %s: %s\nshrunk in %u runs to %s:\n\n",
        f->tally.next, f->request->choice->seed, s->how.data, s->outcome, why, s->attempts,
        s->path.data);
    say_text(out, s->source.data);
    say(out, "\n");
    text word;
    text_init(&word);
    if (s->packed.length)
        say(out, "%s\n", command_line_replay(&word, s->packed.data, false));
    text_release(&word);
    fflush(stdout);
    json_array_append_new(
        f->failed, json_pack("{s:I, s:s, s:s, s:s, s:o, s:o}", "number", (json_int_t)f->tally.next,
                             "status", s->outcome, "why", why, "way", s->how.data, "source",
                             json_text(s->path.data), "pack", json_text(s->packed.data)));
}

/* Shrinks what was made, runs the result once more, and tells. False: interrupted, and nothing was
 * told: the kernel is tried again by the next run. */
static bool tell_failure(fuzz_state *f, const trial_way *way, choice_list *made,
                         const json_t *first) {
    failure x = {f, way, result_text(first, RESULT_STATUS)};
    shrunk s = {.outcome = x.outcome,
                .attempts = shrink_choices(made, fails_alike, &x, SHRINK_ATTEMPTS)};
    text_init(&s.source);
    text_init(&s.path);
    text_init(&s.packed);
    text_init(&s.how);
    generate(f, made, &s.source);
    describe_way(way, &s.how);
    json_t *result = trial_run(&f->worker, way, s.source.data, f->request->choice->seed);
    s.result = result;
    bool ok = result && pack(f, way, &s.source, result, &s.packed);
    if (ok) {
        write_source(f, f->tally.next, &s.source, &s.path);
        tell_shrunk(f, &s);
    }
    json_decref(result);
    text_release(&s.source);
    text_release(&s.path);
    text_release(&s.packed);
    text_release(&s.how);
    return ok;
}

/* ---- one kernel ---- */

/* False when interrupted. */
static bool try_kernel(fuzz_state *f) {
    choices c;
    text source;
    bool ok = true, failed = false;
    choices_draw(&c, f->request->choice->seed, f->tally.next);
    text_init(&source);
    families[f->request->family].generate(&c, &source);
    uint32_t others = f->way_count - f->always, compared = 0;
    for (uint32_t i = 0; i < f->way_count && ok && !failed; i++) {
        if (i >= f->always && (f->tally.next % others) + f->always != i)
            continue;
        json_t *result = trial_run(&f->worker, &f->ways[i], source.data, f->request->choice->seed);
        ok = result != NULL;
        compared += ok && trial_compared(result);
        failed = ok && trial_failed(&f->ways[i], result);
        if (ok && !trial_compared(result)) {
            text_clear(&f->why);
            text_append(&f->why, result_text(result, RESULT_WHY));
        }
        if (failed)
            ok = tell_failure(f, &f->ways[i], &c.made, result);
        json_decref(result);
    }
    f->tally.runs += compared;
    f->tally.kernels += ok && !failed && compared > 0;
    f->uncompared += ok && !failed && compared == 0;
    f->tally.failures += ok && failed;
    f->tally.next += ok;
    text_release(&source);
    choices_release(&c);
    return ok;
}

static void show_progress(const fuzz_state *f) {
    double passed_s = (double)(timer_now_ns() - f->started_ns) * 1e-9;
    if (!f->shown)
        return;
    text line;
    text_init(&line);
    text_printf(&line, "%" PRIu64 " kernels, %" PRIu64 " runs, %" PRIu64 " failures; %.0f s left",
                f->tally.kernels, f->tally.runs, f->tally.failures,
                (double)f->request->time_ns * 1e-9 - passed_s);
    progress_draw(&line);
    text_release(&line);
}

static bool time_is_up(const fuzz_state *f) {
    return interrupt_seen || timer_now_ns() - f->started_ns > f->request->time_ns;
}

/* Skips kernels of other shards: of N shards each has every Nth. False: there are no more. */
static bool find_next(fuzz_state *f, uint64_t end) {
    const shard_name *shard = &f->request->shard;
    while (f->tally.next < end && f->tally.next % shard->of != shard->index - 1)
        f->tally.next++;
    return f->tally.next < end;
}

static bool loop(fuzz_state *f, status *st) {
    uint64_t end = f->request->kernels ? f->tally.next + f->request->kernels : UINT64_MAX,
             tried = 0;
    bool ok = true;
    while (ok && !time_is_up(f) && find_next(f, end) && try_kernel(f)) {
        if (++tried % SAVE_EVERY == 0)
            ok = tally_write(f->request->tally, &f->tally, st);
        show_progress(f);
    }
    f->tried = tried;
    if (f->shown)
        say(stderr, "\r\033[K");
    return ok && tally_write(f->request->tally, &f->tally, st);
}

static bool report(const fuzz_state *f, uint64_t before, status *st) {
    uint64_t kernels, failures;
    if (!tally_total(f->request->tally, f->tally.profiles, &kernels, &failures, st))
        return false;
    uint64_t now = f->tried;
    if (f->request->json) {
        json_t *document = json_pack(
            "{s:s, s:I, s:s, s:I, s:I, s:I, s:O, s:I, s:I, s:I}", "schema", "tsr.fuzz-report/1",
            "seed", (json_int_t)f->tally.seed, "profiles", f->tally.profiles, "first",
            (json_int_t)before, "kernels", (json_int_t)now, "uncompared", (json_int_t)f->uncompared,
            "failed", f->failed, "seed_kernels", (json_int_t)f->tally.kernels, "total_kernels",
            (json_int_t)kernels, "total_failures", (json_int_t)failures);
        if (interrupt_seen)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 0);
        json_decref(document);
        return true;
    }
    if (f->uncompared)
        say(stdout, "%" PRIu64 " of %" PRIu64 " kernels were not compared; the last: %s\n",
            f->uncompared, now, f->why.data);
    say(stdout,
        "seed %" PRIu64 ", %s: kernels %" PRIu64 " to %" PRIu64 ": %zu failed\n"
        "all such runs of this build: %" PRIu64 " kernels without a difference, %" PRIu64
        " failed; counted in %s\n",
        f->tally.seed, f->tally.profiles, before, f->tally.next, json_array_size(f->failed),
        kernels, failures, f->request->tally);
    return true;
}

/* "strict,fast"; of tiles "tiles,strict"; of a shard "strict,2/3", which gets as far as it gets */
static void name_profiles(const fuzz_request *q, char out[TALLY_PROFILES_BYTES]) {
    const job_choice *c = q->choice;
    size_t at = (size_t)snprintf(out, TALLY_PROFILES_BYTES, "%s", families[q->family].name);
    for (int p = 0; p < PROFILE_COUNT; p++)
        if (c->profiles[p])
            at += (size_t)snprintf(out + at, TALLY_PROFILES_BYTES - at, "%s%s", at ? "," : "",
                                   compiler_profile_name((compiler_profile)p));
    if (q->shard.of > 1)
        snprintf(out + at, TALLY_PROFILES_BYTES - at, ",%u/%u", q->shard.index, q->shard.of);
}

int fuzz_run(const fuzz_request *request) {
    status st = STATUS_INIT;
    fuzz_state f = {
        .request = request, .failed = json_array(), .shown = isatty(STDERR_FILENO) == 1};
    f.started_ns = timer_now_ns();
    text_init(&f.why);
    list_ways(&f);
    interrupt_watch();
    worker_init(&f.worker, request->choice->timeout_seconds, request->choice->memory_mib,
                &interrupt_seen);
    char profiles[TALLY_PROFILES_BYTES];
    name_profiles(request, profiles);
    bool ok = tally_read(request->tally, request->choice->seed, profiles, &f.tally, &st);
    uint64_t before = f.tally.next, failures_before = f.tally.failures;
    ok = ok && loop(&f, &st);
    if (!interrupt_settle())
        say(stderr, "tsr: interrupted: the same command goes on with the next kernel\n");
    ok = ok && report(&f, before, &st);
    worker_stop(&f.worker);
    exit_code code = interrupt_seen                            ? EXIT_INTERRUPTED
                     : f.tally.failures > failures_before      ? EXIT_CHECK
                     : f.uncompared && f.uncompared == f.tried ? EXIT_NO_VERDICT
                                                               : EXIT_DONE;
    json_decref(f.failed);
    text_release(&f.why);
    if (!ok) {
        say(stderr, "tsr: %s\n", st.message);
        code = exit_code_worse(code, exit_code_of_status(st.code));
    }
    return (int)code;
}

void fuzz_show(uint64_t seed, uint64_t number, fuzz_family family) {
    choices c;
    text source;
    text_init(&source);
    choices_draw(&c, seed, number);
    families[family].generate(&c, &source);
    say_data(stdout, source.data, source.length);
    choices_release(&c);
    text_release(&source);
}
