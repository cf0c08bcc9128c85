/* cmd_golden.c - tsr golden record, verify and list. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/case_context.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "common/json_text.h"
#include "common/say.h"
#include "job/job.h"
#include "job/result.h"
#include "merge/goldens.h"
#include "run/run.h"

enum { BENCH_TIMEOUT_S = 60, RECORD_TIMEOUT_S = 3600 };

typedef struct golden_tally {
    size_t recorded, unchanged, held, failed, uncovered;
    exit_code code;
    bool json, by_name;
    json_t *results;
} golden_tally;

static void tell(const golden_tally *t, const job *j, const char *what, const char *why) {
    if (t->json)
        return;
    say(stdout, "%-10s %s/%s %s %s%s%s\n", what, j->kernel, j->case_name, j->backend, j->profile,
        *why ? ": " : "", why);
    say_explain(stdout, why);
    fflush(stdout);
}

/* The result goes into the document without what is internal. */
static void tally_keep(golden_tally *t, json_t *result) {
    t->code = exit_code_worse(t->code, result_exit(result));
    json_decref(result_take_internal(result));
    json_array_append(t->results, result);
}

static void on_recorded(void *context, const job *j, json_t *result) {
    golden_tally *t = context;
    bool recorded = json_is_true(internal_get(result_internal(result), INTERNAL_RECORDED));
    tally_keep(t, result);
    if (result_outcome(result) != OUTCOME_OK) {
        t->failed++;
        tell(t, j, result_text(result, RESULT_STATUS), result_text(result, RESULT_WHY));
    } else if (recorded) {
        t->recorded++;
        tell(t, j, "recorded", "");
    } else {
        t->unchanged++;
    }
}

static void on_verified(void *context, const job *j, json_t *result) {
    golden_tally *t = context;
    job_outcome outcome = result_outcome(result);
    tally_keep(t, result);
    if (outcome == OUTCOME_OK && strcmp(result_text(result, RESULT_AGAINST), "golden") == 0) {
        t->held++;
        tell(t, j, "ok", "");
        return;
    }
    bool uncovered =
        outcome == OUTCOME_SKIPPED || outcome == OUTCOME_OK || outcome == OUTCOME_UNJUDGED;
    if (uncovered) {
        t->uncovered++;
        t->code = exit_code_worse(t->code, EXIT_NO_VERDICT);
    } else {
        t->failed++;
        bool product = job_is_of_product(j);
        if (t->by_name && product && outcome == OUTCOME_UNSUPPORTED)
            t->code = exit_code_worse(t->code, EXIT_ABSENT);
    }
    tell(t, j, uncovered ? "uncovered" : outcome_name(outcome),
         outcome == OUTCOME_OK ? "no golden of this key" : result_text(result, RESULT_WHY));
}

static int finish(golden_tally *t, bool complete) {
    if (t->json) {
        json_t *document =
            json_pack("{s:s, s:O}", "schema", "tsr.golden-report/1", "results", t->results);
        if (!complete)
            json_object_set_new(document, "interrupted", json_true());
        say_json(stdout, document, 10);
        json_decref(document);
    }
    if (!complete)
        say(stderr, "tsr: interrupted: the other cases were not looked at\n");
    json_decref(t->results);
    return complete ? (int)t->code : EXIT_INTERRUPTED;
}

static int record(const options *o, const corpus *c, job_choice *choice) {
    golden_tally t = {
        .code = c->problem, .json = options_flag(o, OPTION_JSON), .results = json_array()};
    job_plan p;
    memset(choice->backends, 0, sizeof choice->backends);
    choice->backends[BACKEND_INTERP] = true;
    status st = STATUS_INIT;
    job_plan_make(&p, c, choice, JOB_RECORD);
    if (!job_plan_has_formulas(&p, &st)) {
        job_plan_release(&p);
        json_decref(t.results);
        return command_fail(&st);
    }
    bool complete = run_jobs(&p, choice, on_recorded, &t);
    job_plan_release(&p);
    say(stderr, "%zu recorded, %zu unchanged, %zu failed\n", t.recorded, t.unchanged, t.failed);
    return finish(&t, complete);
}

static int verify(const options *o, const corpus *c, job_choice *choice) {
    golden_tally t = {.code = c->problem,
                      .json = options_flag(o, OPTION_JSON),
                      .by_name = choice->by_name,
                      .results = json_array()};
    job_plan p;
    status st = STATUS_INIT;
    job_plan_make(&p, c, choice, JOB_VERIFY);
    if (!job_plan_covers(&p, choice, &st) || !job_plan_has_formulas(&p, &st)) {
        job_plan_release(&p);
        json_decref(t.results);
        return command_fail(&st);
    }
    bool complete = run_jobs(&p, choice, on_verified, &t);
    job_plan_release(&p);
    say(stderr, "%zu hold, %zu do not, %zu have no golden\n", t.held, t.failed, t.uncovered);
    return finish(&t, complete);
}

