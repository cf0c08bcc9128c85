/* test_level_zero.c - the driver `level_zero` behind the real loader, with a driver of our own
 * (mock_level_zero/): what it says of a GPU, and that each fault ends in a status, with words, and
 * with nothing left alive. What every device owes is in test_device.c. */
#include "test/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/level_zero/level_zero.h"
#include "device/shared/gpu.h"
#include "device/shared/spirv_probe_words.h"
#include "test/abi_submissions.h"
#include "test/device_ahead.h"
#include "test/device_faults.h"
#include "test/mock_level_zero/mock_control.h"
#include "test/stub_gpu/stub_control.h"

enum { EXIT_SKIPPED = 77 };

#define NO_FILE "/nowhere/libnone.so"
#define NO_LOADER MOCK_LEVEL_ZERO /* a library, and not the loader */
#define USUAL "/usual"            /* the loader that this machine has */
#define Z "level_zero"
static const fault faults[] = {
    {Z, NO_FILE, "", DESCRIBE, STATUS_UNAVAILABLE, "the Level Zero loader (Debian: libze1; "},
    {Z, NO_LOADER, "", DESCRIBE, STATUS_UNAVAILABLE, "too old: it has no function 'zeInit'"},
    {Z, USUAL, "tables=0x78000002", DESCRIBE, STATUS_UNAVAILABLE, "Level Zero"},
    {Z, USUAL, "init=0x78000001", DESCRIBE, STATUS_UNAVAILABLE, "no driver that works here"},
    {Z, USUAL, "init=0x70020000", DESCRIBE, STATUS_UNAVAILABLE, "lacks a library of its own"},
    {Z, USUAL, "init=0x70010000", DESCRIBE, STATUS_UNAVAILABLE, "may not open /dev/dri"},
    {Z, USUAL, "init=0x78000002", DESCRIBE, STATUS_UNAVAILABLE, "install a newer driver"},
    {Z, USUAL, "devices=0", DESCRIBE, STATUS_UNAVAILABLE, "have no GPU"},
    {Z, USUAL, "kind=5", DESCRIBE, STATUS_UNAVAILABLE, "have no GPU"},
    {Z, USUAL, "version=0x20000", OPEN, STATUS_UNAVAILABLE, "another version of Level Zero"},
    {Z, USUAL, "threads=0", OPEN, STATUS_UNAVAILABLE, "a workgroup has no threads"},
    {Z, USUAL, "grid=0", OPEN, STATUS_UNAVAILABLE, "a launch no workgroups"},
    {Z, USUAL, "groups=1", OPEN, STATUS_UNAVAILABLE, "no queue that computes"},
    {Z, USUAL, "spirv=0", OPEN, STATUS_UNAVAILABLE, "takes no SPIR-V"},
    {Z, USUAL, "f32=0x23", OPEN, STATUS_UNAVAILABLE, "does not round to nearest"},
    {Z, USUAL, "f32=0x26", OPEN, STATUS_UNAVAILABLE, "does not keep subnormal numbers"},
    {Z, USUAL, "units=0", OPEN, STATUS_INTERNAL, "no compute units"},
    {Z, USUAL, "context=0x70010001", OPEN, STATUS_UNAVAILABLE, "another process has it"},
    {Z, USUAL, "devices=2,queue=0x70000003", OPEN, STATUS_OUT_OF_MEMORY, "making a queue"},
    {Z, USUAL, "list=0x70000002", OPEN, STATUS_OUT_OF_MEMORY, "OUT_OF_HOST_MEMORY (0x70000002)"},
    {Z, USUAL, "fence_made=0x70000002", OPEN, STATUS_OUT_OF_MEMORY, "making a fence"},
    {Z, USUAL, "build=0x70000004", OPEN, STATUS_UNAVAILABLE, "'error: line 7: it is too long'"},
    {Z, USUAL, "kernel=0x78000003", OPEN, STATUS_UNAVAILABLE, "UNSUPPORTED_FEATURE"},
    {Z, USUAL, "threads=63", OPEN, STATUS_UNAVAILABLE, "have 64 threads; on device 'mock 0'"},
    {Z, USUAL, "made_for=3", OPEN, STATUS_UNAVAILABLE, "for workgroups of 3 threads, not 64"},
    {Z, USUAL, "arguments=15", OPEN, STATUS_UNAVAILABLE, "16 bytes of arguments"},
    {Z, USUAL, "memory=1000", OPEN, STATUS_OUT_OF_MEMORY, "OUT_OF_DEVICE_MEMORY (0x70000003)"},
    {Z, USUAL, "flaw=1", OPEN, STATUS_UNAVAILABLE, "a fused multiply-add of 32-bit floats"},
    {Z, USUAL, "flaw=2", OPEN, STATUS_UNAVAILABLE, "a division of 32-bit floats"},
    {Z, USUAL, "flaw=3", OPEN, STATUS_UNAVAILABLE, "a product of 32-bit floats"},
    {Z, USUAL, "memory=1000000", ALLOC, STATUS_OUT_OF_MEMORY, "OUT_OF_DEVICE_MEMORY"},
    {Z, USUAL, "largest=1000000", ALLOC, STATUS_OUT_OF_MEMORY, "gives at once (1000000)"},
    {Z, USUAL, "host_memory=5000000", ALLOC_PINNED, STATUS_OUT_OF_MEMORY, "OUT_OF_HOST_MEMORY"},
    {Z, USUAL, "shared=3", LOAD, STATUS_UNAVAILABLE, "needs 4 bytes of workgroup memory"},
    {Z, USUAL, "group=0x78000013", LOAD, STATUS_UNAVAILABLE, "INVALID_GROUP_SIZE_DIMENSION"},
    {Z, USUAL, "group=0x70000003", LOAD, STATUS_OUT_OF_MEMORY, "phase_double"},
    {Z, USUAL, "", LOAD_RUBBISH, STATUS_CORRUPT, "'kernels' is no SPIR-V"},
    {Z, USUAL, "", LOAD_NOWHERE, STATUS_NOT_FOUND, "'phase_nowhere'"},
    {Z, USUAL, "modules=1", LOAD_F64, STATUS_UNAVAILABLE, "'mock 0' has no 64-bit floats"},
    {Z, USUAL, "wide_flaw=1", LOAD_F64, STATUS_UNAVAILABLE, "multiply-add of 64-bit floats"},
    {Z, USUAL, "modules=2", LOAD_F16, STATUS_UNAVAILABLE, "'mock 0' has no 16-bit floats"},
    {Z, USUAL, "grid=1000", LAUNCH_MANY, STATUS_UNAVAILABLE, "1073741824 workgroups"},
    {Z, USUAL, "grid=99", LAUNCH, STATUS_UNAVAILABLE, "device 'mock 0' takes 99"},
    {Z, USUAL, "arguments=16", LAUNCH, STATUS_UNAVAILABLE, "32 bytes of arguments"},
    {Z, USUAL, "pool=0x70000002", LAUNCH, STATUS_OUT_OF_MEMORY, "a pool of events"},
    {Z, USUAL, "append=0x78000009", LAUNCH, STATUS_OUT_OF_MEMORY, "UNSUPPORTED_SIZE"},
    {Z, USUAL, "execute=0x70000003", LAUNCH, STATUS_OUT_OF_MEMORY, "running: ZE_RESULT_ERROR_OUT"},
    {Z, USUAL, "lost=0x70000001", LAUNCH, STATUS_DEVICE_LOST, "lost: running: ZE_RESULT_ERROR_DE"},
    {Z, USUAL, "lost=0x70000006,at=3", LAUNCH, STATUS_DEVICE_LOST, "DEVICE_REQUIRES_RESET"},
    {Z, USUAL, "fence=0x7ffffffe", LAUNCH, STATUS_DEVICE_LOST, "Level Zero's result 0x7ffffffe"},
    {Z, USUAL, "shared=65535", LAUNCH_LARGE, STATUS_OUT_OF_MEMORY, "has 65535"},
    {Z, USUAL, "memory=1200000", LAUNCH_LONG, STATUS_OUT_OF_MEMORY, "the workspace"},
    {Z, USUAL, "endless=1", LAUNCH_LIMITED, STATUS_TIMEOUT, "kernel 'affine' did not end"},
    {Z, USUAL, "again=0x70000003", REPLAY, STATUS_OUT_OF_MEMORY, "running a graph: ZE_RESULT_ER"},
    {Z, USUAL, "lost=0x70000001,at=18", REPLAY, STATUS_DEVICE_LOST, "running a graph: ZE_RESULT"},
    {Z, USUAL, "lists=3", NOTHING, STATUS_OK, ""}, /* no recording: it is done one by one */
    {Z, USUAL, "largest=0x200000000", NOTHING, STATUS_OK, ""},
    {Z, USUAL, "version=0x10001,timer=0", NOTHING, STATUS_OK, ""},
    {Z, USUAL, "f32=7", NOTHING, STATUS_OK, ""}, /* no instruction for fma; the function is right */
    {Z, USUAL, "", NOTHING, STATUS_OK, ""},
};

