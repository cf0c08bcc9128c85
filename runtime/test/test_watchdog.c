/* test_watchdog.c - a launch that does not end costs its context, and nothing else; and a watchdog
 * that has nothing to say changes nothing. */
#include "test/test.h"

#include <time.h>
#include <unistd.h>

#include "test/abi_fixture.h"

static const uint64_t millisecond = 1000000;

/* Keeps what lost contexts have reachable for a leak checker. */
static fixture lost[16];
static size_t lost_count;
static tsr_stream_t lost_stream[8];
static tsr_event_t lost_event[8];

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static fixture *to_be_lost(uint32_t threads, const char *phase) {
    fixture *f = &lost[lost_count++];
    assert_true(lost_count <= COUNT_OF(lost));
    set_up_probe(f, threads, 0, phase);
    f->a[0] = 0;
    return f;
}

/* Lets the lost kernel end, so that it takes no core from the other tests. */
static void let_go(fixture *f) {
    __atomic_store_n((int32_t *)f->a, 1, __ATOMIC_RELEASE);
}

static void expect_lost(fixture *f) {
    const char *words = "'affine' did not end within the watchdog's 20 ms";
    tsr_module_t module;
    tsr_kernel_t kernel;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    tsr_stream_t stream;
    tsr_event_t event;
    const char *json;
    void *memory;
    bytes image = good_module();
    REFUSED(launch(f, NULL), TSR_ETIMEOUT, words);
    REFUSED(tsrLoadModule(f->context, image.data, image.size, &module), TSR_ETIMEOUT, words);
    REFUSED(tsrUnloadModule(f->module), TSR_ETIMEOUT, words);
    REFUSED(tsrGetKernel(f->module, "affine", &kernel), TSR_ETIMEOUT, words);
    REFUSED(tsrGetModuleMetadata(f->module, &json), TSR_ETIMEOUT, words);
    REFUSED(tsrGetKernelInfo(f->kernel, &info), TSR_ETIMEOUT, words);
    REFUSED(tsrGetKernelParameter(f->kernel, 0, &json, NULL, NULL, NULL), TSR_ETIMEOUT, words);
    REFUSED(tsrAlloc(f->context, 8, 0, &memory), TSR_ETIMEOUT, words);
    REFUSED(tsrFree(f->context, f->out), TSR_ETIMEOUT, words);
    REFUSED(tsrCopy(f->context, f->out, f->a, 4), TSR_ETIMEOUT, words);
    REFUSED(tsrCreateStream(f->context, &stream), TSR_ETIMEOUT, words);
    REFUSED(tsrStreamSynchronize(f->context, NULL), TSR_ETIMEOUT, words);
    REFUSED(tsrCreateEvent(f->context, &event), TSR_ETIMEOUT, words);
    REFUSED(tsrSetWatchdog(f->context, 0), TSR_ETIMEOUT, words);
    OK(tsrDestroyContext(f->context));
    free(image.data);
}

static void a_launch_that_does_not_end_is_a_timeout(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        fixture *f = to_be_lost(threads, "phase_spin");
        OK(tsrSetWatchdog(f->context, 20 * millisecond));
        uint64_t start = now_ns();
        REFUSED(launch(f, NULL), TSR_ETIMEOUT, "'affine' did not end within the watchdog's 20 ms");
        assert_true(now_ns() - start >= 20 * millisecond);
        expect_lost(f);
        let_go(f);
    }
}

/* On a busy machine the time may be over before the queue is full. */
static void may_be_late(tsr_status_t s) {
    assert_true(s == TSR_SUCCESS || s == TSR_ETIMEOUT);
}

static void whoever_waits_for_a_stream_leaves_in_time(void **state) {
    (void)state;
    for (int way = 0; way < 6; way++) {
        fixture *f = to_be_lost(2, "phase_spin");
        tsr_stream_t stream;
        tsr_event_t event;
        OK(tsrCreateStream(f->context, &stream));
        OK(tsrCreateEvent(f->context, &event));
        lost_stream[way] = stream;
        lost_event[way] = event;
        OK(tsrSetWatchdog(f->context, 20 * millisecond));
        may_be_late(launch(f, stream));
        may_be_late(launch(f, stream));
        may_be_late(tsrRecordEvent(event, stream));
        tsr_status_t s = way == 0   ? tsrStreamSynchronize(f->context, stream)
                         : way == 1 ? tsrSynchronizeEvent(event)
                         : way == 2 ? tsrDestroyStream(stream)
                         : way == 3 ? tsrDestroyEvent(event)
                         : way == 4 ? tsrUnloadModule(f->module)
                                    : launch(f, NULL); /* it waits for its turn */
        REFUSED(s, TSR_ETIMEOUT, "did not end");
        uint64_t ns;
        REFUSED(launch(f, stream), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrStreamSynchronize(f->context, stream), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrDestroyStream(stream), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrRecordEvent(event, stream), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrSynchronizeEvent(event), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrElapsedTime(event, event, &ns), TSR_ETIMEOUT, "did not end");
        REFUSED(tsrDestroyEvent(event), TSR_ETIMEOUT, "did not end");
        OK(tsrDestroyContext(f->context));
        let_go(f);
    }
}

