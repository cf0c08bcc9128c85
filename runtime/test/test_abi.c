/* test_abi.c - the C ABI as a program meets it: load, launch, streams, events, and every refusal.
 */
#include "test/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"
#include "test/module_maker.h"

#define OK(call) assert_ok((call), #call)
static void assert_ok(tsr_status_t s, const char *call) {
    if (s != TSR_SUCCESS)
        fail_msg("%s: %s: %s", call, tsrStatusName(s), tsrGetLastError());
}

#define REFUSED(call, code, words) assert_refused((call), (code), (words), #call)
static void assert_refused(tsr_status_t s, tsr_status_t code, const char *words, const char *call) {
    if (s != code || !strstr(tsrGetLastError(), words))
        fail_msg("%s: %s: '%s' (expected '%s')", call, tsrStatusName(s), tsrGetLastError(), words);
}

/* A context with the affine kernel loaded and its two buffers. */
typedef struct fixture {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    float *a, *out;
    void *args[2];
} fixture;

static void load_fixture(fixture *f, bytes image) {
    OK(tsrLoadModule(f->context, image.data, image.size, &f->module));
    free(image.data);
    OK(tsrGetKernel(f->module, "affine", &f->kernel));
    OK(tsrAlloc(f->context, KERNEL_CELLS * sizeof(float), TSR_ALLOC_DEFAULT, (void **)&f->a));
    OK(tsrAlloc(f->context, KERNEL_CELLS * sizeof(float), TSR_ALLOC_ZERO, (void **)&f->out));
    for (int i = 0; i < KERNEL_CELLS; i++)
        f->a[i] = (float)i;
    f->args[0] = &f->a;
    f->args[1] = &f->out;
}

static void set_up(fixture *f, uint32_t threads, uint32_t flags) {
    OK(tsrCreateContextOn(0, threads, flags, &f->context));
    load_fixture(f, good_module());
}

static void tear_down(fixture *f) {
    OK(tsrFree(f->context, f->a));
    OK(tsrFree(f->context, f->out));
    OK(tsrUnloadModule(f->module));
    OK(tsrDestroyContext(f->context));
}

static void expect_result(const fixture *f) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        assert_true(f->out[i] == (float)(2 * i + i % 4 + 1));
}

static const tsr_launch_t default_grid = {0};

static void a_kernel_computes(void **state) {
    (void)state;
    for (uint32_t threads = 0; threads <= 4; threads++) {
        for (uint32_t flags = 0; flags <= TSR_CONTEXT_DEBUG; flags++) {
            fixture f;
            set_up(&f, threads, flags);
            for (int i = 0; i < 20; i++) {
                memset(f.out, 0, KERNEL_CELLS * sizeof(float));
                OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
                expect_result(&f);
            }
            tear_down(&f);
        }
    }
}

static void kernels_tell_what_they_take(void **state) {
    (void)state;
    fixture f;
    tsr_kernel_info_t info;
    const char *name, *type, *json;
    uint32_t rank;
    const int64_t *dims;
    set_up(&f, 1, 0);
    OK(tsrGetKernelInfo(f.kernel, &info));
    assert_string_equal(info.name, "affine");
    assert_int_equal(info.inputs, 1);
    assert_int_equal(info.outputs, 1);
    assert_int_equal(info.phases, 2);
    assert_int_equal(info.workspace_bytes, 400);
    OK(tsrGetKernelParameter(f.kernel, 0, &name, &type, &rank, &dims));
    assert_string_equal(name, "a");
    assert_string_equal(type, "f32");
    assert_int_equal(rank, 2);
    assert_int_equal(dims[1], 25);
    REFUSED(tsrGetKernelParameter(f.kernel, 2, NULL, NULL, NULL, NULL), TSR_ENOTFOUND,
            "no buffer 2");
    OK(tsrGetModuleMetadata(f.module, &json));
    assert_non_null(strstr(json, "\"profile\": \"strict\""));
    REFUSED(tsrGetKernel(f.module, "affin", &f.kernel), TSR_ENOTFOUND, "it has 'affine'");
    tear_down(&f);
}