/* Properties that it tells. */
static const struct {
    const char *faults;
    uint64_t timestamp_ns;
    uint32_t kinds, mappable; /* DEVICE, HOST_VISIBLE, PINNED */
} descriptions[] = {
    {"", 80, 7, 6},
    {"version=0x10001,timer=52", 52, 7, 6}, /* in ns */
    {"timer=19200000", 52, 7, 6},           /* in cycles a second */
    {"timer=0", 1, 7, 6},
    {"access=1", 80, 5, 4}, /* the host and the device not at the same time */
    {"access=0", 80, 1, 0},
};

/* ---- the driver's side ---- */

static void *mock_symbol(const char *name) {
    void *handle = dlopen(MOCK_LEVEL_ZERO, RTLD_NOW);
    assert_non_null(handle);
    return dlsym(handle, name);
}

static mock_counts counts_of(void) {
    mock_counts counts;
    mock_counts_fn *get;
    void *found = mock_symbol("mock_level_zero_counts");
    memcpy(&get, &found, sizeof found); /* ISO C knows no such cast */
    get(&counts);
    return counts;
}

static uint64_t launches_begun(const fault *row) {
    (void)row;
    return counts_of().launches;
}

static void end_launches(const fault *row) {
    mock_end_fn *end_all;
    void *found = mock_symbol("mock_level_zero_end");
    (void)row;
    memcpy(&end_all, &found, sizeof found);
    end_all();
}

