/* arm_records.c - results that were recorded: runs of the database, and files of bench. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/side.h"
#include "gate/arm.h"
#include "result_check.h"

static const char *text_of(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value ? value : "";
}

/* A time that was changed by hand no longer agrees with its rate. */
static bool check_rate(const json_t *result, const char *from, status *st) {
    double ns = json_number_value(json_object_get(json_object_get(result, "time_ns"), "median"));
    double flops = json_number_value(json_object_get(result, "flops"));
    double rate = json_number_value(json_object_get(json_object_get(result, "rate"), "gflops"));
    if (!(ns > 0) || !(flops > 0) || !(rate > 0) || fabs(flops / ns / rate - 1) < 0.01)
        return true;
    return status_set(st, STATUS_CORRUPT,
                      "%s: %s/%s: %g FLOPs in %g ns are not the %g GFLOP/s that it states", from,
                      text_of(result, "kernel"), text_of(result, "case"), flops, ns, rate);
}

/* The oracle is not timed, and says nothing of speed. */
static bool is_meant(const json_t *result, const arm_request *request) {
    return strcmp(text_of(result, "backend"), "interp") != 0 &&
           strcmp(text_of(result, "status"), "skipped") != 0 &&
           strcmp(text_of(result, "status"), "unsupported") != 0 &&
           arm_wants(request, text_of(result, "kernel"), text_of(result, "case"),
                     text_of(result, "profile"),
                     (uint32_t)json_integer_value(json_object_get(result, "threads")));
}

/* `document`: how many were read before; a key that comes twice in one is ambiguous. */
static bool add_result(arm *a, json_t *result, size_t document, const char *from, status *st) {
    char key[512];
    uint32_t threads = (uint32_t)json_integer_value(json_object_get(result, "threads"));
    snprintf(key, sizeof key, "%s/%s@%s,%s,%u", text_of(result, "kernel"), text_of(result, "case"),
             text_of(result, "backend"), text_of(result, "profile"), threads);
    arm_unit *unit = arm_add(a, key);
    if (!unit->kernel) {
        unit->kernel = base_strdup(text_of(result, "kernel"));
        unit->case_name = base_strdup(text_of(result, "case"));
        unit->backend = base_strdup(text_of(result, "backend"));
        unit->profile = base_strdup(text_of(result, "profile"));
        unit->threads = threads;
        snprintf(unit->hash, sizeof unit->hash, "%s", text_of(result, "module_hash"));
        snprintf(unit->work, sizeof unit->work, "%s", text_of(result, "case_key"));
    } else if (strcmp(unit->hash, text_of(result, "module_hash")) != 0) {
        unit->hash[0] = '\0'; /* of several modules */
    }
    if (unit->last_document == document)
        return status_set(st, STATUS_CORRUPT, "%s: %s is there twice", from, key);
    unit->last_document = document;
    vec_push(&unit->records, json_incref(result));
    return true;
}

/* A run that is given twice is one process still, and proves no more. */
static bool check_new(const arm *a, const side *from, const char *name, status *st) {
    size_t i;
    const json_t *head;
    json_array_foreach(a->heads, i, head) {
        const char *run = text_of(head, "run");
        if (*run && strcmp(run, text_of(from->head, "run")) == 0)
            return status_set(st, STATUS_INVALID, "%s: the run %s is there twice", name, run);
    }
    return true;
}

static bool add_document(arm *a, const arm_request *request, const side *from, const char *name,
                         status *st) {
    size_t i, document = json_array_size(a->heads) + 1;
    json_t *result;
    if (!result_check_start(from->head, name, st) || !check_new(a, from, name, st))
        return false;
    json_array_foreach(from->results, i, result) {
        if (!result_check(result, name, st) || !check_rate(result, name, st) ||
            (is_meant(result, request) && !add_result(a, result, document, name, st)))
            return false;
    }
    json_array_append(a->heads, from->head);
    return true;
}

bool arm_open_records(arm *a, const arm_request *request, const char *names, status *st) {
    bool ok = true;
    a->heads = json_array();
    for (const char *p = names; *p && ok;) {
        char name[4096];
        side from;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
        p += strcspn(p, ",");
        p += *p == ',';
        ok = side_open(&from, name, request->database, st) &&
             add_document(a, request, &from, name, st);
        side_close(&from);
    }
    if (ok && json_array_size(a->heads) > ARM_RECORDS_MAX)
        ok = status_set(st, STATUS_INVALID,
                        "%zu runs on one side are more than the %d that are "
                        "compared",
                        json_array_size(a->heads), ARM_RECORDS_MAX);
    if (ok && a->units.count == 0)
        ok = status_set(st, STATUS_INVALID, "%s has no result of a compiled backend that is meant",
                        names);
    return ok;
}
