/* run.c - the loop over jobs: resume, run, place on the roofline, store, show. */
#include "run/run.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "case/shard.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/run_name.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host/host.h"
#include "job/result.h"
#include "measure/host_facts.h"
#include "report/closing.h"
#include "report/document.h"
#include "report/error_table.h"
#include "report/github.h"
#include "report/idle.h"
#include "report/progress.h"
#include "report/run_view.h"
#include "run/abreast.h"
#include "run/agreement.h"
#include "run/pack_case.h"
#include "run/roofline_place.h"
#include "run/stored_run.h"
#include "store/store.h"

/* The database is capped; tsr log --prune keeps fewer. */
enum { RUNS_KEPT = 1000 };

typedef struct run {
    const run_request *request;
    store *store;
    int64_t number; /* of the run in the store */
    char id[40], started[40];
    text machine;
    json_t *head, *results;
    ceilings ceilings;
    map done; /* key -> record (json_t, owned), of a run that is resumed */
    abreast workers;
    progress progress;
    run_view view;
    uint64_t began_ns;
    exit_code code;
    bool stopped; /* interrupted */
} run;

/* ---- beginning ---- */
static bool keep_record(void *context, const store_result *result) {
    run *r = context;
    json_t *record = json_loads(result->record, 0, NULL);
    if (record)
        map_put(&r->done, result->key, (intptr_t)record);
    return true;
}

static const char *static_unit(const char *unit) {
    static const char *const units[] = {"GFLOP/s", "GOP/s", "GB/s"};
    for (int i = 0; i < 3; i++)
        if (strcmp(units[i], unit) == 0)
            return units[i];
    return "";
}

static bool keep_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    run *r = context;
    ceilings_put(&r->ceilings, resource, profile ? "deterministic" : NULL, value,
                 static_unit(unit));
    return true;
}

typedef struct run_search {
    int64_t number;
    int64_t before;
    run *run;
} run_search;

static bool take_over_head(void *context, const store_run *stored) {
    run_search *search = context;
    if (stored->number != search->number)
        return true;
    snprintf(search->run->id, sizeof search->run->id, "%s", stored->id);
    snprintf(search->run->started, sizeof search->run->started, "%s", stored->started);
    search->run->head = json_loads(stored->head, 0, NULL);
    return false;
}

static void forget(run *r) {
    for (size_t i = 0; i < r->done.count; i++)
        json_decref((json_t *)r->done.entries[i].value);
    map_release(&r->done);
    map_init(&r->done);
    json_decref(r->head);
    r->head = NULL;
    ceilings_init(&r->ceilings, r->request->choice->isa);
}

static bool is_same_shard(const run *r) {
    const json_t *there = json_object_get(r->head, "shard");
    return strcmp(json_text_at(there, "digest"), json_text_at(r->request->shard, "digest")) == 0;
}

/* Takes up an unfinished run; true with r->number 0 where there is none. */
static bool resume(run *r, status *st) {
    int64_t number;
    if (!store_resume_run(r->store, r->request->arguments, r->machine.data, &number, st))
        return false;
    if (number == 0) {
        say(stderr, "tsr: no unfinished run of these arguments; starting a new one\n");
        return true;
    }
    run_search search = {.number = number, .run = r};
    if (!store_each_run(r->store, take_over_head, &search, st) ||
        !store_each_result(r->store, number, keep_record, r, st) ||
        !store_each_ceiling(r->store, number, keep_ceiling, r, st))
        return false;
    if (!r->head)
        return status_set(st, STATUS_CORRUPT, "%s: run %s is damaged", r->request->database, r->id);
    /* Results of two builds, or parts of two lists, do not belong under one head. */
    const char *other = !program_made(json_object_get(r->head, "tsr")) ? "by another build of tsr"
                        : !is_same_shard(r)                            ? "on another list of cases"
                                                                       : NULL;
    if (other) {
        say(stderr, "tsr: run %s was begun %s; starting a new one\n", r->id, other);
        forget(r);
        return true;
    }
    r->number = number;
    say(stderr, "tsr: going on with run %s: %zu results are there\n", r->id, r->done.count);
    return true;
}

