/* device_ahead.h - queues whose device is given more than it has done: many recordings, which
 * another queue waits for. */
#ifndef TESSERA_RUNTIME_DEVICE_AHEAD_H
#define TESSERA_RUNTIME_DEVICE_AHEAD_H

#include <unistd.h>

#include "test/device_bench.h"

enum { AHEAD = 20, AHEAD_LAUNCHES = AHEAD + 1 };

typedef struct ahead {
    const bench *b; /* with two queues that are not synchronous */
    device_image *image;
    uint64_t (*given)(const void *context); /* how much the device was given, ever; and how much */
    uint64_t
        wanted; /* more it has once it has all of AHEAD_LAUNCHES, three recordings and a wait */
    void (*end)(const void *context); /* lets the first launch end */
    const void *context;
} ahead;

static inline void expect_state(const bench *b, device_event *event, device_event_state wanted,
                                uint64_t *ns_out) {
    device_event_state state;
    assert_true(b->driver->event_query(b->d, event, false, &state, ns_out, NULL));
    assert_int_equal(state, wanted);
}

static inline void submit_ahead(const ahead *a, const device_command *launch,
                                device_event *const events[3]) {
    device_queue *const *queues = a->b->queues;
    submit(queues[0], a->b, *launch);
    submit(queues[0], a->b, event_command(DEVICE_RECORD, events[0]));
    for (int i = 1; i < AHEAD; i++)
        submit(queues[0], a->b, *launch);
    submit(queues[0], a->b, event_command(DEVICE_RECORD, events[1]));
    submit(queues[1], a->b, event_command(DEVICE_WAIT, events[1]));
    submit(queues[1], a->b, *launch);
    submit(queues[1], a->b, event_command(DEVICE_RECORD, events[2]));
}

/* A launch that does not end keeps its queue from nothing but running: the device is given what
 * follows, recordings among it, and what another queue does once they happened. Neither has been
 * waited for, since the first launch has not ended. */
static inline void queues_run_ahead(const ahead *a) {
    const device_driver *driver = a->b->driver;
    device_memory *in = new_memory(a->b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(a->b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(a->image, in, out);
    device_event *events[3];
    uint64_t ns[3];
    for (int i = 0; i < 3; i++)
        assert_true(driver->event_create(a->b->d, &events[i], NULL));
    const uint64_t before = a->given(a->context);
    submit_ahead(a, &l->command, events);
    while (a->given(a->context) < before + a->wanted)
        usleep(1000);
    for (int i = 0; i < 3; i++)
        expect_state(a->b, events[i], DEVICE_EVENT_PENDING, &ns[i]);
    a->end(a->context);
    await(a->b, a->b->queues[1]);
    await(a->b, a->b->queues[0]);
    for (int i = 0; i < 3; i++)
        expect_state(a->b, events[i], DEVICE_EVENT_DONE, &ns[i]);
    assert_true(ns[0] <= ns[1] && ns[1] <= ns[2]);
    for (int i = 0; i < 3; i++)
        driver->event_destroy(a->b->d, events[i]);
    driver->free(a->b->d, in);
    driver->free(a->b->d, out);
    free(l);
}

enum { MANY_EVENTS = 200 };

/* The second queue fills memory of its own: the first one is at the next launch meanwhile. */
static inline void submit_many(const bench *b, const launch_of *l, device_memory *filled,
                               device_event *const *events) {
    const device_command fill = fill_of(span_of(filled), 0, BYTES);
    for (int i = 0; i < MANY_EVENTS; i++) {
        submit(b->queues[0], b, l->command);
        submit(b->queues[0], b, event_command(DEVICE_RECORD, events[i]));
        submit(b->queues[1], b, event_command(DEVICE_WAIT, events[i]));
        submit(b->queues[1], b, fill);
    }
    await(b, b->queues[1]);
    await(b, b->queues[0]);
}

/* All are told in their order, also where there are more than the device can mark at once. */
static inline void many_events(const bench *b, device_image *image) {
    device_memory *in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *filled = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, out);
    device_event *events[MANY_EVENTS];
    uint64_t before = 0, ns;
    for (int i = 0; i < MANY_EVENTS; i++)
        assert_true(b->driver->event_create(b->d, &events[i], NULL));
    submit_many(b, l, filled, events);
    for (int i = 0; i < MANY_EVENTS; i++) {
        expect_state(b, events[i], DEVICE_EVENT_DONE, &ns);
        assert_true(ns >= before);
        before = ns;
        b->driver->event_destroy(b->d, events[i]);
    }
    b->driver->free(b->d, in);
    b->driver->free(b->d, out);
    b->driver->free(b->d, filled);
    free(l);
}

#endif
