/* semaphore.c - timeline semaphores: numbers that grow, which streams of all devices of a context
 * signal and wait for.
 *
 * A signal is an event of the stream's device, recorded on the stream. A stream of the same device
 * that waits for signals that were asked for is told so on the device. Every other wait, for a
 * signal of another device or for one that nobody asked for yet, is the host's, in the stream's
 * turn. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "runtime.h"

/* A signal that was asked for. */
typedef struct asked {
    uint64_t value;
    tsr_context_t member;
    device_event *event;
    uint32_t users; /* the list, and threads of the host that wait for the event */
} asked;

struct tsr_semaphore {
    owned link;
    tsr_context_t context;      /* the first member */
    pthread_mutex_t mutex;      /* taken before a device's lock, and never while one is held */
    pthread_cond_t changed;     /* a signal was asked for */
    uint64_t reached, greatest; /* the value; the greatest that was asked for */
    VEC(asked *) signals;       /* that are not known to have happened; values grow */
    atomic_uint queued;         /* waits of the host in streams that have not ended */
};

/* ---- signals; with the lock held ---- */

static asked *signal_new(tsr_context_t member, uint64_t value, status *st) {
    asked *a = base_calloc(1, sizeof *a);
    *a = (asked){.value = value, .member = member, .users = 1};
    if (member->device->driver->event_create(member->device, &a->event, st))
        return a;
    free(a);
    return NULL;
}

static void signal_drop(asked *a) {
    device *d = a->member->device;
    if (--a->users)
        return;
    d->driver->event_destroy(d, a->event);
    free(a);
}

static bool query(const asked *a, bool wait, bool *done, status *st) {
    device *d = a->member->device;
    device_event_state state = DEVICE_EVENT_UNUSED;
    uint64_t time_ns;
    bool ok = d->driver->event_query(d, a->event, wait, &state, &time_ns, st);
    *done = ok && state == DEVICE_EVENT_DONE;
    return ok;
}

/* Brings the value up to date: it grows in the order of the signals. False where the device of the
 * next one is lost. */
static bool look(tsr_semaphore_t s, status *st) {
    size_t count = 0;
    bool done = true, ok = true;
    while (ok && done && count < s->signals.count) {
        ok = query(s->signals.items[count], false, &done, st);
        count += done;
    }
    for (size_t i = 0; i < count; i++) {
        s->reached = s->signals.items[i]->value;
        signal_drop(s->signals.items[i]);
    }
    if (count)
        memmove(s->signals.items, s->signals.items + count,
                (s->signals.count - count) * sizeof *s->signals.items);
    s->signals.count -= count;
    return ok;
}

/* ---- waits of the host ---- */

/* Waits for the next signal, or where none was asked for until one may have been. `waiting` is the
 * device whose stream waits. */
static bool await_next(tsr_semaphore_t s, device *waiting, status *st) {
    enum { LOOK_NS = 10000000 };
    bool done;
    if (s->signals.count == 0) {
        thread_condition_wait(&s->changed, &s->mutex, clock_now_ns() + LOOK_NS);
        return waiting->driver->usable(waiting, st);
    }
    asked *next = s->signals.items[0];
    next->users++;
    pthread_mutex_unlock(&s->mutex);
    bool ok = query(next, true, &done, st);
    pthread_mutex_lock(&s->mutex);
    signal_drop(next);
    return ok;
}

static bool await_value(tsr_semaphore_t s, uint64_t value, device *waiting, status *st) {
    pthread_mutex_lock(&s->mutex);
    bool ok = look(s, st);
    while (ok && s->reached < value)
        ok = await_next(s, waiting, st) && look(s, st);
    pthread_mutex_unlock(&s->mutex);
    return ok ||
           status_context(st, "waiting for a semaphore to be %llu", (unsigned long long)value);
}

typedef struct host_wait {
    tsr_semaphore_t semaphore;
    uint64_t value;
    device *waiting;
} host_wait;

static bool host_wait_run(void *argument, status *st) {
    const host_wait *w = argument;
    return await_value(w->semaphore, w->value, w->waiting, st);
}

static void host_wait_drop(void *argument) {
    host_wait *w = argument;
    atomic_fetch_sub(&w->semaphore->queued, 1);
    free(w);
}

/* ---- waits of streams ---- */

/* Counts the signals that a wait for the value is for; 0: the host waits, since the stream is
 * synchronous or its device does not know them all. */
static size_t known_to(const struct tsr_semaphore *s, uint64_t value, tsr_stream_t stream) {
    tsr_context_t member = stream->context;
    if (stream == &member->default_stream)
        return 0;
    for (size_t i = 0; i < s->signals.count && s->signals.items[i]->member == member; i++)
        if (s->signals.items[i]->value >= value)
            return i + 1;
    return 0;
}

static tsr_status_t queue_waits(tsr_semaphore_t s, size_t count, tsr_stream_t stream) {
    tsr_status_t result = TSR_SUCCESS;
    for (size_t i = 0; i < count && result == TSR_SUCCESS; i++) {
        const device_command wait = {.kind = DEVICE_WAIT, .event = s->signals.items[i]->event};
        result = stream_submit(stream, &wait, 1);
    }
    return result;
}

