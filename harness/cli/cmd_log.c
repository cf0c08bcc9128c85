/* cmd_log.c - tsr log: past runs and their results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "cli/command.h"
#include "cli/database.h"
#include "failures.h"
#include "report/document.h"
#include "report/table.h"
#include "store/store.h"

typedef struct log_view {
    bool json;
    int64_t number; /* the run that is wanted */
    json_t *rows;
    json_t *head, *ceilings_json;
} log_view;

static bool show_run(void *context, const store_run *run) {
    log_view *v = context;
    json_t *exit_json = run->exit_code < 0 ? json_null() : json_integer(run->exit_code);
    json_array_append_new(v->rows, json_pack("{s:s, s:s, s:I, s:I, s:o}", "run", run->id, "started",
                                             run->started, "results", (json_int_t)run->results,
                                             "failed", (json_int_t)run->failed, "exit", exit_json));
    if (v->json)
        return true;
    printf("%s  %s  %4" PRId64 " results, %" PRId64 " failed, ", run->id, run->started,
           run->results, run->failed);
    if (run->exit_code < 0)
        puts("unfinished");
    else
        printf("exit %d\n", run->exit_code);
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
        fputs("tsr: no runs yet\n", stderr);
    }
    return EXIT_DONE;
}

static bool take_result(void *context, const store_result *result) {
    log_view *v = context;
    json_array_append_new(v->rows, json_loads(result->record, 0, NULL));
    return true;
}

static bool take_head(void *context, const store_run *run) {
    log_view *v = context;
    if (run->number != v->number)
        return true;
    v->head = json_loads(run->head, 0, NULL);
    return false;
}

static bool take_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    log_view *v = context;
    json_t *entry = json_pack("{s:s}", "resource", resource);
    if (profile)
        json_object_set_new(entry, "profile", json_string(profile));
    json_object_set_new(entry, "value", json_real(value));
    json_object_set_new(entry, "unit", json_string(unit));
    json_array_append_new(v->ceilings_json, entry);
    return true;
}

static void print_table(const log_view *v, bool colour) {
    table t = {.name_width = 28, .profile_width = 13, .colour = colour};
    text out;
    text_init(&out);
    table_header(&t, &out);
    size_t i;
    json_t *result;
    json_array_foreach(v->rows, i, result) table_line(&t, result, NULL, -1, &out);
    table_summary(v->rows, &out);
    fputs(out.data, stdout);
    text_release(&out);
}

static int show_results(store *s, log_view *v, const options *o, status *st) {
    v->ceilings_json = json_array();
    if (!store_find_run(s, o->arguments.items[0], &v->number, st) ||
        !store_each_run(s, take_head, v, st) ||
        !store_each_result(s, v->number, take_result, v, st) ||
        !store_each_ceiling(s, v->number, take_ceiling, v, st))
        return command_fail(st);
    if (v->json) {
        json_t *document =
            document_make(v->head, json_incref(v->ceilings_json), json_incref(v->rows));
        document_print(document, stdout);
        json_decref(document);
    } else {
        print_table(v, command_colour(o, stdout));
    }
    return EXIT_DONE;
}

static bool note_pack(void *context, const char *path) {
    const char *slash = strrchr(path, '/');
    map_put(context, slash ? slash + 1 : path, 1);
    return true;
}

static bool is_noted(void *context, const char *name) {
    return map_get(context, name, NULL);
}

/* What no kept run refers to. Another database says nothing about the packs of this folder. */
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
    fprintf(stderr,
            "%" PRIu64 " runs deleted, %" PRIu64 " gates deleted, %" PRIu64 " packs deleted\n",
            went.runs, went.gates, packs);
    return EXIT_DONE;
}

int command_log(const options *o) {
    status st = STATUS_INIT;
    uint64_t keep = 0;
    if (o->arguments.count > 1)
        return command_usage(o->command, "log takes one run");
    if (!options_number(o, OPTION_PRUNE, 0, INT64_MAX, &keep, &st))
        return command_usage(o->command, "%s", st.message);
    store *s = store_open_existing(database_path(o), &st);
    if (!s && st.code == STATUS_OK && (o->arguments.count || options_flag(o, OPTION_DB)))
        status_set(&st, STATUS_NOT_FOUND, "there is no database %s", database_path(o));
    if (st.code != STATUS_OK)
        return command_fail(&st);
    log_view v = {.json = options_flag(o, OPTION_JSON), .rows = json_array()};
    int code;
    if (options_flag(o, OPTION_PRUNE))
        code = prune(s, o, keep, &st);
    else
        code = o->arguments.count ? show_results(s, &v, o, &st) : list_runs(s, &v, &st);
    json_decref(v.rows);
    json_decref(v.head);
    json_decref(v.ceilings_json);
    store_close(s);
    return code;
}
