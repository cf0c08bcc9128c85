/* event.c - events: points in a stream that can be waited for, and the time between two. */
#include <stdlib.h>

#include "base/arena.h"
#include "runtime.h"

tsr_status_t tsrCreateEvent(tsr_context_t context, tsr_event_t *event) {
    status st = STATUS_INIT;
    if (!context || !event)
        return error_null(context ? "event" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_event_t e = base_calloc(1, sizeof *e);
    e->context = context;
    if (!context->device->driver->event_create(context->device, &e->event, &st)) {
        free(e);
        return error_from(&st);
    }
    context_add(context, &context->events, &e->link);
    *event = e;
    return TSR_SUCCESS;
}

void event_free(tsr_event_t event) {
    device *d = event->context->device;
    d->driver->event_destroy(d, event->event);
    free(event);
}

static tsr_status_t query(tsr_event_t event, bool wait, device_event_state *state,
                          uint64_t *time_ns) {
    device *d = event->context->device;
    status st = STATUS_INIT;
    return d->driver->event_query(d, event->event, wait, state, time_ns, &st) ? TSR_SUCCESS
                                                                              : error_from(&st);
}

tsr_status_t tsrDestroyEvent(tsr_event_t event) {
    device_event_state state;
    uint64_t time_ns;
    if (!event)
        return error_null("event");
    tsr_status_t result = query(event, true, &state, &time_ns);
    if (result != TSR_SUCCESS)
        return result;
    context_remove(event->context, &event->context->events, &event->link);
    event_free(event);
    return TSR_SUCCESS;
}

static tsr_status_t submit(tsr_event_t event, tsr_stream_t stream, device_command_kind kind) {
    if (!event)
        return error_null("event");
    tsr_context_t context = event->context;
    tsr_status_t usable = stream_usable(context, stream);
    if (usable != TSR_SUCCESS)
        return usable;
    const device_command command = {.kind = kind, .event = event->event};
    return stream_submit(stream_or_default(context, stream), &command, 1);
}

tsr_status_t tsrRecordEvent(tsr_event_t event, tsr_stream_t stream) {
    return submit(event, stream, DEVICE_RECORD);
}

tsr_status_t tsrWaitEvent(tsr_event_t event, tsr_stream_t stream) {
    return submit(event, stream, DEVICE_WAIT);
}

tsr_status_t tsrSynchronizeEvent(tsr_event_t event) {
    device_event_state state;
    uint64_t time_ns;
    if (!event)
        return error_null("event");
    tsr_status_t result = query(event, true, &state, &time_ns);
    return result == TSR_SUCCESS && state == DEVICE_EVENT_UNUSED
               ? error_set(TSR_EINVAL, "the event was never recorded")
               : result;
}

tsr_status_t tsrGetEventTime(tsr_event_t event, uint64_t *nanoseconds) {
    device_event_state state;
    if (!event || !nanoseconds)
        return error_null(event ? "nanoseconds" : "event");
    tsr_status_t result = query(event, false, &state, nanoseconds);
    return result == TSR_SUCCESS && state != DEVICE_EVENT_DONE
               ? error_set(TSR_EINVAL,
                           "an event is not recorded or not completed; synchronise with it first")
               : result;
}

tsr_status_t tsrElapsedTime(tsr_event_t start, tsr_event_t end, uint64_t *nanoseconds) {
    uint64_t from, to;
    if (!start || !end || !nanoseconds)
        return error_null(!start ? "start" : !end ? "end" : "nanoseconds");
    if (end->context != start->context)
        return error_set(TSR_EINVAL, "the events belong to different contexts");
    tsr_status_t result = tsrGetEventTime(start, &from);
    if (result == TSR_SUCCESS)
        result = tsrGetEventTime(end, &to);
    if (result != TSR_SUCCESS)
        return result;
    if (to < from)
        return error_set(TSR_EINVAL, "the end event happened before the start event");
    *nanoseconds = to - from;
    return TSR_SUCCESS;
}
