/* program_speed.c - what a dispatch of a program costs beside its kernel: a loop of a kernel that
 * does nothing, on the host with one thread, against as many launches; no test, since a test
 * asserts no time. */
#include "test/test.h"

#include <stdio.h>

#include "base/clock.h"
#include "device/device.h"
#include "test/abi_fixture.h"
#include "test/program_maker.h"

enum { DISPATCHES = 1000000, ROUNDS = 7, QUEUED = 1000 };

static const char nothing[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"nothing\", "
    "\"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"workspace_bytes\": 0, \"scratch_bytes\": 0, "
    "\"phases\": [{\"symbol\": \"phase_nothing\", \"grid\": 1}]}";

static const char many[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"many\", "
    "\"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], "
    "\"program\": {\"arena_bytes\": 1024, \"kernels\": [\"kernel:0\"], \"commands\": ["
    "{\"loop\": 1000, \"body\": [{\"loop\": 1000, \"body\": [{\"dispatch\": 0, "
    "\"operands\": [[\"input\", 0, 0], [\"arena\", 0, 0, 0, 0]]}]}]},"
    "{\"copy\": [[\"output\", 0, 0], [\"arena\", 0, 0]], \"bytes\": 400}]}}";

static tsr_kernel_t load_kernel(tsr_context_t context, bytes image, const char *name,
                                tsr_module_t *module) {
    tsr_kernel_t kernel;
    OK(tsrLoadModule(context, image.data, image.size, module));
    OK(tsrGetKernel(*module, name, &kernel));
    return kernel;
}

/* The shortest of some rounds, for a dispatch. */
static double time_of(tsr_context_t context, tsr_kernel_t kernel, tsr_stream_t stream,
                      int launches) {
    static _Alignas(64) float a[KERNEL_CELLS], out[KERNEL_CELLS];
    float *buffers[] = {a, out};
    void *args[] = {&buffers[0], &buffers[1]};
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_now_ns();
        for (int i = 0; i < launches; i++) {
            OK(tsrLaunch(kernel, stream, (tsr_launch_t){0}, args, 2));
            if (i % QUEUED == QUEUED - 1) /* a longer queue would measure its memory */
                OK(tsrStreamSynchronize(context, stream));
        }
        OK(tsrStreamSynchronize(context, stream));
        uint64_t ns = clock_now_ns() - start;
        best = ns < best ? ns : best;
    }
    return (double)best / DISPATCHES;
}

int main(void) {
    tsr_context_t context;
    tsr_stream_t stream;
    tsr_module_t kernels, programs;
    device_info info;
    bytes object = read_object("kernel_probe");
    bytes kernel = make_module(nothing, "x86_64-elf/x86-64-v2+fma", object);
    bytes program = make_program(many, kernel);
    OK(tsrCreateContextOn(0, 1, 0, &context));
    OK(tsrCreateStream(context, &stream));
    tsr_kernel_t one = load_kernel(context, kernel, "nothing", &kernels);
    tsr_kernel_t all = load_kernel(context, program, "many", &programs);
    device_driver_at(0)->enumerate(0, &info);
    printf("%s, one thread, ns for each of %d dispatches of nothing:\n", info.name, DISPATCHES);
    printf("launches %.1f, in a program %.1f; on a created stream %.1f and %.1f\n",
           time_of(context, one, NULL, DISPATCHES), time_of(context, all, NULL, 1),
           time_of(context, one, stream, DISPATCHES), time_of(context, all, stream, 1));
    OK(tsrDestroyStream(stream));
    OK(tsrUnloadModule(kernels));
    OK(tsrUnloadModule(programs));
    OK(tsrDestroyContext(context));
    free(object.data);
    free(kernel.data);
    free(program.data);
    return 0;
}