static void put_shard(const run *r) {
    if (!r->request->shard)
        return;
    json_t *shard = json_deep_copy(r->request->shard);
    json_object_set_new(shard, "jobs", json_integer((json_int_t)r->request->plan->jobs.count));
    json_object_set_new(r->head, "shard", shard);
}

static bool begin(run *r, status *st) {
    if (r->request->resume && !resume(r, st))
        return false;
    if (r->number)
        return true;
    run_name_now(r->id, r->started);
    r->head = document_head(r->id, r->started);
    json_object_set_new(r->head, "arguments", json_loads(r->request->arguments, 0, NULL));
    json_object_set(r->head, "origin", (json_t *)r->request->origin);
    put_shard(r);
    /* A run of nothing is none: the last run stays the last. A shard may have nothing. */
    if (r->request->plan->jobs.count == 0 && !r->request->shard)
        return true;
    char *head = json_dumps(r->head, JSON_COMPACT);
    store_run record = {.id = r->id,
                        .started = r->started,
                        .arguments = r->request->arguments,
                        .machine = r->machine.data,
                        .head = head};
    store_pruned deleted = {0};
    bool ok = store_begin_run(r->store, &record, &r->number, st) &&
              store_prune(r->store, RUNS_KEPT, false, &deleted, st);
    free(head);
    return ok;
}

/* ---- --last-failed ---- */
static bool note_failure(void *context, const store_result *result) {
    if (outcome_is_failure(outcome_from_name(result->status)))
        map_put(context, result->key, 1);
    return true;
}

static bool stop_before(void *context, const store_run *stored) {
    run_search *search = context;
    if (stored->number >= search->before)
        return true;
    search->number = stored->number;
    return false;
}

/* The last run; where one is resumed, the last before that. */
static bool find_last_run(run *r, int64_t *last, status *st) {
    int64_t unfinished = 0;
    if (!store_find_run(r->store, "last", last, st) ||
        (r->request->resume &&
         !store_find_unfinished(r->store, r->request->arguments, r->machine.data, &unfinished, st)))
        return false;
    if (unfinished == 0)
        return true;
    run_search search = {.before = unfinished};
    bool ok = store_each_run(r->store, stop_before, &search, st);
    *last = search.number;
    return ok;
}

static bool keep_last_failed(run *r, status *st) {
    int64_t last;
    map failed;
    map_init(&failed);
    bool ok =
        find_last_run(r, &last, st) && store_each_result(r->store, last, note_failure, &failed, st);
    size_t kept = 0;
    job_plan *p = r->request->plan;
    for (size_t i = 0; i < p->jobs.count && ok; i++) {
        text key;
        text_init(&key);
        job_key(&p->jobs.items[i], &key);
        if (map_get(&failed, key.data, NULL))
            p->jobs.items[kept++] = p->jobs.items[i];
        text_release(&key);
    }
    if (ok)
        p->jobs.count = kept;
    if (ok && kept == 0)
        say(stderr, "tsr: nothing that was asked for failed in the last run\n");
    map_release(&failed);
    return ok;
}

/* ---- ceilings ---- */
static bool store_ceilings(run *r, status *st) {
    for (size_t i = 0; i < r->ceilings.count; i++) {
        ceiling *item = &r->ceilings.items[i];
        const store_ceiling c = {item->resource, item->profile, item->value, item->unit};
        if (!item->stored && !store_put_ceiling(r->store, r->number, &c, st))
            return false;
        item->stored = true;
    }
    return true;
}

static double median_of(const json_t *result) {
    double median = result_number(result, RESULT_MEDIAN);
    return isnan(median) ? -1 : median;
}

