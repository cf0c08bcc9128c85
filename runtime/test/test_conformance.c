/* test_conformance.c - the conformance suite of the public functions: what a program sees of every
 * device of every driver. What a driver owes the runtime is test_device.c's. Each row of `rows`
 * opens each device anew. */
#include "test/test.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/splitmix64.h"
#include "device/cuda/cuda.h"
#include "device/emulate/emulated.h"
#include "device/shared/gpu.h"
#include "device/simulated/simulated.h"
#include "test/abi_bench.h"
#include "test/abi_graphs.h"
#include "test/abi_imports.h"
#include "test/abi_members.h"
#include "test/abi_programs.h"
#include "test/mock_level_zero/mock_control.h"

enum { EXIT_SKIPPED = 77 };
static const char again[] = "--again";
extern char **environ;

/* ---- kernels, streams, events ---- */

static void runs_a_kernel(const abi_bench *b) {
    put(b, b->a, 1);
    OK(launch_abi(b, NULL, b->a, b->out));
    expect_at(b, b->out, 1, 1);
}

/* Launches of two streams work on what the other's made, all of them in flight at once. */
static void events_order_launches_in_flight(const abi_bench *b) {
    enum { LINKS = 12 };
    tsr_stream_t streams[2];
    tsr_event_t events[LINKS];
    void *cells[2] = {b->a, b->out};
    uint64_t ns;
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b->context, &streams[i]));
    put(b, b->a, 3);
    for (int i = 0; i < LINKS; i++) {
        OK(tsrCreateEvent(b->context, &events[i]));
        if (i > 0)
            OK(tsrWaitEvent(events[i - 1], streams[i % 2]));
        OK(launch_abi(b, streams[i % 2], cells[i % 2], cells[(i + 1) % 2]));
        OK(tsrRecordEvent(events[i], streams[i % 2]));
    }
    OK(tsrSynchronizeEvent(events[LINKS - 1]));
    expect_at(b, cells[LINKS % 2], 3, LINKS);
    for (int i = 1; i < LINKS; i++)
        OK(tsrElapsedTime(events[i - 1], events[i], &ns)); /* none came before the one ahead */
    for (int i = 0; i < LINKS; i++)
        OK(tsrDestroyEvent(events[i]));
    for (int i = 0; i < 2; i++)
        OK(tsrDestroyStream(streams[i]));
}

/* ---- graphs ---- */

/* Two launches with a copy and a fill between them: `out` becomes two launches of `a`, `spare` what
 * the fill leaves of one. */
static tsr_graph_t capture(const abi_bench *b, tsr_stream_t stream, void *middle, void *spare) {
    tsr_graph_t graph;
    OK(tsrBeginCapture(stream));
    OK(launch_abi(b, stream, b->a, middle));
    OK(tsrCopyAsync(b->context, stream, spare, middle, BYTES));
    OK(tsrFillAsync(b->context, stream, spare, 0x40, 16));
    OK(launch_abi(b, stream, middle, b->out));
    OK(tsrEndCapture(stream, &graph));
    return graph;
}

static void expect_replayed(const abi_bench *b, const void *spare, float first) {
    float got[FLOATS];
    expect_at(b, b->out, first, 2);
    OK(tsrCopy(b->context, got, spare, BYTES));
    assert_int_equal(((unsigned char *)got)[15], 0x40);
    if (strcmp(b->driver->name, "null") != 0)
        assert_true(got[4] == 2 * (first + 4) + 1);
}