static void expect_nothing_alive(const fault *row) {
    const mock_counts counts = counts_of();
    (void)row;
    assert_int_equal(counts.memory, 0);
    assert_int_equal(counts.contexts, 0);
    assert_int_equal(counts.queues, 0);
    assert_int_equal(counts.lists, 0);
    assert_int_equal(counts.fences, 0);
    assert_int_equal(counts.pools, 0);
    assert_int_equal(counts.events, 0);
    assert_int_equal(counts.modules, 0);
    assert_int_equal(counts.logs, 0);
    assert_int_equal(counts.kernels, 0);
}

static void provide(const fault *row) {
    setenv(MOCK_DRIVERS, MOCK_LEVEL_ZERO, 1);
    setenv(STUB_FAULTS, row->faults, 1);
    if (strcmp(row->library, USUAL) != 0)
        setenv(LEVEL_ZERO_LIBRARY, row->library, 1);
}

/* The probes are such code. */
static const device_source *code_of(step what) {
    static const char *const arithmetic[] = {"probe_arithmetic"}, *const conversions[] = {
                                                                      "probe_conversions"};
    static const device_source wide = {
        spirv_f64, sizeof spirv_f64, "spirv/spirv-opencl", "wide", arithmetic, 1, 0, NULL, NULL,
        NULL};
    static const device_source half = {
        spirv_f16, sizeof spirv_f16, "spirv/spirv-opencl", "half", conversions, 1, 0, NULL, NULL,
        NULL};
    return what == LOAD_F64 ? &wide : &half;
}

static uint64_t repeats(const fault *row) {
    (void)row;
    return counts_of().repeats;
}

/* The list that was recorded runs three times, two of them again, or there is none. */
static void expect_lists(const rig *r, bool ok, uint64_t repeated) {
    device_counts done;
    const bool each = strstr(r->row->faults, "lists=") != NULL;
    r->b.driver->count(r->b.d, &done);
    if (ok)
        assert_int_equal(repeated, each ? 0 : 2);
    assert_int_equal(done.recordings, !each);
    assert_int_equal(counts_of().lists, each ? 3 : 4); /* three queues have one */
}

static const fault_library mock = {.provide = provide,
                                   .launches = launches_begun,
                                   .end = end_launches,
                                   .expect_nothing_alive = expect_nothing_alive,
                                   .replays = repeats,
                                   .expect_recordings = expect_lists,
                                   .code = code_of};

/* ---- what goes well ---- */

static void provide_faults(const char *named) {
    provide(&(fault){Z, USUAL, named, NOTHING, STATUS_OK, ""});
}

