/* test_cuda.c - the drivers `cuda` and `hip` with libraries of our own: what they say of a GPU, and
 * that each fault ends in a status, with words, and with nothing left alive. What every device owes
 * is in test_device.c.
 *
 * Each row has a process of its own, since a library is opened once. */
#include "test/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda.h"
#include "test/device_bench.h"
#include "test/stub_gpu/stub_control.h"

typedef enum step {
    DESCRIBE,
    OPEN,
    ALLOC,        /* 1 MiB */
    ALLOC_PINNED, /* likewise */
    ALLOC_LARGER, /* 3 MiB, which are kept, then 4, for which they go back, and pinned ones */
    LOAD,
    LOAD_RUBBISH,
    LOAD_NOWHERE, /* a function that the module does not have */
    LAUNCH_MANY,  /* 2^30 workgroups */
    LAUNCH,       /* twice */
    LAUNCH_LARGE, /* workgroups of 64 KiB of shared memory */
    LAUNCH_LONG,  /* with a workspace of 2 MiB */
    LAUNCH_LIMITED,
    REPLAY, /* a sequence of a launch, three times */
    NOTHING
} step;

typedef struct fault {
    const char *driver, *library, *faults;
    step at; /* what fails; all before it does not */
    status_code code;
    const char *words;
} fault;

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
    {"cuda", STUB_CUDA, "lost=700,at=18", REPLAY, STATUS_DEVICE_LOST, "running a graph: ILLEGAL_"},
    {"cuda", STUB_CUDA, "capture=901", NOTHING, STATUS_OK, ""}, /* then it is done one by one */
    {"hip", STUB_HIP, "capture=901", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA, "instantiate=2", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP, "instantiate=1", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA_PLAIN, "", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP_PLAIN, "", NOTHING, STATUS_OK, ""},
    {"cuda", STUB_CUDA, "", NOTHING, STATUS_OK, ""},
    {"hip", STUB_HIP, "", NOTHING, STATUS_OK, ""},
};

/* What a GPU says that it loads. */
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

static void expect_nothing_alive(const char *library) {
    stub_counts counts;
    control_of(library).counts(&counts);
    assert_int_equal(counts.allocations, 0);
    assert_int_equal(counts.contexts, 0);
    assert_int_equal(counts.modules, 0);
    assert_int_equal(counts.streams, 0);
    assert_int_equal(counts.events, 0);
    assert_int_equal(counts.graphs, 0);
    assert_int_equal(counts.current, 0);
}

/* ---- steps ---- */

/* What has been made until now. */
typedef struct rig {
    const fault *row;
    bench b;
    device_memory *large, *in, *out;
    device_memory *out_beside; /* of `beside`: two launches at once do not write the same memory */
    device_image *image;
    launch_of *beside; /* without a limit, that another thread waits for */
    pthread_t waiter;
} rig;

static const device_driver *driver_of(const rig *r) {
    return r->b.driver;
}

static void expect_failure(const fault *row, const status *st) {
    if (st->code != row->code || !strstr(st->message, row->words))
        fail_msg("'%s' for %s, not '%s': %s", status_code_name(st->code), row->faults, row->words,
                 st->message);
}

static bool describes(rig *r, status *st) {
    device_info info;
    bool there = driver_of(r)->enumerate(r->b.index, &info);
    if (!there)
        driver_of(r)->absent(st);
    return there;
}

static void note_times(void *context, const device_times *times) {
    (void)context;
    assert_int_equal(times->phases, 2);
}

static bool opens(rig *r, status *st) {
    static const device_options options = {.threads = 1, .timed = note_times};
    if (!device_open(r->b.driver, r->b.index, &options, &r->b.d, st))
        return false;
    return driver_of(r)->queue_create(r->b.d, true, &r->b.sync, st) &&
           driver_of(r)->queue_create(r->b.d, false, &r->b.queues[0], st);
}

static bool allocates(rig *r, device_memory_kind kind, status *st) {
    if (!driver_of(r)->alloc(r->b.d, 1 << 20, kind, &r->large, st))
        return false;
    driver_of(r)->free(r->b.d, r->large);
    return true;
}

static bool allocates_larger(rig *r, status *st) {
    static const struct {
        size_t bytes;
        device_memory_kind kind;
    } steps[] = {{3 << 20, DEVICE_MEMORY_DEVICE},
                 {4 << 20, DEVICE_MEMORY_DEVICE},
                 {3 << 20, DEVICE_MEMORY_PINNED},
                 {2 << 20, DEVICE_MEMORY_DEVICE}};
    device_memory *m;
    device_counts counts;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (!driver_of(r)->alloc(r->b.d, steps[i].bytes, steps[i].kind, &m, st))
            return false;
        driver_of(r)->free(r->b.d, m);
        driver_of(r)->count(r->b.d, &counts);
        assert_true(counts.memory[steps[i].kind].held_bytes >= steps[i].bytes);
        assert_int_equal(counts.memory[steps[i].kind].used_bytes, 0);
    }
    return true;
}

