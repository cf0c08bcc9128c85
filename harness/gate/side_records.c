/* side_records.c - results that were recorded: runs of the database, and files of bench. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/result_check.h"
#include "diff/side.h"
#include "gate/record_check.h"
#include "gate/side.h"

static const char *text_of(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value ? value : "";
}

/* The oracle is not timed, and says nothing of speed. */
static bool is_meant(const json_t *result, const gate_side_request *request) {
    return strcmp(text_of(result, "backend"), "interp") != 0 &&
           strcmp(text_of(result, "status"), "skipped") != 0 &&
           strcmp(text_of(result, "status"), "unsupported") != 0 &&
           gate_side_wants(request, text_of(result, "kernel"), text_of(result, "case"),
                           text_of(result, "profile"),
                           (uint32_t)json_integer_value(json_object_get(result, "threads")));
}

static bool is_hash(const char *word) {
    return strlen(word) == 64 && strspn(word, "0123456789abcdef") == 64;
}

/* A key that comes twice in one document is ambiguous. `fraction`: of its roof. */
static bool add_result(gate_side *a, json_t *result, double fraction, const char *from,
                       status *st) {
    size_t document = json_array_size(a->heads) + 1;
    char key[512];
    uint32_t threads = (uint32_t)json_integer_value(json_object_get(result, "threads"));
    snprintf(key, sizeof key, "%s/%s@%s,%s,%u", text_of(result, "kernel"), text_of(result, "case"),
             text_of(result, "backend"), text_of(result, "profile"), threads);
    gate_side_unit *unit = gate_side_add(a, key);
    if (!unit->kernel) {
        unit->kernel = base_strdup(text_of(result, "kernel"));
        unit->case_name = base_strdup(text_of(result, "case"));
        unit->backend = base_strdup(text_of(result, "backend"));
        unit->profile = base_strdup(text_of(result, "profile"));
        unit->threads = threads;
        if (is_hash(text_of(result, "module_hash")))
            snprintf(unit->hash, sizeof unit->hash, "%s", text_of(result, "module_hash"));
        snprintf(unit->work, sizeof unit->work, "%s", text_of(result, "case_key"));
    } else if (strcmp(unit->hash, text_of(result, "module_hash")) != 0) {
        unit->hash[0] = '\0'; /* of several modules */
    }
    if (unit->last_document == document)
        return status_set(st, STATUS_CORRUPT, "%s: %s is there twice", from, key);
    unit->last_document = document;
    unit->fraction = fraction > unit->fraction ? fraction : unit->fraction;
    vec_push(&unit->records, json_incref(result));
    return true;
}

/* A run that is given twice is one process still, and proves no more. */
static bool check_new(const gate_side *a, const side *from, const char *name, status *st) {
    size_t i;
    const json_t *head;
    json_array_foreach(a->heads, i, head) {
        const char *run = text_of(head, "run");
        if (*run && strcmp(run, text_of(from->head, "run")) == 0)
            return status_set(st, STATUS_INVALID, "%s: the run %s is there twice", name, run);
        if (record_is_same_run(json_array_get(a->documents, i), from->results))
            return status_set(st, STATUS_INVALID,
                              "%s: its times are those of the run %s, which is there twice", name,
                              *run ? run : "before it");
    }
    return true;
}

static bool add_document(gate_side *a, const gate_side_request *request, const side *from,
                         const char *name, status *st) {
    size_t i;
    json_t *result;
    double fraction;
    if (!result_check_start(from->head, name, st))
        return false;
    json_array_foreach(from->results, i, result) {
        if (!result_check(result, name, st) || !record_check(from, result, name, &fraction, st))
            return false;
    }
    if (!check_new(a, from, name, st))
        return false;
    json_array_foreach(from->results, i, result) {
        if (is_meant(result, request) && (!record_check(from, result, name, &fraction, st) ||
                                          !add_result(a, result, fraction, name, st)))
            return false;
    }
    json_array_append(a->heads, from->head);
    json_array_append(a->documents, from->results);
    return true;
}

bool gate_side_open_records(gate_side *a, const gate_side_request *request, const char *names,
                            status *st) {
    bool ok = true;
    a->heads = json_array();
    a->documents = json_array();
    for (const char *p = names; *p && ok;) {
        char name[4096];
        side from;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
        p += strcspn(p, ",");
        p += *p == ',';
        ok = side_open(&from, name, request->database, st) &&
             side_read_samples(&from, request->database, st) &&
             add_document(a, request, &from, name, st);
        side_close(&from);
    }
    if (ok && json_array_size(a->heads) > GATE_SIDE_RECORDS_MAX)
        ok = status_set(st, STATUS_INVALID,
                        "%zu runs on one side are more than the %d that are "
                        "compared",
                        json_array_size(a->heads), GATE_SIDE_RECORDS_MAX);
    if (ok && a->units.count == 0)
        ok = status_set(st, STATUS_INVALID, "%s has no result of a compiled backend that is meant",
                        names);
    return ok;
}
