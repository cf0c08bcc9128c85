/* schedules.c - draw a schedule from a kernel's space, run it, compare, count. */
#include "fuzz/schedules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/philox.h"
#include "case/backend.h"
#include "common/command_line.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host/host.h"
#include "exec/worker.h"
#include "job/fault.h"
#include "job/result.h"
#include "report/progress.h"
#include "run/pack_case.h"
#include "tune/draft.h"

enum { LEVELS_MAX = 8, ATTEMPTS = 6 };

typedef struct schedule_fuzz {
    const fuzz_schedules_request *request;
    worker worker;
    const char *levels[LEVELS_MAX];
    uint32_t level_count;
    uint64_t kernels, runs, distinct, failures;
    json_t *failed;
    uint64_t started_ns;
    exit_code code;
    bool shown; /* stderr is a terminal */
} schedule_fuzz;

/* One drawing: what is scheduled, and where the random numbers come from. */
typedef struct draw_state {
    draft_kernel kernel;
    uint64_t seed, number;
    uint32_t drawn;
} draw_state;

/* ---- drawing ---- */

static uint64_t random_below(draw_state *d, uint64_t limit) {
    philox_words w = philox_element(d->seed, d->number, d->drawn++, PHILOX_DOMAIN_SCHEDULES);
    return ((uint64_t)w.w[0] << 32 | w.w[1]) % limit;
}

/* Mostly a value that a tuner would try; else any that the parameter may have, up to somewhat more
 * than those. */
static int64_t draw_value(draw_state *d, const compiler_parameter *p) {
    if (p->candidate_count && random_below(d, 4) > 0)
        return p->candidates[random_below(d, p->candidate_count)];
    int64_t most = 2 * p->otherwise, step = p->multiple > 0 ? p->multiple : 1;
    if (p->candidate_count && most < p->candidates[p->candidate_count - 1])
        most = p->candidates[p->candidate_count - 1];
    most = most > p->maximum ? p->maximum : most;
    int64_t lowest = (p->minimum + step - 1) / step, steps = most / step - lowest + 1;
    return (lowest + (int64_t)random_below(d, steps > 0 ? (uint64_t)steps : 1)) * step;
}

/* A value for one parameter, where some attempt fits; else it stays as it was. */
static void draw_parameter(draw_state *d, const compiler_parameter *p, draft *out) {
    draft before = *out;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (draft_set(out, p->name, draw_value(d, p)) && draft_fits(out, &d->kernel))
            return;
        *out = before;
    }
}

/* Parameter by parameter: those that come later depend on those before. */
static bool draw_schedule(draw_state *d, draft *out, status *st) {
    *out = (draft){.count = 0};
    for (uint32_t i = 0;; i++) {
        compiler_space space;
        if (!draft_space(out, &d->kernel, &space, st))
            return false;
        bool end = i >= space.count;
        if (!end && random_below(d, 3) > 0)
            draw_parameter(d, &space.items[i], out);
        compiler_space_release(&space);
        if (end)
            return true;
    }
}

/* ---- running ---- */

static bool failed(const json_t *result) {
    return result_outcome(result) != OUTCOME_OK && result_outcome(result) != OUTCOME_UNJUDGED;
}

/* Without what the failure has no need of; what is left still fits. */
static bool shrink_once(schedule_fuzz *f, const job *j, const draft_kernel *k, draft *d,
                        job_outcome wanted) {
    uint32_t before = d->count;
    for (uint32_t i = 0; i < d->count && !interrupt_seen;) {
        draft smaller = *d;
        text words;
        text_init(&words);
        draft_remove(&smaller, i);
        draft_text(&smaller, &words);
        job again = *j;
        again.schedule = words.data;
        json_t *result = draft_fits(&smaller, k) ? worker_run(&f->worker, &again) : NULL;
        if (result && result_outcome(result) == wanted)
            *d = smaller;
        else
            i++;
        json_decref(result);
        text_release(&words);
    }
    return d->count < before;
}

/* False: interrupted. */
static bool pack(schedule_fuzz *f, const job *j, const json_t *result, text *path) {
    const job_choice *c = f->request->choice;
    status st = STATUS_INIT;
    pack_request request = {.job = j,
                            .result = result,
                            .stage = f->worker.stage,
                            .failures = f->request->failures,
                            .timeout_seconds = c->timeout_seconds,
                            .memory_mib = c->memory_mib};
    if (!pack_case(&request, path, &st) && st.code != STATUS_INTERRUPTED)
        say(stderr, "tsr: the case is not packed: %s\n", st.message);
    return st.code != STATUS_INTERRUPTED;
}

