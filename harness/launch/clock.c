/* clock.c - see clock.h. */
#include "launch/clock.h"

#include "common/abi_status.h"

bool launch_clock_open(launch_clock *c, tsr_context_t context, status *st) {
    *c = (launch_clock){.context = context};
    return abi_ok(tsrCreateStream(context, &c->stream), "opening a stream", st) &&
           abi_ok(tsrCreateEvent(context, &c->begin), "opening an event", st) &&
           abi_ok(tsrCreateEvent(context, &c->end), "opening an event", st) &&
           abi_ok(tsrRecordEvent(c->begin, c->stream), "using a stream", st) &&
           abi_ok(tsrStreamSynchronize(context, c->stream), "using a stream", st);
}

void launch_clock_close(launch_clock *c) {
    if (c->begin)
        (void)tsrDestroyEvent(c->begin);
    if (c->end)
        (void)tsrDestroyEvent(c->end);
    if (c->stream)
        (void)tsrDestroyStream(c->stream);
    *c = (launch_clock){0};
}

tsr_status_t launch_clock_begin(const launch_clock *c) {
    return tsrRecordEvent(c->begin, c->stream);
}

tsr_status_t launch_clock_end(const launch_clock *c, tsr_status_t queued, uint64_t *ns) {
    tsr_status_t code = queued == TSR_SUCCESS ? tsrRecordEvent(c->end, c->stream) : queued;
    tsr_status_t ended = tsrStreamSynchronize(c->context, c->stream);
    code = code == TSR_SUCCESS ? ended : code;
    return code == TSR_SUCCESS ? tsrElapsedTime(c->begin, c->end, ns) : code;
}