/* ---- list: no case is run, only keys are compared ---- */
static bool state_of(const corpus_case *item, uint64_t seed, golden_state *state, status *st) {
    compiler_instance *instance = corpus_case_instance(item, NULL);
    if (!instance)
        return status_set(st, STATUS_INTERNAL, "%s was sound a moment ago", item->name);
    char key[65];
    golden g;
    golden_key(instance, item->c, item->kernel->parameter_count, seed, key);
    compiler_instance_free(instance);
    bool ok = golden_read(item->golden_path, key, &g, state, st);
    golden_release(&g);
    return ok;
}

static int list(const options *o, const corpus *c, const job_choice *choice) {
    bool json = options_flag(o, OPTION_JSON);
    json_t *rows = json_array();
    exit_code code = c->problem;
    for (size_t i = 0; i < c->cases.count; i++) {
        const corpus_case *item = &c->cases.items[i];
        golden_state state;
        status st = STATUS_INIT;
        if (!state_of(item, choice->seed, &state, &st)) {
            code = exit_code_worse(code, (exit_code)command_fail(&st));
            continue;
        }
        json_array_append_new(rows, json_pack("{s:s, s:s, s:o}", "case", item->name, "state",
                                              golden_state_name(state), "path",
                                              json_text(item->golden_path)));
        if (!json)
            say(stdout, "%-8s %s\n", golden_state_name(state), item->name);
    }
    if (json) {
        json_t *document = json_pack("{s:s, s:O}", "schema", "tsr.golden-list/1", "goldens", rows);
        say_json(stdout, document, 0);
        json_decref(document);
    }
    json_decref(rows);
    return (int)code;
}

/* ---- merge ---- */

/* The corpus with another folder of goldens, which must be there. */
static int open_other(const options *o, const char *folder, corpus *out) {
    status st = STATUS_INIT;
    return file_is_dir(folder) ||
                   status_set(&st, STATUS_NOT_FOUND, "--from %s: there is no such folder", folder)
               ? choice_corpus_beside(o, 1, folder, out)
               : command_fail(&st);
}

static int merge(const options *o, const corpus *c, const job_choice *choice) {
    const string_list *folders = &o->values[OPTION_GOLDEN_FROM].values;
    corpus *others = base_calloc(folders->count + 1, sizeof *others);
    const corpus **from = base_calloc(folders->count + 1, sizeof *from);
    int code = folders->count ? EXIT_DONE
                              : command_usage(o->command, "golden merge wants --from DIR, a folder "
                                                          "of goldens, once or several times");
    for (size_t i = 0; i < folders->count && !code; i++) {
        code = open_other(o, folders->items[i], &others[i]);
        from[i] = &others[i];
    }
    goldens_request request = {.into = c,
                               .from = from,
                               .from_count = folders->count,
                               .seed = choice->seed,
                               .json = options_flag(o, OPTION_JSON)};
    if (!code)
        code = goldens_merge(&request);
    for (size_t i = 0; i < folders->count; i++)
        corpus_release(&others[i]);
    free(others);
    free(from);
    return code;
}

/* All but verify have to do with the interpreter alone, and list and merge run nothing. */
static int check_verb(const options *o, int which) {
    int code = which == 1
                   ? EXIT_DONE
                   : COMMAND_REFUSE(o, "is for golden verify", OPTION_BACKEND, OPTION_PROFILE,
                                    OPTION_THREADS, OPTION_ISA, OPTION_ORDER_PROBE,
                                    OPTION_UNOPTIMISED, OPTION_SCHEDULE, OPTION_NO_CACHE,
                                    OPTION_GENERIC, OPTION_SPACE, OPTION_CONSTANTS);
    if (!code && which >= 2)
        code = COMMAND_REFUSE(o, "is for golden record and verify", OPTION_TIMEOUT, OPTION_MEMORY);
    if (!code)
        code = which == 3 ? COMMAND_REFUSE(o, "is for the other verbs", OPTION_SHARD)
                          : COMMAND_REFUSE(o, "is for golden merge", OPTION_GOLDEN_FROM);
    return code;
}

int command_golden(const options *o) {
    static const char *const verbs[] = {"record", "verify", "list", "merge"};
    enum { VERBS = sizeof verbs / sizeof *verbs };
    const char *verb = o->arguments.count ? o->arguments.items[0] : "";
    int which = 0;
    while (which < VERBS && strcmp(verbs[which], verb) != 0)
        which++;
    if (which == VERBS)
        return command_usage(
            o->command, *verb ? "golden cannot '%s'" : "record, verify, list or merge?%s", verb);
    job_choice choice;
    corpus c;
    int code = check_verb(o, which);
    if (code)
        return code;
    code = choice_make(o, "strict", which == 0 ? RECORD_TIMEOUT_S : BENCH_TIMEOUT_S, &choice);
    if (code)
        return code;
    code = choice_corpus(o, 1, &c);
    if (code == EXIT_DONE)
        code = which == 0   ? record(o, &c, &choice)
               : which == 1 ? verify(o, &c, &choice)
               : which == 2 ? list(o, &c, &choice)
                            : merge(o, &c, &choice);
    corpus_release(&c);
    return code;
}