static void wrong_launches_are_refused(void **state) {
    (void)state;
    fixture f;
    set_up(&f, 1, 0);
    void *null = NULL, *shifted = f.a + 1, *too_far = f.a + 16;
    void *bad_null[] = {&null, &f.out}, *bad_shift[] = {&shifted, &f.out},
         *bad_end[] = {&too_far, &f.out};
    void *bad_same[] = {&f.a, &f.a}, *bad_arg[] = {&f.a, NULL};
    REFUSED(tsrLaunch(NULL, NULL, default_grid, f.args, 2), TSR_EINVAL, "kernel is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, f.args, 3), TSR_EINVAL, "takes 2 arguments");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, NULL, 2), TSR_EINVAL, "args is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_arg, 2), TSR_EINVAL, "args[1] is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_null, 2), TSR_EINVAL, "('a') is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_shift, 2), TSR_EINVAL, "not aligned to 64");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_end, 2), TSR_EINVAL,
            "needs 400 bytes; its allocation has 336");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_same, 2), TSR_EINVAL, "'out' overlaps 'a'");
    REFUSED(tsrLaunch(f.kernel, NULL, (tsr_launch_t){.grid_x = 7}, f.args, 2), TSR_EINVAL,
            "its own grid");
    REFUSED(tsrLaunch(f.kernel, NULL, (tsr_launch_t){.smem_bytes = 1}, f.args, 2), TSR_EINVAL,
            "its own grid");
    tear_down(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    fixture f;
    tsr_context_t none;
    tsr_device_info_t info;
    uint32_t count;
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 1);
    OK(tsrGetDeviceInfo(0, &info));
    assert_string_equal(info.backend, "cpu");
    REFUSED(tsrGetDeviceInfo(1, &info), TSR_ENOTFOUND, "device 1");
    REFUSED(tsrCreateContextOn(9, 1, 0, &none), TSR_ENOTFOUND, "device 9");
    REFUSED(tsrCreateContextOn(0, 1, 8, &none), TSR_EINVAL, "flags 0x8");
    REFUSED(tsrCreateContextOn(0, 100000, 0, &none), TSR_EINVAL, "threads");
    set_up(&f, 1, 0);
    REFUSED(tsrDestroyContext(f.context), TSR_EINVAL,
            "1 modules, 0 streams, 0 events and 2 allocations");
    REFUSED(tsrFree(f.context, f.a + 16), TSR_EINVAL, "not an allocation");
    REFUSED(tsrCopy(f.context, f.out, f.a, 401), TSR_EINVAL, "past the end of its destination");
    REFUSED(tsrAlloc(f.context, 8, 6, (void **)&none), TSR_EINVAL, "flags 0x6");
    REFUSED(tsrAlloc(f.context, SIZE_MAX, 0, (void **)&none), TSR_EOOM, "no memory");
    OK(tsrCopy(f.context, f.out, f.a, 400));
    assert_memory_equal(f.out, f.a, 400);
    tear_down(&f);
    assert_string_equal(tsrStatusName(TSR_EVERSION), "ABI version");
}

static void damaged_modules_are_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    bytes image = good_module();
    OK(tsrCreateContextOn(0, 1, 0, &c));
    REFUSED(tsrLoadModule(c, image.data, 7, &m), TSR_ECORRUPT, "too few");
    REFUSED(tsrLoadModule(c, image.data, image.size - 1, &m), TSR_ECORRUPT, "truncated");
    for (size_t at = 0; at < image.size; at++) {
        if (at >= 8 && at < 12)
            continue; /* the version: told apart below */
        image.data[at] ^= 0x10;
        if (tsrLoadModule(c, image.data, image.size, &m) != TSR_ECORRUPT)
            fail_msg("byte %zu", at);
        image.data[at] ^= 0x10;
    }
    image.data[8] = 2;
    REFUSED(tsrLoadModule(c, image.data, image.size, &m), TSR_EVERSION,
            "ABI 2.0; this runtime is ABI 1.0");
    image.data[8] = 1;
    image.data[10] = 1;
    REFUSED(tsrLoadModule(c, image.data, image.size, &m), TSR_EVERSION,
            "ABI 1.1; this runtime is ABI 1.0");
    free(image.data);
    OK(tsrDestroyContext(c));
}

typedef struct bad_metadata {
    const char *from, *to; /* replaces the first `from` in sound metadata */
    tsr_status_t status;
    const char *words;
} bad_metadata;

