/* event.c - events. Nearly all are the one that is ready from the beginning; others tell when a
 * caller's memory is its own again. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"
#include "pjrt/plugin.h"

typedef struct waiting {
    void (*callback)(PJRT_Error *error, void *user);
    void *user;
} waiting;

struct PJRT_Event {
    atomic_uint holders;
    pthread_mutex_t lock;
    pthread_cond_t fired;
    bool ready;
    VEC(waiting) callbacks;
};

static PJRT_Event always = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .fired = PTHREAD_COND_INITIALIZER, .ready = true};

PJRT_Event *event_ready(void) {
    return &always;
}

PJRT_Event *event_new(void) {
    PJRT_Event *e = base_calloc(1, sizeof *e);
    atomic_init(&e->holders, 1);
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->fired, NULL);
    return e;
}

PJRT_Event *event_hold(PJRT_Event *e) {
    if (e != &always)
        atomic_fetch_add(&e->holders, 1);
    return e;
}

void event_release(PJRT_Event *e) {
    if (!e || e == &always || atomic_fetch_sub(&e->holders, 1) > 1)
        return;
    vec_release(&e->callbacks);
    pthread_cond_destroy(&e->fired);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Callbacks run without the lock: they may destroy the event, and call anything. */
void event_fire(PJRT_Event *e) {
    event_hold(e);
    pthread_mutex_lock(&e->lock);
    e->ready = true;
    pthread_cond_broadcast(&e->fired);
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < e->callbacks.count; i++)
        e->callbacks.items[i].callback(NULL, e->callbacks.items[i].user);
    event_release(e);
}

PJRT_Error *pjrt_Event_Destroy(void *args) {
    PJRT_TAKES(Event_Destroy, event);
    event_release(a->event);
    return NULL;
}

static bool is_ready(PJRT_Event *e) {
    if (e == &always)
        return true;
    pthread_mutex_lock(&e->lock);
    const bool ready = e->ready;
    pthread_mutex_unlock(&e->lock);
    return ready;
}

PJRT_Error *pjrt_Event_IsReady(void *args) {
    PJRT_TAKES(Event_IsReady, is_ready);
    PJRT_NEEDS(Event_IsReady, event);
    a->is_ready = is_ready(a->event);
    return NULL;
}

PJRT_Error *pjrt_Event_Error(void *args) {
    PJRT_TAKES(Event_Error, event);
    PJRT_NEEDS(Event_Error, event);
    return is_ready(a->event) ? NULL
                              : error_new(PJRT_Error_Code_FAILED_PRECONDITION,
                                          "the event is not ready: ask PJRT_Event_IsReady first");
}

PJRT_Error *pjrt_Event_Await(void *args) {
    PJRT_TAKES(Event_Await, event);
    PJRT_NEEDS(Event_Await, event);
    pthread_mutex_lock(&a->event->lock);
    while (!a->event->ready)
        pthread_cond_wait(&a->event->fired, &a->event->lock);
    pthread_mutex_unlock(&a->event->lock);
    return NULL;
}

PJRT_Error *pjrt_Event_OnReady(void *args) {
    PJRT_TAKES(Event_OnReady, user_arg);
    PJRT_NEEDS(Event_OnReady, event);
    PJRT_NEEDS(Event_OnReady, callback);
    PJRT_Event *e = a->event;
    bool now = e == &always;
    if (!now) {
        pthread_mutex_lock(&e->lock);
        now = e->ready;
        if (!now)
            vec_push(&e->callbacks, ((waiting){a->callback, a->user_arg}));
        pthread_mutex_unlock(&e->lock);
    }
    if (now)
        a->callback(NULL, a->user_arg);
    return NULL;
}
