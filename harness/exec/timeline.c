/* timeline.c - notes steps as they begin, and asks the runtime for the phases of a launch. */
#include "exec/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "common/json_text.h"
#include "common/timer.h"
#include "job/job.h"
#include "job/result.h"
#include "launch/trace.h"
#include "telemetry.h"

enum { LAUNCHES = 5, LONG_LAUNCH_NS = 100000000 };

static json_int_t since(const timeline *t, uint64_t now) {
    return (json_int_t)(now - t->began_ns);
}

void timeline_begin(timeline *t, execute_stage_fn stage, void *context) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *t = (timeline){.stage = stage,
                    .context = context,
                    .began_ns = timer_now_ns(),
                    .unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                    .steps = json_array()};
}

static void end_step(timeline *t) {
    size_t count = json_array_size(t->steps);
    json_t *last = count ? json_array_get(t->steps, count - 1) : NULL;
    if (last)
        json_object_set_new(last, "ns",
                            json_integer(since(t, timer_now_ns()) -
                                         json_integer_value(json_object_get(last, "start_ns"))));
}

void timeline_step(void *timeline_of, const char *step) {
    timeline *t = timeline_of;
    end_step(t);
    t->stage(t->context, step);
    json_array_append_new(
        t->steps, json_pack("{s:s, s:I}", "name", step, "start_ns", since(t, timer_now_ns())));
}

/* The metadata's phases of the image that runs: {"symbol", "grid", "what"}. Owned; NULL: none. */
static json_t *phases_of(const launch *l) {
    const char *words, *isa;
    if (tsrGetModuleMetadata(l->module, &words) != TSR_SUCCESS ||
        tsrGetModuleIsa(l->module, &isa) != TSR_SUCCESS)
        return NULL;
    json_t *metadata = json_loads(words, 0, NULL), *found = json_object_get(metadata, "phases"),
           *image;
    size_t i;
    json_array_foreach(json_object_get(metadata, "images"), i, image) {
        if (!found && strcmp(json_text_at(image, "isa"), isa) == 0)
            found = json_object_get(image, "phases");
    }
    json_incref(found);
    json_decref(metadata);
    return found;
}

/* A launch and what was recorded of it: one record, or those of a program's dispatches. */
typedef struct timed_launch {
    uint64_t start_ns, total_ns;
    uint64_t clock_ns, clock_end_ns; /* by the host's clock (base/clock.h) */
    size_t count, exchanges, first_dispatch;
    telemetry_record *records; /* owned */
} timed_launch;

static json_t *phase_json(const char *what, const json_t *cells, uint64_t ns) {
    return json_pack("{s:s, s:o, s:I}", "what", what, "cells",
                     json_is_integer(cells) ? json_incref((json_t *)cells) : json_null(), "ns",
                     (json_int_t)ns);
}

/* The clock that noted it began the launch when the host did; another clock
 * than the host's with the first dispatch. */
static json_t *place_of(const timeline *at, const timed_launch *t, const telemetry_record *one) {
    const uint64_t first = t->records[t->first_dispatch].start_ns;
    const bool is_host = one->exchange || (first >= t->clock_ns && first <= t->clock_end_ns);
    const uint64_t began = is_host ? t->clock_ns : first;
    return json_integer(since(at, t->start_ns) +
                        (one->start_ns > began ? (json_int_t)(one->start_ns - began) : 0));
}

/* Exchanges between ranks, and the share of their time in which the program did something else. */
static void put_exchanges(const timeline *at, const timed_launch *t, json_t *out) {
    json_t *list = json_array();
    double all_ns = 0, waited_ns = 0;
    for (size_t i = 0; i < t->count; i++) {
        const telemetry_record *one = &t->records[i];
        if (!one->exchange)
            continue;
        json_array_append_new(list, json_pack("{s:I, s:o, s:I, s:I, s:I}", "number",
                                              (json_int_t)one->exchange, "start_ns",
                                              place_of(at, t, one), "ns", (json_int_t)one->total_ns,
                                              "waited_ns", (json_int_t)one->waited_ns, "bytes",
                                              (json_int_t)one->bytes));
        all_ns += (double)one->total_ns;
        waited_ns += (double)one->waited_ns;
    }
    json_object_set_new(out, "exchanges", list);
    json_object_set_new(out, "exchange_hidden",
                        json_real(waited_ns < all_ns ? 1 - waited_ns / all_ns : 0));
}