/* The kernels; as rubbish, or with a function of another name. */
static bool loads(rig *r, step how, status *st) {
    const char *symbols[] = {"phase_double", how == LOAD_NOWHERE ? "phase_nowhere" : "phase_add"};
    bytes kernels = read_kernels(r->b.driver->name, "");
    const device_source source = {
        kernels.data, how == LOAD_RUBBISH ? 1 : kernels.size, "target", "kernels", symbols, 2, 4};
    device_image *image;
    bool ok = driver_of(r)->load(r->b.d, &source, &image, st);
    free(kernels.data);
    if (ok && how == LOAD)
        r->image = image;
    else if (ok)
        driver_of(r)->unload(r->b.d, image);
    return ok;
}

/* Nothing but the device's loss ends this. */
static void *wait_beside(void *argument) {
    rig *r = argument;
    assert_false(driver_of(r)->submit(r->b.sync, &r->beside->command, 1, NULL));
    return NULL;
}

static void launch_beside(rig *r) {
    stub_counts counts;
    r->out_beside = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    r->beside = launch_new(r->image, r->in, r->out_beside);
    assert_int_equal(pthread_create(&r->waiter, NULL, wait_beside, r), 0);
    do
        control_of(r->row->library).counts(&counts);
    while (counts.launches == 0);
}

static bool launches(rig *r, step how, status *st) {
    if (!r->in)
        r->in = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    if (!r->out)
        r->out = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(r->image, r->in, r->out);
    device_queue *queue = how == LAUNCH ? r->b.sync : r->b.queues[0];
    if (how == LAUNCH_MANY)
        l->workgroups[0] = 1 << 30;
    if (how == LAUNCH_LARGE)
        l->command.dispatch.workgroup_bytes = 65536;
    if (how == LAUNCH_LONG)
        l->command.dispatch.workspace_bytes = 2 << 20;
    if (how == LAUNCH_LIMITED)
        l->command.limit_ns = r->row->at == LAUNCH_LIMITED ? 20000000 : 60000000000;
    if (how == LAUNCH_LIMITED && r->row->at == how)
        launch_beside(r);
    l->command.dispatch.timed = how == LAUNCH;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++)
        ok = driver_of(r)->submit(queue, &l->command, 1, st) && driver_of(r)->await(queue, st);
    free(l);
    return ok;
}

/* Graphs are captured, made and launched, or nothing of them is left. */
static void expect_graphs(const rig *r, bool ok, uint64_t before) {
    stub_counts counts;
    device_counts done;
    const fault *row = r->row;
    bool each = strstr(row->faults, "capture") || strstr(row->faults, "instantiate") ||
                strstr(row->library, "_plain");
    control_of(row->library).counts(&counts);
    driver_of(r)->count(r->b.d, &done);
    if (ok)
        assert_int_equal(counts.graph_launches - before, each ? 0 : 3);
    assert_int_equal(done.recordings, !each);
    assert_int_equal(counts.graphs, !each);
    if (each)
        assert_int_equal(done.replays, 0);
}

static bool replays(rig *r, status *st) {
    stub_counts before;
    launch_of *l = launch_new(r->image, r->in, r->out);
    device_sequence *s = driver_of(r)->sequence_create(r->b.d);
    const device_command commands[] = {{.kind = DEVICE_REPLAY, .replay = {s, 1}}, l->command};
    bool ok = true;
    control_of(r->row->library).counts(&before);
    for (int i = 0; i < 3 && ok; i++)
        ok = driver_of(r)->submit(r->b.queues[0], commands, COUNT_OF(commands), st) &&
             driver_of(r)->await(r->b.queues[0], st);
    expect_graphs(r, ok, before.graph_launches);
    driver_of(r)->sequence_destroy(r->b.d, s);
    free(l);
    return ok;
}

static bool does(rig *r, step what, status *st) {
    switch (what) {
    case DESCRIBE:
        return describes(r, st);
    case OPEN:
        return opens(r, st);
    case ALLOC:
        return allocates(r, DEVICE_MEMORY_DEVICE, st);
    case ALLOC_PINNED:
        return allocates(r, DEVICE_MEMORY_PINNED, st);
    case ALLOC_LARGER:
        return allocates_larger(r, st);
    case LOAD:
    case LOAD_RUBBISH:
    case LOAD_NOWHERE:
        return loads(r, what, st);
    case REPLAY:
        return replays(r, st);
    default:
        return launches(r, what, st);
    }
}

/* Steps that always fail are for the rows that are about them, and those that need room for all
 * but such rows. */
