/* stream.c - streams: a queue of launches and marks, and the thread that works it off. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/thread.h"
#include "stream.h"

struct stream_task {
    stream_task *next;
    launch_request launch; /* kernel NULL: the task is a mark */
    tsr_event_t event;
    uint64_t serial;
    bool awaited, done; /* awaited: whoever waits frees it, and is told how the launch ended */
    status result;
};

void stream_init(struct tsr_stream *stream, tsr_context_t context) {
    *stream = (struct tsr_stream){.context = context};
    stream->last = &stream->first;
    pthread_cond_init(&stream->work, NULL);
}

void stream_release(struct tsr_stream *stream) {
    device *d = stream->context->device;
    if (stream->has_thread) {
        pthread_mutex_lock(&stream->context->mutex);
        stream->stopping = true;
        pthread_cond_signal(&stream->work);
        pthread_mutex_unlock(&stream->context->mutex);
        pthread_join(stream->thread, NULL);
    }
    if (stream->workspace.data)
        d->driver->release(d, &stream->workspace);
    pthread_cond_destroy(&stream->work);
}

static stream_task *push(tsr_stream_t stream, stream_task task) {
    stream_task *t = base_malloc(sizeof *t);
    *t = task;
    t->next = NULL;
    pthread_mutex_lock(&stream->context->mutex);
    *stream->last = t;
    stream->last = &t->next;
    pthread_cond_signal(&stream->work);
    pthread_mutex_unlock(&stream->context->mutex);
    return t;
}

void stream_push_launch(tsr_stream_t stream, const launch_request *request) {
    push(stream, (stream_task){.launch = *request});
}

void stream_push_mark(tsr_stream_t stream, tsr_event_t event, uint64_t serial) {
    push(stream, (stream_task){.event = event, .serial = serial});
}

bool stream_push_and_wait(tsr_stream_t stream, const launch_request *request, status *st) {
    tsr_context_t context = stream->context;
    stream_task *t = push(stream, (stream_task){.launch = *request, .awaited = true});
    pthread_mutex_lock(&context->mutex);
    bool lost = false;
    while (!lost && !t->done)
        lost = !context_wait(context);
    *st = t->done ? t->result : context->lost;
    bool ours = t->done;
    t->awaited = false;
    pthread_mutex_unlock(&context->mutex);
    if (ours)
        free(t);
    return st->code == STATUS_OK;
}

/* Waits for the next task; NULL once the stream is stopping and empty, or the context is lost. */
static stream_task *pop(tsr_stream_t stream) {
    tsr_context_t context = stream->context;
    pthread_mutex_lock(&context->mutex);
    while (!stream->first && !stream->stopping && context->lost.code == STATUS_OK)
        pthread_cond_wait(&stream->work, &context->mutex);
    bool lost = context->lost.code != STATUS_OK;
    stream_task *t = lost ? NULL : stream->first;
    if (t) {
        stream->first = t->next;
        if (!stream->first)
            stream->last = &stream->first;
        stream->busy = true;
    }
    pthread_mutex_unlock(&context->mutex);
    if (lost)
        pthread_detach(pthread_self()); /* nobody will join it */
    return t;
}

/* Tells those who wait that a launch has ended. */
static void task_done(tsr_stream_t stream, stream_task *t, const status *st) {
    tsr_context_t context = stream->context;
    free(t->launch.buffers);
    pthread_mutex_lock(&context->mutex);
    t->launch.kernel->module->launches--;
    bool awaited = t->awaited;
    if (awaited) {
        t->result = *st;
        t->done = true;
    } else if (stream->failure.code == STATUS_OK) {
        stream->failure = *st;
    }
    stream->busy = false;
    pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->mutex);
    if (!awaited)
        free(t);
}

static void mark_done(tsr_stream_t stream, stream_task *t) {
    tsr_context_t context = stream->context;
    pthread_mutex_lock(&context->mutex);
    event_complete(t->event, t->serial);
    stream->busy = false;
    pthread_mutex_unlock(&context->mutex);
    free(t);
}

static void *stream_main(void *argument) {
    tsr_stream_t stream = argument;
    for (stream_task *t; (t = pop(stream));) {
        status st = STATUS_INIT;
        if (t->event) {
            mark_done(stream, t);
        } else {
            (void)launch_run(stream, &t->launch, true, &st); /* the status says it all */
            task_done(stream, t, &st);
        }
    }
    return NULL;
}

bool stream_start(tsr_stream_t stream) {
    if (!stream->has_thread)
        stream->has_thread = thread_start(&stream->thread, stream_main, stream);
    return stream->has_thread;
}

tsr_status_t tsrCreateStream(tsr_context_t context, tsr_stream_t *stream) {
    if (!context || !stream)
        return error_null(context ? "stream" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_stream_t s = base_calloc(1, sizeof *s);
    stream_init(s, context);
    pthread_mutex_lock(&context->mutex);
    bool started = stream_start(s);
    context->streams += started;
    pthread_mutex_unlock(&context->mutex);
    if (!started) {
        stream_release(s);
        free(s);
        return error_set(TSR_EOOM, "the system gives no thread for a stream");
    }
    *stream = s;
    return TSR_SUCCESS;
}

/* Waits until the stream has nothing to do, and takes its failure. */
static bool await_idle(tsr_stream_t stream, status *failure) {
    tsr_context_t context = stream->context;
    pthread_mutex_lock(&context->mutex);
    bool lost = context_is_lost(context);
    while (!lost && (stream->first || stream->busy))
        lost = !context_wait(context);
    *failure = lost ? context->lost : stream->failure;
    stream->failure = (status)STATUS_INIT;
    pthread_mutex_unlock(&context->mutex);
    return !lost;
}

static tsr_status_t told(const status *st) {
    return st->code == STATUS_OK ? TSR_SUCCESS : error_from(st);
}

tsr_status_t tsrDestroyStream(tsr_stream_t stream) {
    status failure;
    if (!stream)
        return error_null("stream");
    tsr_context_t context = stream->context;
    if (!await_idle(stream, &failure))
        return error_from(&failure);
    stream_release(stream);
    free(stream);
    pthread_mutex_lock(&context->mutex);
    context->streams--;
    pthread_mutex_unlock(&context->mutex);
    return told(&failure);
}

tsr_status_t tsrStreamSynchronize(tsr_context_t context, tsr_stream_t stream) {
    status failure;
    if (!context)
        return error_null("context");
    if (!stream)
        return context_usable(context); /* its launches are done when they return */
    if (stream->context != context)
        return error_set(TSR_EINVAL, "the stream belongs to another context");
    (void)await_idle(stream, &failure); /* the failure says it all */
    return told(&failure);
}
