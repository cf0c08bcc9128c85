/* tune.c - the cases one after the other, each with its share of what is left of the budget. */
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "case/backend.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host/host.h"
#include "job/fault.h"
#include "measure/cpu_feature.h"
#include "measure/host_facts.h"
#include "tune/points.h"
#include "tune/search.h"

typedef struct tune_state {
    const tune_request *request;
    worker worker;
    uint64_t started_ns;
    uint32_t faster, as_good, known, left_out, failed;
    json_t *results;
    exit_code code;
} tune_state;

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static const char *level_of(const job *j) {
    return j->isa ? j->isa : host_isa();
}

/* ---- giving schedules to jobs ---- */

uint32_t tune_apply(tuned_files *t, const corpus *all, job_plan *plan) {
    uint32_t given = 0;
    const corpus_case *open = NULL; /* what the instance is of: the jobs of a case come together */
    compiler_instance *instance = NULL;
    for (size_t i = 0; i < plan->jobs.count; i++) {
        job *j = &plan->jobs.items[i];
        const corpus_case *item = corpus_case_named(all, j->kernel, j->case_name);
        job ours = *j; /* of an implementation: what it is timed in turn with */
        ours.profile = j->beside ? j->beside : j->profile;
        bool compiled = (backend_is_ours(backend_named(j->backend)) || j->beside) && !j->schedule &&
                        !j->unoptimised && !j->generic && !j->constants;
        if (!compiled || !item)
            continue;
        if (item != open) {
            compiler_instance_free(instance);
            instance = corpus_case_instance(item, NULL);
            open = item;
        }
        if (!instance)
            continue;
        const tuned_question question = {item->source, item->kernel, item->c, instance, &ours};
        tuned_choice found;
        if (tuned_find(t, &question, &found)) {
            j->schedule = found.schedule;
            j->space = found.space ? found.space : j->space;
            j->held = found.space != NULL;
            j->tuned = true;
            given++;
        }
    }
    compiler_instance_free(instance);
    return given;
}

/* ---- one case ---- */

static void show(tune_state *t, const job *j, const json_t *entry, bool known) {
    const char *schedule = json_text_at(entry, "schedule"), *space = json_text_at(entry, "space");
    size_t tried = json_array_size(json_object_get(entry, "tried"));
    json_t *row = json_deep_copy(entry);
    json_object_set_new(row, "known", json_boolean(known));
    json_array_append_new(t->results, row);
    if (t->request->json)
        return;
    say(stdout, "%s/%s  %s %s, %u thread%s: ", j->kernel, j->case_name, level_of(j), j->profile,
        j->threads, j->threads == 1 ? "" : "s");
    text from, to;
    text_init(&from);
    text_init(&to);
    double was = tune_amount(entry, "default", &from), is = tune_amount(entry, "tuned", &to);
    if (*schedule || *space)
        say(stdout, "%s to %s, %.2fx, %zu tried%s\n    %s%s%s\n", from.data, to.data,
            is > 0 ? was / is : 1, tried, known ? ", known" : "", space,
            *space && *schedule ? "; " : "", schedule);
    else
        say(stdout, "the default stays, %zu tried%s\n", tried, known ? ", known" : "");
    text_release(&from);
    text_release(&to);
    fflush(stdout);
}

static bool keep(tune_state *t, const corpus_case *item, json_t *entry, status *st) {
    json_t *entries = json_pack("[O]", entry);
    char *place = tuned_place(t->request->places, item->kernel, NULL);
    bool ok = tune_cache_add(place, entries, st);
    free(place);
    json_decref(entries);
    return ok;
}

/* Finding for a case: the best of its points. */
typedef struct finding {
    const char *space;    /* borrowed; NULL: the kernel's own tiles */
    search_result result; /* of that point; `tried` of all */
} finding;

