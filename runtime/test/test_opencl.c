/* test_opencl.c - the driver opencl where a loader, its device or the code is not as it should be:
 * a stub (stub_opencl.c) is wrong in one way at a time, each in a process of its own, since a
 * loader is looked at once. And the probes that the driver has, compared with what spirv-as makes.
 */
#include "test/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "device/opencl/opencl.h"
#include "device/shared/gpu.h"
#include "test/device_ahead.h"

/* ---- code ---- */

enum { CODE_MOST = 64, THREADS = 4 };

typedef struct code {
    uint32_t words[CODE_MOST];
    uint32_t count;
} code;

static void add(code *c, uint32_t opcode, uint32_t count, const uint32_t *operands) {
    c->words[c->count++] = (count + 1) << 16 | opcode;
    memcpy(c->words + c->count, operands, count * sizeof *operands);
    c->count += count;
}
#define ADD(code, opcode, ...)                                                                     \
    add(code, opcode, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                        \
        (uint32_t[]){__VA_ARGS__})

/* An entry point phase_double with so many threads (0: it does not say) and floats of the
 * workgroup's memory. Nobody runs it. */
static code code_of(uint32_t capability, uint32_t threads, uint32_t floats) {
    enum { KERNEL = 6, LOCAL_SIZE = 17, WORKGROUP = 4, BOUND = 16 };
    code c = {{0x07230203, 0x00010000, 0, BOUND, 0}, 5};
    uint32_t entry[6] = {KERNEL, 1};
    memcpy(entry + 2, "phase_double", 13);
    ADD(&c, 17, capability);
    add(&c, 15, 6, entry);
    if (threads)
        ADD(&c, 16, 1, LOCAL_SIZE, threads, 1, 1);
    ADD(&c, 22, 2, 32);
    ADD(&c, 21, 3, 32, 0);
    ADD(&c, 43, 3, 4, floats);
    ADD(&c, 28, 5, 2, 4);
    ADD(&c, 32, 6, WORKGROUP, 5);
    ADD(&c, 59, 6, 7, WORKGROUP);
    return c;
}

/* ---- one life with a device ---- */

typedef enum stage { NO_DEVICE, UNAVAILABLE, OPENING, ALLOCATING, LOADING, LAUNCHING, FINE } stage;

typedef struct life {
    stage end; /* where it ended */
    status st;
    bool usable, mapped;
    int living; /* objects of the loader that were not released */
} life;

typedef struct wish {
    const char *symbol;
    code code;
    bool cut;
} wish;

static bool launch_once(bench *b, device_image *image, life *l) {
    device_memory *m;
    if (!b->driver->alloc(b->d, BYTES, DEVICE_MEMORY_DEVICE, &m, &l->st))
        return false;
    launch_of *command = launch_new(image, m, m);
    bool ok = b->driver->submit(b->sync, &command->command, 1, &l->st);
    l->usable = b->driver->usable(b->d, NULL);
    free(command);
    (void)b->driver->cancel(b->d);
    b->driver->free(b->d, m);
    return ok;
}

static void use(bench *b, const wish *w, life *l) {
    const size_t size = w->code.count * sizeof(uint32_t) - (w->cut ? 4 : 0);
    const device_source source = {
        w->code.words, size, "spirv/spirv-opencl", "code", &w->symbol, 1, 0, NULL, NULL, NULL};
    device_memory *big;
    device_image *image;
    l->end = ALLOCATING;
    if (!b->driver->alloc(b->d, 1 << 19, DEVICE_MEMORY_DEVICE, &big, &l->st))
        return;
    b->driver->free(b->d, big);
    l->end = LOADING;
    if (!b->driver->load(b->d, &source, &image, &l->st))
        return;
    l->end = launch_once(b, image, l) ? FINE : LAUNCHING;
    b->driver->unload(b->d, image);
}

