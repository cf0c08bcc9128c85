/* show.c - a history as JSON, and a series as a line of characters. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "history/history.h"
#include "statistics/statistics.h"

static json_t *known_or_null(int64_t value) {
    return value < 0 ? json_null() : json_integer(value);
}

static json_t *segments_json(const history *h, const history_series *s) {
    json_t *list = json_array();
    for (size_t i = 0; i < s->points.count; i++) {
        const changepoint_segment *g = &s->points.segments[i];
        const history_run *first = &h->runs.items[s->where.items[g->begin]],
                          *last = &h->runs.items[s->where.items[g->end - 1]];
        json_t *segment =
            json_pack("{s:s, s:s, s:s, s:s, s:I, s:f}", "first_run", first->id, "started",
                      first->started, "commit", first->commit, "last_run", last->id, "runs",
                      (json_int_t)(g->end - g->begin), "median_ns", g->median);
        /* The first begins with the data, not with a change. */
        json_object_set_new(segment, "p", i ? json_real(g->p) : json_null());
        json_object_set_new(segment, "change",
                            i ? json_real(g->median / g[-1].median - 1) : json_null());
        json_array_append_new(list, segment);
    }
    return list;
}

static json_t *series_json(const history *h, const history_series *s) {
    json_t *points = json_array();
    for (size_t i = 0; i < s->ns.count; i++)
        json_array_append_new(points,
                              json_pack("{s:s, s:f}", "run", h->runs.items[s->where.items[i]].id,
                                        "median_ns", s->ns.items[i]));
    json_t *made = json_pack("{s:s, s:o, s:o, s:b, s:I, s:o, s:o}", "key", s->key, "flops",
                             known_or_null(s->flops), "bytes", known_or_null(s->bytes), "tested",
                             s->tested, "left_out", (json_int_t)s->left_out, "points", points,
                             "segments", segments_json(h, s));
    bool any = s->points.count > 0;
    json_object_set_new(made, "sustained_ns", any ? json_real(history_sustained(s)) : json_null());
    json_object_set_new(made, "rolling_ns", any ? json_real(history_rolling(s)) : json_null());
    json_object_set_new(made, "creep", s->tested ? json_real(s->creep) : json_null());
    return made;
}

json_t *history_json(const history *h) {
    json_t *series = json_array(), *warnings = json_array();
    for (size_t i = 0; i < h->series.count; i++)
        json_array_append_new(series, series_json(h, &h->series.items[i]));
    for (size_t i = 0; i < h->warnings.count; i++)
        json_array_append_new(warnings, json_string(h->warnings.items[i]));
    return json_pack("{s:s, s:s?, s:I, s:o, s:o}", "schema", "tsr.history/1", "machine", h->machine,
                     "runs", (json_int_t)h->runs.count, "series", series, "warnings", warnings);
}

/* Median of the values that share character `place` of `width`. */
static double shared(const double *values, size_t count, size_t width, size_t place) {
    size_t begin = place * count / width, end = (place + 1) * count / width;
    double *copy = base_malloc((end - begin) * sizeof *copy);
    for (size_t i = begin; i < end; i++)
        copy[i - begin] = values[i];
    double median = statistics_of(copy, end - begin).median;
    free(copy);
    return median;
}

void history_sparkline(const double *values, size_t count, size_t width, bool unicode, text *out) {
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[] = {"_", ".", ",", "-", "=", "+", "*", "#"};
    size_t places = count < width ? count : width;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < places; i++) {
        double value = log(shared(values, count, places, i));
        low = fmin(low, value);
        high = fmax(high, value);
    }
    for (size_t i = 0; i < places; i++) {
        double value = log(shared(values, count, places, i));
        int level = high > low ? (int)((value - low) / (high - low) * 7.999) : 0;
        text_append(out, unicode ? blocks[level] : ascii[level]);
    }
}
