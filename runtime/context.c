/* context.c - devices and contexts. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "device/host.h"
#include "runtime.h"

enum { THREAD_LIMIT = 4096 };

tsr_status_t tsrGetDeviceCount(uint32_t *count) {
    if (!count)
        return error_null("count");
    *count = (uint32_t)device_listed_count();
    return TSR_SUCCESS;
}

tsr_status_t tsrGetDeviceInfo(uint32_t index, tsr_device_info_t *info) {
    if (!info)
        return error_null("info");
    if (index >= device_listed_count())
        return error_set(TSR_ENOTFOUND, "device %u does not exist; there are %zu", index,
                         device_listed_count());
    device_driver_at(index)->probe(info);
    return TSR_SUCCESS;
}

tsr_status_t tsrCreateContext(tsr_context_t *context) {
    return tsrCreateContextOn(0, 0, 0, context);
}

tsr_status_t tsrCreateContextOn(uint32_t index, uint32_t threads, uint32_t flags,
                                tsr_context_t *context) {
    if (index >= device_listed_count())
        return error_set(TSR_ENOTFOUND, "device %u does not exist; there are %zu", index,
                         device_listed_count());
    return context_create_on(device_driver_at(index), threads, flags, context);
}

static void init_locks(tsr_context_t c) {
    pthread_condattr_t monotonic;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

tsr_status_t context_create_on(const device_driver *driver, uint32_t threads, uint32_t flags,
                               tsr_context_t *context) {
    status st = STATUS_INIT;
    if (!context)
        return error_null("context");
    if (flags & ~(uint32_t)TSR_CONTEXT_DEBUG)
        return error_set(TSR_EINVAL, "unknown context flags 0x%x", flags);
    if (threads > THREAD_LIMIT)
        return error_set(TSR_EINVAL, "%u threads; at most %d are possible", threads, THREAD_LIMIT);
    tsr_context_t c = base_calloc(1, sizeof *c);
    if (!driver->open(threads, &c->device, &st)) {
        free(c);
        return error_from(&st);
    }
    c->debug = flags & TSR_CONTEXT_DEBUG;
    init_locks(c);
    telemetry_init(&c->telemetry);
    stream_init(&c->default_stream, c);
    *context = c;
    return TSR_SUCCESS;
}

tsr_status_t tsrDestroyContext(tsr_context_t context) {
    if (!context)
        return error_null("context");
    pthread_mutex_lock(&context->mutex);
    size_t modules = context->modules, streams = context->streams, events = context->events;
    size_t memories = context->memories.count;
    bool lost = context_is_lost(context);
    pthread_mutex_unlock(&context->mutex);
    if (lost) {
        context_abandon(context);
        return TSR_SUCCESS;
    }
    if (modules || streams || events || memories)
        return error_set(
            TSR_EINVAL,
            "the context still has %zu modules, %zu streams, %zu events and %zu allocations; free "
            "them first",
            modules, streams, events, memories);
    stream_release(&context->default_stream);
    telemetry_release(&context->telemetry);
    vec_release(&context->memories);
    context->device->driver->close(context->device);
    pthread_cond_destroy(&context->changed);
    pthread_mutex_destroy(&context->mutex);
    free(context);
    return TSR_SUCCESS;
}