static void settle(tune_state *t, const corpus_case *item, compiler_instance *instance,
                   const job *j, const finding *f) {
    const search_result *found = &f->result;
    status st = STATUS_INIT;
    text cpu;
    text_init(&cpu);
    host_name(&cpu);
    json_t *entry = tune_entry(instance, item->c, level_of(j), j);
    const char *device = found->device.length ? found->device.data : cpu.data;
    json_object_set_new(entry, "cpu", json_string(device));
    if (!backend_named(j->backend)->timed) {
        json_object_set_new(entry, "by", json_string("model"));
        json_object_set_new(entry, "default_cycles",
                            json_integer((json_int_t)found->default_cycles));
        json_object_set_new(entry, "tuned_cycles", json_integer((json_int_t)found->tuned_cycles));
    }
    json_object_set_new(entry, "schedule", json_string(found->schedule.data));
    if (f->space)
        json_object_set_new(entry, "space", json_string(f->space));
    json_object_set_new(entry, "default_ns", json_integer((json_int_t)found->default_ns));
    json_object_set_new(entry, "tuned_ns", json_integer((json_int_t)found->tuned_ns));
    json_object_set(entry, "tried", found->tried);
    tune_seal(entry);
    bool ok = keep(t, item, entry, &st);
    show(t, j, entry, false);
    if (!ok) {
        say(stderr, "tsr: %s\n", st.message);
        t->code = exit_code_worse(t->code, exit_code_of_status(st.code));
    }
    t->faster += found->faster;
    t->as_good += !found->faster;
    json_decref(entry);
    text_release(&cpu);
}

/* Nothing could be measured: the kernel's own schedule fails, or no other has its bits. */
static void tell_unmeasured(tune_state *t, const job *j, const search_result *found) {
    const json_t *first = json_array_get(found->tried, 0);
    if (!first) {
        t->left_out++;
        return;
    }
    const char *why = json_text_at(first, "why");
    say(stderr, "tsr: %s/%s: no schedule could be measured: %s\n", j->kernel, j->case_name, why);
    say_explain(stderr, why);
    t->failed++;
    t->code = exit_code_worse(t->code, EXIT_CHECK);
}

typedef struct case_search {
    const corpus_case *item;
    const job *job;
    uint64_t budget_ns; /* for each point */
} case_search;

/* The schedules of one point. */
static bool search_point(tune_state *t, const case_search *c, const space_point *point,
                         search_result *found, status *st) {
    job j = *c->job;
    draft_kernel kernel = {point->instance, job_compiler_options(&j, c->item->kernel)};
    kernel.options.fault = NULL;
    j.tried = point->space;
    const search_request request = {.worker = &t->worker,
                                    .job = &j,
                                    .kernel = &kernel,
                                    .weighed = !backend_named(j.backend)->timed,
                                    .budget_ns = c->budget_ns};
    return search_run(&request, found, st);
}

/* Takes `next` over where it is faster; what was tried is kept in any case. */
static void take_faster(finding *best, search_result *next, const char *space) {
    search_result *so_far = &best->result;
    bool measured = so_far->measured || next->measured;
    json_array_extend(so_far->tried, next->tried);
    if (next->faster && (!so_far->faster || next->ratio < so_far->ratio)) {
        json_decref(next->tried);
        next->tried = json_incref(so_far->tried);
        search_release(so_far);
        *so_far = *next;
        best->space = space;
    } else {
        if (!so_far->measured) {
            so_far->default_ns = so_far->tuned_ns = next->default_ns;
            so_far->default_cycles = so_far->tuned_cycles = next->default_cycles;
        }
        search_release(next);
    }
    so_far->measured = measured;
}

/* Tiles that cannot be scheduled are left out like those that are another order. */
static void search_others(tune_state *t, const case_search *c, const space_points *points,
                          finding *best) {
    for (uint32_t i = 1; i < points->count && !interrupt_seen; i++) {
        search_result next;
        status st = STATUS_INIT;
        const char *space = points->items[i].space;
        if (!search_point(t, c, &points->items[i], &next, &st) && !interrupt_seen)
            points_note(best->result.tried, space, st.message);
        take_faster(best, &next, space);
    }
}

