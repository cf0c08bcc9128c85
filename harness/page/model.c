/* model.c - runs and their results, as rows. */
#include "page/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job/result.h"
#include "job/result_check.h"
#include "measure/host_facts.h"
#include "page/record.h"

enum { DOCUMENT_BYTES_MAX = 1 << 30 };

static const struct column {
    const char *title;
    result_field field;
} columns[] = {
#define COLUMN(id, title, field) {title, RESULT_##field},
#include "page/columns.def"
#undef COLUMN
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

void report_model_init(report_model *m) {
    *m = (report_model){.document =
                            json_pack("{s:s, s:o, s:[], s:[], s:[], s:[], s:n, s:n}", "schema",
                                      "tsr.report/1", "tsr", program_facts(), "runs", "digests",
                                      "gates", "steps", "history", "lowering")};
    map_init(&m->digests);
}

void report_model_release(report_model *m) {
    json_decref(m->document);
    vec_release(&m->samples);
    map_release(&m->digests);
}

/* ---- a result as a row ---- */

/* The same outputs have the same number; -1: none were recorded. */
static int64_t digest_number(report_model *m, const json_t *result) {
    const json_t *list = result_get(result, RESULT_SHA256);
    json_t *all = json_object_get(m->document, "digests");
    text joined;
    text_init(&joined);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));
        text_printf(&joined, "%s%s", i ? " " : "", one ? one : "?");
    }
    intptr_t number = 0;
    bool any = joined.length > 0;
    if (any && !map_get(&m->digests, joined.data, &number)) {
        number = (intptr_t)json_array_size(all);
        map_put(&m->digests, joined.data, number);
        json_array_append_new(all, json_string(joined.data));
    }
    text_release(&joined);
    return any ? number : -1;
}

/* A cell, borrowed; of a timeline the launch where it has several parts. NULL: there is nothing. */
static json_t *cell_of(const json_t *result, result_field field) {
    json_t *value = result_get(result, field);
    if (field != RESULT_TIMELINE)
        return value;
    json_t *launch = json_object_get(value, "launch");
    return json_array_size(json_object_get(launch, "phases")) > 1 ? launch : NULL;
}

static json_t *make_row(report_model *m, json_t *result) {
    json_t *row = json_array();
    for (int i = 0; i < COLUMNS; i++) {
        json_t *value = cell_of(result, columns[i].field);
        json_array_append_new(row, value ? json_incref(value) : json_null());
    }
    json_array_append_new(row, json_integer(digest_number(m, result)));
    json_array_append_new(row, json_integer(0));
    json_array_append_new(row, json_integer(0));
    return row;
}

static json_t *column_titles(void) {
    json_t *titles = json_array();
    for (int i = 0; i < COLUMNS; i++)
        json_array_append_new(titles, json_string(columns[i].title));
    json_array_append_new(titles, json_string("digest"));
    json_array_append_new(titles, json_string("first_sample"));
    json_array_append_new(titles, json_string("sample_count"));
    return titles;
}

/* Takes over `run`. */
static void add_run(report_model *m, json_t *run, json_t *rows, json_t *ceilings) {
    m->result_count += json_array_size(rows);
    json_object_set_new(run, "ceilings", ceilings);
    json_object_set_new(run, "columns", column_titles());
    json_object_set_new(run, "rows", rows);
    json_array_append_new(json_object_get(m->document, "runs"), run);
}

/* ---- a stored run ---- */

typedef struct stored {
    report_model *m;
    int64_t number;
    json_t *run, *rows, *ceilings;
    map places; /* key of a result -> its row */
    char why[256];
} stored;

static bool take_run(void *context, const store_run *run) {
    stored *s = context;
    if (run->number != s->number)
        return true;
    s->run = json_loads(run->head, 0, NULL);
    if (s->run) {
        json_object_set_new(s->run, "machine", json_string(run->machine));
        json_object_set_new(s->run, "exit",
                            run->exit_code < 0 ? json_null() : json_integer(run->exit_code));
    }
    return false;
}

