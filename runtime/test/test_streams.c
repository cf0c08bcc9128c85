/* test_streams.c - streams and events: order, failures told later, times, and every refusal. */
#include "test/test.h"

#include "test/abi_fixture.h"

static void streams_run_in_order_and_events_mark_time(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream;
    tsr_event_t start, end;
    uint64_t ns;
    set_up(&f, 2, 0);
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrCreateEvent(f.context, &start));
    OK(tsrCreateEvent(f.context, &end));
    REFUSED(tsrSynchronizeEvent(start), TSR_EINVAL, "never recorded");
    REFUSED(tsrElapsedTime(start, end, &ns), TSR_EINVAL, "not recorded");
    OK(tsrRecordEvent(start, stream));
    for (int i = 0; i < 200; i++)
        OK(launch(&f, stream));
    OK(tsrRecordEvent(end, stream));
    OK(tsrSynchronizeEvent(end));
    expect_result(&f);
    OK(tsrElapsedTime(start, end, &ns));
    assert_true(ns > 0);
    REFUSED(tsrElapsedTime(end, start, &ns), TSR_EINVAL, "before the start");
    OK(tsrElapsedTime(end, end, &ns));
    assert_int_equal(ns, 0);
    memset(f.out, 0, KERNEL_CELLS * sizeof(float));
    OK(launch(&f, stream));
    OK(tsrRecordEvent(end, stream));
    OK(tsrDestroyEvent(end));     /* waits for what it still marks */
    OK(tsrDestroyStream(stream)); /* finishes what is queued */
    expect_result(&f);
    OK(tsrRecordEvent(start, NULL));
    OK(tsrSynchronizeEvent(start));
    OK(tsrDestroyEvent(start));
    tear_down(&f);
}

/* Each launch halves what is there and adds its input: another order gives another sum. */
static void launches_keep_their_order(void **state) {
    (void)state;
    enum { INPUTS = 20 };
    fixture f;
    tsr_stream_t stream;
    float *inputs[INPUTS], expected = 0;
    set_up_probe(&f, 3, 0, "phase_blend");
    OK(tsrCreateStream(f.context, &stream));
    for (int i = 0; i < INPUTS; i++) {
        OK(tsrAlloc(f.context, KERNEL_CELLS * sizeof(float), TSR_ALLOC_ZERO, (void **)&inputs[i]));
        for (int workgroup = 0; workgroup < KERNEL_CELLS; workgroup++)
            inputs[i][workgroup] = (float)((i * 7) % INPUTS);
        expected = expected * 0.5f + (float)((i * 7) % INPUTS);
    }
    for (int i = 0; i < INPUTS; i++) {
        void *args[] = {&inputs[i], &f.out};
        OK(tsrLaunch(f.kernel, stream, (tsr_launch_t){0}, args, 2));
    }
    OK(tsrStreamSynchronize(f.context, stream));
    for (int workgroup = 0; workgroup < KERNEL_CELLS; workgroup++)
        assert_true(f.out[workgroup] == expected);
    for (int i = 0; i < INPUTS; i++)
        OK(tsrFree(f.context, inputs[i]));
    OK(tsrDestroyStream(stream));
    tear_down(&f);
}

static void a_failure_is_told_once_by_the_next_synchronisation(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream, other;
    tsr_event_t event;
    set_up_probe(&f, 1, TSR_CONTEXT_DEBUG, "phase_past_end");
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrCreateStream(f.context, &other));
    OK(tsrCreateEvent(f.context, &event));
    OK(launch(&f, stream));
    OK(tsrRecordEvent(event, stream));
    OK(tsrSynchronizeEvent(event)); /* a mark, whatever came before it */
    OK(tsrStreamSynchronize(f.context, other));
    OK(tsrStreamSynchronize(f.context, NULL));
    REFUSED(tsrStreamSynchronize(f.context, stream), TSR_EINTERNAL, "buffer 'out'");
    OK(tsrStreamSynchronize(f.context, stream));
    OK(launch(&f, stream));
    REFUSED(tsrDestroyStream(stream), TSR_EINTERNAL, "buffer 'out'"); /* and destroys it */
    OK(tsrDestroyStream(other));
    OK(tsrDestroyEvent(event));
    tear_down(&f);
}

