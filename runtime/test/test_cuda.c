/* test_cuda.c - the drivers `cuda` and `hip` with libraries of our own: what they say of a GPU, and
 * that each fault ends in a status, with words, and with nothing left alive. What every device owes
 * is in test_device.c.
 */
#include "test/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "test/abi_graphs.h"
#include "test/abi_submissions.h"
#include "test/device_ahead.h"
#include "test/device_faults.h"
#include "test/stub_gpu/stub_control.h"

#define NO_FILE "/nowhere/libnone.so"
static const fault faults[] = {
    {"cuda", NO_FILE, "", DESCRIBE, STATUS_UNAVAILABLE, "NVIDIA's driver (Debian: libcuda1"},
    {"hip", NO_FILE, "", DESCRIBE, STATUS_UNAVAILABLE, "AMD's HIP (ROCm 6.0 or later"},
    {"cuda", STUB_CUDA_OLD, "", DESCRIBE, STATUS_UNAVAILABLE, "cuDevicePrimaryCtxRelease_v2"},
    {"hip", STUB_HIP_OLD, "", DESCRIBE, STATUS_UNAVAILABLE, "hipGetDevicePropertiesR0600"},
    {"cuda", STUB_CUDA, "init=803", DESCRIBE, STATUS_UNAVAILABLE, "SYSTEM_DRIVER_MISMATCH (803); "},
    {"cuda", STUB_CUDA, "init=100", DESCRIBE, STATUS_UNAVAILABLE, "NO_DEVICE (100)"},
    {"hip", STUB_HIP, "init=100", DESCRIBE, STATUS_UNAVAILABLE, "NO_DEVICE (100)"},
    {"cuda", STUB_CUDA, "devices=0", DESCRIBE, STATUS_UNAVAILABLE, "has no device"},
    {"cuda", STUB_CUDA, "capability=70", OPEN, STATUS_UNAVAILABLE, "7.0, and code is made for 7.5"},
    {"cuda", STUB_CUDA, "threads=0", OPEN, STATUS_UNAVAILABLE, "at most 0 threads"},
    {"hip", STUB_HIP, "grid=0", OPEN, STATUS_UNAVAILABLE, "a launch 0 workgroups"},
    {"cuda", STUB_CUDA, "units=0", OPEN, STATUS_INTERNAL, "no compute units"},
    {"cuda", STUB_CUDA, "context=46", OPEN, STATUS_UNAVAILABLE, "another process has the device"},
    {"hip", STUB_HIP, "devices=2,context=101", OPEN, STATUS_UNAVAILABLE, "(101)"},
    {"cuda", STUB_CUDA, "memory=1000000", ALLOC, STATUS_OUT_OF_MEMORY, "OUT_OF_MEMORY (2)"},
    {"hip", STUB_HIP, "memory=1000000", ALLOC, STATUS_OUT_OF_MEMORY, "OUT_OF_MEMORY (2)"},
    {"cuda", STUB_CUDA, "memory=5000000", LAUNCH_LARGE, STATUS_OK, ""},
    {"hip", STUB_HIP, "memory=5000000", LAUNCH_LARGE, STATUS_OK, ""},
    {"cuda", STUB_CUDA, "memory=4000000", ALLOC_LARGER, STATUS_OUT_OF_MEMORY, "OUT_OF_MEMORY (2)"},
    {"cuda", STUB_CUDA, "refuse=2", ALLOC_PINNED, STATUS_INTERNAL, "INVALID_VALUE (1)"},
    {"cuda", STUB_CUDA, "load=222", LOAD, STATUS_UNAVAILABLE, "install one of 525 or later"},
    {"cuda", STUB_CUDA, "load=221", LOAD, STATUS_UNAVAILABLE, "libnvidia-ptxjitcompiler"},
    {"hip", STUB_HIP, "load=209", LOAD, STATUS_UNAVAILABLE, "the code is for another chip"},
    {"cuda", STUB_CUDA, "block=3", LOAD, STATUS_UNAVAILABLE, "with at most 3"},
    {"hip", STUB_HIP, "block=0", LOAD, STATUS_UNAVAILABLE, "with at most 0"},
    {"cuda", STUB_CUDA, "", LOAD_RUBBISH, STATUS_CORRUPT, "line 1 is no PTX: INVALID_PTX (218)"},
    {"hip", STUB_HIP, "", LOAD_RUBBISH, STATUS_CORRUPT, "INVALID_PTX (218)"},
    {"cuda", STUB_CUDA, "", LOAD_NOWHERE, STATUS_NOT_FOUND, "phase_nowhere: NOT_FOUND (500)"},
    {"cuda", STUB_CUDA, "lost=719", LAUNCH, STATUS_DEVICE_LOST, "LAUNCH_FAILED (719)"},
    {"cuda", STUB_CUDA, "lost=700,at=3", LAUNCH, STATUS_DEVICE_LOST, "ILLEGAL_ADDRESS (700)"},
    {"hip", STUB_HIP, "lost=700,at=2", LAUNCH, STATUS_DEVICE_LOST, "ILLEGAL_ADDRESS (700)"},
    {"cuda", STUB_CUDA, "grid=99", LAUNCH, STATUS_UNAVAILABLE, "takes 99 of 4 threads"},
    {"hip", STUB_HIP, "", LAUNCH_MANY, STATUS_UNAVAILABLE, "takes 1073741823 of 4 threads"},
    {"cuda", STUB_CUDA, "refuse=1", LAUNCH_LARGE, STATUS_OUT_OF_MEMORY, "does not give 65536"},
    {"hip", STUB_HIP, "shared=65535", LAUNCH_LARGE, STATUS_OUT_OF_MEMORY, "has 65535"},
    {"cuda", STUB_CUDA, "memory=1200000", LAUNCH_LONG, STATUS_OUT_OF_MEMORY, "the workspace"},
    {"cuda", STUB_CUDA, "endless=1", LAUNCH_LIMITED, STATUS_TIMEOUT, "kernel 'affine' did not end"},
    {"hip", STUB_HIP, "endless=1", LAUNCH_LIMITED, STATUS_TIMEOUT, "kernel 'affine' did not end"},
    {"cuda", STUB_CUDA, "graph=2", REPLAY, STATUS_OUT_OF_MEMORY, "launching a graph: OUT_OF_"},
    {"hip", STUB_HIP, "graph=719", REPLAY, STATUS_DEVICE_LOST, "launching a graph: LAUNCH_FAILED"},
    {"cuda", STUB_CUDA, "lost=700,at=18", REPLAY, STATUS_DEVICE_LOST, "running: ILLEGAL_ADDR"},
    {"cuda", STUB_CUDA, "capture=901", NOTHING, STATUS_OK, ""}, /* then it is done one by one */
    {"hip", STUB_HIP, "capture=901", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA, "instantiate=2", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP, "instantiate=1", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA_PLAIN, "", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP_PLAIN, "", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA, "", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP, "", NOTHING, STATUS_OK, ""},
};

