/* test_simulated.c - simulated devices: nobody but their queues reaches their memory, queues run in
 * any order that events allow, and each fault ends in a status, with words, and with nothing left
 * behind. */
#include "test/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

enum { BYTES = KERNEL_CELLS * sizeof(float) };

/* Devices with these faults; index `n` of them is public index n + 1. */
static void plug_in(const char *count, const char *faults) {
    setenv(SIMULATED_COUNT, count, 1);
    setenv(SIMULATED_FAULTS, faults, 1);
    simulated_reset();
}

static void expect_nothing_left(void) {
    for (uint32_t i = 0; i < SIMULATED_DEVICES_MAX; i++)
        assert_int_equal(simulated_memory_used(i), 0);
}

typedef struct rig {
    tsr_context_t context;
    tsr_stream_t stream;
    tsr_event_t event;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *a, *out;
} rig;

static void open_rig(rig *r, uint32_t index) {
    bytes image = good_module();
    OK(tsrCreateContextOn(index, 0, 0, &r->context));
    OK(tsrCreateStream(r->context, &r->stream));
    OK(tsrCreateEvent(r->context, &r->event));
    OK(tsrLoadModule(r->context, image.data, image.size, &r->module));
    free(image.data);
    OK(tsrGetKernel(r->module, "affine", &r->kernel));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_DEFAULT, &r->a));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_HOST_VISIBLE, &r->out));
}

static tsr_status_t run(rig *r, tsr_stream_t stream) {
    void *args[] = {&r->a, &r->out};
    return tsrLaunch(r->kernel, stream, (tsr_launch_t){0}, args, 2);
}

static void close_rig(rig *r) {
    OK(tsrDestroyEvent(r->event));
    OK(tsrDestroyStream(r->stream));
    OK(tsrFree(r->context, r->a));
    OK(tsrFree(r->context, r->out));
    OK(tsrUnloadModule(r->module));
    OK(tsrDestroyContext(r->context));
}

/* ---- memory ---- */

/* Reads a byte in a child; returns 0, or the signal that ended it. */
static int signal_of_reading(const volatile unsigned char *address) {
    int how;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would print a report */
        _exit(*address == 1 ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

static void whoever_dereferences_device_memory_dies(void **state) {
    (void)state;
    rig r;
    void *host, *pinned;
    plug_in("1", "");
    open_rig(&r, 1);
    OK(tsrAlloc(r.context, 5 << 20, TSR_ALLOC_PINNED, &pinned));
    assert_int_equal(signal_of_reading(r.a), SIGSEGV);
    assert_int_equal(signal_of_reading((unsigned char *)r.a + BYTES - 1), SIGSEGV);
    assert_int_equal(signal_of_reading(pinned), SIGSEGV);
    for (int i = 0; i < 20; i++) { /* while its queue works, too */
        OK(run(&r, r.stream));
        assert_int_equal(signal_of_reading(r.out), SIGSEGV);
    }
    OK(tsrMap(r.context, r.out, &host));
    assert_ptr_not_equal(host, r.out);
    assert_int_equal(signal_of_reading(host), 0);
    assert_int_equal(signal_of_reading(r.out), SIGSEGV);
    OK(tsrUnmap(r.context, r.out));
    assert_int_equal(signal_of_reading(host), SIGSEGV);
    OK(tsrFree(r.context, pinned));
    close_rig(&r);
    expect_nothing_left();
}

static void devices_of_a_kind_are_several(void **state) {
    (void)state;
    rig first, second;
    uint32_t count;
    plug_in("3", "0:lost=1000000");
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 4);
    open_rig(&first, 1);
    open_rig(&second, 2);
    assert_int_equal(simulated_memory_used(0), 2 * BYTES);
    assert_int_equal(simulated_memory_used(1), 2 * BYTES);
    assert_int_equal(simulated_memory_used(2), 0);
    void *args[] = {&first.a, &second.out};
    assert_int_equal(tsrLaunch(first.kernel, NULL, (tsr_launch_t){0}, args, 2), TSR_EINVAL);
    close_rig(&first);
    close_rig(&second);
    plug_in("0", "");
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 1);
    expect_nothing_left();
}