static bool is_done(const fault *row, step what) {
    bool rubbish = what == LOAD_RUBBISH || what == LOAD_NOWHERE || what == LAUNCH_MANY;
    bool narrow = what == ALLOC_LARGER && strstr(row->faults, "memory=12");
    bool endless = row->at == LAUNCH_LIMITED && what >= LAUNCH && what < LAUNCH_LIMITED;
    return what == row->at || (!rubbish && !endless && !narrow);
}

static void close_rig(rig *r) {
    if (r->in)
        driver_of(r)->free(r->b.d, r->in);
    if (r->out)
        driver_of(r)->free(r->b.d, r->out);
    if (r->out_beside)
        driver_of(r)->free(r->b.d, r->out_beside);
    if (r->image)
        driver_of(r)->unload(r->b.d, r->image);
    if (r->b.queues[0])
        driver_of(r)->queue_destroy(r->b.d, r->b.queues[0]);
    if (r->b.sync)
        driver_of(r)->queue_destroy(r->b.d, r->b.sync);
    if (r->b.d)
        driver_of(r)->close(r->b.d);
}

/* Nothing works on a lost device, and its queues end only when the GPU does. */
static void expect_lost(rig *r) {
    status st = STATUS_INIT;
    const device_command fill = fill_of(span_of(r->in), 1, 4);
    assert_false(driver_of(r)->usable(r->b.d, &st));
    expect_failure(r->row, &st);
    assert_false(driver_of(r)->submit(r->b.queues[0], &fill, 1, NULL));
    assert_false(driver_of(r)->submit(r->b.sync, &fill, 1, NULL));
    if (r->row->at == LAUNCH_LIMITED) {
        pthread_join(r->waiter, NULL);
        free(r->beside);
        assert_false(driver_of(r)->cancel(r->b.d));
        control_of(r->row->library).end();
    }
    for (int i = 0; i < 1000 && !driver_of(r)->cancel(r->b.d); i++)
        usleep(10000);
    assert_true(driver_of(r)->cancel(r->b.d));
}

static void provide(const fault *row) {
    setenv(strcmp(row->driver, "hip") == 0 ? HIP_LIBRARY : CUDA_LIBRARY, row->library, 1);
    setenv(STUB_FAULTS, row->faults, 1);
}

static void ends_in_a_status(void **state) {
    const fault *row = *state;
    const bool second = strstr(row->faults, "devices=2") != NULL;
    rig r = {.row = row, .b = {.driver = device_driver_find(row->driver), .index = second}};
    status st = STATUS_INIT;
    provide(row);
    for (step what = DESCRIBE; what < row->at; what++)
        if (is_done(row, what) && !does(&r, what, &st))
            fail_msg("%s: step %d fails: %s", row->faults, what, st.message);
    if (row->code != STATUS_OK) {
        assert_false(does(&r, row->at, &st));
        expect_failure(row, &st);
    }
    if (row->code == STATUS_DEVICE_LOST || row->code == STATUS_TIMEOUT)
        expect_lost(&r);
    else if (r.b.d && row->at != LAUNCH_LIMITED)
        assert_true(driver_of(&r)->usable(r.b.d, &st));
    close_rig(&r);
    if (strcmp(row->library, NO_FILE) != 0 && !strstr(row->library, "_old"))
        expect_nothing_alive(row->library);
}

static void names_its_code(void **state) {
    size_t i = (size_t)(uintptr_t)*state;
    device_info info;
    char targets[256] = "";
    provide(&(fault){chips[i].driver, strcmp(chips[i].driver, "hip") == 0 ? STUB_HIP : STUB_CUDA,
                     chips[i].faults, NOTHING, STATUS_OK, ""});
    assert_true(device_driver_find(chips[i].driver)->enumerate(0, &info));
    assert_string_equal(info.isa, chips[i].isa);
    for (size_t k = 0; info.targets[k]; k++) {
        strcat(targets, info.targets[k]);
        strcat(targets, " ");
    }
    assert_string_equal(targets, chips[i].targets);
}

/* ---- processes ---- */

static int in_child(CMUnitTestFunction test, const char *name, const void *state) {
    int how = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct CMUnitTest tests[] = {{name, test, NULL, NULL, (void *)(uintptr_t)state}};
        exit(cmocka_run_group_tests_name(name, tests, NULL, NULL));
    }
    waitpid(child, &how, 0);
    return how != 0;
}

int main(void) {
    int failed = 0;
    char name[256];
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        const char *library = strrchr(faults[i].library, '/') + 1;
        snprintf(name, sizeof name, "%s, %s '%s'", faults[i].driver, library, faults[i].faults);
        failed += in_child(ends_in_a_status, name, &faults[i]);
    }
    for (size_t i = 0; i < COUNT_OF(chips); i++)
        failed += in_child(names_its_code, chips[i].faults, (const void *)(uintptr_t)i);
    return failed != 0;
}
