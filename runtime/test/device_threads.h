/* device_threads.h - a row of the conformance suite: threads that use one device at a time. */
#ifndef TESSERA_RUNTIME_DEVICE_THREADS_H
#define TESSERA_RUNTIME_DEVICE_THREADS_H

#include "test/device_bench.h"

typedef struct submitter {
    const bench *b;
    device_queue *queue;
    device_image *image;
    bool right;
} submitter;

static inline bool try_submit(const submitter *s, device_command c) {
    return s->b->driver->submit(s->queue, &c, 1, NULL);
}

static inline void *submit_often(void *argument) {
    submitter *s = argument;
    const device_driver *driver = s->b->driver;
    device_memory *in, *out;
    float a[FLOATS], got[FLOATS];
    s->right = driver->alloc(s->b->d, BYTES, DEVICE_MEMORY_DEVICE, &in, NULL) &&
               driver->alloc(s->b->d, BYTES, DEVICE_MEMORY_DEVICE, &out, NULL);
    if (!s->right)
        return NULL;
    launch_of *l = launch_new(s->image, in, out);
    for (int round = 0; round < 20 && s->right; round++) {
        for (int i = 0; i < FLOATS; i++)
            a[i] = (float)(i + round);
        s->right = try_submit(s, copy_of(span_of(in), host_span(a), BYTES)) &&
                   try_submit(s, l->command) &&
                   try_submit(s, copy_of(host_span(got), span_of(out), BYTES)) &&
                   driver->await(s->queue, NULL);
        for (int i = 0; i < FLOATS && computes(s->b); i++)
            s->right &= got[i] == (float)(2 * (i + round) + i % 4 + 1);
    }
    free(l);
    driver->free(s->b->d, in);
    driver->free(s->b->d, out);
    return NULL;
}

static inline void threads_share_a_device(const bench *b) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    submitter submitters[THREADS];
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    for (int i = 0; i < THREADS; i++) {
        submitters[i] = (submitter){b, i < 2 ? b->queues[i] : b->sync, image, false};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &submitters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_true(submitters[i].right);
    b->driver->unload(b->d, image);
}

#endif
