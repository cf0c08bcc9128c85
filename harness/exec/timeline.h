/* timeline.h - when a job did what: the harness' steps, and the phases of one launch of its kernel.
 *
 * It becomes the member "timeline" of the result: {"began_ns" (Unix time), "steps": [{"name",
 * "start_ns", "ns"}], "launch": null | {"start_ns", "ns", "phases": [{"what", "cells", "ns"}]}}. A
 * program of several ranks has those of the first one, phases with their "start_ns", and
 * "exchanges": [{"number", "start_ns", "ns", "waited_ns", "bytes"}], "exchange_hidden". start_ns is
 * counted from began_ns. The launch is one that ran after the timing, with the runtime's telemetry
 * on: of a few such launches the one that took the median time. Phases that the telemetry has no
 * room for are not in the list, so their sum may be less than the launch. */
#ifndef TESSERA_HARNESS_EXEC_TIMELINE_H
#define TESSERA_HARNESS_EXEC_TIMELINE_H

#include <jansson.h>

#include "exec/execute.h"
#include "launch/launch.h"

typedef struct timeline {
    execute_stage_fn stage; /* is told, too */
    void *context;
    uint64_t began_ns; /* of timer_now_ns */
    int64_t unix_ns;
    json_t *steps, *launch;
} timeline;

void timeline_begin(timeline *t, execute_stage_fn stage, void *context);
/* An execute_stage_fn: the step before ends, this one begins. */
void timeline_step(void *timeline_of, const char *step);
/* Launches a few times; the buffers hold outputs afterwards. */
bool timeline_launch(timeline *t, launch *l, status *st);
/* Ends the last step and puts the member into the result, which may be NULL. Releases what `t`
 * has. */
void timeline_end(timeline *t, json_t *result);

#endif
