/* timeline.c - notes steps as they begin, and asks the runtime for the phases of a launch. */
#include "exec/timeline.h"

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

static json_t *launch_json(const timeline *t, const launch *l, const telemetry_record *record,
                           uint64_t start) {
    json_t *described = phases_of(l), *list = json_array();
    for (uint32_t i = 0; i < record->phases && i < TELEMETRY_PHASES; i++) {
        const json_t *phase = json_array_get(described, i);
        json_t *cells = json_object_get(phase, "grid");
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:I}", "what", json_text_at(phase, "what"), "cells",
                            json_is_integer(cells) ? json_incref(cells) : json_null(), "ns",
                            (json_int_t)record->phase_ns[i]));
    }
    json_decref(described);
    return json_pack("{s:I, s:I, s:o}", "start_ns", since(t, start), "ns",
                     (json_int_t)record->total_ns, "phases", list);
}

/* Finds the record that took the median time. */
static size_t median_of(const telemetry_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += records[k].total_ns < records[i].total_ns;
            equal += records[k].total_ns == records[i].total_ns;
        }
        if (less <= count / 2 && count / 2 < less + equal)
            return i;
    }
    return 0;
}

bool timeline_launch(timeline *t, launch *l, status *st) {
    telemetry_record records[LAUNCHES];
    uint64_t starts[LAUNCHES];
    size_t count = 0;
    bool ok = true;
    telemetry_enable(l->context, true);
    while (ok && count < LAUNCHES) {
        starts[count] = timer_now_ns();
        ok = launch_run(l, st);
        if (timer_now_ns() - starts[count++] > LONG_LAUNCH_NS)
            break;
    }
    telemetry_enable(l->context, false);
    if (ok && telemetry_read(l->context, records, count) == count) {
        size_t chosen = median_of(records, count);
        json_decref(t->launch);
        t->launch = launch_json(t, l, &records[chosen], starts[chosen]);
    }
    return ok;
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