static bool take_result(void *context, const store_result *result) {
    stored *s = context;
    json_t *record = json_loads(result->record, 0, NULL);
    status why = STATUS_INIT;
    if (!record)
        snprintf(s->why, sizeof s->why, "the record of %.160s is not JSON", result->key);
    else if (!result_check(record, result->key, &why))
        snprintf(s->why, sizeof s->why, "%.250s", why.message);
    if (*s->why) {
        json_decref(record);
        return false;
    }
    map_put(&s->places, result->key, (intptr_t)json_array_size(s->rows));
    json_array_append_new(s->rows, make_row(s->m, record));
    json_decref(record);
    return true;
}

static bool take_samples(void *context, const char *key, const double *values, size_t count) {
    stored *s = context;
    intptr_t place;
    if (!map_get(&s->places, key, &place))
        return true;
    json_t *row = json_array_get(s->rows, (size_t)place);
    json_array_set_new(row, ROW_FIRST_SAMPLE, json_integer((json_int_t)s->m->samples.count));
    json_array_set_new(row, ROW_SAMPLE_COUNT, json_integer((json_int_t)count));
    vec_reserve(&s->m->samples, s->m->samples.count + count);
    for (size_t i = 0; i < count; i++)
        vec_push(&s->m->samples, (float)values[i]);
    return true;
}

static bool take_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    stored *s = context;
    json_array_append_new(s->ceilings, json_pack("{s:s, s:s?, s:f, s:s}", "resource", resource,
                                                 "profile", profile, "value", value, "unit", unit));
    return true;
}

bool report_add_run(report_model *m, store *s, const char *name, status *st) {
    stored run = {.m = m, .rows = json_array(), .ceilings = json_array()};
    map_init(&run.places);
    bool ok = store_find_run(s, name, &run.number, st) && store_each_run(s, take_run, &run, st);
    if (ok && !run.run)
        ok = status_set(st, STATUS_CORRUPT, "%s: the head of run %s is not JSON", store_path(s),
                        name);
    ok = ok && store_each_result(s, run.number, take_result, &run, st);
    if (ok && *run.why)
        ok = status_set(st, STATUS_CORRUPT, "%s: %s", store_path(s), run.why);
    ok = ok && store_each_samples(s, run.number, take_samples, &run, st) &&
         store_each_ceiling(s, run.number, take_ceiling, &run, st);
    map_release(&run.places);
    if (ok) {
        json_object_set_new(run.run, "number", json_integer((json_int_t)run.number));
        add_run(m, run.run, run.rows, run.ceilings);
        return true;
    }
    json_decref(run.run);
    json_decref(run.rows);
    json_decref(run.ceilings);
    return false;
}

/* ---- a file ---- */

json_t *report_read_document(const char *path, const char *schema, status *st) {
    char *data;
    size_t size;
    json_error_t error;
    if (!file_read(path, DOCUMENT_BYTES_MAX, &data, &size, st))
        return NULL;
    json_t *document = json_loadb(data, size, 0, &error);
    free(data);
    if (!document) {
        status_set(st, STATUS_CORRUPT, "%s:%d: not JSON: %s", path, error.line, error.text);
        return NULL;
    }
    const char *said = json_string_value(json_object_get(document, "schema"));
    if (said && strcmp(said, schema) == 0 && json_is_array(json_object_get(document, "results")))
        return document;
    status_set(st, STATUS_INVALID, "%s: a document %s with results is wanted, and its schema is %s",
               path, schema, said ? said : "missing");
    json_decref(document);
    return NULL;
}

bool report_add_file(report_model *m, const char *path, status *st) {
    json_t *document = report_read_document(path, "tsr.bench/1", st);
    if (!document || !result_check_start(document, path, st) ||
        !result_check_all(json_object_get(document, "results"), path, st)) {
        json_decref(document);
        return false;
    }
    json_t *rows = json_array(), *ceilings = json_incref(json_object_get(document, "ceilings"));
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), i, result)
        json_array_append_new(rows, make_row(m, result));
    json_object_del(document, "results");
    json_object_del(document, "errors");
    add_run(m, document, rows, ceilings ? ceilings : json_array());
    return true;
}