static void tell_shrunk(schedule_fuzz *f, const job *j, const json_t *result, const char *packed) {
    FILE *out = f->request->json ? stderr : stdout;
    bool scheduled = *j->schedule != '\0';
    text word;
    text_init(&word);
    say(out,
        "%s/%s, %s, %u thread%s: %s: %s\n"
        "tsr golden verify %s --backend cpu --filter %s/%s%s%s --isa %s --threads %u%s%s%s\n",
        j->kernel, j->case_name, j->isa, j->threads, j->threads == 1 ? "" : "s",
        result_text(result, RESULT_STATUS), result_text(result, RESULT_WHY),
        command_line_quoted(&word, j->path), j->kernel, j->case_name,
        j->dims && *j->dims ? " --dims " : "", j->dims ? j->dims : "", j->isa, j->threads,
        scheduled ? " --schedule '" : "", j->schedule, scheduled ? "'" : "");
    if (*packed)
        say(out, "%s\n", command_line_replay(&word, packed, false));
    text_release(&word);
    fflush(stdout);
    json_array_append_new(
        f->failed, json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:o}", "kernel", j->kernel,
                             "case", j->case_name, "isa", j->isa, "threads", (int)j->threads,
                             "schedule", j->schedule, "status", result_text(result, RESULT_STATUS),
                             "why", result_text(result, RESULT_WHY), "pack", json_text(packed)));
    f->failures++;
}

/* Nothing is told where it is interrupted: there would be no pack of it. */
static void tell_failure(schedule_fuzz *f, job j, const draft_kernel *k, draft *d,
                         const json_t *first) {
    text words, packed;
    text_init(&words);
    text_init(&packed);
    while (shrink_once(f, &j, k, d, result_outcome(first)))
        continue;
    draft_text(d, &words);
    j.schedule = words.data;
    json_t *result = worker_run(&f->worker, &j);
    if (result && pack(f, &j, result, &packed))
        tell_shrunk(f, &j, result, packed.data);
    json_decref(result);
    text_release(&words);
    text_release(&packed);
}

static job job_for(const schedule_fuzz *f, const corpus_case *item, const char *isa,
                   uint32_t threads) {
    return (job){.path = item->path,
                 .kernel = item->kernel->name,
                 .case_name = item->c->name,
                 .dims = item->c->bound,
                 .golden_path = item->golden_path,
                 .backend = backend_table[BACKEND_CPU].name,
                 .profile = "strict",
                 .isa = isa,
                 .threads = threads,
                 .seed = f->request->choice->seed,
                 .quick = true,
                 .fault = fault_for(f->request->choice->fault, item->kernel->name, item->c->name),
                 .mode = JOB_CONTROL};
}

