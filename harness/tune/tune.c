/* tune.c - the cases one after the other, each with its share of what is left of the budget. */
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/backend.h"
#include "case/fault.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host.h"
#include "measure/cpu_feature.h"
#include "measure/host_facts.h"
#include "tune/search.h"

typedef struct tuning {
    const tune_request *request;
    tune_cache cache;
    worker worker;
    uint64_t started_ns;
    uint32_t faster, as_good, known, left_out, failed;
    json_t *results;
    exit_code code;
} tuning;

static const char *level_of(const job *j) {
    return j->isa ? j->isa : host_isa();
}

/* ---- giving schedules to jobs ---- */

uint32_t tune_apply(const tune_cache *c, const corpus *all, job_plan *plan) {
    uint32_t given = 0;
    const corpus_case *open = NULL; /* what the instance is of: the jobs of a case come together */
    compiler_instance *instance = NULL;
    if (json_object_size(c->entries) == 0)
        return 0;
    for (size_t i = 0; i < plan->jobs.count; i++) {
        job *j = &plan->jobs.items[i];
        const corpus_case *item = corpus_case_named(all, j->kernel, j->case_name);
        job ours = *j; /* of an implementation: what it is timed in turn with */
        ours.profile = j->beside ? j->beside : j->profile;
        bool compiled = (strcmp(j->backend, "cpu") == 0 || j->beside) && !j->schedule &&
                        !j->unoptimised && !j->constants;
        if (!compiled || !item)
            continue;
        if (item != open) {
            compiler_instance_free(instance);
            instance = corpus_case_instance(item, NULL);
            open = item;
        }
        if (!instance)
            continue;
        char *key = tune_key(instance, item->c, level_of(&ours), &ours);
        const json_t *entry = tune_cache_find(c, key);
        const char *schedule = json_text_at(entry, "schedule");
        if (*schedule) {
            j->schedule = schedule;
            j->tuned = true;
            given++;
        }
        free(key);
    }
    compiler_instance_free(instance);
    return given;
}

/* ---- one case ---- */

static void show(tuning *t, const job *j, const json_t *entry, bool known) {
    const char *schedule = json_text_at(entry, "schedule");
    double was = (double)json_integer_value(json_object_get(entry, "default_ns"));
    double is = (double)json_integer_value(json_object_get(entry, "tuned_ns"));
    size_t tried = json_array_size(json_object_get(entry, "tried"));
    json_t *row = json_deep_copy(entry);
    json_object_set_new(row, "known", json_boolean(known));
    json_array_append_new(t->results, row);
    if (t->request->json)
        return;
    say(stdout, "%s/%s  %s %s, %u thread%s: ", j->kernel, j->case_name, level_of(j), j->profile,
        j->threads, j->threads == 1 ? "" : "s");
    if (*schedule)
        say(stdout, "%.3f us to %.3f us, %.2fx, %zu tried%s\n    %s\n", was * 1e-3, is * 1e-3,
            is > 0 ? was / is : 1, tried, known ? ", known" : "", schedule);
    else
        say(stdout, "the default stays, %zu tried%s\n", tried, known ? ", known" : "");
    fflush(stdout);
}

static bool keep(tuning *t, json_t *entry, status *st) {
    json_t *entries = json_pack("[O]", entry);
    bool ok = tune_cache_add(t->request->cache, entries, NULL, st);
    json_decref(entries);
    return ok;
}

static void settle(tuning *t, const corpus_case *item, compiler_instance *instance, const job *j,
                   const search_result *found) {
    status st = STATUS_INIT;
    text cpu;
    text_init(&cpu);
    host_name(&cpu);
    json_t *entry = tune_entry(instance, item->c, level_of(j), j);
    json_object_set_new(entry, "cpu", json_string(cpu.data));
    json_object_set_new(entry, "schedule", json_string(found->schedule.data));
    json_object_set_new(entry, "default_ns", json_integer((json_int_t)found->default_ns));
    json_object_set_new(entry, "tuned_ns", json_integer((json_int_t)found->tuned_ns));
    json_object_set(entry, "tried", found->tried);
    tune_seal(entry);
    bool ok = keep(t, entry, &st);
    show(t, j, entry, false);
    if (!ok) {
        say(stderr, "tsr: %s\n", st.message);
        t->code = exit_code_worse(t->code, exit_code_of_status(st.code));
    }
    t->faster += found->schedule.length > 0;
    t->as_good += found->schedule.length == 0;
    json_decref(entry);
    text_release(&cpu);
}