/* Targets that a GPU says that it loads. */
static const struct {
    const char *driver, *faults, *isa, *targets;
} chips[] = {
    {"cuda", "capability=75", "sm_75", "ptx/sm_75 "},
    {"cuda", "capability=87", "sm_86", "ptx/sm_86 ptx/sm_80 ptx/sm_75 "},
    {"cuda", "capability=90", "sm_90a",
     "ptx/sm_90a ptx/sm_90 ptx/sm_89 ptx/sm_86 ptx/sm_80 ptx/sm_75 "},
    {"cuda", "capability=120", "sm_90", "ptx/sm_90 ptx/sm_89 ptx/sm_86 ptx/sm_80 ptx/sm_75 "},
    {"hip", "chip=942", "gfx942", "hsaco/gfx942 "},
    {"hip", "chip=1100", "gfx1100", "hsaco/gfx1100 "},
};

/* Code that an opened device was found to run, too. */
static const struct {
    const char *faults, *isa, *targets;
} opened[] = {
    {"chip=942", "gfx942+chain", "hsaco/gfx942+chain hsaco/gfx942 "},
    {"chip=942,split=1", "gfx942", "hsaco/gfx942 "},
    {"chip=942,memory=1000", "gfx942", "hsaco/gfx942 "},
    {"chip=1100", "gfx1100", "hsaco/gfx1100 "},
};

/* ---- the library's side ---- */

