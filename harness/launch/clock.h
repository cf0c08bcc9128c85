/* clock.h - the clock of a device that works by itself: a stream, and events before and behind what
 * is queued on it. */
#ifndef TESSERA_HARNESS_LAUNCH_CLOCK_H
#define TESSERA_HARNESS_LAUNCH_CLOCK_H

#include "base/status.h"
#include "tessera/tessera.h"

typedef struct launch_clock {
    tsr_context_t context; /* borrowed */
    tsr_stream_t stream;   /* NULL: the clock is not open */
    tsr_event_t begin, end;
} launch_clock;

/* Uses the stream once, so that all threads of the driver run. launch_clock_close in any case. */
bool launch_clock_open(launch_clock *c, tsr_context_t context, status *st);
void launch_clock_close(launch_clock *c);

/* Around launches on `stream`: what comes between took `*ns`. The second takes what became of them,
 * waits for what is queued whatever failed, and returns the first failure. */
tsr_status_t launch_clock_begin(const launch_clock *c);
tsr_status_t launch_clock_end(const launch_clock *c, tsr_status_t queued, uint64_t *ns);

#endif
