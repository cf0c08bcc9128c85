/* stored_run.c - puts a document together from the tables. */
#include "run/stored_run.h"

#include "job/result_check.h"
#include "report/document.h"

typedef struct reader_state {
    int64_t number;
    json_t *head, *results, *ceilings;
    const char *damaged; /* what could not be read */
} reader_state;

static bool take_head(void *context, const store_run *run) {
    reader_state *r = context;
    if (run->number != r->number)
        return true;
    r->head = json_loads(run->head, 0, NULL);
    return false;
}

static bool take_result(void *context, const store_result *result) {
    reader_state *r = context;
    json_t *record = json_loads(result->record, 0, NULL);
    if (!json_is_object(record)) {
        json_decref(record);
        r->damaged = "the record of a result is no JSON object";
        return false;
    }
    json_array_append_new(r->results, record);
    return true;
}

static bool take_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    reader_state *r = context;
    json_t *entry = json_pack("{s:s}", "resource", resource);
    if (profile)
        json_object_set_new(entry, "profile", json_string(profile));
    json_object_set_new(entry, "value", json_real(value));
    json_object_set_new(entry, "unit", json_string(unit));
    json_array_append_new(r->ceilings, entry);
    return true;
}

json_t *stored_run_document(store *s, int64_t run, status *st) {
    reader_state r = {.number = run, .results = json_array(), .ceilings = json_array()};
    json_t *document = NULL;
    bool ok = store_each_run(s, take_head, &r, st) &&
              store_each_result(s, run, take_result, &r, st) &&
              store_each_ceiling(s, run, take_ceiling, &r, st);
    if (ok && !json_is_object(r.head))
        r.damaged = "its head is no JSON object";
    if (ok && !r.damaged && !result_check_all(r.results, store_path(s), st))
        ok = false;
    if (ok && r.damaged)
        ok = status_set(st, STATUS_CORRUPT, "%s: a run is damaged: %s", store_path(s), r.damaged);
    if (ok)
        document = document_make(r.head, json_incref(r.ceilings), json_incref(r.results));
    json_decref(r.head);
    json_decref(r.results);
    json_decref(r.ceilings);
    return document;
}

static bool take_samples(void *context, const char *key, const double *ns, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(ns[i]));
    json_object_set_new(context, key, list);
    return true;
}

bool stored_run_add_samples(store *s, int64_t run, json_t *document, status *st) {
    json_t *samples = json_object();
    json_object_set_new(document, "samples", samples);
    return store_each_samples(s, run, take_samples, samples, st);
}
