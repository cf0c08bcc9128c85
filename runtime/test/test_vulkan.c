/* test_vulkan.c - the driver for Vulkan where something is wrong: modules that a device cannot run,
 * grids that are too long for one launch, devices that fail. Each device is opened in a process of
 * its own, since a process looks for devices once. */
#include "test/test.h"

#include <dlfcn.h>
#include <spirv/unified1/spirv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/shared/gpu.h"
#include "device/vulkan_traits.h"
#include "test/abi_submissions.h"
#include "test/device_ahead.h"

enum { EXIT_SKIPPED = 77, HEADER_WORDS = 5 };
#define VULKAN_TARGET "spirv/spirv-vulkan+f64"

/* ---- a device of a process of its own ---- */

static int in_process(const char *faults, int (*run)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("FAULTY_VULKAN", faults, 1);
        _exit(run());
    }
    int code = 0;
    assert_true(child > 0 && waitpid(child, &code, 0) == child);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

static int alive(void) {
    void *library = dlopen(FAULTY_VULKAN, RTLD_NOW | RTLD_NOLOAD);
    int (*count)(void);
    void *symbol = library ? dlsym(library, "faulty_vulkan_alive") : NULL;
    memcpy(&count, &symbol, sizeof symbol);
    return symbol ? count() : -1;
}

/* In a child a check that fails ends it with the number of its line, modulo what a process can say.
 */
#define NEEDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static bool open_bench(bench *b, status *st) {
    const device_options options = {.threads = 1};
    *b = (bench){.driver = device_driver_find("vulkan")};
    return device_open(b->driver, 0, &options, &b->d, st) &&
           b->driver->queue_create(b->d, true, &b->sync, st);
}

static void close_bench(bench *b) {
    b->driver->queue_destroy(b->d, b->sync);
    b->driver->close(b->d);
}

/* ---- modules ---- */

static const struct {
    const char *what;
    size_t word;    /* of the module, that is changed; or */
    uint16_t after; /* ... the word `word` of the first such instruction */
    uint32_t value;
    int cut; /* bytes that are missing at the end */
    status_code code;
} bad_modules[] = {
    {"another magic number", 0, 0, 0x03022307, 0, STATUS_CORRUPT},
    {"a newer version", 1, 0, 0x00010600, 0, STATUS_CORRUPT},
    {"too many results", 3, 0, 1u << 30, 0, STATUS_CORRUPT},
    {"half a word less", 0, 0, 0, 2, STATUS_CORRUPT},
    {"an instruction cut off", 0, 0, 0, 12, STATUS_CORRUPT},
    {"code for OpenCL", 1, SpvOpCapability, SpvCapabilityKernel, 0, STATUS_CORRUPT},
    {"a workgroup of 2^20 threads", 3, SpvOpExecutionMode, 1 << 20, 0, STATUS_UNAVAILABLE},
};

static uint32_t *word_after(bytes module, uint16_t opcode, size_t word) {
    uint32_t *words = (uint32_t *)(void *)module.data;
    size_t at = opcode ? HEADER_WORDS : 0;
    while (opcode && (words[at] & SpvOpCodeMask) != opcode)
        at += words[at] >> SpvWordCountShift;
    return words + at + word;
}

static bool loads(const bench *b, const void *data, size_t size, const char *symbol, status *st) {
    const char *symbols[] = {symbol};
    device_image *image;
    const device_source source = {data, size, VULKAN_TARGET, "module", symbols,
                                  1,    0,    NULL,          NULL,     NULL};
    if (!b->driver->load(b->d, &source, &image, st))
        return false;
    b->driver->unload(b->d, image);
    return true;
}