/* ---- one job ---- */
static bool store_record(run *r, const char *key, const json_t *result, const json_t *internal,
                         status *st) {
    double samples[512];
    size_t count = 0, i;
    json_t *value;
    json_array_foreach(internal_get(internal, INTERNAL_SAMPLES), i,
                       value) if (count < sizeof samples / sizeof samples[0]) samples[count++] =
        json_number_value(value);
    char *record = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17));
    store_result row = {.key = key,
                        .status = result_text(result, RESULT_STATUS),
                        .median_ns = median_of(result),
                        .record = record,
                        .samples = samples,
                        .sample_count = count};
    bool ok = store_put_result(r->store, r->number, &row, st);
    free(record);
    return ok;
}

static void print(run *r, text *words) {
    if (words->length) {
        progress_clear(&r->progress);
        say_diagnostics(stdout, words->data);
        fflush(stdout);
    }
    text_release(words);
}

static bool show(run *r, const char *key, json_t *result, status *st) {
    double previous_ns;
    store_peer peer = {r->number, r->machine.data, key, result_whole(result, RESULT_FLOPS),
                       result_whole(result, RESULT_BYTES)};
    if (!r->request->view.none && !store_last_median(r->store, &peer, &previous_ns, st))
        return false;
    text words;
    text_init(&words);
    run_view_result(&r->view, result, previous_ns, &words);
    print(r, &words);
    return true;
}

/* A failing case becomes a pack; that there is none is told, and is no reason to stop. False:
 * interrupted. */
static bool pack_failure(run *r, const job *j, json_t *result) {
    const run_request *q = r->request;
    text lacks;
    pack_request request = {.job = j,
                            .result = result,
                            .stage = abreast_stage(&r->workers, j),
                            .failures = q->failures,
                            .timeout_seconds = q->choice->timeout_seconds,
                            .memory_mib = q->choice->memory_mib,
                            .lacks = &lacks};
    status st = STATUS_INIT;
    text path;
    text_init(&path);
    text_init(&lacks);
    if (pack_case(&request, &path, &st))
        result_put_PACK(result, path.data);
    else if (st.code != STATUS_INTERRUPTED)
        say(stderr, "tsr: %s/%s is not packed: %s\n", j->kernel, j->case_name, st.message);
    if (lacks.length)
        say(stderr, "tsr: the pack of %s/%s lacks: %s\n", j->kernel, j->case_name, lacks.data);
    text_release(&lacks);
    text_release(&path);
    return st.code != STATUS_INTERRUPTED;
}

/* NULL: interrupted. */
static json_t *measure_job(run *r, const job *j) {
    json_t *result = abreast_run(&r->workers, j);
    if (result)
        result_put_SOURCE(result, json_pack("{s:o, s:I}", "path", json_text(j->path), "line",
                                            (json_int_t)j->line));
    /* A failure without its pack would never get one: the case is left to --resume. */
    if (result && pack_is_failure(result) && !pack_failure(r, j, result)) {
        json_decref(result);
        result = NULL;
    }
    r->stopped |= result == NULL;
    return result;
}

typedef struct measure_state {
    run *run;
    const job *job;
    exit_code code; /* of what was measured last */
} measure_state;

/* The point again, where it lies above its ceiling. */
static bool measure_again(void *context, json_t **result, json_t **internal, status *st) {
    measure_state *m = context;
    json_t *fresh = measure_job(m->run, m->job);
    if (!fresh)
        return status_set(st, STATUS_INTERRUPTED, "interrupted");
    json_decref(*result);
    json_decref(*internal);
    m->code = result_exit(fresh);
    *result = fresh;
    *internal = result_take_internal(fresh);
    return true;
}

/* Before the first result that is held against them: a run in which nothing is timed needs none. */
static bool measure_ceilings(void *context, ceilings *c, const roofline_query *query, status *st) {
    const measure_state *m = context;
    roofline_point ignored;
    if (!roofline_place(c, query, &ignored))
        progress_show(&m->run->progress, "measuring this machine's ceilings");
    return roofline_measure(c, query, m->run->request->choice->quick, st);
}

static bool keep_result(run *r, const char *key, measure_state *m, json_t **result, status *st) {
    json_t *internal = result_take_internal(*result);
    roofline_place_source source = {
        .point = measure_again, .needed = measure_ceilings, .context = m};
    bool ok = roofline_place_result(&r->ceilings, &source, result, &internal, st) &&
              store_ceilings(r, st) && store_record(r, key, *result, internal, st);
    r->code = exit_code_worse(r->code, m->code);
    json_decref(internal);
    return ok;
}

