/* stub_stream.c - streams of the stub: a thread each, that does what it was given in order; events;
 * and graphs, which are what a stream was given while it captured. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/stub_gpu/stub.h"

typedef enum work_kind {
    WORK_IN,
    WORK_OUT,
    WORK_WITHIN,
    WORK_FILL,
    WORK_LAUNCH,
    WORK_RECORD,
    WORK_FOLLOW
} work_kind;

typedef struct event {
    uint64_t time_ns;
    unsigned asked, reached; /* recordings */
    unsigned users;          /* work that has yet to look at it */
    bool destroyed;          /* freed by the last work that has it, as the drivers do it */
} event;

typedef struct work {
    struct work *next;
    work_kind kind;
    uint64_t to, from; /* of the device */
    void *host;
    size_t bytes;
    unsigned char byte;
    stub_launch launch;
    event *event;
    unsigned number; /* of the recording that is followed */
} work;

/* Captured, or made of one that was. */
typedef struct graph {
    work *items;
    size_t count;
    bool made, invalid; /* invalid: something that cannot be captured came between */
} graph;

struct stub_stream {
    stub_stream *next;
    graph *captured; /* NULL: it is not capturing */
    pthread_t thread;
    work *first, **last; /* what runs is the first */
    bool stopping;
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- work ---- */

/* With the lock held, unless it computes. */
static bool copy(const work *w) {
    unsigned char *to = w->kind == WORK_OUT ? w->host : stub_resolve(w->to, w->bytes);
    const unsigned char *from = w->kind == WORK_IN ? w->host : stub_resolve(w->from, w->bytes);
    if (w->kind == WORK_FILL && to)
        memset(to, w->byte, w->bytes);
    else if (w->kind != WORK_FILL && to && from)
        memmove(to, from, w->bytes);
    return to && (from || w->kind == WORK_FILL);
}

static unsigned char *resolve(uint64_t address, size_t bytes) {
    pthread_mutex_lock(&stub_state.mutex);
    unsigned char *host = stub_resolve(address, bytes);
    pthread_mutex_unlock(&stub_state.mutex);
    return host;
}

static bool is_ended(void) {
    pthread_mutex_lock(&stub_state.mutex);
    bool ended = stub_state.ended;
    pthread_mutex_unlock(&stub_state.mutex);
    return ended;
}

static bool compute(const stub_launch *l) {
    return pretend_run(&(pretend_launch){.name = l->function->name,
                                         .arguments = l->arguments,
                                         .workgroups = l->workgroups,
                                         .resolve = resolve,
                                         .is_ended = is_ended});
}

static bool launch(const work *w) {
    const bool counts = !pretend_is_probe(w->launch.function->name);
    bool lose = counts && pretend_fault("lost", 0) &&
                (long)stub_state.counts.launches + 1 == pretend_fault("at", 1);
    stub_state.counts.launches += counts;
    pthread_mutex_unlock(&stub_state.mutex);
    bool ok = compute(&w->launch);
    pthread_mutex_lock(&stub_state.mutex);
    if (lose && !stub_state.lost)
        stub_state.lost = (int)pretend_fault("lost", 0);
    return ok;
}

static void leave(event *e) {
    if (--e->users == 0 && e->destroyed)
        free(e);
}

static void record(event *e) {
    e->time_ns = now_ns();
    e->reached++;
    leave(e);
}

static void follow(const work *w) {
    while (w->event->reached < w->number && !stub_state.lost)
        pthread_cond_wait(&stub_state.changed, &stub_state.mutex);
    leave(w->event);
}

static void run(const work *w) {
    bool ok = true;
    if (w->kind == WORK_RECORD)
        record(w->event);
    else if (w->kind == WORK_FOLLOW)
        follow(w);
    else if (!stub_state.lost)
        ok = w->kind == WORK_LAUNCH ? launch(w) : copy(w);
    if (!ok && !stub_state.lost)
        stub_state.lost = ILLEGAL_ADDRESS;
}

static void *stream_main(void *argument) {
    stub_stream *s = argument;
    pthread_mutex_lock(&stub_state.mutex);
    while (s->first || !s->stopping) {
        if (!s->first) {
            pthread_cond_wait(&stub_state.changed, &stub_state.mutex);
            continue;
        }
        work *w = s->first;
        run(w);
        s->first = w->next;
        if (!s->first)
            s->last = &s->first;
        free(w);
        pthread_cond_broadcast(&stub_state.changed);
    }
    pthread_mutex_unlock(&stub_state.mutex);
    return NULL;
}

static int note(graph *g, const work *given) {
    g->items = realloc(g->items, (g->count + 1) * sizeof *g->items);
    g->items[g->count++] = *given;
    return OK;
}

static void count_submission(void) {
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.submissions++;
    pthread_mutex_unlock(&stub_state.mutex);
}

static int give_piece(void *stream, const work *given) {
    stub_stream *s = stream;
    int result = stub_ready();
    if (result != OK)
        return result;
    if (s->captured)
        return note(s->captured, given);
    work *w = malloc(sizeof *w);
    *w = *given;
    pthread_mutex_lock(&stub_state.mutex);
    if (w->event)
        w->event->users++;
    if (w->kind == WORK_RECORD)
        w->event->asked++;
    if (w->kind == WORK_FOLLOW)
        w->number = w->event->asked;
    stub_state.counts.given++;
    *s->last = w;
    s->last = &w->next;
    pthread_cond_broadcast(&stub_state.changed);
    pthread_mutex_unlock(&stub_state.mutex);
    return OK;
}

static int give(void *stream, const work *given) {
    if (!((const stub_stream *)stream)->captured && !given->event)
        count_submission();
    return give_piece(stream, given);
}

void stub_wait_for_all(void) {
    pthread_mutex_lock(&stub_state.mutex);
    for (stub_stream *s = stub_state.all; s;) {
        bool waits = s->first && !stub_state.lost;
        if (waits)
            pthread_cond_wait(&stub_state.changed, &stub_state.mutex);
        s = waits ? stub_state.all : s->next;
    }
    pthread_mutex_unlock(&stub_state.mutex);
}

int stub_give_launch(void *stream, const stub_launch *l) {
    return give(stream, &(work){.kind = WORK_LAUNCH, .launch = *l});
}

int CALL(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes,
                                                   void *stream) {
    return give(
        stream,
        &(work){.kind = WORK_IN, .to = to, .host = (void *)(uintptr_t)from, .bytes = bytes});
}

int CALL(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, uint64_t from, size_t bytes,
                                                   void *stream) {
    return give(stream, &(work){.kind = WORK_OUT, .from = from, .host = to, .bytes = bytes});
}

int CALL(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes,
                                                   void *stream) {
    return give(stream, &(work){.kind = WORK_WITHIN, .to = to, .from = from, .bytes = bytes});
}

int CALL(cuMemsetD8Async, hipMemsetD8Async)(uint64_t to, unsigned char byte, size_t bytes,
                                            void *stream) {
    return give(stream, &(work){.kind = WORK_FILL, .to = to, .byte = byte, .bytes = bytes});
}

/* ---- streams ---- */

int CALL(cuStreamCreate, hipStreamCreateWithFlags)(void **stream, unsigned flags) {
    int result = stub_ready();
    if (result != OK || flags > 1)
        return result != OK ? result : INVALID_VALUE;
    stub_stream *s = calloc(1, sizeof *s);
    s->last = &s->first;
    pthread_mutex_lock(&stub_state.mutex);
    s->next = stub_state.all;
    stub_state.all = s;
    stub_state.counts.streams++;
    pthread_mutex_unlock(&stub_state.mutex);
    if (pthread_create(&s->thread, NULL, stream_main, s) != 0)
        abort();
    *stream = s;
    return OK;
}

int CALL(cuStreamDestroy_v2, hipStreamDestroy)(void *stream) {
    stub_stream *s = stream, **at = &stub_state.all;
    int result = stub_ready();
    if (result == INVALID_CONTEXT)
        return result;
    pthread_mutex_lock(&stub_state.mutex);
    s->stopping = true;
    pthread_cond_broadcast(&stub_state.changed);
    pthread_mutex_unlock(&stub_state.mutex);
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&stub_state.mutex);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    stub_state.counts.streams--;
    pthread_mutex_unlock(&stub_state.mutex);
    free(s);
    return result;
}