static void live(const wish *w, life *l) {
    device_info info;
    bench b = {.driver = device_driver_find("opencl")};
    *l = (life){.end = NO_DEVICE};
    if (!b.driver->enumerate(0, &info))
        return;
    l->end = UNAVAILABLE;
    l->mapped = info.mappable_kinds != 0;
    if (info.unavailable) {
        snprintf(l->st.message, sizeof l->st.message, "%s", info.unavailable);
        return;
    }
    l->end = OPENING;
    if (!device_open(b.driver, 0, &(device_options){0}, &b.d, &l->st))
        return;
    if (b.driver->queue_create(b.d, true, &b.sync, &l->st)) {
        use(&b, w, l);
        b.driver->queue_destroy(b.d, b.sync);
    }
    b.driver->close(b.d);
}

static int counted(const char *library, const char *name) {
    void *stub = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*count)(void) = NULL;
    if (stub)
        *(void **)(void *)&count = dlsym(stub, name);
    return count ? count() : 0;
}

/* In a process of its own. */
static life live_apart(const char *library, const char *wrong, const char *software,
                       const wish *w) {
    int ends[2], state;
    life l;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv(OPENCL_LIBRARY, library, 1);
        setenv("STUB_OPENCL", wrong, 1);
        setenv(SOFTWARE_DEVICES, software, 1);
        unsetenv("CL_CONFIG_CPU_VECTORIZER_MODE");
        live(w, &l);
        l.living = counted(library, "stub_opencl_living");
        _exit(write(ends[1], &l, sizeof l) == (ssize_t)sizeof l ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &l, sizeof l), sizeof l);
    close(ends[0]);
    assert_int_equal(waitpid(child, &state, 0), child);
    return l;
}

/* ---- what is wrong, and what is said ---- */

static void what_is_wrong_is_said(void **state) {
    static const struct {
        const char *wrong, *software;
        stage end;
        status_code code;
        const char *words;
    } rows[] = {
        {"", "0", FINE, STATUS_OK, ""},
        {"coarse", "0", FINE, STATUS_OK, ""},
        {"software", "1", FINE, STATUS_OK, ""},
        {"software", "0", NO_DEVICE, STATUS_OK, ""},
        {"no platform", "0", NO_DEVICE, STATUS_OK, ""},
        {"no platform", "1", UNAVAILABLE, STATUS_OK, "the OpenCL loader has no device"},
        {"no device", "1", UNAVAILABLE, STATUS_OK, "pocl-opencl-icd"},
        {"no svm", "0", UNAVAILABLE, STATUS_OK, "no shared virtual memory"},
        {"narrow", "0", UNAVAILABLE, STATUS_OK, "64 bits"},
        {"no threads", "0", UNAVAILABLE, STATUS_OK, "a workgroup has no threads"},
        {"no spirv", "0", UNAVAILABLE, STATUS_OK, "neither SPIR-V"},
        {"says no subnormals", "0", UNAVAILABLE, STATUS_OK, "does not keep subnormal"},
        {"software,intel", "1", UNAVAILABLE, STATUS_OK, "set CL_CONFIG_CPU_VECTORIZER_MODE=1"},
        {"no context", "0", OPENING, STATUS_DEVICE_LOST, "CL_DEVICE_NOT_AVAILABLE"},
        {"no queue", "0", OPENING, STATUS_OUT_OF_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {"no memory", "0", OPENING, STATUS_OUT_OF_MEMORY, "no memory for 64 bytes"},
        {"no compiler", "0", OPENING, STATUS_UNAVAILABLE, "it says 'line 7: it is too long'"},
        {"splits fma", "0", OPENING, STATUS_UNAVAILABLE, "a fused multiply-add of 32-bit floats"},
        {"divides loosely", "0", OPENING, STATUS_UNAVAILABLE, "a division of 32-bit floats"},
        {"flushes", "0", OPENING, STATUS_UNAVAILABLE, "a product of 32-bit floats"},
        {"narrow workgroups", "0", LOADING, STATUS_UNAVAILABLE, "have 4 threads"},
        {"lies about memory", "0", LAUNCHING, STATUS_OUT_OF_MEMORY, "CL_OUT_OF_RESOURCES"},
        {"lost", "0", LAUNCHING, STATUS_DEVICE_LOST, "is lost: waiting for it"},
        {"ends badly", "0", LAUNCHING, STATUS_DEVICE_LOST, "a kernel ended badly"},
    };
    const wish w = {.symbol = "phase_double", .code = code_of(6, THREADS, 16)};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        print_message("%s\n", rows[i].wrong);
        life l = live_apart(STUB, rows[i].wrong, rows[i].software, &w);
        assert_int_equal(l.end, rows[i].end);
        assert_int_equal(l.st.code, rows[i].code);
        if (!strstr(l.st.message, rows[i].words))
            fail_msg("'%s' does not say '%s'", l.st.message, rows[i].words);
        assert_int_equal(l.living, 0);
        if (l.end >= LAUNCHING)
            assert_int_equal(l.usable, l.st.code != STATUS_DEVICE_LOST);
        if (l.end == FINE)
            assert_int_equal(l.mapped, strcmp(rows[i].wrong, "coarse") != 0);
    }
}