/* Runs the job, or takes its record from the run that is resumed. */
static bool run_one(run *r, const job *j, const char *key, status *st) {
    intptr_t stored;
    json_t *result;
    if (map_get(&r->done, key, &stored)) {
        result = json_incref((json_t *)stored);
    } else {
        progress_show(&r->progress, key);
        result = measure_job(r, j);
        if (!result)
            return true;
        measure_state m = {r, j, result_exit(result)};
        agreement_put(r->results, result);
        if (!keep_result(r, key, &m, &result, st)) {
            json_decref(result);
            if (r->stopped)
                *st = (status)STATUS_INIT;
            return r->stopped;
        }
    }
    r->code = exit_code_worse(r->code, result_exit(result));
    bool product = job_is_of_product(j);
    if (r->request->choice->by_name && product && result_outcome(result) == OUTCOME_UNSUPPORTED)
        r->code = exit_code_worse(r->code, EXIT_ABSENT);
    json_array_append_new(r->results, result);
    progress_step(&r->progress);
    return show(r, key, result, st);
}

/* True where the kernel in hand has no more jobs: its lines can be shown. */
static bool ends_kernel(const job_plan *p, size_t at) {
    return at + 1 == p->jobs.count ||
           strcmp(p->jobs.items[at].kernel, p->jobs.items[at + 1].kernel) != 0;
}

static void show_kernel(run *r) {
    text words;
    text_init(&words);
    run_view_end(&r->view, &words);
    print(r, &words);
}

static bool run_all(run *r, status *st) {
    const job_plan *p = r->request->plan;
    for (size_t i = 0; i < p->jobs.count && !r->stopped; i++) {
        text key;
        text_init(&key);
        job_key(&p->jobs.items[i], &key);
        bool ok = run_one(r, &p->jobs.items[i], key.data, st);
        text_release(&key);
        if (!ok)
            return false;
        if (ends_kernel(p, i))
            show_kernel(r);
        if (r->request->fail_fast && r->code != EXIT_DONE)
            break;
        r->stopped |= interrupt_seen != 0;
    }
    return true;
}

/* ---- ending ---- */

/* A summary that cannot be written changes nothing about the results. */
static void report_to_github(const json_t *document) {
    status st = STATUS_INIT;
    if (!github_report(document, stderr, &st))
        say(stderr, "tsr: %s\n", st.message);
}

static bool export_all(const run *r, json_t *document, status *st) {
    const run_request *q = r->request;
    bool ok = q->export_count == 0 || !r->number ||
              stored_run_add_samples(r->store, r->number, document, st);
    for (size_t i = 0; i < q->export_count && ok; i++)
        ok = document_export(document, q->exports[i], st);
    json_object_del(document, "samples");
    return ok;
}

/* The last lines, and the closing screen; beside a document on stderr. */
static void close_view(run *r, const json_t *measured) {
    const run_request *q = r->request;
    closing c = {.results = r->results,
                 .ceilings = measured,
                 .run = r->number ? r->id : NULL,
                 .database = q->database,
                 .named = q->database_named,
                 .colour = q->view.colour,
                 .unicode = q->view.unicode,
                 .width = q->view.width,
                 .untried = q->untried,
                 .seconds = (double)(timer_now_ns() - r->began_ns) * 1e-9};
    text words;
    text_init(&words);
    run_view_end(&r->view, &words);
    if (q->view.verbose)
        error_table_print(r->results, &words);
    closing_print(&c, &words);
    say_text(q->view.none ? stderr : stdout, words.data);
    text_release(&words);
}

