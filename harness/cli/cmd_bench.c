/* cmd_bench.c - tsr bench, and the hidden worker. */
#include <stdlib.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/database.h"
#include "cli/own_inputs.h"
#include "cli/tuned_choice.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/terminal.h"
#include "exec/worker.h"
#include "relations/relation_pack.h"
#include "report/document.h"
#include "report/export/export.h"
#include "run/controls.h"
#include "run/run.h"
#include "tune/tune.h"

int command_worker(void) {
    return worker_serve(relation_pack_again);
}

const char *database_path(const options *o) {
    const char *environment = getenv("TSR_DB");
    return options_text(o, OPTION_DB,
                        environment && *environment ? environment : ".tsr/results.db");
}

bool database_is_usual(const options *o) {
    const char *environment = getenv("TSR_DB");
    return !options_text(o, OPTION_DB, environment && *environment ? environment : NULL);
}

/* Arguments that --resume compares: all that decides which jobs there are and what they mean. */
static char *canonical_arguments(const options *o, const job_choice *choice) {
    json_t *paths = json_array(), *filters = json_array();
    for (size_t i = 0; i < o->arguments.count || i == 0; i++) {
        const char *given = o->arguments.count ? o->arguments.items[i] : "corpus";
        char *resolved = realpath(given, NULL);
        json_array_append_new(paths, json_text(resolved ? resolved : given));
        free(resolved);
    }
    for (size_t i = 0; i < o->values[OPTION_FILTER].values.count; i++)
        json_array_append_new(filters, json_text(o->values[OPTION_FILTER].values.items[i]));
    json_t *arguments = job_choice_json(choice);
    json_object_set_new(arguments, "paths", paths);
    json_object_set_new(arguments, "filters", filters);
    if (options_flag(o, OPTION_DIMS))
        json_object_set_new(arguments, "dims", json_text(options_text(o, OPTION_DIMS, "")));
    json_t *inputs = json_array();
    for (size_t i = 0; i < o->values[OPTION_INPUTS].values.count; i++)
        json_array_append_new(inputs, json_text(o->values[OPTION_INPUTS].values.items[i]));
    json_object_set_new(arguments, "inputs", inputs);
    json_object_set_new(arguments, "tuned", json_boolean(!options_flag(o, OPTION_NO_TUNED)));
    if (options_flag(o, OPTION_SHARD))
        json_object_set_new(arguments, "shard", json_text(options_text(o, OPTION_SHARD, "")));
    json_object_set_new(arguments, "last_failed",
                        json_boolean(options_flag(o, OPTION_LAST_FAILED)));
    char *words = json_dumps(arguments, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(arguments);
    return words;
}

static void list_jobs(const job_plan *p) {
    for (size_t i = 0; i < p->jobs.count; i++) {
        text key;
        text_init(&key);
        job_key(&p->jobs.items[i], &key);
        say(stdout, "%s\n", key.data);
        text_release(&key);
    }
}

static void untried_word(const char *word, text *out) {
    text_append_char(out, ' ');
    command_line_word(out, word);
}

/* tsr fuzz of the same kernels and code, where it draws cases of them; else nothing. */
static void untried_command(const options *o, text *out) {
    static const option_id kept[] = {OPTION_FILTER, OPTION_WITH, OPTION_TOLERANCE};
    if (!options_flag(o, OPTION_WITH) || options_flag(o, OPTION_DIMS) ||
        options_flag(o, OPTION_INPUTS))
        return;
    text_append(out, "tsr fuzz");
    for (size_t i = 0; i < o->arguments.count; i++)
        untried_word(o->arguments.items[i], out);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        for (size_t i = 0; i < o->values[kept[k]].values.count; i++) {
            text_printf(out, " --%s", option_table[kept[k]].name);
            untried_word(o->values[kept[k]].values.items[i], out);
        }
}

static int bench(const options *o, const job_choice *choice, const corpus *c,
                 const own_inputs *own) {
    job_plan p;
    int code = (int)c->problem;
    tuned_choices tuned;
    status st = STATUS_INIT;
    job_plan_make(&p, c, choice, JOB_BENCH);
    if (!job_plan_covers(&p, choice, &st) || !job_plan_has_formulas(&p, &st)) {
        job_plan_release(&p);
        return command_fail(&st);
    }
    for (size_t i = 0; i < p.jobs.count; i++)
        own_inputs_take(own, &p.jobs.items[i]);
    tuned_choices_open(&tuned, o);
    tune_apply(&tuned.files, c, &p);
    if (choice->inject && !job_plan_has_fault(&p)) {
        say(stderr, "tsr: --inject %s: no case that would run on a compiled backend is meant\n",
            choice->inject);
        code = EXIT_INPUT;
    } else if (options_flag(o, OPTION_LIST)) {
        list_jobs(&p);
    } else {
        char *arguments = canonical_arguments(o, choice);
        json_t *origin = command_origin(o, 0);
        text untried;
        text_init(&untried);
        untried_command(o, &untried);
        run_request request = {.plan = &p,
                               .choice = choice,
                               .arguments = arguments,
                               .database = database_path(o),
                               .exports = o->values[OPTION_EXPORT].values.items,
                               .export_count = o->values[OPTION_EXPORT].values.count,
                               .problem = c->problem,
                               .failures = options_text(o, OPTION_FAILURES, NULL),
                               .resume = options_flag(o, OPTION_RESUME),
                               .last_failed = options_flag(o, OPTION_LAST_FAILED),
                               .fail_fast = options_flag(o, OPTION_FAIL_FAST),
                               .database_named = !database_is_usual(o),
                               .origin = origin,
                               .shard = c->shard,
                               .untried = untried.length ? untried.data : NULL,
                               .view = {.none = options_flag(o, OPTION_JSON),
                                        .verbose = options_flag(o, OPTION_VERBOSE),
                                        .colour = command_colour(o, stdout),
                                        .unicode = terminal_unicode(),
                                        .width = terminal_width(stdout)}};
        code = run_bench(&request);
        text_release(&untried);
        json_decref(origin);
        free(arguments);
    }
    job_plan_release(&p);
    tuned_choices_release(&tuned);
    return code;
}

/* A run of negative controls stores nothing and shows one table. */
static int refuse_with_controls(const options *o) {
    static const option_id others[] = {
        OPTION_LIST,     OPTION_INJECT,   OPTION_RESUME, OPTION_LAST_FAILED, OPTION_FAIL_FAST,
        OPTION_EXPORT,   OPTION_FAILURES, OPTION_DB,     OPTION_ORDER_PROBE, OPTION_TUNED,
        OPTION_NO_TUNED, OPTION_SCHEDULE, OPTION_COLD,   OPTION_INPUTS,      OPTION_SHARD};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (o->values[others[i]].present)
            return command_usage(o->command, "--negative-controls and --%s do not go together",
                                 option_table[others[i]].name);
    return EXIT_DONE;
}

static int check_options(const options *o) {
    int code = options_flag(o, OPTION_NEGATIVE_CONTROLS) ? refuse_with_controls(o) : EXIT_DONE;
    if (!code && options_flag(o, OPTION_LIST))
        code = COMMAND_REFUSE(o, "is for running, and --list runs nothing", OPTION_JSON,
                              OPTION_EXPORT, OPTION_RESUME, OPTION_LAST_FAILED, OPTION_FAIL_FAST,
                              OPTION_FAILURES, OPTION_COLD);
    if (!code && options_flag(o, OPTION_SHARD))
        code = COMMAND_REFUSE(o, "does not go with --shard, whose parts are of one list everywhere",
                              OPTION_LAST_FAILED, OPTION_INPUTS);
    return code ? code : tuned_check(o);
}

int command_bench(const options *o) {
    job_choice choice;
    corpus c;
    status st = STATUS_INIT;
    for (size_t i = 0; i < o->values[OPTION_EXPORT].values.count; i++)
        if (!document_export_check(o->values[OPTION_EXPORT].values.items[i], EXPORT_BENCH, &st))
            return command_usage(o->command, "%s", st.message);
    for (size_t i = 0; i < o->values[OPTION_EXPORT].values.count; i++)
        if (!document_export_place(o->values[OPTION_EXPORT].values.items[i], &st))
            return command_fail(&st);
    int code = check_options(o);
    code = code ? code : choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    own_inputs own = {.given = false};
    c = (corpus){0};
    code = own_inputs_open(o, 0, &own);
    code = code ? code : own.given ? own_inputs_corpus(o, 0, &own, &c) : choice_corpus(o, 0, &c);
    if (code == EXIT_DONE)
        code =
            options_flag(o, OPTION_NEGATIVE_CONTROLS)
                ? controls_run(&c, &choice, options_flag(o, OPTION_JSON), command_colour(o, stdout))
                : bench(o, &choice, &c, &own);
    own_inputs_close(&own);
    corpus_release(&c);
    return code;
}
