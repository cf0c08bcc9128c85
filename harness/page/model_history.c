/* model_history.c - the past of each result of the first run, on the same machine and for the same
 * work. */
#include <stdlib.h>
#include <string.h>

#include "common/json_text.h"
#include "history/history.h"
#include "page/model.h"
#include "page/record.h"
#include "report/origin.h"
#include "statistics/changepoints.h"

enum { RUNS_SHOWN = 100 };

typedef struct past_of {
    map keys;       /* of the first run: key -> place in `series` */
    json_t *series; /* newest point first, until they are turned round */
    json_t *runs;   /* that have a place: {run, started, commit}, oldest first */
    map places;     /* number of a run -> its place */
    int64_t *work;  /* flops and bytes of each key */
    store_past past;
    int64_t left_out;
} past_of;

static const char *word(const json_t *row, size_t column) {
    const char *value = json_string_value(json_array_get(row, column));
    return value ? value : "";
}

static void key_of(const json_t *row, text *out) {
    text_clear(out);
    text_printf(out, "%s/%s@%s,%s,%lld", word(row, ROW_KERNEL), word(row, ROW_CASE),
                word(row, ROW_BACKEND), word(row, ROW_PROFILE),
                (long long)json_integer_value(json_array_get(row, ROW_THREADS)));
}

static int64_t known(const json_t *value) {
    return json_is_number(value) ? (int64_t)json_number_value(value) : -1;
}

static void note_keys(past_of *h, const json_t *rows) {
    text key;
    text_init(&key);
    h->work = base_calloc(2 * json_array_size(rows) + 1, sizeof *h->work);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!json_is_number(json_array_get(row, ROW_MEDIAN)))
            continue;
        key_of(row, &key);
        size_t place = json_array_size(h->series);
        map_put(&h->keys, key.data, (intptr_t)place);
        h->work[2 * place] = known(json_array_get(row, ROW_FLOPS));
        h->work[2 * place + 1] = known(json_array_get(row, ROW_BYTES));
        json_array_append_new(
            h->series, json_pack("{s:s, s:i, s:[]}", "key", key.data, "row", (int)i, "points"));
    }
    text_release(&key);
}

/* A case whose sizes were changed keeps its name and is another case. */
static bool take_point(void *context, const store_point *p) {
    past_of *h = context;
    intptr_t place, run;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)p->run);
    if (!map_get(&h->keys, p->key, &place) || !map_get(&h->places, number, &run) ||
        h->work[2 * place] != p->flops || h->work[2 * place + 1] != p->bytes)
        return true;
    json_t *one = json_array_get(h->series, (size_t)place);
    json_array_insert_new(
        json_object_get(one, "points"), 0,
        json_pack("[I, f, f, f]", (json_int_t)run, p->median_ns, p->low_ns, p->high_ns));
    return true;
}

/* Newest first: the newest RUNS_SHOWN of this machine, up to the first run of the page. */
static bool take_run(void *context, const store_run *run) {
    past_of *h = context;
    if (run->number > h->past.last || strcmp(run->machine, h->past.machine) != 0)
        return true;
    if (json_array_size(h->runs) == RUNS_SHOWN) {
        h->left_out++;
        return true;
    }
    json_t *head = json_loads(run->head, 0, NULL);
    json_t *commit = json_text(origin_commit(head));
    json_array_insert_new(h->runs, 0,
                          json_pack("{s:s, s:s, s:o, s:I}", "run", run->id, "started", run->started,
                                    "commit", commit, "number", (json_int_t)run->number));
    json_decref(head);
    return true;
}

static void number_runs(past_of *h) {
    size_t i;
    json_t *run;
    char number[24];
    json_array_foreach(h->runs, i, run) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(run, "number")));
        map_put(&h->places, number, (intptr_t)i);
    }
}

/* The least level that held for as many runs as tsr log --history asks for. */
static json_t *sustained_of(const changepoints *found) {
    size_t least = history_defaults().sustained;
    double best = 0;
    for (size_t i = 0; i < found->count; i++) {
        const changepoint_segment *s = &found->segments[i];
        if (s->end - s->begin >= least && (best <= 0 || s->median < best))
            best = s->median;
    }
    return best > 0 ? json_real(best) : json_null();
}

/* The places of the points with which a new level begins, and the best level. */
static void find_changes(json_t *series) {
    const json_t *points = json_object_get(series, "points");
    size_t count = json_array_size(points);
    json_t *changes = json_array();
    double *ns = base_calloc(count + 1, sizeof *ns);
    for (size_t i = 0; i < count; i++)
        ns[i] = json_number_value(json_array_get(json_array_get(points, i), 1));
    changepoint_options options = changepoint_defaults();
    changepoints found = {0};
    if (changepoints_find(ns, count, &options, &found))
        for (size_t i = 1; i < found.count; i++)
            json_array_append_new(changes,
                                  json_pack("{s:I, s:f, s:f, s:f}", "at",
                                            (json_int_t)found.segments[i].begin, "before",
                                            found.segments[i - 1].median, "after",
                                            found.segments[i].median, "p", found.segments[i].p));
    json_object_set_new(series, "changes", changes);
    json_object_set_new(series, "sustained", sustained_of(&found));
    changepoints_release(&found);
    free(ns);
}

bool report_add_history(report_model *m, store *s, status *st) {
    const json_t *run = json_array_get(json_object_get(m->document, "runs"), 0);
    const char *machine = json_string_value(json_object_get(run, "machine"));
    if (!machine)
        return true;
    past_of h = {.series = json_array(),
                 .runs = json_array(),
                 .past = {machine, json_integer_value(json_object_get(run, "number")), RUNS_SHOWN}};
    map_init(&h.keys);
    map_init(&h.places);
    note_keys(&h, json_object_get(run, "rows"));
    bool ok = store_each_run(s, take_run, &h, st);
    number_runs(&h);
    ok = ok && store_each_point(s, &h.past, take_point, &h, st);
    for (size_t i = 0; i < json_array_size(h.series); i++)
        find_changes(json_array_get(h.series, i));
    json_object_set_new(m->document, "history",
                        json_pack("{s:s, s:o, s:o, s:I}", "machine", machine, "runs", h.runs,
                                  "series", h.series, "left_out", (json_int_t)h.left_out));
    map_release(&h.keys);
    map_release(&h.places);
    free(h.work);
    return ok;
}