static void describes_its_memory_and_clock(void **state) {
    size_t i = (size_t)(uintptr_t)*state;
    device_info info;
    provide_faults(descriptions[i].faults);
    assert_true(device_driver_find(Z)->enumerate(0, &info));
    assert_string_equal(info.name, "mock 0");
    assert_string_equal(info.isa, "spirv-opencl");
    assert_string_equal(info.targets[0], "spirv/spirv-opencl");
    assert_int_equal(info.compute_units, 8);
    assert_int_equal(info.memory_bytes, UINT64_C(4) << 30);
    assert_int_equal(info.timestamp_ns, descriptions[i].timestamp_ns);
    assert_int_equal(info.memory_kinds, descriptions[i].kinds);
    assert_int_equal(info.mappable_kinds, descriptions[i].mappable);
}

static uint64_t noted_ns[2];

static void note_phases(void *context, const device_times *times) {
    (void)context;
    noted_ns[0] = times->phase_ns[0];
    noted_ns[1] = times->phase_ns[1];
}

/* 100 ticks, of which 10 are before the clock begins anew. */
static void times_across_the_end_of_the_clock(void **state) {
    static const device_options options = {.threads = 1, .timed = note_phases};
    bench b = {.driver = device_driver_find(Z)};
    status st = STATUS_INIT;
    provide_faults(*state);
    must(device_open(b.driver, 0, &options, &b.d, &st), &st);
    must(b.driver->queue_create(b.d, true, &b.sync, &st), &st);
    device_image *image = load(&b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, out);
    l->command.dispatch.timed = true;
    for (int i = 0; i < 2; i++) {
        noted_ns[0] = noted_ns[1] = 0;
        submit(b.sync, &b, l->command);
        assert_int_equal(noted_ns[0], 8000);
        assert_int_equal(noted_ns[1], 8000);
    }
    free(l);
    b.driver->unload(b.d, image);
    b.driver->free(b.d, in);
    b.driver->free(b.d, out);
    b.driver->queue_destroy(b.d, b.sync);
    b.driver->close(b.d);
    expect_nothing_alive(NULL);
}

/* ---- what is given while launches have not ended ---- */

static void open_streams(rig *r, const fault *row) {
    status st = STATUS_INIT;
    *r = (rig){.row = row, .library = &mock, .b.driver = device_driver_find(Z)};
    provide(row);
    must(opens(r, &st) && r->b.driver->queue_create(r->b.d, false, &r->b.queues[1], &st) &&
             loads(r, LOAD, &st),
         &st);
}

static void close_streams(rig *r) {
    r->b.driver->queue_destroy(r->b.d, r->b.queues[1]);
    close_rig(r);
    expect_nothing_alive(r->row);
}

static uint64_t given_to(const void *row) {
    (void)row;
    return counts_of().given;
}

static void end_first(const void *row) {
    while (counts_of().launches == 0)
        usleep(1000);
    assert_int_equal(counts_of().launches, 1);
    end_launches(row);
}

static void queues_are_given_more(void **state) {
    enum { PHASES = 2 };
    rig r;
    open_streams(&r, *state);
    queues_run_ahead(&(ahead){.b = &r.b,
                              .image = r.image,
                              .given = given_to,
                              .wanted = AHEAD_LAUNCHES * PHASES,
                              .end = end_first});
    close_streams(&r);
}

static void more_events_than_a_pool_has(void **state) {
    rig r;
    open_streams(&r, *state);
    many_events(&r.b, r.image);
    assert_true(r.b.driver->usable(r.b.d, NULL));
    close_streams(&r);
}

/* Gives the device a list that waits for a mark, behind what the queue was given before. */
static void follow(gpu_queue *q, void *mark) {
    const gpu_functions *functions = ((gpu_device *)q->base.device)->functions;
    pthread_mutex_lock(&q->turn);
    assert_true(functions->follow(q, mark, NULL));
    assert_false(functions->settled(q));
    pthread_mutex_unlock(&q->turn);
}