static void handles_of_another_context_are_refused(void **state) {
    (void)state;
    fixture f;
    tsr_context_t foreign;
    tsr_stream_t stream;
    tsr_event_t event, own;
    uint64_t ns;
    set_up(&f, 1, 0);
    OK(tsrCreateContextOn(0, 1, 0, &foreign));
    OK(tsrCreateStream(foreign, &stream));
    OK(tsrCreateEvent(foreign, &event));
    OK(tsrCreateEvent(f.context, &own));
    REFUSED(launch(&f, stream), TSR_EINVAL, "another context than kernel 'affine'");
    REFUSED(tsrStreamSynchronize(f.context, stream), TSR_EINVAL, "another context");
    REFUSED(tsrRecordEvent(own, stream), TSR_EINVAL, "another context");
    OK(tsrRecordEvent(own, NULL));
    OK(tsrRecordEvent(event, stream));
    OK(tsrSynchronizeEvent(event));
    REFUSED(tsrElapsedTime(own, event, &ns), TSR_EINVAL, "different contexts");
    REFUSED(tsrFree(foreign, f.a), TSR_EINVAL, "not an allocation of this context");
    REFUSED(tsrDestroyContext(foreign), TSR_EINVAL, "1 streams, 1 events");
    OK(tsrDestroyEvent(own));
    OK(tsrDestroyEvent(event));
    OK(tsrDestroyStream(stream));
    OK(tsrDestroyContext(foreign));
    tear_down(&f);
}

static void an_event_recorded_again_counts_anew(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream;
    tsr_event_t first, again;
    uint64_t early, late;
    set_up(&f, 1, 0);
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrCreateEvent(f.context, &first));
    OK(tsrCreateEvent(f.context, &again));
    OK(tsrRecordEvent(first, stream));
    OK(tsrRecordEvent(again, stream));
    OK(tsrSynchronizeEvent(again));
    OK(tsrElapsedTime(first, again, &early));
    for (int i = 0; i < 20; i++)
        OK(launch(&f, stream));
    OK(tsrRecordEvent(again, stream));
    OK(tsrSynchronizeEvent(again));
    OK(tsrElapsedTime(first, again, &late));
    assert_true(late > early);
    OK(tsrDestroyEvent(first));
    OK(tsrDestroyEvent(again));
    OK(tsrDestroyStream(stream));
    tear_down(&f);
}

static void unloading_waits_for_launches(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream;
    set_up(&f, 2, 0);
    OK(tsrCreateStream(f.context, &stream));
    for (int i = 0; i < 100; i++)
        OK(launch(&f, stream));
    OK(tsrUnloadModule(f.module));
    expect_result(&f);
    OK(tsrDestroyStream(stream));
    OK(tsrFree(f.context, f.a));
    OK(tsrFree(f.context, f.out));
    OK(tsrDestroyContext(f.context));
}

static void null_is_refused(void **state) {
    (void)state;
    fixture f;
    tsr_event_t event;
    uint64_t ns;
    set_up(&f, 1, 0);
    OK(tsrCreateEvent(f.context, &event));
    REFUSED(tsrCreateStream(f.context, NULL), TSR_EINVAL, "stream is NULL");
    REFUSED(tsrCreateEvent(NULL, &event), TSR_EINVAL, "context is NULL");
    REFUSED(tsrDestroyStream(NULL), TSR_EINVAL, "stream is NULL");
    REFUSED(tsrStreamSynchronize(NULL, NULL), TSR_EINVAL, "context is NULL");
    REFUSED(tsrDestroyEvent(NULL), TSR_EINVAL, "event is NULL");
    REFUSED(tsrRecordEvent(NULL, NULL), TSR_EINVAL, "event is NULL");
    REFUSED(tsrSynchronizeEvent(NULL), TSR_EINVAL, "event is NULL");
    REFUSED(tsrElapsedTime(event, NULL, &ns), TSR_EINVAL, "end is NULL");
    REFUSED(tsrElapsedTime(event, event, NULL), TSR_EINVAL, "nanoseconds is NULL");
    REFUSED(tsrSetWatchdog(NULL, 1), TSR_EINVAL, "context is NULL");
    OK(tsrDestroyEvent(event));
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_run_in_order_and_events_mark_time),
        cmocka_unit_test(launches_keep_their_order),
        cmocka_unit_test(a_failure_is_told_once_by_the_next_synchronisation),
        cmocka_unit_test(handles_of_another_context_are_refused),
        cmocka_unit_test(an_event_recorded_again_counts_anew),
        cmocka_unit_test(unloading_waits_for_launches),
        cmocka_unit_test(null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
