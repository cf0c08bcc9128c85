/* record_check.c - rates, roofs and samples, against the time. */
#include "gate/record_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "statistics/statistics.h"

/* Documents have six digits and more. */
static const double slack = 0.01;

static bool is_near(double a, double b) {
    return fabs(a - b) <= slack * fmax(fabs(a), fabs(b));
}

static bool wrong(const json_t *result, const char *name, const char *what, status *st) {
    return status_set(st, STATUS_CORRUPT, "%s: %s/%s: %s", name, result_text(result, RESULT_KERNEL),
                      result_text(result, RESULT_CASE), what);
}

/* -1: it is none, or none that a record can hold. */
static double number_of(const json_t *result, result_field field) {
    double number = result_number(result, field);
    return isfinite(number) && number >= 0 ? number : -1;
}

static bool check_rates(const json_t *result, const char *name, status *st) {
    static const result_field pairs[][2] = {{RESULT_FLOPS, RESULT_GFLOPS},
                                            {RESULT_BYTES, RESULT_GBPS}};
    double ns = number_of(result, RESULT_MEDIAN);
    for (int i = 0; i < 2; i++) {
        double work = number_of(result, pairs[i][0]);
        double rate = number_of(result, pairs[i][1]);
        if (work < 0)
            return wrong(result, name, "it has a time, and no count of work", st);
        if (rate < 0 || !is_near(work / ns, rate))
            return wrong(result, name, "its rate is not that of its time", st);
    }
    return true;
}

static bool check_samples(const side *from, const json_t *result, const char *name, status *st) {
    const json_t *count = result_get(result, RESULT_SAMPLES);
    double ns = number_of(result, RESULT_MEDIAN);
    double least = number_of(result, RESULT_MIN);
    if (!json_is_integer(count) || json_integer_value(count) < 1)
        return wrong(result, name, "its time is of no samples", st);
    text key;
    text_init(&key);
    result_key(result, &key);
    const json_t *list = json_object_get(from->samples, key.data);
    size_t n = json_array_size(list);
    text_release(&key);
    if (!from->samples)
        return true;
    double *values = base_calloc(n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    statistics s = statistics_of(values, n ? n : 1);
    free(values);
    return (n > 0 && is_near(s.median, ns) && is_near(s.minimum, least)) ||
           wrong(result, name, "its time is not that of its samples", st);
}

/* The greatest that was measured in its run; 0: none was. */
static double greatest(const side *from, const char *kind) {
    const json_t *item;
    double most = 0;
    size_t i;
    json_array_foreach(from->ceilings, i, item) {
        const char *resource = json_string_value(json_object_get(item, "resource"));
        double value = json_number_value(json_object_get(item, "value"));
        if (resource && strncmp(resource, kind, strlen(kind)) == 0 && value > most)
            most = value;
    }
    return most;
}

/* Checks against the record's own ceiling, which the run must have measured; without one, the
 * greatest of all that it measured, which is no lower. */
static bool check_roof(const side *from, const json_t *result, const char *name, double *fraction,
                       status *st) {
    double compute = greatest(from, "compute."), memory = greatest(from, "memory.");
    double gflops = number_of(result, RESULT_GFLOPS), gbps = number_of(result, RESULT_GBPS);
    if (!(compute > 0) || !(memory > 0))
        return wrong(result, name, "its run has no ceilings to hold its time against", st);
    *fraction = fmax(gflops / compute, gbps / memory);
    if (!result_has_group(result, RESULT_BOUND))
        return true;
    bool by_memory = strcmp(result_text(result, RESULT_BOUND), "memory") == 0;
    double ceiling = number_of(result, RESULT_CEILING), stated = number_of(result, RESULT_FRACTION);
    double most = by_memory ? memory : compute;
    if (!by_memory && strcmp(result_text(result, RESULT_BOUND), "compute") != 0)
        return wrong(result, name, "its roofline is bound by nothing", st);
    if (!(ceiling > 0) || ceiling > most * (1 + slack))
        return wrong(result, name, "its ceiling is above all that its run measured", st);
    double own = (by_memory ? gbps : gflops) / ceiling;
    if (!is_near(own, stated))
        return wrong(result, name, "its fraction of the roofline is not that of rate and ceiling",
                     st);
    *fraction = fmax(*fraction, own);
    return true;
}

static bool is_digest(const json_t *value) {
    const char *word = json_string_value(value);
    return word && strlen(word) == 64 && strspn(word, "0123456789abcdef") == 64;
}

/* Timed outputs are checked: a time without that check is none. */
static bool check_outputs(const json_t *result, const char *name, status *st) {
    const json_t *digests = result_get(result, RESULT_SHA256), *digest;
    const char *against = result_string(result, RESULT_AGAINST);
    bool bitwise = result_flag(result, RESULT_BITWISE);
    size_t i;
    if (!against || (strcmp(against, "golden") != 0 && strcmp(against, "reference") != 0) ||
        json_array_size(digests) == 0)
        return wrong(result, name, "it has a time, and its outputs were not checked", st);
    json_array_foreach(digests, i, digest) {
        if (!is_digest(digest))
            return wrong(result, name, "the digests of its outputs are none", st);
    }
    if (!bitwise && strcmp(result_text(result, RESULT_PROFILE), "strict") == 0)
        return wrong(result, name, "it is ok under strict, and its bits are others", st);
    return true;
}

static bool check_origin(const json_t *result, const char *name, status *st) {
    const json_t *hash = result_get(result, RESULT_MODULE_HASH);
    const json_t *fault = result_get(result, RESULT_FAULT);
    double confidence = number_of(result, RESULT_CONFIDENCE);
    if (!json_is_null(hash) && !is_digest(hash))
        return wrong(result, name, "the hash of its module is none", st);
    if (fault && !json_is_null(fault))
        return wrong(result, name, "it has a fault that was made on purpose", st);
    if (!(confidence > 0 && confidence < 1))
        return wrong(result, name, "its interval has no confidence", st);
    return true;
}

bool record_check(const side *from, const json_t *result, const char *name, double *fraction,
                  status *st) {
    *fraction = 0;
    if (!result_has_group(result, RESULT_MEDIAN))
        return true;
    bool is_ok = result_outcome(result) == OUTCOME_OK;
    return (!is_ok || check_outputs(result, name, st)) && check_origin(result, name, st) &&
           check_rates(result, name, st) && check_samples(from, result, name, st) &&
           check_roof(from, result, name, fraction, st);
}

/* ---- one run under two names ---- */

static bool same_case(const json_t *a, const json_t *b) {
    static const result_field keys[] = {RESULT_KERNEL, RESULT_CASE, RESULT_BACKEND, RESULT_PROFILE,
                                        RESULT_THREADS};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(result_get(a, keys[i]), result_get(b, keys[i])))
            return false;
    return true;
}

static const json_t *time_of(const json_t *result) {
    const json_t *time = result_group_of(result, RESULT_MEDIAN);
    return json_is_object(time) ? time : NULL;
}

bool record_is_same_run(const json_t *results, const json_t *others) {
    size_t i, k, both = 0, equal = 0;
    const json_t *a, *b;
    json_array_foreach(results, i, a) {
        /* Results of one plan stand in one order, mostly. */
        for (k = 0; k < json_array_size(others) && time_of(a); k++) {
            b = json_array_get(others, (i + k) % json_array_size(others));
            if (!time_of(b) || !same_case(a, b))
                continue;
            both++;
            equal += (size_t)json_equal(time_of(a), time_of(b));
            break;
        }
    }
    return both > 0 && equal * 2 > both;
}
