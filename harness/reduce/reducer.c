/* reducer.c - see reducer.h. */
#include "reduce/reducer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/json_text.h"
#include "job/result.h"

int64_t reducer_size(const reducer *r, const char *key) {
    return json_integer_value(json_object_get(r->size, key));
}

/* A value is wrong that an operation of the same name makes; nothing is known of a crash. */
static bool same_operation(const reducer *r) {
    const json_t *wrong = internal_get(result_internal(r->probes.result), INTERNAL_WRONG);
    return !r->operation || !wrong || strcmp(json_text_at(wrong, "made_by"), r->operation) == 0;
}

int64_t reducer_operations(const reducer *r) {
    return (int64_t)json_array_size(r->operations);
}

const char *reducer_name(const reducer *r, int64_t number) {
    return json_text_at(json_array_get(r->operations, (size_t)number - 1), "name");
}

int64_t reducer_inside(const reducer *r, int64_t number) {
    const json_t *inside =
        json_object_get(json_array_get(r->operations, (size_t)number - 1), "inside");
    return inside ? json_integer_value(inside) : -1;
}

/* A second opinion accuses the same pass of the same operation, and so does a replay. */
static bool still_accused(reducer *r, const char *edits) {
    const json_t *result = probes_ask(&r->probes, JOB_OPINION, edits, NULL);
    const json_t *opinion = internal_get(result_internal(result), INTERNAL_OPINION);
    return strcmp(json_text_at(opinion, "wrong"), r->pass) == 0 &&
           (!r->operation || strcmp(json_text_at(opinion, "name"), r->operation) == 0) &&
           probes_try(&r->probes, edits, NULL) == PROBE_WRONG;
}

/* The way down ends in the same pass, and the case fails. */
static bool still_refused(reducer *r, const char *edits) {
    const json_t *result = probes_ask(&r->probes, JOB_STEPS, edits, NULL);
    return result && result_outcome(result) != OUTCOME_OK &&
           strcmp(r->probes.worker.stage, r->pass) == 0 &&
           probes_try(&r->probes, edits, NULL) == PROBE_WRONG &&
           probes_same_failure(&r->probes, r->probes.result);
}

/* It is wrong behind the pass, and not before all: edits begin at a graph that some passes made. */
static bool still_by_pass(reducer *r, const char *edits) {
    return probes_try(&r->probes, edits, r->pass) == PROBE_WRONG &&
           probes_try(&r->probes, edits, "") != PROBE_WRONG;
}

/* It fails as the case did, and was wrong by the same pass and the same operation. */
static bool still_fails(reducer *r, const char *edits) {
    if (r->opinion && !r->by_code)
        return still_accused(r, edits);
    if (r->refused)
        return still_refused(r, edits);
    return probes_try(&r->probes, edits, NULL) == PROBE_WRONG &&
           probes_same_failure(&r->probes, r->probes.result) && same_operation(r) &&
           (!r->pass || still_by_pass(r, edits));
}

static bool has_operation(const json_t *operations, const char *name) {
    size_t i;
    json_t *one;
    bool found = false;
    json_array_foreach(operations, i, one) found |= strcmp(json_text_at(one, "name"), name) == 0;
    return found;
}

/* Sees how much of it is left; false: not the operation that it is about. */
static bool measure(reducer *r, const char *edits) {
    const json_t *result = probes_ask(&r->probes, JOB_STEPS, edits, "");
    const json_t *internal = result_internal(result);
    const json_t *size = internal_get(internal, INTERNAL_SIZE);
    const json_t *operations = internal_get(internal, INTERNAL_OPERATIONS);
    if (!size || (r->operation && !has_operation(operations, r->operation)))
        return false;
    json_decref(r->size);
    json_decref(r->operations);
    r->size = json_incref((json_t *)(uintptr_t)size);
    r->operations = json_incref(internal_get(internal, INTERNAL_OPERATIONS));
    return true;
}

bool reducer_try(reducer *r, const char *format, ...) {
    text words;
    va_list list;
    char one[128];
    va_start(list, format);
    vsnprintf(one, sizeof one, format, list);
    va_end(list);
    text_init(&words);
    text_printf(&words, "%s%s%s", r->edits, *r->edits && *one ? ";" : "", one);
    bool ok = still_fails(r, words.data) && measure(r, words.data);
    if (ok) {
        free(r->edits);
        r->edits = base_strdup(words.data);
        r->accepted++;
    }
    text_release(&words);
    return ok;
}

bool reducer_try_dims(reducer *r, const char *dims) {
    const char *before = r->probes.job.dims;
    char *own = base_strdup(dims);
    r->probes.job.dims = own;
    bool ok = still_fails(r, r->edits) && measure(r, r->edits);
    if (!ok) {
        r->probes.job.dims = before;
        free(own);
        return false;
    }
    free(r->dims);
    r->dims = own;
    r->accepted++;
    return true;
}
