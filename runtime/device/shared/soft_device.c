/* soft_device.c - the loss of a device, waiting, and events. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "device/shared/soft.h"

static const uint64_t longest_sleep_ns = UINT64_C(3600000000000), grace_ns = 20000000;

void soft_device_init(soft_device *d, const device_driver *driver, const soft_functions *functions,
                      const device_options *options) {
    d->base.driver = driver;
    d->functions = functions;
    d->options = *options;
    atomic_init(&d->base.attention, functions->gone ? 1 : 0);
    pthread_mutex_init(&d->mutex, NULL);
    thread_condition_init(&d->changed);
}

void soft_device_release(soft_device *d) {
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->mutex);
}

uint64_t soft_now_ns(const soft_device *d) {
    return clock_now_ns() - d->clock_start_ns;
}

/* ---- loss ---- */

void soft_lose(soft_device *d, const status *why) {
    if (d->lost.code != STATUS_OK)
        return;
    d->lost = *why;
    atomic_fetch_add(&d->base.attention, 1);
    if (d->functions->lost)
        d->functions->lost(d);
    pthread_cond_broadcast(&d->changed);
    for (device_queue *q = d->queues; q; q = q->next)
        pthread_cond_broadcast(&q->work);
}

static const device_queue *overdue(const soft_device *d) {
    uint64_t now = clock_now_ns();
    for (const device_queue *q = d->queues; q; q = q->next)
        if (q->deadline_ns && q->deadline_ns <= now)
            return q;
    return NULL;
}

bool soft_is_lost(soft_device *d) {
    status why = STATUS_INIT;
    if (d->lost.code != STATUS_OK)
        return true;
    if (d->functions->gone && d->functions->gone(d, &why)) {
        soft_lose(d, &why);
        return true;
    }
    const device_queue *q = overdue(d);
    if (!q)
        return false;
    status_set(
        &why, STATUS_TIMEOUT,
        "%s%s%s did not end within the watchdog's %g ms; its context is lost, and can only be "
        "destroyed",
        q->kernel ? "kernel '" : "a copy or fill", q->kernel ? q->kernel : "", q->kernel ? "'" : "",
        (double)q->limit_ns / 1e6);
    soft_lose(d, &why);
    return true;
}

bool soft_usable(device *base, status *why) {
    soft_device *d = (soft_device *)base;
    pthread_mutex_lock(&d->mutex);
    bool lost = soft_is_lost(d);
    if (lost)
        status_set(why, d->lost.code, "%s", d->lost.message);
    pthread_mutex_unlock(&d->mutex);
    return !lost;
}

void soft_declare_lost(device *base, const status *why) {
    soft_device *d = (soft_device *)base;
    pthread_mutex_lock(&d->mutex);
    soft_lose(d, why);
    pthread_mutex_unlock(&d->mutex);
}

static bool any_busy(const soft_device *d) {
    for (const device_queue *q = d->queues; q; q = q->next)
        if (q->busy || (q->detached && !q->ended))
            return true;
    return false;
}

uint64_t soft_pause_ns(uint64_t passed_ns) {
    enum { SPIN_NS = 100000, SHARE = 100, LONGEST_NS = 1000000 };
    uint64_t share = passed_ns / SHARE;
    return passed_ns < SPIN_NS ? 0 : share < LONGEST_NS ? share : LONGEST_NS;
}

/* Threads that wait end at once, since the device is lost; one in a kernel has a moment to. */
bool soft_cancel(device *base) {
    soft_device *d = (soft_device *)base;
    uint64_t until = clock_now_ns() + grace_ns;
    pthread_mutex_lock(&d->mutex);
    while (any_busy(d) && clock_now_ns() < until)
        thread_condition_wait(&d->changed, &d->mutex, until);
    bool ended = !any_busy(d);
    for (device_queue *q = d->queues; q && !ended; q = q->next) {
        if (q->has_thread)
            pthread_detach(q->thread);
        q->detached |= q->has_thread;
        q->has_thread = false;
    }
    pthread_mutex_unlock(&d->mutex);
    return ended;
}

bool soft_wait(soft_device *d, uint64_t until_ns) {
    if (soft_is_lost(d))
        return false;
    uint64_t until = until_ns ? until_ns : UINT64_MAX;
    for (const device_queue *q = d->queues; q; q = q->next)
        if (q->deadline_ns && q->deadline_ns < until)
            until = q->deadline_ns;
    if (until == UINT64_MAX) {
        pthread_cond_wait(&d->changed, &d->mutex);
        return true;
    }
    uint64_t latest = clock_now_ns() + longest_sleep_ns;
    thread_condition_wait(&d->changed, &d->mutex, until < latest ? until : latest);
    return true;
}