/* FNV-1a: a kernel's schedules are its own, whatever else is in the corpus. */
static uint64_t number_of(const char *kernel, const char *isa, uint32_t threads, uint64_t i) {
    uint64_t hash = 14695981039346656037u;
    for (const char *p = kernel; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 1099511628211u;
    for (const char *p = isa; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 1099511628211u;
    return (hash ^ threads) * 1099511628211u + i;
}

/* False: interrupted, or the kernel cannot be scheduled at all (told). */
static bool try_schedule(schedule_fuzz *f, const job *base, draw_state *d) {
    draft drawn;
    text words;
    status st = STATUS_INIT;
    if (!draw_schedule(d, &drawn, &st)) {
        say(stderr, "tsr: %s/%s: %s\n", base->kernel, base->case_name, st.message);
        f->code = exit_code_worse(f->code, exit_code_of_status(st.code));
        return false;
    }
    text_init(&words);
    draft_text(&drawn, &words);
    job j = *base;
    j.schedule = words.data;
    json_t *result = worker_run(&f->worker, &j);
    f->runs += result != NULL;
    f->distinct += result && drawn.count > 0;
    if (result && failed(result))
        tell_failure(f, j, &d->kernel, &drawn, result);
    bool ok = result != NULL;
    json_decref(result);
    text_release(&words);
    return ok;
}

static bool time_is_up(const schedule_fuzz *f) {
    uint64_t time_ns = f->request->time_ns;
    return interrupt_seen || (time_ns && timer_now_ns() - f->started_ns > time_ns);
}

/* The schedules of cases [first, end), which are one kernel's, in turn. */
static bool try_way(schedule_fuzz *f, size_t first, size_t end, const char *isa, uint32_t threads) {
    const corpus *c = f->request->corpus;
    for (uint64_t i = 0; i < f->request->schedules && !time_is_up(f); i++) {
        const char *kernel = c->cases.items[first].kernel->name;
        uint64_t number = number_of(kernel, isa, threads, i);
        const corpus_case *item = &c->cases.items[first + number % (end - first)];
        job base = job_for(f, item, isa, threads);
        compiler_instance *instance = corpus_case_instance(item, NULL);
        draw_state d = {.kernel = {instance, job_compiler_options(&base, item->kernel)},
                        .seed = f->request->choice->seed,
                        .number = number};
        d.kernel.options.fault = NULL;
        bool ok = instance && try_schedule(f, &base, &d);
        compiler_instance_free(instance);
        if (!ok)
            return false;
    }
    return !interrupt_seen;
}

static void show_progress(const schedule_fuzz *f, const char *kernel) {
    if (!f->shown)
        return;
    text line;
    text_init(&line);
    text_show(&line, "%" PRIu64 " kernels, %" PRIu64 " schedules, %" PRIu64 " failures; %s",
              f->kernels, f->runs, f->failures, kernel);
    progress_draw(&line);
    text_release(&line);
}

static void try_kernel(schedule_fuzz *f, size_t first, size_t end) {
    const job_choice *c = f->request->choice;
    show_progress(f, f->request->corpus->cases.items[first].kernel->name);
    for (uint32_t l = 0; l < f->level_count; l++)
        for (uint32_t t = 0; t < c->thread_count; t++)
            if (!try_way(f, first, end, f->levels[l], c->threads[t]))
                return;
    f->kernels += !time_is_up(f);
}

static void try_all(schedule_fuzz *f) {
    const corpus *c = f->request->corpus;
    for (size_t i = 0, end; i < c->cases.count && !time_is_up(f); i = end) {
        for (end = i;
             end < c->cases.count && c->cases.items[end].kernel == c->cases.items[i].kernel;)
            end++;
        if (!c->cases.items[i].kernel->interpreted) /* nothing of it is scheduled */
            try_kernel(f, i, end);
    }
    if (f->shown)
        say(stderr, "\r\033[K");
}

static void list_levels(schedule_fuzz *f) {
    const char *level;
    if (f->request->choice->isa)
        f->levels[f->level_count++] = f->request->choice->isa;
    for (size_t i = 0; !f->request->choice->isa && (level = host_isa_level(i)); i++)
        if (host_isa_supports(level) && f->level_count < LEVELS_MAX)
            f->levels[f->level_count++] = level;
}

static void report(const schedule_fuzz *f) {
    if (f->request->json) {
        json_t *document = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:O}", "schema", "tsr.fuzz-schedules/1", "seed",
            (json_int_t)f->request->choice->seed, "kernels", (json_int_t)f->kernels, "schedules",
            (json_int_t)f->runs, "not_default", (json_int_t)f->distinct, "failed", f->failed);
        if (interrupt_seen)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 0);
        json_decref(document);
        return;
    }
    say(stdout,
        "seed %" PRIu64 ": %" PRIu64 " kernels, %" PRIu64 " schedules (%" PRIu64
        " other than the default): %" PRIu64 " failed\n",
        f->request->choice->seed, f->kernels, f->runs, f->distinct, f->failures);
}

int fuzz_schedules_run(const fuzz_schedules_request *request) {
    const job_choice *c = request->choice;
    schedule_fuzz f = {.request = request,
                       .failed = json_array(),
                       .code = request->corpus->problem,
                       .shown = isatty(STDERR_FILENO) == 1};
    f.started_ns = timer_now_ns();
    list_levels(&f);
    interrupt_watch();
    worker_init(&f.worker, c->timeout_seconds, c->memory_mib, &interrupt_seen);
    try_all(&f);
    worker_stop(&f.worker);
    if (!interrupt_settle())
        say(stderr, "tsr: interrupted: the other schedules were not tried\n");
    report(&f);
    json_decref(f.failed);
    exit_code code = f.failures ? exit_code_worse(f.code, EXIT_CHECK) : f.code;
    return (int)(interrupt_seen ? EXIT_INTERRUPTED : code);
}