static int modules_are_looked_at_first(void) {
    bench b;
    status st = STATUS_INIT;
    must(open_bench(&b, &st), &st);
    for (size_t i = 0; i < COUNT_OF(bad_modules); i++) {
        bytes module = read_kernels("vulkan", "kernel_good");
        st = (status)STATUS_INIT;
        if (!bad_modules[i].cut)
            *word_after(module, bad_modules[i].after, bad_modules[i].word) = bad_modules[i].value;
        bool loaded =
            loads(&b, module.data, module.size - (size_t)bad_modules[i].cut, "phase_double", &st);
        if (loaded || st.code != bad_modules[i].code)
            fprintf(stderr, "%s: %d %s\n", bad_modules[i].what, st.code, st.message);
        NEEDS(!loaded && st.code == bad_modules[i].code);
        free(module.data);
    }
    bytes module = read_kernels("vulkan", "kernel_good");
    st = (status)STATUS_INIT;
    NEEDS(!loads(&b, module.data, module.size, "phase_nosuch", &st));
    NEEDS(st.code == STATUS_NOT_FOUND);
    NEEDS(loads(&b, module.data, module.size, "phase_double", &st));
    free(module.data);
    close_bench(&b);
    return 0;
}

/* An array of 2^28 words in a workgroup's memory. */
static int shared_memory_has_a_limit(void) {
    static const uint32_t words[] = {SpvMagicNumber,
                                     0x00010500,
                                     0,
                                     6,
                                     0,
                                     4 << 16 | SpvOpTypeInt,
                                     1,
                                     32,
                                     0,
                                     4 << 16 | SpvOpConstant,
                                     1,
                                     2,
                                     1 << 28,
                                     4 << 16 | SpvOpTypeArray,
                                     3,
                                     1,
                                     2,
                                     4 << 16 | SpvOpTypePointer,
                                     4,
                                     SpvStorageClassWorkgroup,
                                     3,
                                     4 << 16 | SpvOpVariable,
                                     4,
                                     5,
                                     SpvStorageClassWorkgroup};
    bench b;
    status st = STATUS_INIT;
    must(open_bench(&b, &st), &st);
    NEEDS(!loads(&b, words, sizeof words, "none", &st));
    NEEDS(st.code == STATUS_UNAVAILABLE && strstr(st.message, "shared memory"));
    close_bench(&b);
    return 0;
}

/* ---- launches ---- */

