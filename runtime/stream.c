/* stream.c - streams with a queue and a thread each, and events. */
#include <stdlib.h>

#include "base/arena.h"
#include "runtime.h"

struct stream_task {
    stream_task *next;
    launch_request launch; /* kernel NULL: the task is an event */
    tsr_event_t event;
    uint64_t serial;
};

void stream_init(struct tsr_stream *stream, tsr_context_t context) {
    *stream = (struct tsr_stream){.context = context};
    stream->last = &stream->first;
    pthread_mutex_init(&stream->run_lock, NULL);
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->changed, NULL);
}

void stream_release(struct tsr_stream *stream) {
    device *d = stream->context->device;
    if (stream->workspace.data)
        d->driver->release(d, &stream->workspace);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->mutex);
    pthread_mutex_destroy(&stream->run_lock);
}

static void push(tsr_stream_t stream, stream_task task) {
    stream_task *t = base_malloc(sizeof *t);
    *t = task;
    t->next = NULL;
    pthread_mutex_lock(&stream->mutex);
    *stream->last = t;
    stream->last = &t->next;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
}

void stream_push_launch(tsr_stream_t stream, const launch_request *request) {
    push(stream, (stream_task){.launch = *request});
}

/* Waits for the next task; NULL once the stream is stopping and empty. Marks the stream busy. */
static stream_task *pop(tsr_stream_t stream) {
    pthread_mutex_lock(&stream->mutex);
    stream->busy = false;
    pthread_cond_broadcast(&stream->changed);
    while (!stream->first && !stream->stopping)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    stream_task *t = stream->first;
    if (t) {
        stream->first = t->next;
        if (!stream->first)
            stream->last = &stream->first;
        stream->busy = true;
    }
    pthread_mutex_unlock(&stream->mutex);
    return t;
}

static void event_complete(tsr_event_t event, uint64_t serial) {
    pthread_mutex_lock(&event->mutex);
    if (serial > event->newest) { /* streams may pass each other; the latest recording counts */
        event->newest = serial;
        event->time_ns = telemetry_now_ns();
    }
    event->pending--;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->mutex);
}

static void keep_failure(tsr_stream_t stream, const status *st) {
    pthread_mutex_lock(&stream->mutex);
    if (stream->failure.code == STATUS_OK)
        stream->failure = *st;
    pthread_mutex_unlock(&stream->mutex);
}

static void *stream_main(void *argument) {
    tsr_stream_t stream = argument;
    for (stream_task *t; (t = pop(stream)); free(t)) {
        status st = STATUS_INIT;
        if (t->event) {
            event_complete(t->event, t->serial);
            continue;
        }
        if (!launch_run(stream, &t->launch, &st))
            keep_failure(stream, &st);
        launch_finished(t->launch.kernel);
        free(t->launch.buffers);
    }
    return NULL;
}

/* Adds to one of the context's counts of live handles. */
static void count(tsr_context_t context, size_t *counter, int change) {
    pthread_mutex_lock(&context->mutex);
    *counter += (size_t)change;
    pthread_mutex_unlock(&context->mutex);
}

tsr_status_t tsrCreateStream(tsr_context_t context, tsr_stream_t *stream) {
    if (!context || !stream)
        return error_null(context ? "stream" : "context");
    tsr_stream_t s = base_calloc(1, sizeof *s);
    stream_init(s, context);
    if (pthread_create(&s->thread, NULL, stream_main, s) != 0) {
        stream_release(s);
        free(s);
        return error_set(TSR_EOOM, "cannot start the thread of a stream");
    }
    count(context, &context->streams, 1);
    *stream = s;
    return TSR_SUCCESS;
}

static tsr_status_t told_failure(const status *st) {
    return st->code == STATUS_OK ? TSR_SUCCESS : error_from(st);
}

tsr_status_t tsrDestroyStream(tsr_stream_t stream) {
    if (!stream)
        return error_null("stream");
    pthread_mutex_lock(&stream->mutex);
    stream->stopping = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    pthread_join(stream->thread, NULL);
    tsr_status_t result = told_failure(&stream->failure);
    count(stream->context, &stream->context->streams, -1);
    stream_release(stream);
    free(stream);
    return result;
}

tsr_status_t tsrStreamSynchronize(tsr_context_t context, tsr_stream_t stream) {
    if (!context)
        return error_null("context");
    if (!stream)
        return TSR_SUCCESS; /* launches on the default stream are done when they return */
    if (stream->context != context)
        return error_set(TSR_EINVAL, "the stream belongs to another context");
    pthread_mutex_lock(&stream->mutex);
    while (stream->first || stream->busy)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    status failure = stream->failure;
    stream->failure = (status)STATUS_INIT;
    pthread_mutex_unlock(&stream->mutex);
    return told_failure(&failure);
}

tsr_status_t tsrCreateEvent(tsr_context_t context, tsr_event_t *event) {
    if (!context || !event)
        return error_null(context ? "event" : "context");
    tsr_event_t e = base_calloc(1, sizeof *e);
    e->context = context;
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->changed, NULL);
    count(context, &context->events, 1);
    *event = e;
    return TSR_SUCCESS;
}

/* Waits until every recording has happened; false when there never was one. */
static bool await_event(tsr_event_t event) {
    pthread_mutex_lock(&event->mutex);
    while (event->pending > 0)
        pthread_cond_wait(&event->changed, &event->mutex);
    bool ever = event->recorded > 0;
    pthread_mutex_unlock(&event->mutex);
    return ever;
}

tsr_status_t tsrDestroyEvent(tsr_event_t event) {
    if (!event)
        return error_null("event");
    await_event(event);
    count(event->context, &event->context->events, -1);
    pthread_cond_destroy(&event->changed);
    pthread_mutex_destroy(&event->mutex);
    free(event);
    return TSR_SUCCESS;
}

tsr_status_t tsrRecordEvent(tsr_event_t event, tsr_stream_t stream) {
    if (!event)
        return error_null("event");
    if (stream && stream->context != event->context)
        return error_set(TSR_EINVAL, "the stream belongs to another context than the event");
    pthread_mutex_lock(&event->mutex);
    uint64_t serial = ++event->recorded;
    event->pending++;
    pthread_mutex_unlock(&event->mutex);
    if (stream)
        push(stream, (stream_task){.event = event, .serial = serial});
    else
        event_complete(event, serial);
    return TSR_SUCCESS;
}

tsr_status_t tsrSynchronizeEvent(tsr_event_t event) {
    if (!event)
        return error_null("event");
    if (!await_event(event))
        return error_set(TSR_EINVAL, "the event was never recorded");
    return TSR_SUCCESS;
}

static bool completed_time(tsr_event_t event, uint64_t *time_ns) {
    pthread_mutex_lock(&event->mutex);
    bool done = event->recorded > 0 && event->pending == 0;
    *time_ns = event->time_ns;
    pthread_mutex_unlock(&event->mutex);
    return done;
}

tsr_status_t tsrElapsedTime(tsr_event_t start, tsr_event_t end, uint64_t *nanoseconds) {
    uint64_t from, to;
    if (!start || !end || !nanoseconds)
        return error_null(!start ? "start" : !end ? "end" : "nanoseconds");
    if (!completed_time(start, &from) || !completed_time(end, &to))
        return error_set(TSR_EINVAL,
                         "an event is not recorded or not completed; synchronise with it first");
    if (to < from)
        return error_set(TSR_EINVAL, "the end event happened before the start event");
    *nanoseconds = to - from;
    return TSR_SUCCESS;
}