static void graphs_are_replayed(const abi_bench *b) {
    tsr_stream_t streams[2];
    tsr_event_t event;
    void *middle, *spare;
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b->context, &streams[i]));
    OK(tsrAlloc(b->context, BYTES, 0, &middle));
    OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_ZERO, &spare));
    put(b, b->a, 0);
    tsr_graph_t graph = capture(b, streams[0], middle, spare);
    for (int round = 1; round <= 6; round++) {
        tsr_stream_t stream = round % 3 ? streams[round % 2] : NULL;
        put(b, b->a, (float)round);
        OK(tsrLaunchGraph(graph, stream));
        OK(tsrStreamSynchronize(b->context, stream));
        expect_replayed(b, spare, (float)round);
    }
    OK(tsrCreateEvent(b->context, &event));
    for (int i = 0; i < 5; i++) { /* in flight on both, in order */
        OK(tsrWaitEvent(event, streams[i % 2]));
        OK(tsrLaunchGraph(graph, streams[i % 2]));
        OK(tsrRecordEvent(event, streams[i % 2]));
    }
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyEvent(event));
    for (int i = 0; i < 2; i++) {
        OK(tsrStreamSynchronize(b->context, streams[i]));
        OK(tsrDestroyStream(streams[i]));
    }
    expect_replayed(b, spare, 6);
    expect_counted(b, 1, 11);
    OK(tsrFree(b->context, middle));
    OK(tsrFree(b->context, spare));
}

/* Checks that launches that are timed or limited are commands of their own. */
static void graphs_tell_the_times_of_launches(const abi_bench *b) {
    tsr_stream_t stream;
    void *middle, *spare;
    telemetry_record records[8];
    OK(tsrCreateStream(b->context, &stream));
    OK(tsrAlloc(b->context, BYTES, 0, &middle));
    OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_ZERO, &spare));
    tsr_graph_t graph = capture(b, stream, middle, spare);
    put(b, b->a, 2);
    telemetry_enable(b->context, true);
    OK(tsrLaunchGraph(graph, stream));
    OK(tsrStreamSynchronize(b->context, stream));
    telemetry_enable(b->context, false);
    if (strcmp(b->driver->name, "null") != 0)
        assert_int_equal(telemetry_read(b->context, records, COUNT_OF(records)), 2);
    OK(tsrSetWatchdog(b->context, UINT64_C(60000000000)));
    OK(tsrLaunchGraph(graph, stream));
    OK(tsrStreamSynchronize(b->context, stream));
    OK(tsrSetWatchdog(b->context, 0));
    expect_counted(b, 0, 0);
    expect_replayed(b, spare, 2);
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyStream(stream));
    OK(tsrFree(b->context, middle));
    OK(tsrFree(b->context, spare));
}

/* Other memory may lie where a graph's did: it is used, and never what was freed. */
static void graphs_follow_their_memory(const abi_bench *b) {
    tsr_stream_t stream;
    void *middle, *spare, *later;
    OK(tsrCreateStream(b->context, &stream));
    OK(tsrAlloc(b->context, BYTES, 0, &middle));
    OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_ZERO, &spare));
    tsr_graph_t graph = capture(b, stream, middle, spare);
    put(b, b->a, 1);
    OK(tsrLaunchGraph(graph, NULL));
    for (int round = 0; round < 3; round++) {
        OK(tsrFree(b->context, spare));
        if (!b->info.host_addressable)
            REFUSED(tsrLaunchGraph(graph, NULL), TSR_EINVAL, "freed");
        OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_ZERO, &later));
        if (later != spare) { /* it lies elsewhere: no run of this graph finds it */
            OK(tsrFree(b->context, later));
            OK(tsrAlloc(b->context, BYTES, 0, &spare));
            OK(tsrDestroyGraph(graph));
            graph = capture(b, stream, middle, spare);
        }
        put(b, b->a, (float)round);
        OK(tsrLaunchGraph(graph, NULL));
        expect_replayed(b, spare, (float)round);
    }
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyStream(stream));
    OK(tsrFree(b->context, middle));
    OK(tsrFree(b->context, spare));
}

/* ---- memory ---- */

