/* opencl_mark.c - markers: events behind all that a queue was given, which the host asks and other
 * queues wait for.
 *
 * A marker tells its end by a clock of the device. So the first mark brings a marker of an idle
 * queue with it, the base, which is given to the device at a moment of the host's clock, and marks
 * are told by their distance from that one. All marks that are alive together have the same base:
 * those that come after each other are told so. A mark is never told to be earlier than it was
 * given. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/opencl/opencl_parts.h"

typedef struct opencl_moment {
    cl_event event;
    uint64_t given_ns;
} opencl_moment;

static opencl_device *device_of(const gpu_queue *q) {
    return (opencl_device *)q->base.device;
}

static cl_event new_marker(const gpu_queue *q) {
    const opencl_queue *o = q->handle;
    cl_event event = NULL;
    if (opencl.clEnqueueMarkerWithWaitList(o->queue, 0, NULL, &event) != CL_SUCCESS)
        return NULL;
    if (opencl.clFlush(o->queue) == CL_SUCCESS)
        return event;
    opencl.clReleaseEvent(event);
    return NULL;
}

/* One that failed is over as well: `finish` of its queue tells the failure. */
static bool is_over(cl_event event) {
    cl_int state = CL_COMPLETE;
    cl_int code =
        opencl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code != CL_SUCCESS || state <= CL_COMPLETE;
}

static bool has_come(opencl_device *d, cl_event event, bool wait) {
    uint64_t start = clock_now_ns();
    while (!is_over(event)) {
        if (!wait || !gpu_may_wait(&d->gpu, NULL))
            return false;
        gpu_pause_after(clock_now_ns() - start);
    }
    return true;
}

/* ---- the queue's end ---- */

void opencl_given(gpu_queue *q) {
    opencl_queue *o = q->handle;
    if (o->end)
        opencl.clReleaseEvent(o->end);
    o->end = NULL;
}

bool opencl_settled(gpu_queue *q) {
    opencl_queue *o = q->handle;
    if (!o->end)
        o->end = new_marker(q);
    return !o->end || is_over(o->end);
}

/* ---- the base ---- */

void opencl_end_base(opencl_device *d) {
    if (d->base)
        opencl.clReleaseEvent(d->base);
    d->base = NULL;
}

/* Clocks drift: an old base is replaced where no mark is told by it. With the lock held. */
static bool provide_base(opencl_device *d) {
    enum { OLD_NS = 100000000 };
    uint64_t now = clock_now_ns();
    if (d->base && (d->marks || now - d->base_ns < OLD_NS))
        return true;
    opencl_end_base(d);
    d->base_ns = now;
    d->base = new_marker(&d->gpu.own);
    return d->base != NULL;
}

/* ---- marks ---- */

static bool give(gpu_queue *q, opencl_moment *m) {
    opencl_device *d = device_of(q);
    pthread_mutex_lock(&d->gpu.own_mutex);
    bool ok = provide_base(d);
    m->given_ns = clock_now_ns();
    m->event = ok ? new_marker(q) : NULL;
    d->marks += m->event != NULL;
    pthread_mutex_unlock(&d->gpu.own_mutex);
    return m->event != NULL;
}

void *opencl_mark(gpu_queue *q) {
    if (!gpu_may_wait(&device_of(q)->gpu, NULL))
        return NULL;
    opencl_moment *m = base_calloc(1, sizeof *m);
    if (give(q, m))
        return m;
    free(m);
    return NULL;
}

void opencl_unmark(gpu_device *g, void *mark) {
    opencl_moment *m = mark;
    pthread_mutex_lock(&g->own_mutex);
    ((opencl_device *)g)->marks--;
    pthread_mutex_unlock(&g->own_mutex);
    opencl.clReleaseEvent(m->event);
    free(m);
}

/* The base stays as long as the mark is there. */
static uint64_t time_of(const opencl_device *d, const opencl_moment *m) {
    uint64_t from, to;
    if (!opencl_time_of(d->base, CL_PROFILING_COMMAND_QUEUED, &from) ||
        !opencl_time_of(m->event, CL_PROFILING_COMMAND_END, &to))
        return clock_now_ns();
    int64_t ns = (int64_t)(d->base_ns + (to - from));
    return ns > (int64_t)m->given_ns ? (uint64_t)ns : m->given_ns;
}

bool opencl_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out) {
    opencl_device *d = (opencl_device *)g;
    const opencl_moment *m = mark;
    bool ok = has_come(d, m->event, wait) && has_come(d, d->base, wait);
    if (ok)
        *ns_out = time_of(d, m);
    return ok;
}

bool opencl_follow(gpu_queue *q, void *mark, status *st) {
    const opencl_queue *o = q->handle;
    if (!gpu_may_wait(&device_of(q)->gpu, st))
        return false;
    opencl_given(q);
    cl_int code = opencl.clEnqueueBarrierWithWaitList(o->queue, 1,
                                                      &((const opencl_moment *)mark)->event, NULL);
    return code == CL_SUCCESS || opencl_failed(st, code, "waiting for an event");
}