static tsr_status_t queue_host_wait(tsr_semaphore_t s, uint64_t value, tsr_stream_t stream) {
    host_wait *w = base_malloc(sizeof *w);
    *w = (host_wait){s, value, stream->context->device};
    atomic_fetch_add(&s->queued, 1);
    const device_command wait = {.kind = DEVICE_HOST, .host = {host_wait_run, host_wait_drop, w}};
    return stream_submit(stream, &wait, 1);
}

/* ---- the ABI ---- */

tsr_status_t tsrCreateSemaphore(tsr_context_t context, uint64_t value, tsr_semaphore_t *semaphore) {
    if (!context || !semaphore)
        return error_null(context ? "semaphore" : "context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_semaphore_t s = base_calloc(1, sizeof *s);
    s->context = context->first;
    s->reached = s->greatest = value;
    pthread_mutex_init(&s->mutex, NULL);
    thread_condition_init(&s->changed);
    context_add(s->context, &s->context->semaphores, &s->link);
    *semaphore = s;
    return TSR_SUCCESS;
}

void semaphore_free(tsr_semaphore_t s) {
    for (size_t i = 0; i < s->signals.count; i++)
        signal_drop(s->signals.items[i]);
    vec_release(&s->signals);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

tsr_status_t tsrDestroySemaphore(tsr_semaphore_t semaphore) {
    if (!semaphore)
        return error_null("semaphore");
    if (atomic_load(&semaphore->queued))
        return error_set(TSR_EINVAL, "a stream still waits for the semaphore to be signalled");
    /* On a lost device nothing happens any more. */
    (void)await_value(semaphore, semaphore->greatest, semaphore->context->device, NULL);
    context_remove(semaphore->context, &semaphore->context->semaphores, &semaphore->link);
    semaphore_free(semaphore);
    return TSR_SUCCESS;
}

/* NULL, with the failure, where the semaphore cannot be used on the stream. */
static tsr_stream_t stream_for(tsr_semaphore_t semaphore, tsr_stream_t stream,
                               tsr_status_t *result) {
    if (!semaphore) {
        *result = error_null("semaphore");
        return NULL;
    }
    tsr_context_t member = stream ? stream->context : semaphore->context;
    *result = member->first == semaphore->context
                  ? stream_usable(member, stream)
                  : error_set(TSR_EINVAL, "the stream belongs to another context");
    return *result == TSR_SUCCESS ? stream_or_default(member, stream) : NULL;
}

/* With the semaphore's lock held, so that signals of two threads keep the order of their values. */
static tsr_status_t add_signal(tsr_semaphore_t s, tsr_stream_t stream, uint64_t value) {
    status st = STATUS_INIT;
    if (value <= s->greatest)
        return error_set(TSR_EINVAL, "a signal of %llu must be greater than the last one, %llu",
                         (unsigned long long)value, (unsigned long long)s->greatest);
    asked *a = signal_new(stream->context, value, &st);
    if (!a)
        return error_from(&st);
    const device_command record = {.kind = DEVICE_RECORD, .event = a->event};
    tsr_status_t result = stream_submit(stream, &record, 1);
    if (result != TSR_SUCCESS) {
        signal_drop(a);
        return result;
    }
    s->greatest = value;
    vec_push(&s->signals, a);
    pthread_cond_broadcast(&s->changed);
    return TSR_SUCCESS;
}

tsr_status_t tsrSignalSemaphore(tsr_semaphore_t semaphore, tsr_stream_t stream, uint64_t value) {
    tsr_status_t result;
    stream = stream_for(semaphore, stream, &result);
    if (!stream)
        return result;
    pthread_mutex_lock(&semaphore->mutex);
    (void)look(semaphore, NULL); /* signals that have happened are kept no longer */
    result = add_signal(semaphore, stream, value);
    pthread_mutex_unlock(&semaphore->mutex);
    return result;
}

tsr_status_t tsrWaitSemaphore(tsr_semaphore_t semaphore, tsr_stream_t stream, uint64_t value) {
    tsr_status_t result;
    stream = stream_for(semaphore, stream, &result);
    if (!stream)
        return result;
    pthread_mutex_lock(&semaphore->mutex);
    (void)look(semaphore, NULL); /* the wait itself tells of a lost device */
    bool reached = semaphore->reached >= value;
    size_t known = known_to(semaphore, value, stream);
    if (known)
        result = queue_waits(semaphore, known, stream);
    pthread_mutex_unlock(&semaphore->mutex);
    return reached || known ? result : queue_host_wait(semaphore, value, stream);
}

tsr_status_t tsrSynchronizeSemaphore(tsr_semaphore_t semaphore, uint64_t value) {
    status st = STATUS_INIT;
    if (!semaphore)
        return error_null("semaphore");
    tsr_status_t usable = context_usable(semaphore->context);
    if (usable != TSR_SUCCESS)
        return usable;
    return await_value(semaphore, value, semaphore->context->device, &st) ? TSR_SUCCESS
                                                                          : error_from(&st);
}

tsr_status_t tsrGetSemaphoreValue(tsr_semaphore_t semaphore, uint64_t *value) {
    status st = STATUS_INIT;
    if (!semaphore || !value)
        return error_null(semaphore ? "value" : "semaphore");
    pthread_mutex_lock(&semaphore->mutex);
    bool ok = look(semaphore, &st);
    *value = semaphore->reached;
    pthread_mutex_unlock(&semaphore->mutex);
    return ok ? TSR_SUCCESS : error_from(&st);
}