/* The kernels of a program are compiled with their default schedules. */
static bool is_program(compiler_instance *instance, const corpus_case *item, const job *j) {
    const compiler_options options = job_compiler_options(j, item->kernel);
    compiler_space space;
    status ignored = STATUS_INIT;
    (void)compiler_space_of(instance, &options, &space, &ignored);
    bool program = space.program;
    compiler_space_release(&space);
    return program;
}

static void leave_out_program(tune_state *t, const job *j) {
    say(stderr, "tsr: %s/%s: left out: a program of several kernels has no schedule\n", j->kernel,
        j->case_name);
    t->left_out++;
}

/* The kernel's own tiles first; the others share what is left. */
static void search_case(tune_state *t, const corpus_case *item, compiler_instance *instance,
                        const job *j, uint64_t budget_ns) {
    space_points points;
    finding best = {.space = NULL};
    status st = STATUS_INIT;
    json_t *notes = json_array();
    uint64_t start = timer_now_ns();
    const points_request request = {.item = item,
                                    .own = instance,
                                    .strict = strcmp(j->profile, "strict") == 0,
                                    .chip = *backend_named(j->backend)->target != 0,
                                    .end_ns = start + budget_ns / 4};
    points_find(&request, &points, notes);
    uint64_t each = (budget_ns - lesser(budget_ns / 2, timer_now_ns() - start)) / points.count;
    const case_search search = {item, j, each};
    bool ok = search_point(t, &search, &points.items[0], &best.result, &st);
    if (ok)
        search_others(t, &search, &points, &best);
    if (!ok && !interrupt_seen) {
        say(stderr, "tsr: %s/%s: %s\n", j->kernel, j->case_name, st.message);
        t->code = exit_code_worse(t->code, exit_code_of_status(st.code));
        t->failed++;
    } else if (!interrupt_seen && best.result.measured) {
        json_array_extend(best.result.tried, notes);
        settle(t, item, instance, j, &best);
    } else if (!interrupt_seen) {
        tell_unmeasured(t, j, &best.result);
    }
    search_release(&best.result);
    points_release(&points);
    json_decref(notes);
}

static void tune_job(tune_state *t, const job *planned, uint64_t budget_ns) {
    const corpus_case *item =
        corpus_case_named(t->request->corpus, planned->kernel, planned->case_name);
    compiler_instance *instance = corpus_case_instance(item, NULL);
    job j = *planned;
    if (!instance)
        return;
    j.mode = JOB_TUNE;
    char *key = tune_key(instance, item->c, level_of(&j), &j);
    char *place = tuned_place(t->request->places, item->kernel, NULL);
    const tune_cache *cache = tuned_cache(t->request->places, place);
    const json_t *entry = t->request->again ? NULL : tune_cache_find(cache, key);
    if (entry) {
        t->known++;
        show(t, &j, entry, true);
    } else if (is_program(instance, item, &j)) {
        leave_out_program(t, &j);
    } else {
        search_case(t, item, instance, &j, budget_ns);
    }
    free(place);
    free(key);
    compiler_instance_free(instance);
}

/* ---- all of them ---- */

/* Time that a kernel's source allows for each of its jobs, where the command line says nothing. */
static uint64_t allowed(const tune_state *t, const job_plan *p, const job *j) {
    const corpus_case *item = corpus_case_named(t->request->corpus, j->kernel, j->case_name);
    uint64_t jobs = 0;
    if (t->request->budget_given || !item->kernel->knobs->budget_ms)
        return UINT64_MAX;
    for (size_t i = 0; i < p->jobs.count; i++)
        jobs += strcmp(p->jobs.items[i].kernel, j->kernel) == 0;
    return item->kernel->knobs->budget_ms * 1000000u / jobs;
}