/* Without an event the second stream's fill is sometimes first, sometimes last. */
static void queues_are_not_ordered_without_events(void **state) {
    (void)state;
    int firsts = 0, lasts = 0;
    rig r;
    tsr_stream_t other;
    plug_in("1", "");
    open_rig(&r, 1);
    OK(tsrCreateStream(r.context, &other));
    for (int i = 0; i < 2000 && !(firsts && lasts); i++) {
        unsigned char seen;
        OK(tsrFillAsync(r.context, r.stream, r.a, 1, 1));
        OK(tsrRecordEvent(r.event, r.stream));
        OK(tsrFillAsync(r.context, other, r.a, 2, 1));
        while (tsrGetEventTime(r.event, &(uint64_t){0}) != TSR_SUCCESS)
            usleep(50); /* does not wait for the queue, which would end its delay */
        OK(tsrStreamSynchronize(r.context, other));
        OK(tsrCopy(r.context, &seen, r.a, 1));
        firsts += seen == 1;
        lasts += seen == 2;
    }
    assert_true(firsts && lasts);
    OK(tsrDestroyStream(other));
    close_rig(&r);
}

/* ---- faults ---- */

static void expect_lost(rig *r, tsr_status_t code) {
    void *p;
    tsr_context_t context;
    tsr_stream_t stream;
    assert_int_equal(run(r, NULL), code);
    assert_int_equal(run(r, r->stream), code);
    assert_int_equal(tsrStreamSynchronize(r->context, r->stream), code);
    assert_int_equal(tsrSynchronizeEvent(r->event), code);
    assert_int_equal(tsrRecordEvent(r->event, r->stream), code);
    assert_int_equal(tsrAlloc(r->context, 8, 0, &p), code);
    assert_int_equal(tsrFree(r->context, r->a), code);
    assert_int_equal(tsrMap(r->context, r->out, &p), code);
    assert_int_equal(tsrCopy(r->context, r->a, &p, 8), code);
    assert_int_equal(tsrCreateStream(r->context, &stream), code);
    assert_int_equal(tsrUnloadModule(r->module), code);
    assert_int_equal(tsrDestroyStream(r->stream), code);
    assert_int_equal(tsrDestroyEvent(r->event), code);
    assert_true(tsrGetLastError()[0] != '\0');
    if (code == TSR_EDEVICELOST)
        assert_int_equal(tsrCreateContextOn(1, 0, 0, &context), code); /* a second context */
    OK(tsrDestroyContext(r->context));                                 /* with all that is in it */
    expect_nothing_left();
}

static void a_device_vanishes_in_mid_queue(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        rig r;
        plug_in("2", "0:lost=4");
        open_rig(&r, 1);
        for (int i = 0; i < 6; i++)
            if (run(&r, r.stream) != TSR_SUCCESS)
                assert_int_equal(run(&r, r.stream), TSR_EDEVICELOST);
        tsr_status_t s = way == 0   ? tsrStreamSynchronize(r.context, r.stream)
                         : way == 1 ? tsrDestroyStream(r.stream)
                                    : tsrUnloadModule(r.module);
        assert_int_equal(s, TSR_EDEVICELOST);
        assert_non_null(strstr(tsrGetLastError(), "simulated device 0"));
        expect_lost(&r, TSR_EDEVICELOST);
        rig other; /* its neighbour goes on */
        open_rig(&other, 2);
        OK(run(&other, NULL));
        close_rig(&other);
    }
}

static void all_contexts_of_a_lost_device_are_lost(void **state) {
    (void)state;
    rig first, second;
    plug_in("1", "0:lost=3");
    open_rig(&first, 1);
    open_rig(&second, 1);
    OK(run(&first, NULL));
    OK(run(&second, NULL));
    assert_int_equal(run(&first, NULL), TSR_EDEVICELOST);
    assert_int_equal(run(&second, NULL), TSR_EDEVICELOST);
    OK(tsrDestroyContext(first.context));
    expect_lost(&second, TSR_EDEVICELOST);
    plug_in("1", ""); /* in again */
    open_rig(&first, 1);
    OK(run(&first, NULL));
    close_rig(&first);
}