/* The default stream, which nobody gives anything. */
static int query_default(int result) {
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.default_asked++;
    const bool working = result == OK && stub_state.counts.default_asked % 2;
    pthread_mutex_unlock(&stub_state.mutex);
    return working ? NOT_READY : result;
}

int CALL(cuStreamQuery, hipStreamQuery)(void *stream) {
    int result = stub_ready();
    if (!stream)
        return query_default(result);
    graph *captured = ((stub_stream *)stream)->captured;
    if (captured)
        captured->invalid = true;
    if (result != OK || captured)
        return result != OK ? result : CAPTURE_UNSUPPORTED;
    pthread_mutex_lock(&stub_state.mutex);
    result = stub_state.lost ? stub_state.lost : ((stub_stream *)stream)->first ? NOT_READY : OK;
    pthread_mutex_unlock(&stub_state.mutex);
    return result;
}

/* ---- events ---- */

int CALL(cuEventCreate, hipEventCreateWithFlags)(void **made, unsigned flags) {
    int result = stub_ready();
    if (result != OK || flags)
        return result != OK ? result : INVALID_VALUE;
    *made = calloc(1, sizeof(event));
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.events++;
    pthread_mutex_unlock(&stub_state.mutex);
    return OK;
}

int CALL(cuEventDestroy_v2, hipEventDestroy)(void *made) {
    event *e = made;
    int result = stub_ready();
    if (result == INVALID_CONTEXT)
        return result;
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.events--;
    e->destroyed = true;
    if (e->users == 0)
        free(e);
    pthread_mutex_unlock(&stub_state.mutex);
    return result;
}