/* Kernels whose schedules are not kept where their source says; each is told once. */
static void tell_places(const tune_state *t) {
    const corpus *c = t->request->corpus;
    for (size_t i = 0; i < c->cases.count; i++) {
        const corpus_case *item = &c->cases.items[i];
        text why;
        if (i > 0 && item->kernel == c->cases.items[i - 1].kernel)
            continue;
        text_init(&why);
        char *place = tuned_place(t->request->places, item->kernel, &why);
        if (why.length)
            say(stderr, "tsr: %s: schedules are kept in %s: %s\n", item->kernel->name, place,
                why.data);
        free(place);
        text_release(&why);
    }
}

static void tune_jobs(tune_state *t, const job_plan *p) {
    uint64_t whole = t->request->budget_s * 1000000000u;
    for (size_t i = 0; i < p->jobs.count && !interrupt_seen; i++) {
        uint64_t spent = timer_now_ns() - t->started_ns;
        if (spent >= whole) {
            t->left_out += (uint32_t)(p->jobs.count - i);
            break;
        }
        uint64_t share = (whole - spent) / (p->jobs.count - i);
        tune_job(t, &p->jobs.items[i], lesser(share, allowed(t, p, &p->jobs.items[i])));
    }
}

/* The files of the kernels, each once, in their order; owned by the caller. */
static char *files_of(const tune_state *t) {
    const corpus *c = t->request->corpus;
    map seen;
    text list;
    map_init(&seen);
    text_init(&list);
    for (size_t i = 0; i < c->cases.count; i++) {
        char *place = tuned_place(t->request->places, c->cases.items[i].kernel, NULL);
        if (!map_get(&seen, place, NULL))
            text_printf(&list, "%s%s", list.length ? ", " : "", place);
        map_put(&seen, place, 1);
        free(place);
    }
    map_release(&seen);
    char *taken = text_take(&list);
    text_release(&list);
    return taken;
}

static void report(const tune_state *t) {
    if (t->request->json) {
        json_t *document = json_pack("{s:s, s:o, s:O}", "schema", "tsr.tune-report/1", "cache",
                                     json_text(t->request->places->usual), "results", t->results);
        if (interrupt_seen)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 0);
        json_decref(document);
        return;
    }
    char *files = files_of(t);
    say(stdout,
        "%u faster, %u as good as they were, %u known, %u left out for lack of time, choice or a "
        "schedule, "
        "%u failed; %s\n",
        t->faster, t->as_good, t->known, t->left_out, t->failed, files);
    free(files);
}

int tune_run(const tune_request *request) {
    const job_choice *c = request->choice;
    status st = STATUS_INIT;
    job_plan p;
    tune_state t = {.request = request, .code = request->corpus->problem, .results = json_array()};
    t.started_ns = timer_now_ns();
    /* Faults of the usual file are fatal: nothing could be kept there. */
    tune_cache usual;
    bool ok = tune_cache_read(request->places->usual, &usual, &st);
    tune_cache_release(&usual);
    if (!ok) {
        say(stderr, "tsr: %s\n", st.message);
        t.code = exit_code_of_status(st.code);
    } else {
        tell_places(&t);
        job_plan_make(&p, request->corpus, c, JOB_TUNE);
        if (!job_plan_has_formulas(&p, &st)) {
            say(stderr, "tsr: %s\n", st.message);
            t.code = exit_code_of_status(st.code);
        }
        interrupt_watch();
        worker_init(&t.worker, c->timeout_seconds, c->memory_mib, &interrupt_seen);
        tune_jobs(&t, &p);
        worker_stop(&t.worker);
        if (!interrupt_settle())
            say(stderr, "tsr: interrupted: what was found is kept in %s\n", request->places->usual);
        report(&t);
        job_plan_release(&p);
    }
    json_decref(t.results);
    return (int)(interrupt_seen ? EXIT_INTERRUPTED : t.code);
}
