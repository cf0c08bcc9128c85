/* watchdog.c - turns on the device, the time limit of a launch, and contexts lost to a kernel that
 * does not end.
 *
 * Nobody can stop a thread safely inside a kernel. So the time limit ends the waiting, not the
 * kernel: whoever waits for a launch, or calls anything of its context, sees that the launch is
 * overdue and declares the context lost. Nothing that a lost context owns is freed, since the
 * kernel may still use it. No thread watches; deadlines are looked at by those who wait. */

#include "runtime.h"

static const uint64_t longest_sleep_ns = 3600 * UINT64_C(1000000000);

/* Contexts lost and destroyed: their memory stays, and stays reachable. */
static struct {
    pthread_mutex_t mutex;
    tsr_context_t first;
} abandoned = {PTHREAD_MUTEX_INITIALIZER, NULL};

void context_abandon(tsr_context_t context) {
    pthread_mutex_lock(&abandoned.mutex);
    context->next_abandoned = abandoned.first;
    abandoned.first = context;
    pthread_mutex_unlock(&abandoned.mutex);
}

static uint64_t sum_ns(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

bool context_is_lost(tsr_context_t context) {
    if (context->lost.code != STATUS_OK)
        return true;
    if (context->deadline_ns == 0 || telemetry_now_ns() < context->deadline_ns)
        return false;
    status_set(&context->lost, STATUS_TIMEOUT,
               "kernel '%s' did not end within the watchdog's %g ms; its context is lost, and can "
               "only be destroyed",
               context->running, (double)context->limit_ns / 1e6);
    context->device->driver->cancel(context->device);
    pthread_cond_broadcast(&context->changed);
    return true;
}

tsr_status_t context_usable(tsr_context_t context) {
    pthread_mutex_lock(&context->mutex);
    bool lost = context_is_lost(context);
    pthread_mutex_unlock(&context->mutex);
    return lost ? error_from(&context->lost) : TSR_SUCCESS; /* once set, it stays as it is */
}

bool context_wait(tsr_context_t context) {
    if (context_is_lost(context))
        return false;
    if (context->deadline_ns == 0 && context->watchdog_ns == 0) {
        pthread_cond_wait(&context->changed, &context->mutex);
        return true;
    }
    /* Without a deadline yet, one set while this thread sleeps is a full limit away. */
    uint64_t now = telemetry_now_ns(), latest = sum_ns(now, longest_sleep_ns);
    uint64_t until =
        context->deadline_ns ? context->deadline_ns : sum_ns(now, context->watchdog_ns);
    if (until > latest)
        until = latest;
    struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    (void)pthread_cond_timedwait(&context->changed, &context->mutex, &time);
    return true;
}

bool turn_take(tsr_context_t context, const char *kernel, bool watched, status *st) {
    pthread_mutex_lock(&context->mutex);
    bool ours = true;
    while (ours && context->running)
        ours = context_wait(context);
    ours = ours && !context_is_lost(context);
    if (ours) {
        context->running = kernel;
        context->limit_ns = watched ? context->watchdog_ns : 0;
        context->deadline_ns =
            context->limit_ns ? sum_ns(telemetry_now_ns(), context->limit_ns) : 0;
    } else {
        *st = context->lost;
    }
    pthread_mutex_unlock(&context->mutex);
    return ours;
}

bool turn_give(tsr_context_t context, status *st) {
    pthread_mutex_lock(&context->mutex);
    bool lost = context_is_lost(context);
    if (lost) {
        *st = context->lost;
    } else {
        context->running = NULL;
        context->deadline_ns = 0;
        pthread_cond_broadcast(&context->changed);
    }
    pthread_mutex_unlock(&context->mutex);
    return !lost;
}

tsr_status_t tsrSetWatchdog(tsr_context_t context, uint64_t timeout_ns) {
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    pthread_mutex_lock(&context->mutex);
    bool ready = timeout_ns == 0 || stream_start(&context->default_stream);
    if (ready)
        context->watchdog_ns = timeout_ns;
    pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->mutex);
    return ready ? TSR_SUCCESS
                 : error_set(TSR_EOOM, "the system gives no thread for watched launches");
}