static const bad_metadata bad_documents[] = {
    {"{\"schema\"", "[\"schema\"", TSR_ECORRUPT, "metadata: line 1"},
    {"tsr.module/1", "tsr.module/2", TSR_ECORRUPT, "\"schema\""},
    {"\"name\": \"affine\",", "", TSR_ECORRUPT, "\"name\""},
    {"\"f32\"", "\"f33\"", TSR_ECORRUPT, "unknown type 'f33'"},
    {"[4, 25]", "[4, -25]", TSR_ECORRUPT, "no size"},
    {"[4, 25]", "[4, 9223372036854775807]", TSR_ECORRUPT, "2^63"},
    {"[4, 25]", "[1,1,1,1,1,1,1,1,1]", TSR_ECORRUPT, "\"shape\""},
    {"\"workspace_bytes\": 400", "\"workspace_bytes\": -1", TSR_ECORRUPT, "\"workspace_bytes\""},
    {"\"grid\": 100", "\"grid\": 1.5", TSR_ECORRUPT, "\"grid\""},
    {"phase_add", "phase_sub", TSR_ENOTFOUND, "no function 'phase_sub'"},
};

static void unsound_metadata_is_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    bytes object = read_object("kernel_good");
    char *sound = good_metadata("phase_double", "phase_add");
    OK(tsrCreateContextOn(0, 1, 0, &c));
    for (size_t i = 0; i < COUNT_OF(bad_documents); i++) {
        const bad_metadata *bad = &bad_documents[i];
        char json[2048], *at = strstr(sound, bad->from);
        assert_non_null(at);
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - sound), sound, bad->to,
                 at + strlen(bad->from));
        bytes image = make_module(json, "elf:x86-64-v2+fma", object);
        REFUSED(tsrLoadModule(c, image.data, image.size, &m), bad->status, bad->words);
        free(image.data);
    }
    bytes foreign = make_module(sound, "elf:armv9", object);
    REFUSED(tsrLoadModule(c, foreign.data, foreign.size, &m), TSR_EUNAVAILABLE,
            "the module has armv9");
    free(foreign.data);
    free(sound);
    free(object.data);
    OK(tsrDestroyContext(c));
}

static void an_overrun_names_the_buffer(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream;
    bytes object = read_object("kernel_good");
    char *json = good_metadata("phase_double", "phase_overrun");
    OK(tsrCreateContextOn(0, 1, TSR_CONTEXT_DEBUG, &f.context));
    load_fixture(&f, make_module(json, "elf:x86-64-v2+fma", object));
    free(json);
    free(object.data);
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2), TSR_EINTERNAL, "buffer 'out'");
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrLaunch(f.kernel, stream, default_grid, f.args, 2));
    REFUSED(tsrStreamSynchronize(f.context, stream), TSR_EINTERNAL, "buffer 'out'");
    OK(tsrStreamSynchronize(f.context, stream));
    OK(tsrDestroyStream(stream));
    tear_down(&f);
}

static void debug_memory_is_poisoned_and_guarded(void **state) {
    (void)state;
    fixture f;
    unsigned char *p;
    set_up(&f, 1, TSR_CONTEXT_DEBUG);
    OK(tsrAlloc(f.context, 128, TSR_ALLOC_DEFAULT, (void **)&p));
    for (int i = 0; i < 128; i++)
        assert_int_equal(p[i], 0xCB);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would print a report */
        *(volatile unsigned char *)(p + 128) = 1;
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV);
    p[-1] = 0;
    REFUSED(tsrFree(f.context, p), TSR_EINTERNAL, "before");
    tear_down(&f);
}

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
    OK(tsrRecordEvent(start, stream));
    for (int i = 0; i < 200; i++)
        OK(tsrLaunch(f.kernel, stream, default_grid, f.args, 2));
    OK(tsrRecordEvent(end, stream));
    OK(tsrSynchronizeEvent(end));
    expect_result(&f);
    OK(tsrElapsedTime(start, end, &ns));
    assert_true(ns > 0);
    REFUSED(tsrElapsedTime(end, start, &ns), TSR_EINVAL, "before the start");
    memset(f.out, 0, KERNEL_CELLS * sizeof(float));
    OK(tsrLaunch(f.kernel, stream, default_grid, f.args, 2));
    OK(tsrRecordEvent(end, stream));
    OK(tsrDestroyEvent(end));     /* waits for what it still marks */
    OK(tsrDestroyStream(stream)); /* finishes what is queued */
    expect_result(&f);
    OK(tsrRecordEvent(start, NULL));
    OK(tsrSynchronizeEvent(start));
    OK(tsrDestroyEvent(start));
    tear_down(&f);
}