int CALL(cuEventRecord, hipEventRecord)(void *made, void *stream) {
    return give(stream, &(work){.kind = WORK_RECORD, .event = made});
}

int CALL(cuStreamWaitEvent, hipStreamWaitEvent)(void *stream, void *made, unsigned flags) {
    return flags ? INVALID_VALUE : give(stream, &(work){.kind = WORK_FOLLOW, .event = made});
}

static bool is_done(const event *e) {
    return e->reached == e->asked;
}

int CALL(cuEventQuery, hipEventQuery)(void *made) {
    int result = stub_ready();
    if (result != OK)
        return result;
    pthread_mutex_lock(&stub_state.mutex);
    result = stub_state.lost ? stub_state.lost : is_done(made) ? OK : NOT_READY;
    pthread_mutex_unlock(&stub_state.mutex);
    return result;
}

int CALL(cuEventElapsedTime, hipEventElapsedTime)(float *ms, void *start, void *end) {
    const event *a = start, *b = end;
    int result = stub_ready();
    if (result != OK)
        return result;
    pthread_mutex_lock(&stub_state.mutex);
    result = is_done(a) && is_done(b) ? OK : NOT_READY;
    *ms = (float)(((double)b->time_ns - (double)a->time_ns) / 1e6);
    pthread_mutex_unlock(&stub_state.mutex);
    return result;
}

/* ---- graphs ---- */

#ifndef STUB_PLAIN
static void count_graphs(int by) {
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.graphs += (uint64_t)by;
    pthread_mutex_unlock(&stub_state.mutex);
}

int CALL(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void *stream, int mode) {
    stub_stream *s = stream;
    int result = stub_ready();
    if (result != OK || mode < 0 || mode > 2 || s->captured)
        return result != OK ? result : INVALID_VALUE;
    s->captured = calloc(1, sizeof *s->captured);
    count_graphs(1);
    return OK;
}

static int drop(graph *g, bool made) {
    if (g->made != made)
        return INVALID_VALUE;
    free(g->items);
    free(g);
    count_graphs(-1);
    return OK;
}

int CALL(cuStreamEndCapture, hipStreamEndCapture)(void *stream, void **out) {
    stub_stream *s = stream;
    graph *g = s->captured;
    int result = stub_ready();
    *out = NULL;
    if (!g)
        return INVALID_VALUE;
    s->captured = NULL;
    if (result == OK)
        result = g->invalid ? CAPTURE_INVALIDATED : (int)pretend_fault("capture", OK);
    if (result == OK)
        *out = g;
    else
        drop(g, false);
    return result;
}

int CALL(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void **out, void *given,
                                                                    unsigned long long flags) {
    const graph *g = given;
    int result = stub_ready();
    if (result == OK)
        result = (int)pretend_fault("instantiate", OK);
    if (result != OK || g->made || flags)
        return result != OK ? result : INVALID_VALUE;
    graph *made = calloc(1, sizeof *made);
    made->made = true;
    for (size_t i = 0; i < g->count; i++)
        note(made, &g->items[i]);
    *out = made;
    count_graphs(1);
    return OK;
}

int CALL(cuGraphLaunch, hipGraphLaunch)(void *given, void *stream) {
    const graph *g = given;
    int result = stub_ready();
    if (result == OK)
        result = (int)pretend_fault("graph", OK);
    if (result != OK || !g->made)
        return result != OK ? result : INVALID_VALUE;
    for (size_t i = 0; i < g->count && result == OK; i++)
        result = give_piece(stream, &g->items[i]);
    count_submission();
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.counts.graph_launches++;
    pthread_mutex_unlock(&stub_state.mutex);
    return result;
}

int CALL(cuGraphExecDestroy, hipGraphExecDestroy)(void *given) {
    int result = stub_ready();
    return result == INVALID_CONTEXT ? result : drop(given, true);
}

int CALL(cuGraphDestroy, hipGraphDestroy)(void *given) {
    int result = stub_ready();
    return result == INVALID_CONTEXT ? result : drop(given, false);
}
#endif
