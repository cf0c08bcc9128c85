/* event.c - events: points in a stream that can be waited for, and the time between two. */
#include <stdlib.h>

#include "base/arena.h"
#include "stream.h"

void event_complete(tsr_event_t event, uint64_t serial) {
    if (serial > event->newest) { /* streams may pass each other; the latest recording counts */
        event->newest = serial;
        event->time_ns = telemetry_now_ns();
    }
    event->pending--;
    pthread_cond_broadcast(&event->context->changed);
}

tsr_status_t tsrCreateEvent(tsr_context_t context, tsr_event_t *event) {
    if (!context || !event)
        return error_null(context ? "event" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_event_t e = base_calloc(1, sizeof *e);
    e->context = context;
    pthread_mutex_lock(&context->mutex);
    context->events++;
    pthread_mutex_unlock(&context->mutex);
    *event = e;
    return TSR_SUCCESS;
}

/* Waits, with the context's lock held, until every recording has happened. */
static bool await_event(tsr_event_t event) {
    bool lost = context_is_lost(event->context);
    while (!lost && event->pending > 0)
        lost = !context_wait(event->context);
    return !lost;
}

tsr_status_t tsrDestroyEvent(tsr_event_t event) {
    if (!event)
        return error_null("event");
    tsr_context_t context = event->context;
    pthread_mutex_lock(&context->mutex);
    bool done = await_event(event);
    context->events -= done;
    pthread_mutex_unlock(&context->mutex);
    if (!done)
        return error_from(&context->lost);
    free(event);
    return TSR_SUCCESS;
}

tsr_status_t tsrRecordEvent(tsr_event_t event, tsr_stream_t stream) {
    if (!event)
        return error_null("event");
    tsr_context_t context = event->context;
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (stream && stream->context != context)
        return error_set(TSR_EINVAL, "the stream belongs to another context than the event");
    pthread_mutex_lock(&context->mutex);
    uint64_t serial = ++event->recorded;
    event->pending++;
    if (!stream)
        event_complete(event, serial);
    pthread_mutex_unlock(&context->mutex);
    if (stream)
        stream_push_mark(stream, event, serial);
    return TSR_SUCCESS;
}

tsr_status_t tsrSynchronizeEvent(tsr_event_t event) {
    if (!event)
        return error_null("event");
    pthread_mutex_lock(&event->context->mutex);
    bool done = await_event(event), ever = event->recorded > 0;
    pthread_mutex_unlock(&event->context->mutex);
    if (!done)
        return error_from(&event->context->lost);
    return ever ? TSR_SUCCESS : error_set(TSR_EINVAL, "the event was never recorded");
}

tsr_status_t tsrElapsedTime(tsr_event_t start, tsr_event_t end, uint64_t *nanoseconds) {
    if (!start || !end || !nanoseconds)
        return error_null(!start ? "start" : !end ? "end" : "nanoseconds");
    tsr_context_t context = start->context;
    if (end->context != context)
        return error_set(TSR_EINVAL, "the events belong to different contexts");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    pthread_mutex_lock(&context->mutex);
    bool done = start->recorded && !start->pending && end->recorded && !end->pending;
    uint64_t from = start->time_ns, to = end->time_ns;
    pthread_mutex_unlock(&context->mutex);
    if (!done)
        return error_set(TSR_EINVAL,
                         "an event is not recorded or not completed; synchronise with it first");
    if (to < from)
        return error_set(TSR_EINVAL, "the end event happened before the start event");
    *nanoseconds = to - from;
    return TSR_SUCCESS;
}