typedef struct stub_control {
    stub_counts_fn *counts;
    stub_end_fn *end;
} stub_control;

static stub_control control_of(const char *library) {
    stub_control control = {0};
    void *handle = dlopen(library, RTLD_NOW), *found;
    assert_non_null(handle);
    found = dlsym(handle, "stub_gpu_counts");
    memcpy(&control.counts, &found, sizeof found); /* ISO C knows no such cast */
    found = dlsym(handle, "stub_gpu_end");
    memcpy(&control.end, &found, sizeof found);
    return control;
}

static void expect_nothing_alive(const fault *row) {
    stub_counts counts;
    if (strcmp(row->library, NO_FILE) == 0 || strstr(row->library, "_old"))
        return;
    control_of(row->library).counts(&counts);
    assert_int_equal(counts.allocations, 0);
    assert_int_equal(counts.contexts, 0);
    assert_int_equal(counts.modules, 0);
    assert_int_equal(counts.streams, 0);
    assert_int_equal(counts.events, 0);
    assert_int_equal(counts.graphs, 0);
    assert_int_equal(counts.current, 0);
}

static uint64_t launches_of(const fault *row) {
    stub_counts counts;
    control_of(row->library).counts(&counts);
    return counts.launches;
}

static uint64_t given_of(const fault *row) {
    stub_counts counts;
    control_of(row->library).counts(&counts);
    return counts.given;
}

static uint64_t graph_launches_of(const fault *row) {
    stub_counts counts;
    control_of(row->library).counts(&counts);
    return counts.graph_launches;
}

static void end_launches(const fault *row) {
    control_of(row->library).end();
}

/* Graphs are captured, made and launched, or nothing of them is left. */
static void expect_graphs(const rig *r, bool ok, uint64_t replays) {
    stub_counts counts;
    device_counts done;
    const fault *row = r->row;
    bool each = strstr(row->faults, "capture") || strstr(row->faults, "instantiate") ||
                strstr(row->library, "_plain");
    control_of(row->library).counts(&counts);
    r->b.driver->count(r->b.d, &done);
    if (ok)
        assert_int_equal(replays, each ? 0 : 3);
    assert_int_equal(done.recordings, !each);
    assert_int_equal(counts.graphs, !each);
    if (each)
        assert_int_equal(done.replays, 0);
}

static void provide(const fault *row) {
    setenv(strcmp(row->driver, "hip") == 0 ? HIP_LIBRARY : CUDA_LIBRARY, row->library, 1);
    setenv(STUB_FAULTS, row->faults, 1);
}

static const fault_library stubs = {.provide = provide,
                                    .launches = launches_of,
                                    .end = end_launches,
                                    .expect_nothing_alive = expect_nothing_alive,
                                    .replays = graph_launches_of,
                                    .expect_recordings = expect_graphs};

static void expect_targets(const device_info *info, const char *wanted) {
    char targets[256] = "";
    for (size_t k = 0; info->targets[k]; k++) {
        strcat(targets, info->targets[k]);
        strcat(targets, " ");
    }
    assert_string_equal(targets, wanted);
}

static void asks_how_its_unit_adds(void **state) {
    const size_t i = (size_t)(uintptr_t)*state;
    const fault row = {"hip", STUB_HIP, opened[i].faults, NOTHING, STATUS_OK, ""};
    const device_driver *driver = device_driver_find("hip");
    device_info info;
    provide(&row);
    assert_true(driver->enumerate(0, &info) && driver->examine(0, &info, NULL));
    assert_string_equal(info.isa, opened[i].isa);
    expect_targets(&info, opened[i].targets);
    expect_nothing_alive(&row);
}

static void names_its_code(void **state) {
    size_t i = (size_t)(uintptr_t)*state;
    device_info info;
    provide(&(fault){chips[i].driver, strcmp(chips[i].driver, "hip") == 0 ? STUB_HIP : STUB_CUDA,
                     chips[i].faults, NOTHING, STATUS_OK, ""});
    assert_true(device_driver_find(chips[i].driver)->enumerate(0, &info));
    assert_string_equal(info.isa, chips[i].isa);
    expect_targets(&info, chips[i].targets);
}

static uint64_t given_to(const void *row) {
    return given_of(row);
}