static bool finish(run *r, status *st) {
    const run_request *q = r->request;
    json_t *document =
        document_make(r->head, document_ceilings(&r->ceilings), json_incref(r->results));
    r->stopped |= !interrupt_settle();
    /* Readers of an export or an annotation see no exit code: there are none of half a run. */
    bool ok = r->stopped || export_all(r, document, st);
    progress_clear(&r->progress);
    if (r->stopped)
        json_object_set_new(document, "interrupted", json_true());
    else
        report_to_github(document);
    if (q->view.none)
        document_print(document, stdout);
    close_view(r, json_object_get(document, "ceilings"));
    json_decref(document);
    if (r->stopped) {
        say(stderr,
            "tsr: interrupted; %zu of %zu results are stored: go on with the same command and "
            "--resume\n",
            json_array_size(r->results), q->plan->jobs.count);
        r->code = EXIT_INTERRUPTED;
        return ok;
    }
    if (idle_any(r->results))
        r->code = exit_code_worse(r->code, EXIT_NO_VERDICT);
    /* The results are there, even where an export of them is not. */
    status stored = STATUS_INIT;
    exit_code code = exit_code_worse(r->code, exit_code_of_status(st->code));
    if (r->number && !store_finish_run(r->store, r->number, (int)code, &stored) && ok)
        ok = status_set(st, stored.code, "%s", stored.message);
    return ok;
}

/* Shows what will be done. */
static void show_begin(run *r) {
    const job_plan *p = r->request->plan;
    text words;
    if (r->request->view.none || p->jobs.count == 0)
        return;
    text_init(&words);
    text_show(&words, "%s, %s\n%zu result%s to come", host_cpu_name(),
              r->request->choice->isa ? r->request->choice->isa : host_isa(), p->jobs.count,
              text_s(p->jobs.count));
    if (r->request->shard) {
        text_append(&words, ": ");
        shard_describe(r->request->shard, &words);
    }
    text_append(&words, "\n");
    run_view_header(&r->view, &words);
    print(r, &words);
}

static void release(run *r) {
    abreast_stop(&r->workers);
    forget(r);
    map_release(&r->done);
    json_decref(r->results);
    text_release(&r->machine);
    run_view_release(&r->view);
    store_close(r->store);
    free(r);
}

int run_bench(const run_request *request) {
    status st = STATUS_INIT;
    run *r = base_calloc(1, sizeof *r);
    r->request = request;
    r->code = request->problem;
    r->results = json_array();
    r->began_ns = timer_now_ns();
    map_init(&r->done);
    text_init(&r->machine);
    host_machine(request->choice->isa, &r->machine);
    ceilings_init(&r->ceilings, request->choice->isa);
    abreast_init(&r->workers, request->plan, request->choice, &r->done);
    r->store = store_open(request->database, &st);
    bool ok = r->store && (!request->last_failed || keep_last_failed(r, &st));
    if (ok) {
        interrupt_watch();
        run_view_init(&r->view, &request->view, request->plan);
        progress_start(&r->progress, request->plan->jobs.count);
        ok = begin(r, &st);
    }
    if (ok) {
        show_begin(r);
        ok = run_all(r, &st) && finish(r, &st);
    }
    progress_clear(&r->progress);
    int code = (int)r->code;
    if (!ok) {
        say_failure(stderr, st.message);
        code = (int)exit_code_worse(r->code, exit_code_of_status(st.code));
    }
    release(r);
    return code;
}

bool run_jobs(const job_plan *p, const job_choice *choice, run_result_fn visit, void *context) {
    worker w;
    progress bar;
    bool ok = true;
    interrupt_watch();
    worker_init(&w, choice->timeout_seconds, choice->memory_mib, &interrupt_seen);
    progress_start(&bar, p->jobs.count);
    for (size_t i = 0; i < p->jobs.count && ok; i++) {
        text key;
        text_init(&key);
        job_key(&p->jobs.items[i], &key);
        progress_show(&bar, key.data);
        json_t *result = worker_run(&w, &p->jobs.items[i]);
        progress_clear(&bar);
        ok = result != NULL;
        if (ok)
            visit(context, &p->jobs.items[i], result);
        json_decref(result);
        progress_step(&bar);
        text_release(&key);
    }
    progress_clear(&bar);
    worker_stop(&w);
    return ok && interrupt_settle();
}