/* Nothing could be measured: the kernel's own schedule fails, or no other has its bits. */
static void tell_unmeasured(tuning *t, const job *j, const search_result *found) {
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

static void search_case(tuning *t, const corpus_case *item, compiler_instance *instance,
                        const job *j, uint64_t budget_ns) {
    status st = STATUS_INIT;
    search_result found;
    draft_kernel kernel = {instance, job_compiler_options(j, item->kernel)};
    kernel.options.fault = NULL;
    search_request request = {&t->worker, j, &kernel, budget_ns};
    bool ok = search_run(&request, &found, &st);
    if (!ok && !interrupt_seen) {
        say(stderr, "tsr: %s/%s: %s\n", j->kernel, j->case_name, st.message);
        t->code = exit_code_worse(t->code, exit_code_of_status(st.code));
        t->failed++;
    } else if (ok && found.measured) {
        settle(t, item, instance, j, &found);
    } else if (ok) {
        tell_unmeasured(t, j, &found);
    }
    search_release(&found);
}

static void tune_job(tuning *t, const job *planned, uint64_t budget_ns) {
    const corpus_case *item =
        corpus_case_named(t->request->corpus, planned->kernel, planned->case_name);
    compiler_instance *instance = corpus_case_instance(item, NULL);
    job j = *planned;
    if (!instance)
        return;
    j.mode = JOB_TUNE;
    char *key = tune_key(instance, item->c, level_of(&j), &j);
    const json_t *entry = t->request->again ? NULL : tune_cache_find(&t->cache, key);
    if (entry) {
        t->known++;
        show(t, &j, entry, true);
    } else {
        search_case(t, item, instance, &j, budget_ns);
    }
    free(key);
    compiler_instance_free(instance);
}

/* ---- all of them ---- */

static void tune_jobs(tuning *t, const job_plan *p) {
    uint64_t whole = t->request->budget_s * 1000000000u;
    for (size_t i = 0; i < p->jobs.count && !interrupt_seen; i++) {
        uint64_t spent = timer_now_ns() - t->started_ns;
        if (spent >= whole) {
            t->left_out += (uint32_t)(p->jobs.count - i);
            break;
        }
        tune_job(t, &p->jobs.items[i], (whole - spent) / (p->jobs.count - i));
    }
}

static void report(const tuning *t) {
    if (t->request->json) {
        json_t *document = json_pack("{s:s, s:o, s:O}", "schema", "tsr.tune-report/1", "cache",
                                     json_text(t->request->cache), "results", t->results);
        if (interrupt_seen)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 0);
        json_decref(document);
        return;
    }
    say(stdout,
        "%u faster, %u as good as they were, %u known, %u left out for lack of time or choice, "
        "%u failed; %s\n",
        t->faster, t->as_good, t->known, t->left_out, t->failed, t->request->cache);
}

int tune_run(const tune_request *request) {
    const job_choice *c = request->choice;
    status st = STATUS_INIT;
    job_plan p;
    tuning t = {.request = request, .code = request->corpus->problem, .results = json_array()};
    t.started_ns = timer_now_ns();
    if (!tune_cache_read(request->cache, &t.cache, &st)) {
        say(stderr, "tsr: %s\n", st.message);
        t.code = exit_code_of_status(st.code);
    } else {
        say_text(stderr, t.cache.complaints.data);
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
            say(stderr, "tsr: interrupted: what was found is kept in %s\n", request->cache);
        report(&t);
        job_plan_release(&p);
    }
    tune_cache_release(&t.cache);
    json_decref(t.results);
    return (int)(interrupt_seen ? EXIT_INTERRUPTED : t.code);
}