/* The host writes pinned memory, the device copies it and its kernels read it. */
static void pinned_memory_is_shared(const abi_bench *b) {
    void *pinned;
    float *host;
    if (!(b->info.memory_kinds >> DEVICE_MEMORY_PINNED & 1)) {
        REFUSED(tsrAlloc(b->context, BYTES, TSR_ALLOC_PINNED, &pinned), TSR_EUNAVAILABLE,
                "no memory of the kind");
        return;
    }
    OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_PINNED, &pinned));
    OK(tsrMap(b->context, pinned, (void **)&host));
    for (int i = 0; i < FLOATS; i++)
        host[i] = (float)(i + 7);
    OK(launch_abi(b, NULL, pinned, b->out));
    expect_at(b, b->out, 7, 1);
    OK(tsrCopy(b->context, b->a, pinned, BYTES));
    expect_at(b, b->a, 7, 0);
    OK(launch_abi(b, NULL, b->out, pinned)); /* and is written by kernels */
    for (int i = 0; i < FLOATS && strcmp(b->driver->name, "null") != 0; i++)
        assert_true(host[i] == (float)(4 * (i + 7) + 3 * (i % 4 + 1)));
    OK(tsrUnmap(b->context, pinned));
    OK(tsrFree(b->context, pinned));
}

enum { PIECES = 40, PIECE_MOST = 1 << 19, PIECE_STEPS = 240 };

/* A word that is the piece's alone, at its beginning and its end. */
static void mark(const abi_bench *b, unsigned char *piece, size_t size, uint32_t word) {
    OK(tsrCopy(b->context, piece, &word, sizeof word));
    OK(tsrCopy(b->context, piece + size - sizeof word, &word, sizeof word));
}

static void expect_mark(const abi_bench *b, const unsigned char *piece, size_t size,
                        uint32_t word) {
    uint32_t ends[2];
    OK(tsrCopy(b->context, &ends[0], piece, sizeof word));
    OK(tsrCopy(b->context, &ends[1], piece + size - sizeof word, sizeof word));
    assert_true(ends[0] == word && ends[1] == word);
}

/* Allocations of any size and kind, freed in any order: none is in another's way, none is left. */
static void allocations_keep_apart(const abi_bench *b) {
    struct {
        void *at;
        size_t bytes;
        uint32_t word;
    } pieces[PIECES] = {0};
    uint64_t seed = 7;
    device_counts before, after;
    telemetry_counts(b->context, &before);
    for (uint32_t i = 0; i < PIECE_STEPS + PIECES; i++) {
        size_t k = i < PIECE_STEPS ? splitmix64(&seed) % PIECES : i - PIECE_STEPS;
        uint32_t kind = (uint32_t)(splitmix64(&seed) % DEVICE_MEMORY_KIND_COUNT);
        if (pieces[k].at) {
            expect_mark(b, pieces[k].at, pieces[k].bytes, pieces[k].word);
            OK(tsrFree(b->context, pieces[k].at));
            pieces[k].at = NULL;
        } else if (i < PIECE_STEPS) {
            pieces[k].word = i;
            uint64_t most = PIECE_MOST >> (splitmix64(&seed) % 16);
            pieces[k].bytes = 2 * sizeof i + (size_t)(splitmix64(&seed) % most);
            kind = b->info.memory_kinds >> kind & 1 ? kind : 0;
            OK(tsrAlloc(b->context, pieces[k].bytes, kind ? 1u << kind : 0, &pieces[k].at));
            assert_int_equal((uintptr_t)pieces[k].at % 64, 0);
            mark(b, pieces[k].at, pieces[k].bytes, i);
        }
    }
    telemetry_counts(b->context, &after);
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
        const device_memory_counts *was = &before.memory[kind], *is = &after.memory[kind];
        assert_int_equal(is->used_bytes, was->used_bytes);
        assert_true(is->held_bytes >= is->used_bytes && is->used_peak_bytes >= is->used_bytes);
        if (b->driver->count) /* there are fewer blocks than allocations */
            assert_true(is->blocks_made - was->blocks_made <
                        (is->allocations - was->allocations) / 2 + 2);
    }
}

/* ---- limits ---- */

static void expect_all_well(const abi_bench *b) {
    put(b, b->a, 5);
    OK(launch_abi(b, NULL, b->a, b->out));
    expect_at(b, b->out, 5, 1);
}

