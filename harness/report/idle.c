/* idle.c - tells a column that could not run from one that was right. */
#include "report/idle.h"

#include <string.h>

#include "base/escape.h"
#include "job/result.h"

static bool computed(const json_t *result) {
    job_outcome o = result_outcome(result);
    return o != OUTCOME_UNSUPPORTED && o != OUTCOME_SKIPPED;
}

static bool is_beside(const json_t *a, const json_t *b) {
    return strcmp(result_text(a, RESULT_BACKEND), result_text(b, RESULT_BACKEND)) == 0;
}

bool idle_has(const json_t *results, const json_t *result) {
    size_t i;
    const json_t *one;
    bool idle = result_get(result, RESULT_IMPLEMENTATION) != NULL;
    json_array_foreach((json_t *)results, i, one) if (is_beside(one, result)) idle &=
        !computed(one);
    return idle;
}

/* Is it the first result of an idle column? */
static bool is_first(const json_t *results, size_t index) {
    const json_t *result = json_array_get(results, index);
    for (size_t i = 0; i < index; i++)
        if (is_beside(json_array_get(results, i), result))
            return false;
    return idle_has(results, result);
}

bool idle_any(const json_t *results) {
    bool any = false;
    for (size_t i = 0; i < json_array_size(results) && !any; i++)
        any = is_first(results, i);
    return any;
}

/* The one reason of all results of its column, or NULL. */
static const char *reason_of(const json_t *results, const json_t *first) {
    size_t i;
    const json_t *one;
    const char *why = result_text(first, RESULT_WHY);
    json_array_foreach((json_t *)results, i,
                       one) if (is_beside(one, first) &&
                                strcmp(result_text(one, RESULT_WHY), why) != 0) return NULL;
    return *why ? why : NULL;
}

void idle_lines(const json_t *results, text *out) {
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *first = json_array_get(results, i);
        if (!is_first(results, i))
            continue;
        const char *why = reason_of(results, first);
        text_show(out, "%s computed nothing%s%s\n", result_text(first, RESULT_BACKEND),
                  why ? ": " : ": each of its results has another reason (-v shows them)",
                  why ? why : "");
    }
}
