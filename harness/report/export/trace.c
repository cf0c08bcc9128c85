/* trace.c - Chrome's trace event format (JSON object form), for chrome://tracing and Perfetto:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * One process, three tracks: what the harness did (category host), the phases of the one launch of
 * each result that was traced, with the category that phases.def gives them, and its exchanges with
 * other ranks (comm). Times are in us
 * from the first result's beginning. Nothing is drawn for what was not measured: a result without a
 * timeline has no event. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "job/job.h"
#include "report/export/export.h"

/* Digits that keep nanoseconds apart in a trace of days. */
enum { PRECISION = 15 };
enum { PROCESS = 1, HOST_TRACK = 1, KERNEL_TRACK = 2, COMM_TRACK = 3 };

static const char *category_of(const char *phase) {
    static const struct {
        const char *phase, *category;
    } kinds[] = {
#define PHASE(name, category) {name, category},
#include "phases.def"
#undef PHASE
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].phase, phase) == 0)
            return kinds[i].category;
    return "other";
}

static json_int_t whole(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

static json_t *name_event(const char *what, int track, const char *name) {
    return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", what, "ph", "M", "pid", PROCESS,
                     "tid", track, "args", "name", name);
}

typedef struct span {
    const char *name, *category;
    int track;
    json_int_t start_ns, ns;
} span;

/* A complete event; takes over `args`. */
static void put_span(json_t *events, const span *s, json_t *args) {
    json_array_append_new(events, json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:o}", "name",
                                            s->name, "cat", s->category, "ph", "X", "pid", PROCESS,
                                            "tid", s->track, "ts", (double)s->start_ns / 1e3, "dur",
                                            (double)s->ns / 1e3, "args", args));
}

static void put_steps(json_t *events, const json_t *timeline, json_int_t base, const char *result) {
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(timeline, "steps"), i, step) {
        span s = {json_text_at(step, "name"), "host", HOST_TRACK, base + whole(step, "start_ns"),
                  whole(step, "ns")};
        put_span(events, &s, json_pack("{s:s}", "result", result));
    }
}

static void put_exchanges(json_t *events, const json_t *launch, json_int_t base,
                          const char *result) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(launch, "exchanges"), i, one) {
        span s = {"exchange", "comm", COMM_TRACK, base + whole(one, "start_ns"), whole(one, "ns")};
        put_span(events, &s,
                 json_pack("{s:s, s:O, s:O, s:f}", "result", result, "number",
                           json_object_get(one, "number"), "bytes", json_object_get(one, "bytes"),
                           "waited_us", (double)whole(one, "waited_ns") / 1e3));
    }
}

/* Phases follow each other; the reading of the clock between them counts to the second. */
static void put_launch(json_t *events, const json_t *launch, json_int_t base, const char *result) {
    size_t i;
    json_t *phase;
    json_int_t start = base + whole(launch, "start_ns");
    span all = {"launch", "kernel", KERNEL_TRACK, start, whole(launch, "ns")};
    put_span(events, &all, json_pack("{s:s}", "result", result));
    json_array_foreach(json_object_get(launch, "phases"), i, phase) {
        const char *what = json_text_at(phase, "what");
        start = json_object_get(phase, "start_ns") ? base + whole(phase, "start_ns") : start;
        span s = {what, category_of(what), KERNEL_TRACK, start, whole(phase, "ns")};
        put_span(events, &s,
                 json_pack("{s:s, s:i, s:O}", "result", result, "phase", (int)i, "cells",
                           json_object_get(phase, "cells")));
        start += s.ns;
    }
    put_exchanges(events, launch, base, result);
}

void export_trace(const json_t *document, text *out) {
    json_t *events = json_array(), *result;
    json_int_t first = 0;
    size_t i;
    json_array_append_new(events, name_event("process_name", 0, "tsr bench"));
    json_array_append_new(events, name_event("thread_name", HOST_TRACK, "harness"));
    json_array_append_new(events, name_event("thread_name", KERNEL_TRACK, "kernel phases"));
    json_array_append_new(events, name_event("thread_name", COMM_TRACK, "exchanges"));
    json_array_foreach(json_object_get(document, "results"), i, result) {
        const json_t *timeline = export_value(result, "timeline", NULL);
        if (!timeline)
            continue;
        json_int_t began = whole(timeline, "began_ns");
        first = first ? first : began;
        text name;
        text_init(&name);
        export_name(result, &name);
        put_steps(events, timeline, began - first, name.data);
        const json_t *launch = export_value(timeline, "launch", NULL);
        if (launch)
            put_launch(events, launch, began - first, name.data);
        text_release(&name);
    }
    json_t *trace =
        json_pack("{s:o, s:s, s:{s:O, s:O, s:O}}", "traceEvents", events, "displayTimeUnit", "ns",
                  "otherData", "run", json_object_get(document, "run"), "tsr",
                  json_object_get(document, "tsr"), "host", json_object_get(document, "host"));
    char *body = json_dumps(trace, JSON_INDENT(1) | JSON_REAL_PRECISION(PRECISION));
    text_screen_json(out, body, strlen(body));
    text_append_char(out, '\n');
    free(body);
    json_decref(trace);
}
