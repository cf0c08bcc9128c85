/* side_records.c - results that were recorded: runs of the database, and files of bench. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "common/json_text.h"
#include "diff/side.h"
#include "gate/record_check.h"
#include "gate/side.h"
#include "job/result.h"
#include "job/result_check.h"

/* The oracle is not timed, and says nothing of speed. */
static bool is_meant(const json_t *result, const gate_side_request *request) {
    return backend_is_compiled(backend_named(result_text(result, RESULT_BACKEND))) &&
           result_outcome(result) != OUTCOME_SKIPPED &&
           result_outcome(result) != OUTCOME_UNSUPPORTED &&
           gate_side_wants(request, result_text(result, RESULT_KERNEL),
                           result_text(result, RESULT_CASE), result_text(result, RESULT_PROFILE),
                           (uint32_t)result_whole(result, RESULT_THREADS));
}

static bool is_hash(const char *word) {
    return strlen(word) == 64 && strspn(word, "0123456789abcdef") == 64;
}

/* A key that comes twice in one document is ambiguous. `fraction`: of its roof. */
static bool add_result(gate_side *a, json_t *result, double fraction, const char *from,
                       status *st) {
    size_t document = json_array_size(a->heads) + 1;
    text key;
    text_init(&key);
    result_key(result, &key);
    gate_side_unit *unit = gate_side_add(a, key.data);
    if (!unit->kernel) {
        unit->kernel = base_strdup(result_text(result, RESULT_KERNEL));
        unit->case_name = base_strdup(result_text(result, RESULT_CASE));
        unit->backend = base_strdup(result_text(result, RESULT_BACKEND));
        unit->profile = base_strdup(result_text(result, RESULT_PROFILE));
        unit->threads = (uint32_t)result_whole(result, RESULT_THREADS);
        if (is_hash(result_text(result, RESULT_MODULE_HASH)))
            snprintf(unit->hash, sizeof unit->hash, "%s", result_text(result, RESULT_MODULE_HASH));
        snprintf(unit->work, sizeof unit->work, "%s", result_text(result, RESULT_CASE_KEY));
    } else if (strcmp(unit->hash, result_text(result, RESULT_MODULE_HASH)) != 0) {
        unit->hash[0] = '\0'; /* of several modules */
    }
    bool is_new = unit->last_document != document ||
                  status_set(st, STATUS_CORRUPT, "%s: %s is there twice", from, key.data);
    text_release(&key);
    if (!is_new)
        return false;
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
        const char *run = json_text_at(head, "run");
        if (*run && strcmp(run, json_text_at(from->head, "run")) == 0)
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
