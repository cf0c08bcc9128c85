/* cmd_log.c - tsr log: past runs and their results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "case/shard.h"
#include "cli/command.h"
#include "cli/database.h"
#include "cli/log_history.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/terminal.h"
#include "merge/merge.h"
#include "report/closing.h"
#include "report/document.h"
#include "report/error_table.h"
#include "report/export/export.h"
#include "report/origin.h"
#include "report/table.h"
#include "run/failures.h"
#include "run/stored_run.h"
#include "store/store.h"

typedef struct log_view {
    bool json;
    json_t *rows;
} log_view;

/* The command, what it ran, and the machine. */
static void say_origin(const json_t *head) {
    const json_t *host = json_object_get(head, "host");
    text words;
    text_init(&words);
    origin_words(head, &words);
    if (host)
        text_show(&words, "%son %s, %s", words.length ? "; " : "", json_text_at(host, "cpu"),
                  json_text_at(host, "isa"));
    if (words.length)
        say(stdout, "    %s\n", words.data);
    text_release(&words);
}

/* Tells which part of a list a run is, or of which parts it was made; nothing of a whole one. */
static void say_shards(const json_t *head) {
    const json_t *shard = json_object_get(head, "shard"), *set = json_object_get(head, "set"),
                 *shards = json_object_get(head, "shards"), *one;
    size_t i;
    if (shard) {
        text words;
        text_init(&words);
        shard_describe(shard, &words);
        say(stdout, "    %s, on %s\n", words.data, json_text_at(shard, "node"));
        text_release(&words);
    }
    if (set)
        say(stdout, "    made of %zu shards%s%s:\n", json_array_size(shards),
            *json_text_at(set, "name") ? ", set " : "", json_text_at(set, "name"));
    json_array_foreach(shards, i, one) {
        json_int_t results = json_integer_value(json_object_get(one, "results"));
        say(stdout,
            "      %" JSON_INTEGER_FORMAT "  %s  %" JSON_INTEGER_FORMAT
            " result%s, exit %d, on %s, "
            "from %s\n",
            json_integer_value(json_object_get(one, "shard")), json_text_at(one, "run"), results,
            text_s((size_t)results), (int)json_integer_value(json_object_get(one, "exit")),
            json_text_at(one, "node"), json_text_at(one, "file"));
    }
    if (json_object_get(head, "merged"))
        say(stdout, "    from %s\n", json_text_at(json_object_get(head, "merged"), "file"));
}

static bool show_run(void *context, const store_run *run) {
    log_view *v = context;
    json_t *head = json_loads(run->head, 0, NULL);
    json_t *exit_json = run->exit_code < 0 ? json_null() : json_integer(run->exit_code);
    json_array_append_new(
        v->rows,
        json_pack("{s:s, s:s, s:I, s:I, s:o, s:O*, s:O*, s:O*, s:O*}", "run", run->id, "started",
                  run->started, "results", (json_int_t)run->results, "failed",
                  (json_int_t)run->failed, "exit", exit_json, "origin",
                  json_object_get(head, "origin"), "shard", json_object_get(head, "shard"), "set",
                  json_object_get(head, "set"), "merged", json_object_get(head, "merged")));
    if (v->json) {
        json_decref(head);
        return true;
    }
    say(stdout, "%s  %s  %4" PRId64 " results, %" PRId64 " failed, ", run->id, run->started,
        run->results, run->failed);
    if (run->exit_code < 0)
        say(stdout, "unfinished\n");
    else
        say(stdout, "exit %d\n", run->exit_code);
    say_origin(head);
    say_shards(head);
    json_decref(head);
    return true;
}

static int list_runs(store *s, log_view *v, status *st) {
    if (s && !store_each_run(s, show_run, v, st))
        return command_fail(st);
    if (v->json) {
        json_t *document = json_pack("{s:s, s:O}", "schema", "tsr.log/1", "runs", v->rows);
        document_print(document, stdout);
        json_decref(document);
    } else if (json_array_size(v->rows) == 0) {
        say(stderr, "tsr: no runs yet\n");
    }
    return EXIT_DONE;
}

static void print_results(const json_t *document, const options *o) {
    const json_t *results = json_object_get(document, "results");
    table t = {.name_width = 28, .profile_width = 13, .colour = command_colour(o, stdout)};
    closing c = {.results = results,
                 .ceilings = json_object_get(document, "ceilings"),
                 .colour = t.colour,
                 .unicode = terminal_unicode(),
                 .width = terminal_width(stdout)};
    text out;
    text_init(&out);
    say(stdout, "%s  %s\n", json_text_at(document, "run"), json_text_at(document, "started"));
    say_origin(document);
    say_shards(document);
    table_header(&t, &out);
    size_t i;
    json_t *result;
    json_array_foreach((json_t *)results, i, result) table_line(&t, result, -1, &out);
    error_table_print(results, &out);
    closing_print(&c, &out);
    say_diagnostics(stdout, out.data);
    text_release(&out);
}

static int export_all(store *s, int64_t run, json_t *document, const options *o, status *st) {
    const string_list *specs = &o->values[OPTION_EXPORT].values;
    bool ok = specs->count == 0 || stored_run_add_samples(s, run, document, st);
    for (size_t i = 0; i < specs->count && ok; i++)
        ok = document_export(document, specs->items[i], st);
    json_object_del(document, "samples");
    return ok ? EXIT_DONE : command_fail(st);
}