/* Phases of a kernel; of a program its dispatches, none where the first ones were not kept, and
 * with their beginning where exchanges lie between them. */
static json_t *phases_json(const timeline *at, const launch *l, const timed_launch *t) {
    json_t *described = l->ranks ? NULL : phases_of(l), *list = json_array();
    const telemetry_record *first = t->records;
    for (uint32_t i = 0; described && i < first->phases && i < TELEMETRY_PHASES; i++) {
        const json_t *phase = json_array_get(described, i);
        json_array_append_new(list, phase_json(json_text_at(phase, "what"),
                                               json_object_get(phase, "grid"), first->phase_ns[i]));
    }
    for (size_t i = 0; !described && t->count < TELEMETRY_KEPT && i < t->count; i++) {
        if (first[i].exchange)
            continue;
        json_t *one = phase_json(first[i].kernel, NULL, first[i].total_ns);
        if (t->exchanges)
            json_object_set_new(one, "start_ns", place_of(at, t, &first[i]));
        json_array_append_new(list, one);
    }
    json_decref(described);
    return list;
}

/* Finds the launch that took the median time. */
static size_t median_of(const timed_launch *launches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += launches[k].total_ns < launches[i].total_ns;
            equal += launches[k].total_ns == launches[i].total_ns;
        }
        if (less <= count / 2 && count / 2 < less + equal)
            return i;
    }
    return 0;
}

static uint64_t end_of(const telemetry_record *one) {
    return one->start_ns + one->total_ns;
}

/* From the first dispatch to the last; the host's clock has exchanges, and maybe no dispatch. */
static void measure(timed_launch *t) {
    size_t last = SIZE_MAX;
    t->first_dispatch = SIZE_MAX;
    for (size_t i = 0; i < t->count; i++) {
        const telemetry_record *one = &t->records[i];
        t->exchanges += one->exchange != 0;
        if (one->exchange)
            continue;
        t->first_dispatch = t->first_dispatch == SIZE_MAX ? i : t->first_dispatch;
        last = i;
    }
    if (last == SIZE_MAX)
        t->count = 0;
    else
        t->total_ns = end_of(&t->records[last]) - t->records[t->first_dispatch].start_ns;
}

static bool trace_once(launch *l, timed_launch *out, status *st) {
    out->records = base_calloc(TELEMETRY_KEPT, sizeof *out->records);
    out->clock_ns = clock_now_ns();
    const bool ok = launch_trace(l, out->records, TELEMETRY_KEPT, &out->count, st);
    out->clock_end_ns = clock_now_ns();
    measure(out);
    return ok;
}

static json_t *launch_json(const timeline *t, const launch *l, const timed_launch *chosen) {
    json_t *out = json_pack("{s:I, s:I, s:o}", "start_ns", since(t, chosen->start_ns), "ns",
                            (json_int_t)chosen->total_ns, "phases", phases_json(t, l, chosen));
    if (chosen->exchanges)
        put_exchanges(t, chosen, out);
    return out;
}

bool timeline_launch(timeline *t, launch *l, status *st) {
    timed_launch launches[LAUNCHES];
    size_t count = 0;
    bool ok = true;
    while (ok && count < LAUNCHES) {
        const uint64_t start = timer_now_ns();
        launches[count] = (timed_launch){.start_ns = start};
        ok = trace_once(l, &launches[count], st);
        const bool is_long = timer_now_ns() - start > LONG_LAUNCH_NS;
        ok = launches[count++].count > 0 && ok;
        if (is_long)
            break;
    }
    if (ok) {
        const timed_launch *chosen = &launches[median_of(launches, count)];
        json_decref(t->launch);
        t->launch = launch_json(t, l, chosen);
    }
    for (size_t i = 0; i < count; i++)
        free(launches[i].records);
    return ok || st->code == STATUS_OK;
}

void timeline_end(timeline *t, json_t *result) {
    end_step(t);
    json_t *member = json_pack("{s:I, s:o, s:o}", "began_ns", (json_int_t)t->unix_ns, "steps",
                               t->steps, "launch", t->launch ? t->launch : json_null());
    if (result)
        result_put_TIMELINE(result, member);
    else
        json_decref(member);
    t->steps = t->launch = NULL;
}
