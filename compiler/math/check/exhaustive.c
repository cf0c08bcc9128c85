/* exhaustive.c - threads take units of inputs; each finished unit is merged and written down. */
#include "math/check/exhaustive.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/thread.h"
#include "math/check/code.h"
#include "math/check/compiled.h"
#include "math/check/progress.h"
#include "target/interp/functions.h"
#include "target/target.h"

enum { MAX_THREADS = 64, MAX_LEVELS = 8 };

static_assert((int)JUDGE_COUNT == (int)COMPILED_COUNT, "a launch is a block");

typedef struct run {
    const exhaustive_job *job;
    const exact_function *exact;
    pthread_mutex_t lock; /* of all that follows */
    progress_state state;
    uint32_t next; /* unit */
    progress progress;
    status failure;
} run;

typedef struct worker {
    run *run;
    compiled levels[MAX_LEVELS];
    uint32_t level_count;
    exact_judge judge;
    pthread_t thread;
} worker;

/* ---- one unit ---- */

static uint64_t count_differing(const float *compiled_out, const uint32_t *expected) {
    static _Thread_local uint32_t bits[COMPILED_COUNT];
    uint64_t count = 0;
    if (memcmp(compiled_out, expected, sizeof bits) == 0)
        return 0;
    memcpy(bits, compiled_out, sizeof bits);
    for (uint32_t i = 0; i < COMPILED_COUNT; i++)
        count += bits[i] != expected[i];
    return count;
}

