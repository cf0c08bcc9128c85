/* cuda_mark.c - the device's own events: moments of a stream that the host asks for and that other
 * streams wait for.
 *
 * The library tells the time between two events and not when one was. So the first mark brings an
 * event of an idle stream with it, the base, that is given to the device at a moment of the host's
 * clock, and marks are told by their distance from that one. All marks that are alive together have
 * the same base: those that come after each other are told so. The base is a little earlier than it
 * says, and a mark is never told to be earlier than it was given. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/cuda/cuda.h"

static cuda_device *device_of(const gpu_queue *q) {
    return (cuda_device *)q->base.device;
}

static void *new_event(cuda_device *c, void *stream) {
    void *event = NULL;
    if (c->call->event_create(&event, 0) != CUDA_OK)
        return NULL;
    if (c->call->event_record(event, stream) == CUDA_OK)
        return event;
    c->call->event_destroy(event);
    return NULL;
}

typedef struct cuda_moment {
    void *event;
    uint64_t given_ns;
} cuda_moment;

static bool has_come(cuda_device *c, void *event, bool wait) {
    uint64_t start = clock_now_ns();
    int result;
    while ((result = c->call->event_query(event)) == CUDA_NOT_READY) {
        if (!wait || !gpu_may_wait(&c->gpu, NULL))
            return false;
        gpu_pause_after(clock_now_ns() - start);
    }
    return result == CUDA_OK;
}

/* ---- the base ---- */

static void end_base(cuda_device *c) {
    if (c->base)
        c->call->event_destroy(c->base);
    c->base = NULL;
}

/* Clocks drift: an old base is replaced where no mark is told by it. With the lock held. */
static bool provide_base(cuda_device *c) {
    enum { OLD_NS = 100000000 };
    uint64_t now = clock_now_ns();
    if (c->base && (c->marks || now - c->base_ns < OLD_NS))
        return true;
    end_base(c);
    c->base_ns = now;
    c->base = new_event(c, ((cuda_stream *)c->gpu.own.handle)->stream);
    return c->base != NULL;
}

void cuda_end_base(cuda_device *c) {
    cuda_scope scope;
    if (!cuda_enter(c, &scope, NULL))
        return;
    end_base(c);
    cuda_leave(c, &scope);
}

/* ---- marks ---- */

static bool give(gpu_queue *q, cuda_moment *m) {
    cuda_device *c = device_of(q);
    pthread_mutex_lock(&c->gpu.own_mutex);
    bool ok = provide_base(c);
    m->given_ns = clock_now_ns();
    m->event = ok ? new_event(c, ((cuda_stream *)q->handle)->stream) : NULL;
    c->marks += m->event != NULL;
    pthread_mutex_unlock(&c->gpu.own_mutex);
    return m->event != NULL;
}

void *cuda_mark(gpu_queue *q) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!gpu_may_wait(&c->gpu, NULL) || !cuda_enter(c, &scope, NULL))
        return NULL;
    cuda_moment *m = base_calloc(1, sizeof *m);
    bool ok = give(q, m);
    cuda_leave(c, &scope);
    if (ok)
        return m;
    free(m);
    return NULL;
}

void cuda_unmark(gpu_device *g, void *mark) {
    cuda_device *c = (cuda_device *)g;
    cuda_moment *m = mark;
    cuda_scope scope;
    pthread_mutex_lock(&c->gpu.own_mutex);
    c->marks--;
    pthread_mutex_unlock(&c->gpu.own_mutex);
    if (cuda_enter(c, &scope, NULL)) {
        c->call->event_destroy(m->event);
        cuda_leave(c, &scope);
    }
    free(m);
}

/* The base stays as long as the mark is there. */
static uint64_t time_of(cuda_device *c, const cuda_moment *m) {
    float ms;
    if (!has_come(c, c->base, true) || c->call->event_elapsed(&ms, c->base, m->event) != CUDA_OK)
        return clock_now_ns();
    int64_t ns = (int64_t)c->base_ns + (int64_t)((double)ms * 1e6);
    return ns > (int64_t)m->given_ns ? (uint64_t)ns : m->given_ns;
}

bool cuda_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out) {
    cuda_device *c = (cuda_device *)g;
    const cuda_moment *m = mark;
    cuda_scope scope;
    if (!cuda_enter(c, &scope, NULL))
        return false;
    bool ok = has_come(c, m->event, wait);
    if (ok)
        *ns_out = time_of(c, m);
    cuda_leave(c, &scope);
    return ok;
}

bool cuda_follow(gpu_queue *q, void *mark, status *st) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!gpu_may_wait(&c->gpu, st) || !cuda_enter(c, &scope, st))
        return false;
    int result = c->call->stream_follow(((cuda_stream *)q->handle)->stream,
                                        ((const cuda_moment *)mark)->event, 0);
    bool ok = cuda_check(c, result, "waiting for an event", st);
    cuda_leave(c, &scope);
    return ok;
}