static void code_is_looked_at_first(void **state) {
    enum { KERNEL = 6, FLOAT64 = 10 };
    const struct {
        wish w;
        status_code code;
        const char *words;
    } rows[] = {
        {{"phase_double", code_of(KERNEL, THREADS, 16), true}, STATUS_CORRUPT, "is damaged"},
        {{"phase_triple", code_of(KERNEL, THREADS, 16), false}, STATUS_NOT_FOUND, "'phase_triple'"},
        {{"phase_double", code_of(KERNEL, 0, 16), false}, STATUS_CORRUPT, "how many threads"},
        {{"phase_double", code_of(KERNEL, 65, 16), false}, STATUS_UNAVAILABLE, "at most 64"},
        {{"phase_double", code_of(KERNEL, THREADS, 4097), false},
         STATUS_UNAVAILABLE,
         "needs 16388 bytes of workgroup memory; device 'stub' has 16384"},
        {{"phase_double", code_of(FLOAT64, THREADS, 16), false},
         STATUS_UNAVAILABLE,
         "64-bit floats"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        life l = live_apart(STUB, "", "0", &rows[i].w);
        assert_int_equal(l.end, LOADING);
        assert_int_equal(l.st.code, rows[i].code);
        if (!strstr(l.st.message, rows[i].words))
            fail_msg("'%s' does not say '%s'", l.st.message, rows[i].words);
        assert_int_equal(l.living, 0);
    }
}

static void libraries_that_will_not_do(void **state) {
    static const struct {
        const char *library, *words;
    } rows[] = {
        {"/dev/null/absent/libOpenCL.so.1", "the OpenCL loader (Debian: ocl-icd-libopencl1)"},
        {STUB_OLD, "is too old: it has no function 'clSVMAlloc'"}};
    const wish w = {.symbol = "phase_double", .code = code_of(6, THREADS, 16)};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        life l = live_apart(rows[i].library, "", "1", &w);
        assert_int_equal(l.end, UNAVAILABLE);
        assert_non_null(strstr(l.st.message, rows[i].words));
        assert_int_equal(live_apart(rows[i].library, "", "0", &w).end, NO_DEVICE);
    }
}

/* The translator is a program that may be missing, or fail. */
static void translators_that_will_not_do(void **state) {
    static const struct {
        const char *translator;
        stage end;
        const char *words;
    } rows[] = {{"/dev/null/absent/llvm-spirv", UNAVAILABLE, "which is no program"},
                {"/bin/false", OPENING, "/bin/false ended with 1"},
                {"/bin/true", OPENING, "code.bc"}};
    const wish w = {.symbol = "phase_double", .code = code_of(6, THREADS, 16)};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        setenv(OPENCL_TRANSLATOR, rows[i].translator, 1);
        life l = live_apart(STUB, "no spirv,bitcode", "0", &w);
        assert_int_equal(l.end, rows[i].end);
        if (!strstr(l.st.message, rows[i].words))
            fail_msg("'%s' does not say '%s'", l.st.message, rows[i].words);
        assert_int_equal(l.living, 0);
    }
    unsetenv(OPENCL_TRANSLATOR);
}

/* ---- probes ---- */

static const char *const probe_names[] = {"spirv_f16", "spirv_f32", "spirv_f64"};

static bytes assembled(const char *name) {
    char command[2048], path[] = "/tmp/tessera-probe-XXXXXX";
    bytes made = {0};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    snprintf(command, sizeof command, "'%s' --target-env opencl1.2 '%s/probes/%s.spvasm' -o %s",
             SPIRV_AS, PROBE_FOLDER, name, path);
    assert_int_equal(system(command), 0);
    assert_true(file_read(path, (size_t)1 << 20, &made.data, &made.size, NULL));
    unlink(path);
    return made;
}

