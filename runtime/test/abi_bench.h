/* abi_bench.h - a context on a device of any driver, with kernels that the driver takes and buffers
 * for them; for the conformance of the public functions. */
#ifndef TESSERA_RUNTIME_ABI_BENCH_H
#define TESSERA_RUNTIME_ABI_BENCH_H

#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "test/abi_fixture.h"
#include "test/device_bench.h"

typedef struct abi_bench {
    const device_driver *driver;
    uint32_t index;
    device_info info;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *a, *out; /* BYTES each */
} abi_bench;

/* Differences from the module that is right. */
typedef struct abi_module {
    const char *target; /* NULL: the device's best */
    const char *code;   /* of which driver; NULL: the device's */
    unsigned long long scratch_bytes;
    unsigned threads; /* 0: those that the kernels have */
} abi_module;

enum { KERNEL_THREADS = 4 };

static inline bool takes_words(const abi_bench *b) {
    return b->info.targets[0] && strncmp(b->info.targets[0], "spirv", 5) == 0;
}

/* Tells whether code of the device says how many threads run it side by side. */
static inline bool has_threads(const abi_bench *b) {
    const char *target = b->info.targets[0] ? b->info.targets[0] : "";
    return takes_words(b) || strncmp(target, "ptx", 3) == 0 || strncmp(target, "hsaco", 5) == 0;
}

/* In SPIR-V the threads are part of the code. */
static inline void set_threads(bytes code, unsigned threads) {
    enum { HEADER_WORDS = 5, EXECUTION_MODE = 16, LOCAL_SIZE = 17 };
    uint32_t *words = (uint32_t *)(void *)code.data;
    size_t count = code.size / sizeof *words;
    for (size_t at = HEADER_WORDS; at < count && words[at] >> 16; at += words[at] >> 16)
        if ((words[at] & 0xFFFF) == EXECUTION_MODE && words[at + 2] == LOCAL_SIZE)
            words[at + 3] = threads;
}

static inline bytes make_abi_module(const abi_bench *b, const abi_module *m) {
    char json[1400];
    const char *target = m->target            ? m->target
                         : b->info.targets[0] ? b->info.targets[0]
                                              : "any/any";
    bytes code = read_kernels(m->code ? m->code : b->driver->name, "kernel_good");
    if (m->threads && takes_words(b))
        set_threads(code, m->threads);
    snprintf(json, sizeof json,
             "{\"schema\": \"tsr.module/2\", \"name\": \"affine\", \"profile\": \"strict\", "
             "\"numerics_version\": 1,"
             " \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [4, 25]}],"
             " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}],"
             " \"workspace_bytes\": 400, \"scratch_bytes\": %llu, \"phases\": ["
             "{\"symbol\": \"phase_double\", \"grid\": %d, \"what\": \"double\"},"
             "{\"symbol\": \"phase_add\", \"grid\": %d, \"what\": \"add\"}],"
             " \"launch\": {\"grid\": [%d, 1, 1], \"block\": [%u, 1, 1], \"smem_bytes\": 64}}",
             m->scratch_bytes ? m->scratch_bytes : 64, FLOATS, FLOATS, FLOATS,
             m->threads ? m->threads : KERNEL_THREADS);
    bytes image = make_module(json, target, code);
    free(code.data);
    return image;
}

static inline tsr_status_t load_abi_module(const abi_bench *b, const abi_module *m,
                                           tsr_module_t *module) {
    bytes image = make_abi_module(b, m);
    tsr_status_t result = tsrLoadModule(b->context, image.data, image.size, module);
    free(image.data);
    return result;
}

static inline void open_abi_bench(abi_bench *b, const device_driver *driver, uint32_t index) {
    *b = (abi_bench){.driver = driver, .index = index};
    assert_true(driver->enumerate(index, &b->info));
    OK(context_create_on(driver, index, 2, 0, &b->context));
    b->info = b->context->device->info; /* what it takes may be known only now */
    OK(load_abi_module(b, &(abi_module){0}, &b->module));
    OK(tsrGetKernel(b->module, "affine", &b->kernel));
    OK(tsrAlloc(b->context, BYTES, 0, &b->a));
    OK(tsrAlloc(b->context, BYTES, TSR_ALLOC_ZERO, &b->out));
}

static inline void close_abi_bench(abi_bench *b) {
    OK(tsrFree(b->context, b->a));
    OK(tsrFree(b->context, b->out));
    OK(tsrUnloadModule(b->module));
    OK(tsrDestroyContext(b->context));
}

static inline tsr_status_t launch_abi(const abi_bench *b, tsr_stream_t stream, void *a, void *out) {
    void *args[] = {&a, &out};
    return tsrLaunch(b->kernel, stream, (tsr_launch_t){0}, args, 2);
}

static inline void put(const abi_bench *b, void *to, float first) {
    float values[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        values[i] = first + (float)i;
    OK(tsrCopy(b->context, to, values, BYTES));
}

/* Checks what `launches` launches, one on what the other made, make of what `put` put there. */
static inline void expect_at(const abi_bench *b, const void *at, float first, int launches) {
    float got[FLOATS];
    OK(tsrCopy(b->context, got, at, BYTES));
    for (int i = 0; i < FLOATS; i++) {
        float x = first + (float)i;
        for (int k = 0; k < launches; k++)
            x = 2 * x + (float)(i % 4 + 1);
        if (strcmp(b->driver->name, "null") != 0 && got[i] != x)
            fail_msg("%s %u: element %d is %g, not %g", b->driver->name, b->index, i,
                     (double)got[i], (double)x);
    }
}

#endif