/* Nobody waits; the next call sees it all the same, be it the last. */
static void an_overdue_launch_is_seen_by_the_next_call(void **state) {
    (void)state;
    fixture *f = to_be_lost(1, "phase_spin");
    static tsr_stream_t stream; /* stays reachable, too */
    OK(tsrCreateStream(f->context, &stream));
    OK(tsrSetWatchdog(f->context, 20 * millisecond));
    OK(launch(f, stream));
    usleep(100000);
    OK(tsrDestroyContext(f->context));
    let_go(f);
}

static void other_contexts_go_on(void **state) {
    (void)state;
    fixture *f = to_be_lost(2, "phase_spin"), other;
    set_up(&other, 2, 0);
    OK(tsrSetWatchdog(f->context, 20 * millisecond));
    REFUSED(launch(f, NULL), TSR_ETIMEOUT, "did not end");
    OK(launch(&other, NULL));
    expect_result(&other);
    tear_down(&other);
    OK(tsrDestroyContext(f->context));
    let_go(f);
}

/* A hundred workgroups of a millisecond each: those that have not begun never do. */
static void a_slow_launch_stops_between_workgroups(void **state) {
    (void)state;
    fixture *f = to_be_lost(2, "phase_slow");
    OK(tsrSetWatchdog(f->context, 10 * millisecond));
    REFUSED(launch(f, NULL), TSR_ETIMEOUT, "watchdog's 10 ms");
    OK(tsrDestroyContext(f->context));
    clock_t before = clock();
    for (int i = 0; i < 200; i++) { /* until no thread of this process works any more */
        usleep(20000);
        clock_t now = clock();
        if (now - before < CLOCKS_PER_SEC / 500)
            return;
        before = now;
    }
    fail_msg("the workgroups of a lost launch still run");
}

static void launches_in_time_are_not_touched(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t streams[3];
    set_up(&f, 2, 0);
    OK(tsrSetWatchdog(f.context, UINT64_MAX));
    OK(launch(&f, NULL));
    expect_result(&f);
    OK(tsrSetWatchdog(f.context, 30000 * millisecond));
    for (int i = 0; i < 3; i++)
        OK(tsrCreateStream(f.context, &streams[i]));
    for (int i = 0; i < 300; i++) {
        memset(f.out, 0, KERNEL_CELLS * sizeof(float));
        OK(launch(&f, NULL));
        expect_result(&f);
        OK(launch(&f, streams[i % 3]));
        OK(tsrStreamSynchronize(f.context, streams[i % 3]));
    }
    OK(tsrSetWatchdog(f.context, 0));
    OK(launch(&f, NULL));
    for (int i = 0; i < 3; i++)
        OK(tsrDestroyStream(streams[i]));
    tear_down(&f);
}

/* A launch waits for its turn without its own time running out. */
static void waiting_for_a_turn_does_not_count(void **state) {
    (void)state;
    enum { STREAMS = 24, LIMIT = 20 }; /* far apart: the machine may be busy */
    fixture f;
    tsr_stream_t streams[STREAMS];
    tsr_event_t start, end;
    uint64_t one;
    set_up_probe(&f, 1, 0, "phase_slow");
    OK(tsrCreateEvent(f.context, &start));
    OK(tsrCreateEvent(f.context, &end));
    OK(tsrRecordEvent(start, NULL));
    OK(launch(&f, NULL));
    OK(tsrRecordEvent(end, NULL));
    OK(tsrElapsedTime(start, end, &one));
    OK(tsrSetWatchdog(f.context, LIMIT * one));
    for (int i = 0; i < STREAMS; i++)
        OK(tsrCreateStream(f.context, &streams[i]));
    for (int i = 0; i < STREAMS; i++)
        OK(launch(&f, streams[i]));
    for (int i = 0; i < STREAMS; i++) {
        OK(tsrStreamSynchronize(f.context, streams[i]));
        OK(tsrDestroyStream(streams[i]));
    }
    OK(tsrDestroyEvent(start));
    OK(tsrDestroyEvent(end));
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_that_does_not_end_is_a_timeout),
        cmocka_unit_test(whoever_waits_for_a_stream_leaves_in_time),
        cmocka_unit_test(an_overdue_launch_is_seen_by_the_next_call),
        cmocka_unit_test(other_contexts_go_on),
        cmocka_unit_test(a_slow_launch_stops_between_workgroups),
        cmocka_unit_test(launches_in_time_are_not_touched),
        cmocka_unit_test(waiting_for_a_turn_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
