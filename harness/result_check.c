/* result_check.c - names, threads, times. */
#include "result_check.h"

#include <math.h>

#include "job.h"

/* What a sound document cannot say of a time. */
static bool check_time(const json_t *result, const char *from, status *st) {
    static const char *const keys[] = {"median", "low", "high", "min"};
    const json_t *time = json_object_get(result, "time_ns");
    if (!time || json_is_null(time))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(time, keys[i]);
        double ns = json_number_value(value);
        if (!json_is_number(value) || !isfinite(ns) || ns <= 0)
            return status_set(
                st, STATUS_CORRUPT, "%s: %s/%s: time_ns.%s is no positive number of nanoseconds",
                from, job_result_text(result, "kernel"), job_result_text(result, "case"), keys[i]);
    }
    return true;
}

bool result_check(const json_t *result, const char *from, status *st) {
    static const char *const names[] = {"kernel", "case", "backend", "profile", "status"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!*job_result_text(result, names[i]))
            return status_set(st, STATUS_CORRUPT, "%s: a result has no %s", from, names[i]);
    const json_t *threads = json_object_get(result, "threads");
    if (!json_is_integer(threads) || json_integer_value(threads) < 1)
        return status_set(st, STATUS_CORRUPT, "%s: %s/%s: threads is no positive number", from,
                          job_result_text(result, "kernel"), job_result_text(result, "case"));
    return check_time(result, from, st);
}

bool result_check_all(const json_t *results, const char *from, status *st) {
    size_t i;
    json_t *result;
    if (!json_is_array(results))
        return status_set(st, STATUS_CORRUPT, "%s: results is no list", from);
    json_array_foreach((json_t *)results, i, result) {
        if (!result_check(result, from, st))
            return false;
    }
    return true;
}
