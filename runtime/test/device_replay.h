/* device_replay.h - a row of the conformance suite: commands that come again. */
#ifndef TESSERA_RUNTIME_DEVICE_REPLAY_H
#define TESSERA_RUNTIME_DEVICE_REPLAY_H

#include "test/device_bench.h"

/* The commands of a replay: a launch on `in`, and a copy of what it makes to `copy`. */
static inline void replay(const bench *b, device_queue *q, device_sequence *s, const launch_of *l,
                          const device_memory *copy) {
    status st = STATUS_INIT;
    const device_span made = {l->buffers[1], l->memories[1]};
    const device_command commands[] = {
        {.kind = DEVICE_REPLAY, .replay = {s, 2}}, l->command, copy_of(span_of(copy), made, BYTES)};
    must(b->driver->submit(q, commands, COUNT_OF(commands), &st), &st);
    await(b, q);
}

static inline void expect_cells(const bench *b, const device_memory *at, float first) {
    float got[FLOATS];
    read_from(b, at, got, BYTES);
    for (int i = 0; i < FLOATS && computes(b); i++)
        assert_true(got[i] == 2 * (first + (float)i) + (float)(i % 4 + 1));
}

static inline void expect_counts(const bench *b, uint64_t recordings, uint64_t replays) {
    device_counts counts;
    b->driver->count(b->d, &counts);
    assert_int_equal(counts.recordings, recordings);
    assert_int_equal(counts.replays, replays);
}

/* With the arguments that came before it is a replay; with others it is recorded anew. */
static inline void replays_what_comes_again(const bench *b) {
    device_memory *in[2], *out, *copy;
    static const struct {
        int input, queue; /* 2: the synchronous one */
        uint64_t recordings;
    } steps[] = {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {1, 0, 2}, {1, 1, 2}, {0, 0, 3}};
    if (!b->driver->sequence_create)
        return;
    out = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    copy = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    for (int k = 0; k < 2; k++) {
        float a[FLOATS];
        in[k] = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
        for (int i = 0; i < FLOATS; i++)
            a[i] = (float)(100 * k + i);
        write_to(b, in[k], a, BYTES);
    }
    device_sequence *s = b->driver->sequence_create(b->d);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        launch_of *l = launch_new(image, in[steps[i].input], out);
        device_queue *q = steps[i].queue == 2 ? b->sync : b->queues[steps[i].queue];
        submit(b->sync, b, fill_of(span_of(copy), 0, BYTES));
        replay(b, q, s, l, copy);
        expect_cells(b, copy, (float)(100 * steps[i].input));
        expect_counts(b, steps[i].recordings, i + 1);
        free(l);
    }
    b->driver->sequence_destroy(b->d, s);
    b->driver->unload(b->d, image);
    for (int k = 0; k < 2; k++)
        b->driver->free(b->d, in[k]);
    b->driver->free(b->d, out);
    b->driver->free(b->d, copy);
}

static inline void replay_in_flight(const bench *b, device_sequence *s, const launch_of *l, int k,
                                    device_event *done) {
    enum { RUN = 3 /* of replays in one queue */ };
    device_queue *q = b->queues[k / RUN % 2];
    const device_span in = {l->buffers[0], l->memories[0]}, made = {l->buffers[1], l->memories[1]};
    const device_command commands[] = {event_command(DEVICE_WAIT, done),
                                       {.kind = DEVICE_REPLAY, .replay = {s, 2}},
                                       l->command,
                                       copy_of(in, made, BYTES),
                                       event_command(DEVICE_RECORD, done)};
    status st = STATUS_INIT;
    must(b->driver->submit(q, commands, COUNT_OF(commands), &st), &st);
}

/* Each works on what the one before made, and none is waited for: neither where the next is another
 * queue's, nor where it is recorded anew. Catches a recording that is changed or freed while the
 * device is at it. */
static inline void replays_follow_each_other(const bench *b) {
    enum { REPLAYS = 20, SAME = 5 };
    device_memory *in, *out[2];
    device_event *done;
    float got[FLOATS] = {0};
    if (!b->driver->sequence_create)
        return;
    in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    for (int i = 0; i < 2; i++)
        out[i] = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    write_to(b, in, got, BYTES);
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    device_sequence *s = b->driver->sequence_create(b->d);
    assert_true(b->driver->event_create(b->d, &done, NULL));
    for (int k = 0; k < REPLAYS; k++) {
        launch_of *l = launch_new(image, in, out[k / SAME % 2]);
        replay_in_flight(b, s, l, k, done);
        free(l);
    }
    await(b, b->queues[0]);
    await(b, b->queues[1]);
    read_from(b, in, got, BYTES);
    for (int i = 0; i < FLOATS && computes(b); i++)
        assert_true(got[i] == (float)(((1 << REPLAYS) - 1) * (i % 4 + 1)));
    expect_counts(b, REPLAYS / SAME, REPLAYS);
    b->driver->event_destroy(b->d, done);
    b->driver->sequence_destroy(b->d, s);
    b->driver->unload(b->d, image);
    b->driver->free(b->d, in);
    for (int i = 0; i < 2; i++)
        b->driver->free(b->d, out[i]);
}

/* Checks that a failure is told, and what is behind it runs; none of it was recorded. */
static inline void replays_fail_as_others_do(const bench *b) {
    status st = STATUS_INIT;
    if (!b->driver->sequence_create)
        return;
    device_memory *in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    device_sequence *s = b->driver->sequence_create(b->d);
    launch_of *l = launch_new(image, in, out);
    l->command.dispatch.workgroup_bytes = (size_t)1 << 62;
    const device_command commands[] = {
        {.kind = DEVICE_REPLAY, .replay = {s, 2}}, l->command, fill_of(span_of(out), 0x5A, BYTES)};
    for (int i = 0; i < 2; i++) {
        unsigned char got[BYTES] = {0};
        assert_true(b->driver->submit(b->queues[0], commands, COUNT_OF(commands), NULL));
        assert_false(b->driver->await(b->queues[0], &st));
        assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
        assert_non_null(strstr(st.message, "kernel 'affine'"));
        read_from(b, out, got, BYTES);
        assert_int_equal(got[BYTES - 1], 0x5A);
        submit(b->sync, b, fill_of(span_of(out), 0, BYTES));
    }
    expect_counts(b, 0, 0);
    free(l);
    b->driver->sequence_destroy(b->d, s);
    b->driver->unload(b->d, image);
    b->driver->free(b->d, in);
    b->driver->free(b->d, out);
}

#endif