static void more_memory_than_there_is(const abi_bench *b) {
    void *memory;
    char words[32];
    size_t most = b->info.memory_bytes ? (size_t)b->info.memory_bytes : SIZE_MAX / 2;
    size_t wanted = most < SIZE_MAX / 16 ? most * 16 : SIZE_MAX - 4096;
    snprintf(words, sizeof words, "%zu bytes", wanted);
    REFUSED(tsrAlloc(b->context, wanted, 0, &memory), TSR_EOOM, words);
    expect_all_well(b);
}

static void more_workgroup_memory_than_there_is(const abi_bench *b) {
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *args[] = {(void *)(uintptr_t)&b->a, (void *)(uintptr_t)&b->out};
    const abi_module large = {.scratch_bytes = 1ull << 46};
    tsr_status_t loaded = load_abi_module(b, &large, &module);
    if (loaded == TSR_SUCCESS) {
        OK(tsrGetKernel(module, "affine", &kernel));
        loaded = tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, 2);
        assert_non_null(strstr(tsrGetLastError(), "kernel 'affine'"));
        OK(tsrUnloadModule(module));
    }
    assert_int_equal(loaded, TSR_EOOM);
    expect_all_well(b);
}

static void more_threads_than_there_are(const abi_bench *b) {
    tsr_module_t module;
    if (has_threads(b))
        REFUSED(load_abi_module(b, &(abi_module){.threads = 1 << 16}, &module), TSR_EUNAVAILABLE,
                "65536");
    expect_all_well(b);
}

/* ---- modules that are not for it ---- */

static void modules_of_another_version_are_refused(const abi_bench *b) {
    enum { MAJOR_AT = 8, MINOR_AT = 10 };
    static const struct {
        int at, by;
        const char *words;
    } versions[] = {{MAJOR_AT, 1, "made for ABI 3.0"},
                    {MAJOR_AT, -1, "made for ABI 1.0"},
                    {MINOR_AT, TSR_ABI_MINOR + 1, "loads 2.0 to 2."}};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        tsr_module_t module;
        bytes image = make_abi_module(b, &(abi_module){0});
        image.data[versions[i].at] = (char)(image.data[versions[i].at] + versions[i].by);
        REFUSED(tsrLoadModule(b->context, image.data, image.size, &module), TSR_EVERSION,
                versions[i].words);
        free(image.data);
    }
    expect_all_well(b);
}

/* The message says what the module has and what the device takes. */
static void images_of_another_device_are_refused(const abi_bench *b) {
    static const char *const others[] = {"ptx/sm_20", "hsaco/gfx600", "spirv/none", "elf/vax"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        tsr_module_t module;
        REFUSED(load_abi_module(b, &(abi_module){.target = others[i]}, &module), TSR_EUNAVAILABLE,
                others[i]);
        assert_non_null(strstr(tsrGetLastError(), b->info.isa));
    }
    expect_all_well(b);
}

/* The name is the device's, what is in it is not: PTX, or an object of this processor. */
static void images_with_another_name_are_refused(const abi_bench *b) {
    tsr_module_t module;
    const bool is_object = strstr(b->info.targets[0], "elf/") != NULL;
    const abi_module wrong = {.code = is_object ? "cuda" : "cpu"};
    tsr_status_t result = load_abi_module(b, &wrong, &module);
    assert_true(result == TSR_ECORRUPT || result == TSR_EUNAVAILABLE);
    if (!strstr(tsrGetLastError(), b->info.targets[0]))
        fail_msg("the message does not name the image: %s", tsrGetLastError());
    expect_all_well(b);
}

/* ---- two at once ---- */