/* ---- events ---- */

struct soft_recording {
    uint32_t references;
    bool done;
    uint64_t time_ns;
    void *mark;
    const device_queue *by; /* that made the mark */
    uint32_t borrowers;
};

struct device_event {
    size_t pending;
    soft_recording *latest; /* the one asked for last; NULL: none was */
};

soft_recording *soft_recording_ask(device_event *event) {
    soft_recording *r = base_calloc(1, sizeof *r);
    r->references = 2;
    if (event->latest)
        soft_recording_drop(event->latest);
    event->latest = r;
    event->pending++;
    return r;
}

soft_recording *soft_recording_latest(device_event *event) {
    return event->latest ? soft_recording_keep(event->latest) : NULL;
}

soft_recording *soft_recording_keep(soft_recording *r) {
    r->references++;
    return r;
}

void soft_recording_mark(soft_device *d, soft_recording *r, const device_queue *by, void *mark) {
    r->mark = mark;
    r->by = by;
    pthread_cond_broadcast(&d->changed);
}

bool soft_recording_is_marked(const soft_recording *r) {
    return r->mark != NULL;
}

bool soft_recording_is_of(const soft_recording *r, const device_queue *queue) {
    return r->mark && r->by == queue;
}

void *soft_recording_borrow(soft_recording *r) {
    r->borrowers += r->mark != NULL;
    return r->mark;
}

void soft_recording_give_back(soft_device *d, soft_recording *r) {
    r->borrowers--;
    pthread_cond_broadcast(&d->changed);
}

void soft_recording_done(soft_device *d, soft_recording *r, device_event *event, uint64_t time_ns) {
    while (r->borrowers)
        pthread_cond_wait(&d->changed, &d->mutex);
    r->mark = NULL;
    r->done = true;
    r->time_ns = time_ns;
    if (d->lost.code == STATUS_OK) /* the event of a lost device may have been destroyed */
        event->pending--;
    pthread_cond_broadcast(&d->changed);
}

bool soft_recording_is_done(const soft_recording *r) {
    return r->done;
}

void soft_recording_drop(soft_recording *r) {
    if (--r->references == 0)
        free(r);
}

bool soft_event_create(device *d, device_event **event_out, status *st) {
    (void)d, (void)st;
    *event_out = base_calloc(1, sizeof **event_out);
    return true;
}

void soft_event_destroy(device *base, device_event *event) {
    soft_device *d = (soft_device *)base;
    pthread_mutex_lock(&d->mutex); /* what waits for the recording may be dropping it */
    while (event->pending > 0 && soft_wait(d, 0))
        ;
    if (event->latest)
        soft_recording_drop(event->latest);
    pthread_mutex_unlock(&d->mutex);
    free(event);
}

/* The queue may be long in telling that a mark was reached; with the lock held. */
static bool latest_reached(soft_device *d, const device_event *event, bool wait, uint64_t *ns_out) {
    soft_recording *r = event->pending == 1 ? event->latest : NULL;
    void *mark = r ? soft_recording_borrow(r) : NULL;
    if (!mark)
        return false;
    soft_recording_keep(r);
    pthread_mutex_unlock(&d->mutex);
    bool has = d->functions->reached(d, mark, wait, ns_out);
    pthread_mutex_lock(&d->mutex);
    soft_recording_give_back(d, r);
    soft_recording_drop(r);
    return has;
}

bool soft_event_query(device *base, device_event *event, bool wait, device_event_state *state_out,
                      uint64_t *time_ns_out, status *st) {
    soft_device *d = (soft_device *)base;
    uint64_t ns = 0;
    pthread_mutex_lock(&d->mutex);
    bool lost = soft_is_lost(d), reached = latest_reached(d, event, wait, &ns);
    while (wait && !lost && !reached && event->pending > 0) {
        lost = !soft_wait(d, 0);
        reached = latest_reached(d, event, wait, &ns);
    }
    const bool done = event->latest && (reached || event->pending == 0);
    *state_out = done            ? DEVICE_EVENT_DONE
                 : event->latest ? DEVICE_EVENT_PENDING
                                 : DEVICE_EVENT_UNUSED;
    *time_ns_out = !done ? 0 : event->pending == 0 ? event->latest->time_ns : ns;
    if (lost)
        status_set(st, d->lost.code, "%s", d->lost.message);
    pthread_mutex_unlock(&d->mutex);
    return !lost;
}