/* More workgroups than a device takes in one launch: each still has its number. */
static int long_grids_are_cut(void) {
    enum { MANY = 200003 };
    bench b;
    status st = STATUS_INIT;
    must(open_bench(&b, &st), &st);
    device_image *image = load(&b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(&b, MANY * sizeof(float), DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&b, MANY * sizeof(float), DEVICE_MEMORY_DEVICE);
    float *x = malloc(MANY * sizeof *x);
    for (int i = 0; i < MANY; i++)
        x[i] = (float)i;
    write_to(&b, in, x, MANY * sizeof *x);
    launch_of *l = launch_new(image, in, out);
    l->workgroups[0] = l->workgroups[1] = MANY;
    l->command.dispatch.workspace_bytes = MANY * sizeof *x;
    submit(b.sync, &b, l->command);
    read_from(&b, out, x, MANY * sizeof *x);
    for (int i = 0; i < MANY; i++)
        NEEDS(x[i] == (float)(2 * i + i % 4 + 1));
    free(x);
    free(l);
    b.driver->unload(b.d, image);
    b.driver->free(b.d, in);
    b.driver->free(b.d, out);
    close_bench(&b);
    NEEDS(alive() == 0);
    return 0;
}

/* The device goes while it is used: the failure says so, and all can be given back. */
static int lost_in_mid_run(void) {
    bench b;
    status st = STATUS_INIT;
    must(open_bench(&b, &st), &st);
    device_image *image = load(&b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, out);
    bool lost = false;
    for (int i = 0; i < 20 && !lost; i++)
        lost = !b.driver->submit(b.sync, &l->command, 1, &st);
    NEEDS(lost && st.code == STATUS_DEVICE_LOST);
    NEEDS(!b.driver->usable(b.d, &st));
    NEEDS(!b.driver->submit(b.sync, &l->command, 1, &st) && st.code == STATUS_DEVICE_LOST);
    NEEDS(b.driver->cancel(b.d));
    b.driver->unload(b.d, image);
    b.driver->free(b.d, in);
    b.driver->free(b.d, out);
    close_bench(&b);
    free(l);
    NEEDS(alive() == 0);
    return 0;
}

/* Likewise in a replay of what was recorded before. */
static int lost_in_a_replay(void) {
    bench b;
    status st = STATUS_INIT;
    device_counts counts;
    must(open_bench(&b, &st), &st);
    device_image *image = load(&b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, out);
    device_sequence *s = b.driver->sequence_create(b.d);
    const device_command commands[] = {{.kind = DEVICE_REPLAY, .replay = {s, 1}}, l->command};
    bool lost = false;
    for (int i = 0; i < 20 && !lost; i++)
        lost = !b.driver->submit(b.sync, commands, 2, &st);
    NEEDS(lost && st.code == STATUS_DEVICE_LOST);
    b.driver->count(b.d, &counts);
    NEEDS(counts.recordings == 1 && counts.replays > 1);
    NEEDS(!b.driver->submit(b.sync, commands, 2, &st) && st.code == STATUS_DEVICE_LOST);
    NEEDS(b.driver->cancel(b.d));
    b.driver->sequence_destroy(b.d, s);
    b.driver->unload(b.d, image);
    b.driver->free(b.d, in);
    b.driver->free(b.d, out);
    close_bench(&b);
    free(l);
    NEEDS(alive() == 0);
    return 0;
}

static void *faulty_symbol(const char *name) {
    return dlsym(dlopen(FAULTY_VULKAN, RTLD_NOW | RTLD_NOLOAD), name);
}

static uint64_t dispatches(const void *context) {
    int (*count)(void);
    (void)context;
    *(void **)(void *)&count = faulty_symbol("faulty_vulkan_dispatches");
    return (uint64_t)count();
}

static void end_held(const void *context) {
    void (*end)(void);
    (void)context;
    *(void **)(void *)&end = faulty_symbol("faulty_vulkan_end");
    end();
}

static device_image *open_streams(bench *b) {
    status st = STATUS_INIT;
    must(open_bench(b, &st) && b->driver->queue_create(b->d, false, &b->queues[0], &st) &&
             b->driver->queue_create(b->d, false, &b->queues[1], &st),
         &st);
    return load(b, "kernel_good", "phase_double", "phase_add");
}

static int close_streams(bench *b, device_image *image) {
    b->driver->unload(b->d, image);
    b->driver->queue_destroy(b->d, b->queues[0]);
    b->driver->queue_destroy(b->d, b->queues[1]);
    close_bench(b);
    NEEDS(alive() == 0);
    return 0;
}

static int queues_are_given_more(void) {
    enum { PHASES = 2 };
    bench b;
    device_image *image = open_streams(&b);
    void (*hold)(void);
    *(void **)(void *)&hold = faulty_symbol("faulty_vulkan_hold");
    hold();
    queues_run_ahead(&(ahead){.b = &b,
                              .image = image,
                              .given = dispatches,
                              .wanted = AHEAD_LAUNCHES * PHASES,
                              .end = end_held});
    return close_streams(&b, image);
}

static uint64_t submissions_of(void) {
    int (*count)(void);
    *(void **)(void *)&count = faulty_symbol("faulty_vulkan_submissions");
    return (uint64_t)count();
}

/* Its event on a created stream is the number of the submission. */
static int programs_are_one_submission(void) {
    programs_are_submitted_once("vulkan", &(submissions){submissions_of, 1, 0});
    NEEDS(alive() == 0);
    return 0;
}

static int programs_are_lost(void) {
    programs_end_with_their_device("vulkan");
    NEEDS(alive() == 0);
    return 0;
}

static int more_events_than_marks(void) {
    bench b;
    device_image *image = open_streams(&b);
    many_events(&b, image);
    return close_streams(&b, image);
}

static int memory_that_is_refused(void) {
    bench b;
    status st = STATUS_INIT;
    device_memory *m;
    must(open_bench(&b, &st), &st);
    NEEDS(!b.driver->alloc(b.d, 64 << 20, DEVICE_MEMORY_DEVICE, &m, &st));
    NEEDS(st.code == STATUS_OUT_OF_MEMORY);
    b.driver->free(b.d, new_memory(&b, 1000, DEVICE_MEMORY_DEVICE)); /* it goes on */
    close_bench(&b);
    NEEDS(alive() == 0);
    return 0;
}

/* A device that is not right in f32 needs f64; one that is right loads plain modules alone. */
static int without_f64(void) {
    bench b;
    status st = STATUS_INIT;
    if (!open_bench(&b, &st)) {
        NEEDS(st.code == STATUS_UNAVAILABLE && strstr(st.message, "IEEE 754"));
    } else {
        NEEDS(strcmp(b.d->info.targets[0], "spirv/spirv-vulkan") == 0 && !b.d->info.targets[1]);
        close_bench(&b);
    }
    NEEDS(alive() == 0);
    return 0;
}

static int without_addresses(void) {
    device_info info;
    NEEDS(device_driver_find("vulkan")->enumerate(0, &info));
    NEEDS(info.unavailable && strstr(info.unavailable, "bufferDeviceAddress"));
    return 0;
}

static int few_threads(void) {
    bench b;
    status st = STATUS_INIT;
    NEEDS(!open_bench(&b, &st) && st.code == STATUS_UNAVAILABLE); /* the trial has 64 */
    NEEDS(strstr(st.message, "threads in a workgroup"));
    NEEDS(alive() == 0);
    return 0;
}

static int is_there(void) {
    device_info info;
    return device_driver_find("vulkan")->enumerate(0, &info) && !info.unavailable ? 0
                                                                                  : EXIT_SKIPPED;
}

static int nothing_there(void) {
    device_info info;
    return device_driver_find("vulkan")->enumerate(0, &info);
}

/* ---- the tests ---- */

static const struct {
    const char *name, *faults;
    int (*run)(void);
} rows[] = {
    {"modules are looked at first", "", modules_are_looked_at_first},
    {"shared memory has a limit", "", shared_memory_has_a_limit},
    {"long grids are cut", "", long_grids_are_cut},
    {"lost in mid-run", "lost=8", lost_in_mid_run},
    {"lost in a replay", "lost=12", lost_in_a_replay},
    {"queues are given more", "", queues_are_given_more},
    {"programs are one submission", "", programs_are_one_submission},
    {"programs are one submission", "clockless=1", programs_are_one_submission},
    {"programs are lost in mid-run", "lost=14", programs_are_lost},
    {"more events than marks", "", more_events_than_marks},
    {"events without marks", "clockless=1", more_events_than_marks},
    {"memory that is refused", "memory=33554432", memory_that_is_refused},
    {"without f64", "narrow=1", without_f64},
    {"without addresses", "addressless=1", without_addresses},
    {"few threads", "threads=32", few_threads},
};

static void devices_that_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        print_message("%s\n", rows[i].name);
        assert_int_equal(in_process(rows[i].faults, rows[i].run), 0);
    }
}

/* Two processes use one device at a time. */
static void processes_share_a_device(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(in_process("", long_grids_are_cut));
    int code = 0, own = in_process("", long_grids_are_cut);
    assert_true(child > 0 && waitpid(child, &code, 0) == child);
    assert_int_equal(own, 0);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static void without_a_loader(void **state) {
    (void)state;
    setenv("TESSERA_VULKAN_LIBRARY", "/dev/null/absent/libvulkan.so", 1);
    assert_int_equal(in_process("", nothing_there), 0);
    setenv("TESSERA_VULKAN_LIBRARY", FAULTY_VULKAN, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_that_fail),
        cmocka_unit_test(processes_share_a_device),
        cmocka_unit_test(without_a_loader),
    };
    setenv(SOFTWARE_DEVICES, "1", 1);
    setenv("TESSERA_VULKAN_LIBRARY", FAULTY_VULKAN, 1);
    if (in_process("", is_there) != 0) {
        printf("skipped: no Vulkan device is here (Debian: mesa-vulkan-drivers)\n");
        return EXIT_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