/* A list has yet to wait for a mark that is gone: the next mark is another event. */
static void events_outlive_their_marks(void **state) {
    rig r;
    open_streams(&r, *state);
    gpu_device *g = (gpu_device *)r.b.d;
    gpu_queue *own = (gpu_queue *)r.b.sync;
    uint64_t ns;
    r.in = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    r.out = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(r.image, r.in, r.out);
    submit(r.b.queues[0], &r.b, l->command);
    while (counts_of().launches == 0)
        usleep(1000);
    for (int i = 0; i < 2; i++) {
        void *mark = g->functions->mark(own);
        follow((gpu_queue *)r.b.queues[0], mark);
        assert_true(g->functions->finish(own, NULL));
        assert_true(g->functions->reached(g, mark, false, &ns));
        g->functions->unmark(g, mark);
    }
    end_launches(*state);
    await(&r.b, r.b.queues[0]);
    free(l);
    close_streams(&r);
}

/* Longer than what goes at once between the program's memory and the device's, and not a multiple
 * of it. */
static void copies_in_parts(void **state) {
    static const device_options options = {.threads = 1};
    const size_t size = ((size_t)9 << 20) + 5;
    bench b = {.driver = device_driver_find(Z)};
    status st = STATUS_INIT;
    unsigned char *sent = malloc(size), *got = calloc(1, size);
    (void)state;
    provide_faults("");
    must(device_open(b.driver, 0, &options, &b.d, &st), &st);
    must(b.driver->queue_create(b.d, true, &b.sync, &st), &st);
    device_memory *m = new_memory(&b, size, DEVICE_MEMORY_DEVICE);
    for (size_t i = 0; i < size; i++)
        sent[i] = (unsigned char)(i * 31 + i / 251);
    write_to(&b, m, sent, size);
    read_from(&b, m, got, size);
    assert_memory_equal(sent, got, size);
    free(sent);
    free(got);
    b.driver->free(b.d, m);
    b.driver->queue_destroy(b.d, b.sync);
    b.driver->close(b.d);
}

/* Drivers do not outlive a fork; what was found before it is no device any more. */
static void is_of_no_use_after_a_fork(void **state) {
    device_info info;
    device *d;
    status st = STATUS_INIT;
    int how;
    (void)state;
    provide_faults("");
    assert_true(device_driver_find(Z)->enumerate(0, &info));
    pid_t child = fork();
    if (child == 0) {
        bool opened = device_open(device_driver_find(Z), 0, &(device_options){0}, &d, &st);
        _exit(!opened && st.code == STATUS_UNAVAILABLE && strstr(st.message, "forked") ? 0 : 1);
    }
    waitpid(child, &how, 0);
    assert_int_equal(how, 0);
}

static uint64_t lists_given(void) {
    return counts_of().lists_given;
}

/* The event of a created stream is a list of its own. */
static void programs_are_one_submission(void **state) {
    provide_faults(*state);
    programs_are_submitted_once(Z, &(submissions){lists_given, 1, 1});
    expect_nothing_alive(NULL);
}

static void programs_are_lost(void **state) {
    provide_faults(*state);
    programs_end_with_their_device(Z);
    expect_nothing_alive(NULL);
}

int main(void) {
    static const fault endless = {Z, USUAL, "endless=1", NOTHING, STATUS_OK, ""},
                       events[] = {{Z, USUAL, "", NOTHING, STATUS_OK, ""},
                                   {Z, USUAL, "clocks=0x78000003", NOTHING, STATUS_OK, ""}};
    int failed = 0;
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW);
    if (!loader) {
        printf("skipped: the Level Zero loader is not here (Debian: libze1)\n");
        return EXIT_SKIPPED;
    }
    dlclose(loader);
    failed += run_faults(&mock, faults, COUNT_OF(faults));
    for (size_t i = 0; i < COUNT_OF(descriptions); i++)
        failed += in_child(describes_its_memory_and_clock, descriptions[i].faults,
                           (const void *)(uintptr_t)i);
    failed += in_child(times_across_the_end_of_the_clock, "in cycles a second", "wrap=1");
    failed +=
        in_child(times_across_the_end_of_the_clock, "in nanoseconds", "wrap=1,version=0x10001");
    failed += in_child(queues_are_given_more, "ahead", &endless);
    failed += in_child(events_outlive_their_marks, "marks", &endless);
    failed += in_child(more_events_than_a_pool_has, "events", &events[0]);
    failed += in_child(more_events_than_a_pool_has, "events of the host", &events[1]);
    failed += in_child(programs_are_one_submission, "programs", (void *)(uintptr_t) "");
    failed += in_child(programs_are_lost, "lost programs", "lost=0x70000001,at=100");
    failed += in_child(copies_in_parts, "copies", NULL);
    failed += in_child(is_of_no_use_after_a_fork, "forks", NULL);
    return failed != 0;
}
