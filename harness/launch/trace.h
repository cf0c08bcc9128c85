/* trace.h - a launch with the runtime's telemetry on. */
#ifndef TESSERA_HARNESS_LAUNCH_TRACE_H
#define TESSERA_HARNESS_LAUNCH_TRACE_H

#include "launch/launch.h"

struct telemetry_record;

/* Launches once. Gives what was recorded of it, oldest first: the newest `capacity` records, of
 * which there are *count; of a program on several ranks those of the first one. */
bool launch_trace(launch *l, struct telemetry_record *records, size_t capacity, size_t *count,
                  status *st);

#endif
