/* stream.c - streams: queues of the device, and the failures that nobody was told yet. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

tsr_stream_t stream_or_default(tsr_context_t context, tsr_stream_t stream) {
    return stream ? stream : &context->default_stream;
}

static tsr_status_t stream_fits(tsr_context_t context, tsr_stream_t stream) {
    if (stream && stream->context != context)
        return error_set(TSR_EINVAL, "the stream belongs to another context");
    if (stream && stream->captured)
        return error_set(TSR_EINVAL, "the stream is capturing; end that first");
    return TSR_SUCCESS;
}

tsr_status_t stream_usable(tsr_context_t context, tsr_stream_t stream) {
    tsr_status_t usable = context_usable(context);
    return usable == TSR_SUCCESS ? stream_fits(context, stream) : usable;
}

void stream_fail(tsr_stream_t stream, const status *failure) {
    pthread_mutex_lock(&stream->context->mutex);
    if (stream->failure.code == STATUS_OK)
        stream->failure = *failure;
    pthread_mutex_unlock(&stream->context->mutex);
}

tsr_status_t stream_submit(tsr_stream_t stream, const device_command *commands, size_t count) {
    status st;
    status_clear(&st);
    return stream->context->device->driver->submit(stream->queue, commands, count, &st)
               ? TSR_SUCCESS
               : error_from(&st);
}

tsr_status_t tsrCreateStream(tsr_context_t context, tsr_stream_t *stream) {
    status st = STATUS_INIT;
    if (!context || !stream)
        return error_null(context ? "stream" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_stream_t s = base_calloc(1, sizeof *s);
    s->context = context;
    if (!context->device->driver->queue_create(context->device, false, &s->queue, &st)) {
        free(s);
        return error_from(&st);
    }
    context_add(context, &context->streams, &s->link);
    *stream = s;
    return TSR_SUCCESS;
}

void stream_free(tsr_stream_t stream) {
    device *d = stream->context->device;
    d->driver->queue_destroy(d, stream->queue);
    if (stream->captured)
        graph_free(stream->captured);
    free(stream);
}

/* Waits until the stream has nothing to do, and takes its first failure. */
static tsr_status_t await_idle(tsr_stream_t stream) {
    status st = STATUS_INIT, kept;
    (void)stream->context->device->driver->await(stream->queue, &st); /* the status says it all */
    pthread_mutex_lock(&stream->context->mutex);
    kept = stream->failure;
    stream->failure = (status)STATUS_INIT;
    pthread_mutex_unlock(&stream->context->mutex);
    return kept.code != STATUS_OK ? error_from(&kept)
           : st.code != STATUS_OK ? error_from(&st)
                                  : TSR_SUCCESS;
}

tsr_status_t tsrDestroyStream(tsr_stream_t stream) {
    if (!stream)
        return error_null("stream");
    tsr_context_t context = stream->context;
    tsr_status_t result = await_idle(stream);
    if (result != TSR_SUCCESS) {
        status why = STATUS_INIT;
        if (!context->device->driver->usable(context->device, &why))
            return error_from(&why);
    }
    context_remove(context, &context->streams, &stream->link);
    stream_free(stream);
    return result;
}

tsr_status_t tsrStreamSynchronize(tsr_context_t context, tsr_stream_t stream) {
    if (!context)
        return error_null("context");
    tsr_status_t fits = stream_fits(context, stream);
    if (fits != TSR_SUCCESS)
        return fits;
    if (!stream)
        return context_usable(context); /* it is idle between calls */
    const profile_call call = profile_begin(context->profile, "host", "wait");
    tsr_status_t result = await_idle(stream);
    profile_end(&call, 0);
    return result;
}
