/* abi_submissions.h - how often a launch of a program gives something to the device's library; for
 * the tests of drivers whose library is one that counts. */
#ifndef TESSERA_RUNTIME_ABI_SUBMISSIONS_H
#define TESSERA_RUNTIME_ABI_SUBMISSIONS_H

#include <unistd.h>

#include "test/abi_programs.h"

/* Twelve dispatches, each behind a copy, and fills of single bytes among them. */
#define PROGRAM_TWELVE                                                                             \
    PROGRAM_OF(                                                                                    \
        PROGRAM_LOOPS                                                                              \
        "{\"loop\": 8, \"body\": ["                                                                \
        "{\"dispatch\": 0, \"operands\": [[\"arena\", 0, 0], [\"arena\", 0, 448]]},"               \
        "{\"copy\": [[\"arena\", 0, 0], [\"arena\", 0, 448]], \"bytes\": 400}]}," PROGRAM_END)

enum { TWELVE = 12, TWELVE_LAUNCHES = 5 };

typedef struct submissions {
    uint64_t (*count)(void); /* ever, to the library */
    uint64_t wanted;         /* of a launch on the default stream */
    uint64_t marks;          /* most more of one on a created stream, for its event */
} submissions;

/* Launches that a queue takes together may have one event. */
static inline void launch_twelve(const abi_bench *b, const program_rig *r, tsr_stream_t stream,
                                 const submissions *s) {
    const uint64_t before = s->count(), marks = stream ? s->marks : 0;
    for (int i = 0; i < TWELVE_LAUNCHES; i++)
        OK(tsrLaunch(r->kernel, stream, (tsr_launch_t){0}, (void **)(uintptr_t)r->args, 5));
    OK(tsrStreamSynchronize(b->context, stream));
    assert_in_range(s->count() - before, TWELVE_LAUNCHES * s->wanted,
                    TWELVE_LAUNCHES * (s->wanted + marks));
    expect_at(b, b->out, 1, TWELVE);
}

/* Catches a launch that gives its commands one by one: all of them are one submission, on each
 * stream and also where its places are new. */
static inline void programs_are_submitted_once(const char *driver, const submissions *s) {
    abi_bench b;
    program_rig r;
    tsr_stream_t stream;
    void *other;
    open_abi_bench(&b, device_driver_find(driver), 0);
    open_program(&b, &r, PROGRAM_TWELVE);
    OK(tsrCreateStream(b.context, &stream));
    OK(tsrAlloc(b.context, BYTES, 0, &other));
    put(&b, b.a, 1);
    launch_twelve(&b, &r, NULL, s);
    launch_twelve(&b, &r, stream, s);
    put(&b, other, 1);
    r.args[0] = &other;
    launch_twelve(&b, &r, NULL, s);
    OK(tsrFree(b.context, other));
    OK(tsrDestroyStream(stream));
    close_program(&b, &r);
    close_abi_bench(&b);
}

/* Until the lost device does nothing any more, so that its memory is freed with the context. */
static inline void await_loss(const abi_bench *b) {
    device *d = b->context->device;
    for (int i = 0; i < 1000 && !d->driver->cancel(d); i++)
        usleep(10000);
}

/* A device that is lost while it is at launches that were given to it one behind the other: catches
 * what frees a recording that is under way, or waits for one for ever. */
static inline void programs_end_with_their_device(const char *driver) {
    abi_bench b;
    program_rig r;
    tsr_stream_t streams[2];
    tsr_status_t result = TSR_SUCCESS;
    open_abi_bench(&b, device_driver_find(driver), 0);
    open_program(&b, &r, PROGRAM_TWELVE);
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b.context, &streams[i]));
    for (int i = 0; i < 100 && result == TSR_SUCCESS; i++)
        result = tsrLaunch(r.kernel, streams[i % 2], (tsr_launch_t){0}, r.args, 5);
    for (int i = 0; i < 2 && result == TSR_SUCCESS; i++)
        result = tsrStreamSynchronize(b.context, streams[i]);
    assert_int_equal(result, TSR_EDEVICELOST);
    assert_int_equal(tsrUnloadModule(r.module), TSR_EDEVICELOST);
    await_loss(&b);
    OK(tsrDestroyContext(b.context));
}

#endif