/* Memory of `b` is nothing that `other` can use, and both say whose it is. */
static void expect_apart(const abi_bench *b, const abi_bench *other) {
    float host[FLOATS];
    REFUSED(tsrFree(other->context, b->a), TSR_EINVAL, "not an allocation of this context");
    if (b->info.host_addressable)
        return; /* it is memory of the program, which anybody may copy */
    if (other->info.host_addressable && !b->context->device->own_addresses)
        return; /* its numbers may be addresses of the program's, too */
    REFUSED(launch_abi(other, NULL, b->a, other->out), TSR_EINVAL,
            other->info.host_addressable ? "of another context" : "no memory of this context");
    if (!b->context->device->own_addresses)
        return;
    REFUSED(tsrCopy(other->context, host, b->a, BYTES), TSR_EINVAL, "of another context");
    REFUSED(tsrCopy(other->context, other->a, b->a, BYTES), TSR_EINVAL, b->info.backend);
    REFUSED(tsrCopy(other->context, b->a, other->a, BYTES), TSR_EINVAL, "of another context");
    REFUSED(tsrFillAsync(other->context, NULL, b->a, 0, BYTES), TSR_EINVAL, "of another context");
}

/* Each computes on streams of its own while the other does. */
static void use_both(const abi_bench *b, const abi_bench *other) {
    const abi_bench *both[] = {b, other};
    tsr_stream_t streams[2];
    for (int i = 0; i < 2; i++) {
        OK(tsrCreateStream(both[i]->context, &streams[i]));
        put(both[i], both[i]->a, (float)(10 * i));
    }
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < 2; i++)
            OK(launch_abi(both[i], streams[i], both[i]->a, both[i]->out));
    for (int i = 0; i < 2; i++) {
        OK(tsrStreamSynchronize(both[i]->context, streams[i]));
        expect_at(both[i], both[i]->out, (float)(10 * i), 1);
        OK(tsrDestroyStream(streams[i]));
    }
}

static void check_beside(const abi_bench *b, const device_driver *driver, uint32_t index) {
    abi_bench other;
    open_abi_bench(&other, driver, index);
    use_both(b, &other);
    expect_apart(b, &other);
    expect_apart(&other, b);
    REFUSED(tsrLaunch(b->kernel, &other.context->default_stream, (tsr_launch_t){0}, NULL, 2),
            TSR_EINVAL, "another context");
    use_both(b, &other);
    close_abi_bench(&other);
}

static void opens_twice(const abi_bench *b) {
    check_beside(b, b->driver, b->index);
}

static void works_beside_another_driver(const abi_bench *b) {
    const bool is_host = strcmp(b->driver->name, "cpu") == 0;
    check_beside(b, device_driver_find(is_host ? "simulated" : "cpu"), 0);
}

/* ---- another process ---- */

static pid_t start_again(const abi_bench *b) {
    char index[16], self[] = "/proc/self/exe", word[sizeof again], name[64];
    pid_t child = 0;
    snprintf(index, sizeof index, "%u", b->index);
    snprintf(word, sizeof word, "%s", again);
    snprintf(name, sizeof name, "%s", b->driver->name);
    char *arguments[] = {self, word, name, index, NULL};
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    return child;
}