static void unloading_waits_for_launches(void **state) {
    (void)state;
    fixture f;
    tsr_stream_t stream;
    set_up(&f, 2, 0);
    OK(tsrCreateStream(f.context, &stream));
    for (int i = 0; i < 100; i++)
        OK(tsrLaunch(f.kernel, stream, default_grid, f.args, 2));
    OK(tsrUnloadModule(f.module));
    expect_result(&f);
    OK(tsrDestroyStream(stream));
    OK(tsrFree(f.context, f.a));
    OK(tsrFree(f.context, f.out));
    OK(tsrDestroyContext(f.context));
}

typedef struct launcher {
    const fixture *shared;
    const char *complaint; /* what went wrong; cmocka's assertions belong to the main thread */
} launcher;

static const char *launch_often(const fixture *shared) {
    float *out;
    tsr_stream_t stream;
    if (tsrAlloc(shared->context, 400, TSR_ALLOC_ZERO, (void **)&out) ||
        tsrCreateStream(shared->context, &stream))
        return "no memory";
    void *args[] = {shared->args[0], &out};
    for (int i = 0; i < 100; i++)
        if (tsrLaunch(shared->kernel, i % 2 ? stream : NULL, default_grid, args, 2) ||
            tsrStreamSynchronize(shared->context, stream))
            return "a launch failed";
    for (int i = 0; i < KERNEL_CELLS; i++)
        if (out[i] != (float)(2 * i + i % 4 + 1))
            return "a wrong result";
    return tsrDestroyStream(stream) || tsrFree(shared->context, out) ? "clean-up failed" : NULL;
}

static void *launcher_main(void *argument) {
    launcher *l = argument;
    l->complaint = launch_often(l->shared);
    return NULL;
}

static void threads_share_a_context(void **state) {
    (void)state;
    fixture f;
    pthread_t threads[4];
    launcher launchers[4];
    set_up(&f, 2, 0);
    for (int i = 0; i < 4; i++) {
        launchers[i] = (launcher){&f, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, launcher_main, &launchers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        if (launchers[i].complaint)
            fail_msg("%s", launchers[i].complaint);
    }
    tear_down(&f);
}

static void telemetry_keeps_the_last_launches(void **state) {
    (void)state;
    fixture f;
    telemetry_record records[TELEMETRY_KEPT];
    set_up(&f, 1, 0);
    OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    assert_int_equal(telemetry_read(f.context, records, TELEMETRY_KEPT), 0);
    telemetry_enable(f.context, true);
    for (int i = 0; i < TELEMETRY_KEPT + 10; i++)
        OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    telemetry_enable(f.context, false);
    OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    assert_int_equal(telemetry_read(f.context, records, TELEMETRY_KEPT), TELEMETRY_KEPT);
    assert_int_equal(records[0].serial, 10);
    assert_string_equal(records[5].kernel, "affine");
    assert_int_equal(records[5].phases, 2);
    assert_true(records[5].total_ns >= records[5].phase_ns[0] + records[5].phase_ns[1]);
    assert_true(records[6].start_ns >= records[5].start_ns + records[5].total_ns);
    assert_int_equal(telemetry_read(f.context, records, 1), 1);
    assert_int_equal(records[0].serial, TELEMETRY_KEPT + 9);
    tear_down(&f);
}

int main(void) {
    if (host_unavailable()) {
        print_message("skipped: %s\n", host_unavailable());
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_computes),
        cmocka_unit_test(kernels_tell_what_they_take),
        cmocka_unit_test(wrong_launches_are_refused),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(damaged_modules_are_refused),
        cmocka_unit_test(unsound_metadata_is_refused),
        cmocka_unit_test(an_overrun_names_the_buffer),
        cmocka_unit_test(debug_memory_is_poisoned_and_guarded),
        cmocka_unit_test(streams_run_in_order_and_events_mark_time),
        cmocka_unit_test(unloading_waits_for_launches),
        cmocka_unit_test(threads_share_a_context),
        cmocka_unit_test(telemetry_keeps_the_last_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