static void a_queue_that_never_ends_is_a_timeout(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        rig r;
        char byte = 0;
        plug_in("1", "0:endless=2");
        open_rig(&r, 1);
        OK(tsrSetWatchdog(r.context, 30000000));
        OK(run(&r, NULL));
        if (way < 2) {
            assert_int_equal(way ? tsrCopy(r.context, r.a, &byte, 1) : run(&r, NULL), TSR_ETIMEOUT);
        } else {
            OK(way == 2 ? run(&r, r.stream) : tsrFillAsync(r.context, r.stream, r.a, 1, 1));
            assert_int_equal(tsrStreamSynchronize(r.context, r.stream), TSR_ETIMEOUT);
        }
        assert_non_null(strstr(tsrGetLastError(), "did not end within the watchdog's 30 ms"));
        expect_lost(&r, TSR_ETIMEOUT);
        open_rig(&r, 1); /* the device itself is not lost */
        OK(run(&r, NULL));
        close_rig(&r);
    }
}

static void memory_runs_out(void **state) {
    (void)state;
    rig r;
    void *p, *q;
    plug_in("1", "0:memory=2000");
    open_rig(&r, 1);
    OK(tsrAlloc(r.context, 1200, 0, &p));
    assert_int_equal(tsrAlloc(r.context, 1, 0, &q), TSR_EOOM);
    OK(tsrFree(r.context, p));
    OK(tsrAlloc(r.context, 1, 0, &q));
    OK(tsrFree(r.context, q));
    close_rig(&r);
    expect_nothing_left();
}

/* The second copy has not begun when the first has just ended. */
static void slow_copies_are_waited_for(void **state) {
    (void)state;
    rig r;
    char sent[2] = {5, 6}, got = 0;
    plug_in("1", "0:slow=20000");
    open_rig(&r, 1);
    OK(tsrCopyAsync(r.context, r.stream, r.a, sent, 1));
    OK(tsrRecordEvent(r.event, r.stream));
    uint64_t ns;
    assert_int_equal(tsrGetEventTime(r.event, &ns), TSR_EINVAL); /* it is on its way */
    OK(tsrCopyAsync(r.context, r.stream, &got, r.a, 1));
    OK(tsrStreamSynchronize(r.context, r.stream));
    assert_int_equal(got, 5);
    OK(tsrGetEventTime(r.event, &ns));
    OK(tsrCopyAsync(r.context, r.stream, r.a, sent + 1, 1));
    OK(tsrSetWatchdog(r.context, 1000000));
    OK(tsrCopyAsync(r.context, r.stream, r.a, sent, 1)); /* longer than it may */
    assert_int_equal(tsrStreamSynchronize(r.context, r.stream), TSR_ETIMEOUT);
    OK(tsrDestroyContext(r.context));
    expect_nothing_left();
}

static void drivers_that_lie_are_found_out(void **state) {
    static const struct {
        const char *faults;
        tsr_status_t code;
    } lies[] = {{"0:absent=1", TSR_EUNAVAILABLE},
                {"0:nameless=1", TSR_EINTERNAL},
                {"0:unitless=1", TSR_EINTERNAL},
                {"0:kindless=1", TSR_EINTERNAL}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        tsr_context_t context;
        plug_in("1", lies[i].faults);
        OK(tsrGetDeviceInfo(1, &info));
        assert_non_null(info.name);
        assert_int_equal(tsrCreateContextOn(1, 0, 0, &context), lies[i].code);
        assert_true(tsrGetLastError()[0] != '\0');
    }
    tsr_context_t context;
    tsr_module_t module;
    void *p;
    plug_in("1", "0:askew=1");
    OK(tsrCreateContextOn(1, 0, 0, &context));
    assert_int_equal(tsrAlloc(context, 100, 0, &p), TSR_EINTERNAL);
    OK(tsrDestroyContext(context));
    plug_in("1", "0:foreign=1");
    bytes object = read_object("kernel_good");
    char *json = good_metadata("phase_double", "phase_add");
    bytes image = make_module(json, "z80-elf/z80", (bytes){object.data, 100});
    OK(tsrCreateContextOn(1, 0, 0, &context));
    assert_int_equal(tsrLoadModule(context, image.data, image.size, &module), TSR_ECORRUPT);
    OK(tsrDestroyContext(context));
    free(image.data);
    free(object.data);
    free(json);
    expect_nothing_left();
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_dereferences_device_memory_dies),
        cmocka_unit_test(devices_of_a_kind_are_several),
        cmocka_unit_test(queues_are_not_ordered_without_events),
        cmocka_unit_test(a_device_vanishes_in_mid_queue),
        cmocka_unit_test(all_contexts_of_a_lost_device_are_lost),
        cmocka_unit_test(a_queue_that_never_ends_is_a_timeout),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(slow_copies_are_waited_for),
        cmocka_unit_test(drivers_that_lie_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