static int show_results(store *s, const options *o, status *st) {
    int64_t run;
    json_t *document = NULL;
    if (store_find_run(s, o->arguments.items[0], &run, st))
        document = stored_run_document(s, run, st);
    if (!document)
        return command_fail(st);
    int code = export_all(s, run, document, o, st);
    if (code == EXIT_DONE && options_flag(o, OPTION_JSON))
        document_print(document, stdout);
    else if (code == EXIT_DONE)
        print_results(document, o);
    json_decref(document);
    return code;
}

static bool note_pack(void *context, const char *path) {
    const char *slash = strrchr(path, '/');
    map_put(context, slash ? slash + 1 : path, 1);
    return true;
}

static bool is_noted(void *context, const char *name) {
    return map_get(context, name, NULL);
}

/* Deletes packs of no kept run. Another database says nothing about the packs of this folder. */
static bool prune_packs(store *s, uint64_t *deleted, status *st) {
    map packs;
    map_init(&packs);
    bool ok = store_each_pack(s, note_pack, &packs, st);
    if (ok)
        *deleted = failures_prune(FAILURES_FOLDER, is_noted, &packs);
    map_release(&packs);
    return ok;
}

static int prune(store *s, const options *o, uint64_t keep, status *st) {
    store_pruned went = {0};
    uint64_t packs = 0;
    if (s && (!store_prune(s, keep, true, &went, st) ||
              (database_is_usual(o) && !prune_packs(s, &packs, st))))
        return command_fail(st);
    say(stderr,
        "%" PRIu64 " run%s deleted, %" PRIu64 " gate%s deleted, %" PRIu64 " pack%s deleted\n",
        went.runs, text_s(went.runs), went.gates, text_s(went.gates), packs, text_s(packs));
    return EXIT_DONE;
}

/* An export is of one run. */
static int check_exports(const options *o, status *st) {
    const string_list *specs = &o->values[OPTION_EXPORT].values;
    if (specs->count && o->arguments.count == 0)
        return command_usage(o->command, "--export wants a run, such as last");
    for (size_t i = 0; i < specs->count; i++)
        if (!document_export_check(specs->items[i], EXPORT_BENCH, st))
            return command_usage(o->command, "%s", st->message);
    for (size_t i = 0; i < specs->count; i++)
        if (!document_export_place(specs->items[i], st))
            return command_fail(st);
    return EXIT_DONE;
}

/* Options of --history go with nothing else, and the other way round. */
static int check_history(const options *o) {
    static const option_id with[] = {OPTION_CHECK, OPTION_LOG_MARGIN, OPTION_SUSTAINED,
                                     OPTION_SINCE};
    static const option_id without[] = {OPTION_PRUNE, OPTION_EXPORT};
    bool history = options_flag(o, OPTION_HISTORY);
    if (options_flag(o, OPTION_PRUNE) && o->arguments.count)
        return command_usage(o->command, "--prune is about all runs: '%s' is too much",
                             o->arguments.items[0]);
    if (options_flag(o, OPTION_PRUNE) && options_flag(o, OPTION_JSON))
        return command_usage(o->command, "--prune and --json do not go together");
    for (size_t i = 0; i < sizeof with / sizeof *with && !history; i++)
        if (o->values[with[i]].present)
            return command_usage(o->command, "--%s is of --history", option_table[with[i]].name);
    for (size_t i = 0; i < sizeof without / sizeof *without && history; i++)
        if (o->values[without[i]].present)
            return command_usage(o->command, "--history and --%s do not go together",
                                 option_table[without[i]].name);
    return EXIT_DONE;
}

static int merge_files(const options *o) {
    int code = COMMAND_REFUSE(o, "does not go with --merge, which takes runs over", OPTION_HISTORY,
                              OPTION_PRUNE, OPTION_EXPORT, OPTION_CHECK, OPTION_LOG_MARGIN,
                              OPTION_SUSTAINED, OPTION_SINCE);
    if (!code && o->arguments.count == 0)
        code = command_usage(o->command, "--merge wants databases: tsr log --merge FILE... --db "
                                         "ALL.db");
    merge_request request = {.database = database_path(o),
                             .files = o->arguments.items,
                             .count = o->arguments.count,
                             .json = options_flag(o, OPTION_JSON)};
    return code ? code : merge_run(&request);
}

int command_log(const options *o) {
    status st = STATUS_INIT;
    uint64_t keep = 0;
    if (options_flag(o, OPTION_MERGE))
        return merge_files(o);
    if (o->arguments.count > 1)
        return command_usage(o->command, "log takes one run");
    if (!options_number(o, OPTION_PRUNE, 0, INT64_MAX, &keep, &st))
        return command_usage(o->command, "%s", st.message);
    int code = check_history(o);
    code = code ? code : check_exports(o, &st);
    if (code)
        return code;
    store *s = store_open_existing(database_path(o), &st);
    if (!s && st.code == STATUS_OK && (o->arguments.count || options_flag(o, OPTION_DB)))
        status_set(&st, STATUS_NOT_FOUND, "there is no database %s", database_path(o));
    if (st.code != STATUS_OK)
        return command_fail(&st);
    log_view v = {.json = options_flag(o, OPTION_JSON), .rows = json_array()};
    if (options_flag(o, OPTION_HISTORY))
        code = log_history(s, o);
    else if (options_flag(o, OPTION_PRUNE))
        code = prune(s, o, keep, &st);
    else
        code = o->arguments.count ? show_results(s, o, &st) : list_runs(s, &v, &st);
    json_decref(v.rows);
    store_close(s);
    return code;
}