/* ... and the first launch alone has begun. */
static void end_first(const void *row) {
    while (launches_of(row) == 0)
        usleep(1000);
    assert_int_equal(launches_of(row), 1);
    end_launches(row);
}

static void queues_are_given_more(void **state) {
    enum { PHASES = 2 };
    const fault *row = *state;
    rig r = {.row = row, .library = &stubs, .b.driver = device_driver_find(row->driver)};
    status st = STATUS_INIT;
    provide(row);
    must(opens(&r, &st) && r.b.driver->queue_create(r.b.d, false, &r.b.queues[1], &st) &&
             loads(&r, LOAD, &st),
         &st);
    queues_run_ahead(&(ahead){.b = &r.b,
                              .image = r.image,
                              .given = given_to,
                              .wanted = AHEAD_LAUNCHES * PHASES + 4,
                              .end = end_first,
                              .context = row});
    assert_int_equal(launches_of(row), AHEAD_LAUNCHES * PHASES);
    r.b.driver->queue_destroy(r.b.d, r.b.queues[1]);
    close_rig(&r);
    expect_nothing_alive(row);
}

static const fault *counted;

static uint64_t submissions_of(void) {
    stub_counts counts;
    control_of(counted->library).counts(&counts);
    return counts.submissions;
}

/* One by one: a copy, then four times two phases and two copies, nine fills of turns, eight times
 * two phases and a copy, and a copy. */
static void programs_are_one_submission(void **state) {
    enum { ONE_BY_ONE = 51 };
    counted = *state;
    const bool records = counted->faults[0] == '\0';
    provide(counted);
    programs_are_submitted_once(counted->driver,
                                &(submissions){submissions_of, records ? 1 : ONE_BY_ONE, 0});
    expect_nothing_alive(counted);
}

static void streams_take_turns(void **state) {
    const fault *row = *state;
    abi_bench b;
    provide(row);
    open_abi_bench(&b, device_driver_find(row->driver), 0);
    graphs_run_one_at_a_time(&b);
    close_abi_bench(&b);
    open_abi_bench(&b, device_driver_find(row->driver), 0);
    programs_follow_each_other(&b);
    close_abi_bench(&b);
    expect_nothing_alive(row);
}

static void programs_are_lost(void **state) {
    const fault *row = *state;
    provide(row);
    programs_end_with_their_device(row->driver);
    expect_nothing_alive(row);
}

/* Loads a kernel that reads its first buffer through a map of so many dimensions. */
static bool loads_boxes(rig *r, uint32_t rows, status *st) {
    static char code[] = "//\n.visible .entry phase_boxes(\n)\n.maxntid 4\n{}";
    static const char *const symbols[] = {"phase_boxes"};
    const device_maps maps = {1,
                              {{.buffer = 0,
                                .element_bytes = 4,
                                .rank = 2,
                                .swizzle = 128,
                                .dims = {32, rows},
                                .strides = {4, 128},
                                .box = {32, 1}}}};
    const device_maps *const all[] = {&maps};
    const device_source source = {code, sizeof code, "target", "boxes", symbols,
                                  1,    4,           NULL,     all,     NULL};
    return r->b.driver->load(r->b.d, &source, &r->image, st);
}

/* Its launches read the buffers that they were given, one by one and as a graph. */
static void expect_boxes(rig *r, device_memory *in, float first) {
    float values[FLOATS];
    status st = STATUS_INIT;
    launch_of *l = launch_new(r->image, in, r->out);
    const device_command replay[] = {{.kind = DEVICE_REPLAY, .replay = {r->sequence, 1}},
                                     l->command};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < FLOATS; k++)
            values[k] = first + (float)(k + i);
        write_to(&r->b, in, values, sizeof values);
        must(r->b.driver->submit(r->b.sync, i % 2 ? replay : &l->command, i % 2 ? 2 : 1, &st), &st);
        read_from(&r->b, r->out, values, sizeof values);
        for (int k = 0; k < FLOATS; k++)
            assert_true(values[k] == 2 * (first + (float)(k + i)));
    }
    free(l);
}