/* It uses the device while this one does, and leaves what is here alone. */
static void another_process_uses_it_too(const abi_bench *b) {
    int how = 1;
    put(b, b->a, 20);
    pid_t child = start_again(b);
    do {
        OK(launch_abi(b, NULL, b->a, b->out));
        expect_at(b, b->out, 20, 1);
    } while (waitpid(child, &how, WNOHANG) == 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    expect_at(b, b->a, 20, 0);
    expect_all_well(b);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    void (*check)(const abi_bench *b);
    bool by_computing; /* not for a driver that computes nothing, and takes any code */
} rows[] = {
    {"runs a kernel", runs_a_kernel, false},
    {"events order launches in flight", events_order_launches_in_flight, false},
    {"semaphores order streams", semaphores_order_streams, false},
    {"graphs are replayed", graphs_are_replayed, false},
    {"graphs run one at a time", graphs_run_one_at_a_time, false},
    {"graphs tell the times of launches", graphs_tell_the_times_of_launches, false},
    {"graphs follow their memory", graphs_follow_their_memory, false},
    {"programs run", programs_run, false},
    {"programs are captured", programs_are_captured, false},
    {"programs are recorded once", programs_are_recorded_once, false},
    {"programs follow each other", programs_follow_each_other, false},
    {"programs with new places are not recorded", programs_with_new_places_are_not_recorded, false},
    {"long programs are some recordings", long_programs_are_some_recordings, false},
    {"programs are timed one by one", programs_are_timed_one_by_one, false},
    {"branches are recorded between", branches_are_recorded_between, false},
    {"pinned memory is shared", pinned_memory_is_shared, false},
    {"allocations keep apart", allocations_keep_apart, false},
    {"more memory than there is", more_memory_than_there_is, false},
    {"more workgroup memory than there is", more_workgroup_memory_than_there_is, true},
    {"more threads than there are", more_threads_than_there_are, false},
    {"modules of another version are refused", modules_of_another_version_are_refused, false},
    {"images of another device are refused", images_of_another_device_are_refused, true},
    {"images with another name are refused", images_with_another_name_are_refused, true},
    {"devices work together", devices_work_together, false},
    {"copies between devices", copies_between_devices, false},
    {"memory is imported", memory_is_imported, false},
    {"opens twice", opens_twice, false},
    {"works beside another driver", works_beside_another_driver, false},
    {"another process uses it, too", another_process_uses_it_too, false},
};

/* The only driver whose devices are looked at; NULL: all that do without hardware are. */
static const char *only_driver;

static void check_device(const device_driver *driver, uint32_t index) {
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        abi_bench b;
        if (rows[row].by_computing && strcmp(driver->name, "null") == 0)
            continue;
        print_message("%s %u: %s\n", driver->name, index, rows[row].name);
        open_abi_bench(&b, driver, index);
        rows[row].check(&b);
        close_abi_bench(&b);
    }
}

static void every_device_conforms(void **state) {
    const device_driver *driver;
    device_info info;
    int devices = 0;
    (void)state;
    for (size_t d = 0; (driver = device_driver_at(d)); d++) {
        if (only_driver && strcmp(driver->name, only_driver) != 0)
            continue;
        for (uint32_t index = 0; driver->enumerate(index, &info); index++, devices++)
            if (!info.unavailable)
                check_device(driver, index);
    }
    assert_true(devices >= (only_driver ? 1 : 8));
}

/* Body of the process that another_process_uses_it_too starts. */
static int run_again(const char *name, const char *index) {
    abi_bench b;
    open_abi_bench(&b, device_driver_find(name), (uint32_t)strtoul(index, NULL, 10));
    for (int round = 0; round < 20; round++)
        runs_a_kernel(&b);
    close_abi_bench(&b);
    return 0;
}

static int skip_of(const char *name) {
    status why = STATUS_INIT;
    const device_driver *driver = device_driver_find(name);
    status_set(&why, STATUS_UNAVAILABLE, "a device of '%s' is there where it is asked for", name);
    if (driver && driver->absent)
        driver->absent(&why);
    printf("skipped: %s\n", why.message);
    return EXIT_SKIPPED;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_device_conforms)};
    device_info info;
    SKIP_WITHOUT_KERNELS;
    setenv(SIMULATED_COUNT, "2", 1);
#ifdef MOCK_LEVEL_ZERO
    setenv(MOCK_DRIVERS, MOCK_LEVEL_ZERO, 0); /* libze_intel_gpu.so.1, likewise */
#endif
    if (argc == 4 && strcmp(argv[1], again) == 0)
        return run_again(argv[2], argv[3]);
    if (argc > 1) {
        setenv(SOFTWARE_DEVICES, "1", 1);
        only_driver = argv[1];
        const device_driver *driver = device_driver_find(only_driver);
        if (!driver || !driver->enumerate(0, &info))
            return skip_of(only_driver);
    } else {
        setenv(EMULATED_DEVICES, "1", 1);
        setenv(CUDA_LIBRARY, STUB_CUDA, 0); /* libcuda.so.1, where the real one is to be tested */
        setenv(HIP_LIBRARY, STUB_HIP, 1);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
