/* result_check.c - names, threads, times, and what comes twice. */
#include "job/result_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/text.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"

enum { DAY_S = 24 * 60 * 60, THREADS_MAX = 256 };
/* A launch takes longer than a nanosecond, and nobody has waited for thirty years. */
static const double least_ns = 1, most_ns = 1e18;

/* Refuses what a sound document cannot say of a time. */
static bool check_time(const json_t *result, const char *from, status *st) {
    static const result_field keys[] = {RESULT_MIN, RESULT_LOW, RESULT_MEDIAN, RESULT_HIGH};
    double before = 0;
    if (!result_has_group(result, RESULT_MEDIAN))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = result_fields[keys[i]].inner;
        const json_t *value = result_get(result, keys[i]);
        double ns = json_number_value(value);
        if (!json_is_number(value) || !isfinite(ns) || ns < least_ns || ns > most_ns)
            return status_set(
                st, STATUS_CORRUPT, "%s: %s/%s: time_ns.%s is no number from 1 ns to 30 years",
                from, result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE), name);
        if (ns < before)
            return status_set(st, STATUS_CORRUPT, "%s: %s/%s: time_ns.%s is less than time_ns.%s",
                              from, result_text(result, RESULT_KERNEL),
                              result_text(result, RESULT_CASE), name,
                              result_fields[keys[i - 1]].inner);
        before = ns;
    }
    return true;
}

/* One that is not known might pass for "ok". */
static bool check_status(const json_t *result, const char *from, status *st) {
    return result_outcome(result) != OUTCOME_COUNT ||
           status_set(st, STATUS_CORRUPT, "%s: %s/%s: its status is '%.40s'", from,
                      result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE),
                      result_text(result, RESULT_STATUS));
}

bool result_check(const json_t *result, const char *from, status *st) {
    static const result_field names[] = {RESULT_KERNEL, RESULT_CASE, RESULT_BACKEND, RESULT_PROFILE,
                                         RESULT_STATUS};
    if (!json_is_object(result))
        return status_set(st, STATUS_CORRUPT, "%s: a result is no JSON object", from);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!*result_text(result, names[i]))
            return status_set(st, STATUS_CORRUPT, "%s: a result has no %s", from,
                              result_fields[names[i]].outer);
    const json_t *threads = result_get(result, RESULT_THREADS);
    if (!json_is_integer(threads) || json_integer_value(threads) < 1 ||
        json_integer_value(threads) > THREADS_MAX)
        return status_set(st, STATUS_CORRUPT, "%s: %s/%s: threads is no number from 1 to %d", from,
                          result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE),
                          THREADS_MAX);
    return check_status(result, from, st) && check_time(result, from, st);
}

bool result_check_start(const json_t *head, const char *from, status *st) {
    const char *started = json_text_at(head, "started");
    struct tm when = {0};
    if (!strptime(started, "%Y-%m-%dT%H:%M:%S", &when))
        return status_set(st, STATUS_CORRUPT, "%s: started is no time: '%.60s'", from, started);
    if (timegm(&when) > time(NULL) + DAY_S)
        return status_set(st, STATUS_CORRUPT,
                          "%s: it was started at %s, which has not come yet: a clock was wrong, "
                          "there or here",
                          from, started);
    return true;
}

/* False where the map has its key already. */
static bool is_new(map *seen, const json_t *result, const char *from, status *st) {
    text key;
    text_init(&key);
    result_key(result, &key);
    bool is_there = map_get(seen, key.data, NULL);
    if (is_there)
        status_set(st, STATUS_CORRUPT, "%s: %s is there twice", from, key.data);
    map_put(seen, key.data, 1);
    text_release(&key);
    return !is_there;
}

bool result_check_all(const json_t *results, const char *from, status *st) {
    bool ok = true;
    map seen;
    if (!json_is_array(results))
        return status_set(st, STATUS_CORRUPT, "%s: results is no list", from);
    map_init(&seen);
    for (size_t i = 0; i < json_array_size(results) && ok; i++) {
        const json_t *result = json_array_get(results, i);
        ok = result_check(result, from, st) && is_new(&seen, result, from, st);
    }
    map_release(&seen);
    return ok;
}