static bool try_block(worker *w, uint32_t base, tally *found) {
    static _Thread_local uint32_t bits[COMPILED_COUNT];
    static _Thread_local float in[COMPILED_COUNT], out[COMPILED_COUNT];
    for (uint32_t i = 0; i < COMPILED_COUNT; i++)
        bits[i] = base + i;
    memcpy(in, bits, sizeof in);
    function_apply(w->run->job->set, w->run->job->function, out, in, COMPILED_COUNT);
    memcpy(bits, out, sizeof bits);
    for (uint32_t i = 0; i < COMPILED_COUNT; i++)
        bits[i] = (bits[i] & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits[i];
    for (uint32_t l = 0; l < w->level_count; l++) {
        memcpy(w->levels[l].in, in, sizeof in);
        if (!compiled_run(&w->levels[l]))
            return false;
        found->differing += count_differing(w->levels[l].out, bits);
    }
    judge_block(found, &w->judge, base, out);
    return true;
}

static bool try_unit(worker *w, uint32_t unit, tally *found) {
    const uint64_t size = (1ull << 32) / STATE_UNITS;
    for (uint64_t i = 0; i < size; i += COMPILED_COUNT)
        if (!try_block(w, (uint32_t)(unit * size + i), found))
            return false;
    return true;
}

/* ---- threads ---- */

static uint32_t take_unit(run *r) {
    pthread_mutex_lock(&r->lock);
    while (r->next < STATE_UNITS && r->state.done[r->next])
        r->next++;
    uint32_t unit = r->failure.code ? STATE_UNITS : r->next++;
    pthread_mutex_unlock(&r->lock);
    return unit;
}

static void finish_unit(run *r, uint32_t unit, const tally *found) {
    pthread_mutex_lock(&r->lock);
    tally_merge(&r->state.all, found);
    r->state.done[unit] = 1;
    state_save(&r->state, r->job->state_path, &r->failure);
    progress_show(&r->progress, state_done(&r->state));
    pthread_mutex_unlock(&r->lock);
}

static void fail(run *r, status_code code, const char *what) {
    pthread_mutex_lock(&r->lock);
    status_set(&r->failure, code, "%s", what);
    pthread_mutex_unlock(&r->lock);
}

static void *work(void *context) {
    worker *w = context;
    exact_init(&w->judge, w->run->exact);
    for (uint32_t unit; (unit = take_unit(w->run)) < STATE_UNITS;) {
        tally found = {0};
        if (try_unit(w, unit, &found))
            finish_unit(w->run, unit, &found);
        else
            fail(w->run, STATUS_UNAVAILABLE, tsrGetLastError());
    }
    exact_release(&w->judge);
    return NULL;
}

/* ---- a run ---- */

/* Compiled code for every level; one that this machine lacks is left out with a word. */
static bool open_levels(worker *w, bool first, status *st) {
    const target_info *isas;
    uint32_t count;
    target_list(&isas, &count, NULL);
    for (uint32_t i = 0; i < count && i < MAX_LEVELS; i++) {
        status why = STATUS_INIT;
        if (compiled_open(&w->levels[w->level_count], w->run->job->set, w->run->job->function,
                          isas[i].name, &why)) {
            w->level_count++;
            continue;
        }
        compiled_close(&w->levels[w->level_count]);
        if (why.code != STATUS_UNAVAILABLE)
            return status_set(st, why.code, "%s: %s", isas[i].name, why.message);
        if (first)
            fprintf(stderr, "%s not tried: %s\n", isas[i].name, why.message);
    }
    return w->level_count > 0 ||
           status_set(st, STATUS_UNAVAILABLE, "this machine runs none of the CPU levels");
}

/* Hashes what the interpreter makes of a sample, for its code. */
static sha256 interpreter_hash(const exhaustive_job *job) {
    enum { SAMPLE = 1 << 16 };
    float *x = base_calloc(SAMPLE, sizeof *x);
    for (uint32_t i = 0; i < SAMPLE; i++)
        x[i] = f32_from_bits(i * 65537u);
    function_apply(job->set, job->function, x, x, SAMPLE);
    for (uint32_t i = 0; i < SAMPLE; i++)
        x[i] = isnan(x[i]) ? f32_from_bits(0x7fc00000) : x[i];
    sha256 digest = sha256_of(x, SAMPLE * sizeof *x);
    free(x);
    return digest;
}

static sha256 key_of(const worker *w) {
    char code[CODE_HASH_SIZE];
    const exhaustive_job *job = w->run->job;
    sha256 interpreter = interpreter_hash(job);
    sha256_stream *s = sha256_stream_new();
    code_hash(job->set, job->function, code);
    sha256_stream_update(s, code, sizeof code);
    sha256_stream_update(s, &interpreter, sizeof interpreter);
    for (uint32_t l = 0; l < w->level_count; l++)
        sha256_stream_update(s, &w->levels[l].image, sizeof(sha256));
    return sha256_stream_finish(s);
}

static void name_levels(const worker *w, text *levels) {
    for (uint32_t l = 0; l < w->level_count; l++)
        text_printf(levels, "%s%s", l ? ", " : "", w->levels[l].isa);
}

static void run_threads(run *r, worker *workers, uint32_t count) {
    uint32_t started = 0;
    progress_start(&r->progress, r->job->name, state_done(&r->state), STATE_UNITS);
    while (started < count && thread_start(&workers[started].thread, work, &workers[started]))
        started++;
    if (started < count)
        fail(r, STATUS_UNAVAILABLE, "the system gives no more threads");
    for (uint32_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    progress_clear(&r->progress);
}

static uint32_t thread_count(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (uint32_t)cores;
}

static bool run_workers(run *r, worker *workers, uint32_t count, text *levels) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        workers[i].run = r;
        ok = open_levels(&workers[i], i == 0, &r->failure);
    }
    if (ok) {
        sha256 key = key_of(&workers[0]);
        bool taken = state_load(&r->state, r->job->state_path, &key);
        if (r->job->again)
            memset(r->state.done, 0, sizeof r->state.done), r->state.all = (tally){0};
        else if (taken)
            fprintf(stderr, "%s: %u of %u blocks were done before\n", r->job->name,
                    state_done(&r->state), (unsigned)STATE_UNITS);
        name_levels(&workers[0], levels);
        run_threads(r, workers, count);
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t l = 0; l < workers[i].level_count; l++)
            compiled_close(&workers[i].levels[l]);
    return r->failure.code == STATUS_OK;
}

bool exhaustive_run(const exhaustive_job *job, tally *out, text *levels, status *st) {
    run *r = base_calloc(1, sizeof *r);
    uint32_t count = thread_count();
    worker *workers = base_calloc(count, sizeof *workers);
    r->job = job;
    r->exact = exact_find(function_name(job->function));
    pthread_mutex_init(&r->lock, NULL);
    bool ok = r->exact ? run_workers(r, workers, count, levels)
                       : status_set(&r->failure, STATUS_INTERNAL,
                                    "%s: exact.c does not say what this function is", job->name);
    if (!ok)
        status_set(st, r->failure.code, "%s", r->failure.message);
    *out = r->state.all;
    pthread_mutex_destroy(&r->lock);
    free(workers);
    free(r);
    return ok;
}