static void maps_are_of_the_launch(void **state) {
    const fault *row = *state;
    rig r = {.row = row, .library = &stubs, .b.driver = device_driver_find(row->driver)};
    status st = STATUS_INIT;
    provide(row);
    must(opens(&r, &st), &st);
    if (row->code != STATUS_OK) {
        assert_false(loads_boxes(&r, 4, &st));
        expect_failure(row, &st);
        close_rig(&r);
        expect_nothing_alive(row);
        return;
    }
    must(loads_boxes(&r, 4, &st), &st);
    r.in = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    r.out = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    r.sequence = r.b.driver->sequence_create(r.b.d);
    device_memory *other = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    expect_boxes(&r, r.in, 1);
    expect_boxes(&r, other, 100);
    expect_boxes(&r, r.in, 7);
    r.b.driver->free(r.b.d, other);
    close_rig(&r);
    expect_nothing_alive(row);
}

/* One that the driver cannot make fails the launch, and nothing else. */
static void maps_may_fail(void **state) {
    const fault *row = *state;
    rig r = {.row = row, .library = &stubs, .b.driver = device_driver_find(row->driver)};
    status st = STATUS_INIT;
    provide(row);
    must(opens(&r, &st) && loads_boxes(&r, 0, &st), &st);
    r.in = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    r.out = new_memory(&r.b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(r.image, r.in, r.out);
    assert_false(r.b.driver->submit(r.b.sync, &l->command, 1, &st));
    expect_failure(row, &st);
    assert_true(r.b.driver->usable(r.b.d, &st));
    free(l);
    close_rig(&r);
    expect_nothing_alive(row);
}

int main(void) {
    static const fault lost[] = {{"cuda", STUB_CUDA, "lost=700,at=100", NOTHING, STATUS_OK, ""},
                                 {"hip", STUB_HIP, "lost=719,at=100", NOTHING, STATUS_OK, ""}};
    static const fault programs[] = {{"cuda", STUB_CUDA, "", NOTHING, STATUS_OK, ""},
                                     {"hip", STUB_HIP, "", NOTHING, STATUS_OK, ""},
                                     {"cuda", STUB_CUDA, "capture=901", NOTHING, STATUS_OK, ""},
                                     {"hip", STUB_HIP, "instantiate=1", NOTHING, STATUS_OK, ""}};
    static const fault endless[] = {{"cuda", STUB_CUDA, "endless=1", NOTHING, STATUS_OK, ""},
                                    {"hip", STUB_HIP, "endless=1", NOTHING, STATUS_OK, ""}};
    static const fault boxes[] = {
        {"cuda", STUB_CUDA, "", NOTHING, STATUS_OK, ""},
        {"cuda", STUB_CUDA_PLAIN, "", NOTHING, STATUS_UNAVAILABLE, "makes no maps of tensors"},
        {"hip", STUB_HIP, "", NOTHING, STATUS_UNAVAILABLE, "makes no maps of tensors"}};
    static const fault no_map = {
        "cuda",  STUB_CUDA,       "",
        NOTHING, STATUS_INTERNAL, "making a map of a tensor: INVALID_VALUE (1)"};
    int failed = run_faults(&stubs, faults, COUNT_OF(faults));
    for (size_t i = 0; i < COUNT_OF(endless); i++)
        failed += in_child(queues_are_given_more, endless[i].driver, &endless[i]);
    for (size_t i = 0; i < COUNT_OF(programs); i++)
        failed += in_child(programs_are_one_submission, programs[i].driver, &programs[i]);
    for (size_t i = 0; i < 2; i++)
        failed += in_child(streams_take_turns, programs[i].driver, &programs[i]);
    for (size_t i = 0; i < COUNT_OF(boxes); i++)
        failed += in_child(maps_are_of_the_launch, boxes[i].driver, &boxes[i]);
    failed += in_child(maps_may_fail, no_map.driver, &no_map);
    for (size_t i = 0; i < COUNT_OF(lost); i++)
        failed += in_child(programs_are_lost, lost[i].driver, &lost[i]);
    for (size_t i = 0; i < COUNT_OF(chips); i++)
        failed += in_child(names_its_code, chips[i].faults, (const void *)(uintptr_t)i);
    for (size_t i = 0; i < COUNT_OF(opened); i++)
        failed += in_child(asks_how_its_unit_adds, opened[i].faults, (const void *)(uintptr_t)i);
    return failed != 0;
}
