/* timeline.c - notes steps as they begin, and asks the runtime for the phases of a launch. */
#include "exec/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json_text.h"
#include "common/timer.h"
#include "job/job.h"
#include "job/result.h"
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
    size_t count;
    telemetry_record *records; /* owned */
} timed_launch;

static json_t *phase_json(const char *what, const json_t *cells, uint64_t ns) {
    return json_pack("{s:s, s:o, s:I}", "what", what, "cells",
                     json_is_integer(cells) ? json_incref((json_t *)cells) : json_null(), "ns",
                     (json_int_t)ns);
}

/* Phases of a kernel; of a program its dispatches, none where the first ones were not kept. */
static json_t *phases_json(const launch *l, const timed_launch *t) {
    json_t *described = phases_of(l), *list = json_array();
    const telemetry_record *first = t->records;
    for (uint32_t i = 0; described && i < first->phases && i < TELEMETRY_PHASES; i++) {
        const json_t *phase = json_array_get(described, i);
        json_array_append_new(list, phase_json(json_text_at(phase, "what"),
                                               json_object_get(phase, "grid"), first->phase_ns[i]));
    }
    for (size_t i = 0; !described && t->count < TELEMETRY_KEPT && i < t->count; i++)
        json_array_append_new(list, phase_json(first[i].kernel, NULL, first[i].total_ns));
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

/* Keeps the records from a serial on, of which there may be none, in place of the one before it. */
static void read_records(const launch *l, uint64_t serial, timed_launch *out) {
    size_t before = 0;
    out->records = base_calloc(TELEMETRY_KEPT, sizeof *out->records);
    out->count = telemetry_read(l->context, out->records, TELEMETRY_KEPT);
    while (before < out->count && out->records[before].serial < serial)
        before++;
    out->count -= before;
    memmove(out->records, out->records + before, out->count * sizeof *out->records);
    if (!out->count)
        return;
    const telemetry_record *last = &out->records[out->count - 1];
    out->total_ns = last->start_ns + last->total_ns - out->records[0].start_ns;
}

static uint64_t next_serial(const launch *l) {
    telemetry_record newest;
    return telemetry_read(l->context, &newest, 1) ? newest.serial + 1 : 0;
}

bool timeline_launch(timeline *t, launch *l, status *st) {
    timed_launch launches[LAUNCHES];
    size_t count = 0;
    bool ok = true;
    telemetry_enable(l->context, true);
    while (ok && count < LAUNCHES) {
        const uint64_t serial = next_serial(l), start = timer_now_ns();
        ok = launch_run(l, st);
        const bool is_long = timer_now_ns() - start > LONG_LAUNCH_NS;
        launches[count] = (timed_launch){.start_ns = start};
        read_records(l, serial, &launches[count]);
        ok = launches[count++].count > 0 && ok;
        if (is_long)
            break;
    }
    telemetry_enable(l->context, false);
    if (ok) {
        const timed_launch *chosen = &launches[median_of(launches, count)];
        json_decref(t->launch);
        t->launch = json_pack("{s:I, s:I, s:o}", "start_ns", since(t, chosen->start_ns), "ns",
                              (json_int_t)chosen->total_ns, "phases", phases_json(l, chosen));
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
