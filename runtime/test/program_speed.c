/* program_speed.c - what a dispatch costs beside its kernel: a kernel that does nothing, launched
 * by itself and in the loop of a program, on the default stream and on a created one; no test,
 * since a test asserts no time.
 *
 * tsr-program-speed [--backend cpu|cuda|hip|vulkan|opencl|level_zero] [--dispatches THOUSANDS]
 *
 * The kernels of the tests are read from the build's folder, or from $TESSERA_TEST_OBJECTS. */
#include "test/test.h"

#include <stdio.h>

#include "base/clock.h"
#include "device/shared/gpu.h"
#include "test/abi_bench.h"
#include "test/program_maker.h"

enum { ROUNDS = 7, QUEUED = 1000, LOOP = 1000 };

static const char nothing[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"nothing\", "
    "\"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"workspace_bytes\": 0, \"scratch_bytes\": 0, "
    "\"phases\": [{\"symbol\": \"phase_nothing\", \"grid\": 1}], "
    "\"launch\": {\"grid\": [1, 1, 1], \"block\": [%d, 1, 1], \"smem_bytes\": 0}}";

static const char many[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"many\", "
    "\"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"program\": {\"arena_bytes\": 1024, \"kernels\": [\"kernel:0\"], \"commands\": ["
    "{\"loop\": %d, \"body\": [{\"loop\": 1000, \"body\": [{\"dispatch\": 0, "
    "\"operands\": [[\"input\", 0, 0], [\"arena\", 0, 0, 0, 0]]}]}]},"
    "{\"copy\": [[\"output\", 0, 0], [\"arena\", 0, 0]], \"bytes\": 400}]}}";

typedef struct speed {
    const char *backend;
    int thousands; /* of dispatches in a round */
    tsr_context_t context;
    tsr_kernel_t one, all;
    tsr_module_t kernels, programs;
    void *a, *out;
} speed;

static tsr_kernel_t load_kernel(tsr_context_t context, bytes image, const char *name,
                                tsr_module_t *module) {
    tsr_kernel_t kernel;
    OK(tsrLoadModule(context, image.data, image.size, module));
    OK(tsrGetKernel(*module, name, &kernel));
    return kernel;
}

/* The device's own code takes a row of threads, words one, the host none. */
static void load_all(speed *s) {
    char json[1024];
    const char *target = s->context->device->info.targets[0];
    const bool is_host = strcmp(s->backend, "cpu") == 0,
               is_words = strncmp(target, "spirv", 5) == 0;
    bytes code = read_kernels(s->backend, "kernel_probe");
    snprintf(json, sizeof json, nothing, is_host || is_words ? 1 : KERNEL_THREADS);
    bytes kernel = make_module(json, is_host ? "x86_64-elf/x86-64-v2+fma" : target, code);
    snprintf(json, sizeof json, many, s->thousands);
    bytes steps = make_program(json, kernel);
    s->one = load_kernel(s->context, kernel, "nothing", &s->kernels);
    s->all = load_kernel(s->context, steps, "many", &s->programs);
    free(code.data);
    free(kernel.data);
    free(steps.data);
}

/* The shortest of some rounds, for a dispatch. */
static double time_of(const speed *s, tsr_kernel_t kernel, tsr_stream_t stream, int launches) {
    void *args[] = {(void *)(uintptr_t)&s->a, (void *)(uintptr_t)&s->out};
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_now_ns();
        for (int i = 0; i < launches; i++) {
            OK(tsrLaunch(kernel, stream, (tsr_launch_t){0}, args, 2));
            if (i % QUEUED == QUEUED - 1) /* a longer queue would measure its memory */
                OK(tsrStreamSynchronize(s->context, stream));
        }
        OK(tsrStreamSynchronize(s->context, stream));
        uint64_t ns = clock_now_ns() - start;
        best = ns < best ? ns : best;
    }
    return (double)best / ((double)s->thousands * LOOP);
}

static void measure(speed *s) {
    const int dispatches = s->thousands * LOOP;
    tsr_stream_t stream;
    OK(tsrCreateStream(s->context, &stream));
    OK(tsrAlloc(s->context, BYTES, 0, &s->a));
    OK(tsrAlloc(s->context, BYTES, 0, &s->out));
    printf("%s, ns for each of %d dispatches of nothing:\n", s->context->device->info.name,
           dispatches);
    printf("launches %.1f", time_of(s, s->one, NULL, dispatches));
    printf(", in a program %.1f", time_of(s, s->all, NULL, 1));
    printf("; on a created stream %.1f", time_of(s, s->one, stream, dispatches));
    printf(" and %.1f\n", time_of(s, s->all, stream, 1));
    OK(tsrFree(s->context, s->a));
    OK(tsrFree(s->context, s->out));
    OK(tsrDestroyStream(stream));
}

int main(int argc, char **argv) {
    speed s = {.backend = "cpu"};
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--backend") == 0)
            s.backend = argv[i + 1];
        else if (strcmp(argv[i], "--dispatches") == 0)
            s.thousands = (int)strtol(argv[i + 1], NULL, 10);
    const device_driver *driver = device_driver_find(s.backend);
    if (!driver || argc % 2 == 0 || s.thousands < 0) {
        fprintf(stderr, "usage: %s [--backend NAME] [--dispatches THOUSANDS]\n", argv[0]);
        return 2;
    }
    if (s.thousands == 0)
        s.thousands = strcmp(s.backend, "cpu") == 0 ? 1000 : 20;
    setenv(SOFTWARE_DEVICES, "1", 1);
    OK(context_create_on(driver, 0, 1, 0, &s.context));
    load_all(&s);
    measure(&s);
    OK(tsrUnloadModule(s.kernels));
    OK(tsrUnloadModule(s.programs));
    OK(tsrDestroyContext(s.context));
    return 0;
}