static void append_words(text *out, const char *name, bytes made) {
    enum { IN_LINE = 7 };
    text_printf(out, "static const uint32_t %s[] = {", name);
    for (size_t i = 0; i < made.size / sizeof(uint32_t); i++) {
        uint32_t word;
        memcpy(&word, made.data + i * sizeof word, sizeof word);
        text_printf(out, "%s0x%08x,", i % IN_LINE ? " " : "\n    ", word);
    }
    text_append(out, "\n};\n");
}

static void probes_are_what_they_are_made_of(void **state) {
    text wanted;
    char *found;
    size_t size;
    (void)state;
    if (!*SPIRV_AS) {
        print_message("skipped: nothing here assembles them (Debian: spirv-tools)\n");
        skip();
    }
    text_init(&wanted);
    text_append(
        &wanted,
        "/* spirv_probe_words.h - the code of the probes in probes/, assembled; TSR_BLESS=1\n"
        " * runtime_opencl_test writes this. */\n"
        "#ifndef TESSERA_RUNTIME_SPIRV_PROBE_WORDS_H\n"
        "#define TESSERA_RUNTIME_SPIRV_PROBE_WORDS_H\n\n#include <stdint.h>\n\n"
        "/* clang-format off */\n");
    for (size_t i = 0; i < COUNT_OF(probe_names); i++) {
        bytes made = assembled(probe_names[i]);
        append_words(&wanted, probe_names[i], made);
        free(made.data);
    }
    text_append(&wanted, "/* clang-format on */\n\n#endif\n");
    const char *path = PROBE_FOLDER "/spirv_probe_words.h";
    if (getenv("TSR_BLESS"))
        assert_true(file_write_atomic(path, wanted.data, wanted.length, NULL));
    assert_true(file_read(path, (size_t)1 << 20, &found, &size, NULL));
    assert_string_equal(found, wanted.data);
    free(found);
    text_release(&wanted);
}

/* ---- what is given while a launch has not ended ---- */

static uint64_t launches(const void *context) {
    (void)context;
    return (uint64_t)counted(STUB, "stub_opencl_launches");
}

static void end_launch(const void *context) {
    void (*end)(void);
    (void)context;
    *(void **)(void *)&end = dlsym(dlopen(STUB, RTLD_NOW | RTLD_LOCAL), "stub_opencl_end");
    end();
}

static void queues_are_given_more(void **state) {
    static const char *const symbols[] = {"phase_double"};
    const code c = code_of(6, THREADS, 16);
    const device_source source = {c.words,
                                  c.count * sizeof(uint32_t),
                                  "spirv/spirv-opencl",
                                  "code",
                                  symbols,
                                  1,
                                  0,
                                  NULL,
                                  NULL,
                                  NULL};
    bench b = {.driver = device_driver_find("opencl")};
    device_image *image;
    status st = STATUS_INIT;
    (void)state;
    setenv(OPENCL_LIBRARY, STUB, 1);
    setenv("STUB_OPENCL", "endless", 1);
    must(device_open(b.driver, 0, &(device_options){0}, &b.d, &st) &&
             b.driver->queue_create(b.d, false, &b.queues[0], &st) &&
             b.driver->queue_create(b.d, false, &b.queues[1], &st) &&
             b.driver->load(b.d, &source, &image, &st),
         &st);
    queues_run_ahead(&(ahead){
        .b = &b, .image = image, .given = launches, .wanted = AHEAD_LAUNCHES, .end = end_launch});
    b.driver->unload(b.d, image);
    b.driver->queue_destroy(b.d, b.queues[0]);
    b.driver->queue_destroy(b.d, b.queues[1]);
    b.driver->close(b.d);
    assert_int_equal(counted(STUB, "stub_opencl_living"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(code_is_looked_at_first),
        cmocka_unit_test(libraries_that_will_not_do),
        cmocka_unit_test(translators_that_will_not_do),
        cmocka_unit_test(probes_are_what_they_are_made_of),
        cmocka_unit_test(queues_are_given_more), /* the one that opens a device in this process */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
