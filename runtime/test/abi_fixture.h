/* abi_fixture.h - a context with a loaded kernel and its buffers, and checks of status codes; for
 * the tests of the C ABI. */
#ifndef TESSERA_RUNTIME_ABI_FIXTURE_H
#define TESSERA_RUNTIME_ABI_FIXTURE_H

#include "test/test.h"

#include "tessera/tessera.h"
#include "test/module_maker.h"

#define OK(call) assert_ok((call), #call)
static inline void assert_ok(tsr_status_t s, const char *call) {
    if (s != TSR_SUCCESS)
        fail_msg("%s: %s: %s", call, tsrStatusName(s), tsrGetLastError());
}

/* The call fails with the code, and these words are in its message. */
#define REFUSED(call, code, words) assert_refused((call), (code), (words), #call)
static inline void assert_refused(tsr_status_t s, tsr_status_t code, const char *words,
                                  const char *call) {
    if (s != code || !strstr(tsrGetLastError(), words))
        fail_msg("%s: %s: '%s' (expected '%s')", call, tsrStatusName(s), tsrGetLastError(), words);
}

typedef struct fixture {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    float *a, *out; /* KERNEL_CELLS each */
    void *args[2];
} fixture;

/* Frees the image. */
static inline void load_fixture(fixture *f, bytes image) {
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

static inline void set_up(fixture *f, uint32_t threads, uint32_t flags) {
    OK(tsrCreateContextOn(0, threads, flags, &f->context));
    load_fixture(f, good_module());
}

/* A phase of kernel_probe. */
static inline void set_up_probe(fixture *f, uint32_t threads, uint32_t flags, const char *phase) {
    OK(tsrCreateContextOn(0, threads, flags, &f->context));
    load_fixture(f, module_of("kernel_probe", "phase_nothing", phase));
}

static inline void tear_down(fixture *f) {
    OK(tsrFree(f->context, f->a));
    OK(tsrFree(f->context, f->out));
    OK(tsrUnloadModule(f->module));
    OK(tsrDestroyContext(f->context));
}

static inline tsr_status_t launch(const fixture *f, tsr_stream_t stream) {
    return tsrLaunch(f->kernel, stream, (tsr_launch_t){0}, (void **)f->args, 2);
}

static inline void expect_result(const fixture *f) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        assert_true(f->out[i] == (float)(2 * i + i % 4 + 1));
}

/* Exits with a skipped test's message where kernels cannot run at all. */
#define SKIP_WITHOUT_KERNELS                                                                       \
    do {                                                                                           \
        if (host_unavailable()) {                                                                  \
            print_message("skipped: %s\n", host_unavailable());                                    \
            return 0;                                                                              \
        }                                                                                          \
    } while (0)

#endif
