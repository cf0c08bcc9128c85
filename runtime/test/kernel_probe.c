/* kernel_probe.c - kernels that tests need and no compiler would emit: one that shows the order of
 * its launches, one that ends when it is told to, and those that break their bounds. */
#include "tessera/kernel.h"

enum { FLOATS = 100, PAGE_FLOATS = 1024 };

#define PHASE(name)                                                                                \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end);                          \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end)

PHASE(phase_nothing) {
    (void)frame, (void)begin, (void)end;
}

/* out = out / 2 + a: the sum tells in which order its terms came. */
PHASE(phase_blend) {
    const float *a = frame->buffers[0];
    float *out = frame->buffers[1];
    for (int64_t i = begin; i < end; i++)
        out[i] = out[i] * 0.5f + a[i];
}

/* Runs until somebody writes to a[0]. */
PHASE(phase_spin) {
    const volatile int32_t *flag = frame->buffers[0];
    (void)begin, (void)end;
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
        ;
}

/* About a millisecond for each workgroup. */
PHASE(phase_slow) {
    volatile int64_t work = 0;
    (void)frame;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 1000000; k++)
            work = work + 1;
}

PHASE(phase_past_end) {
    float *out = frame->buffers[1];
    (void)begin, (void)end;
    out[FLOATS] = 0;
}

PHASE(phase_far_past_end) {
    float *out = frame->buffers[1];
    (void)begin, (void)end;
    out[FLOATS + 28] = 0; /* the padding is 28 floats */
}

PHASE(phase_before) {
    float *out = frame->buffers[1];
    (void)begin, (void)end;
    out[-1] = 0;
}

PHASE(phase_well_before) {
    float *out = frame->buffers[1];
    (void)begin, (void)end;
    out[-40] = 0;
}

PHASE(phase_far_before) {
    float *out = frame->buffers[1];
    (void)begin, (void)end;
    out[-PAGE_FLOATS] = 0;
}

PHASE(phase_past_workspace) {
    (void)begin, (void)end;
    ((float *)frame->workspace)[FLOATS] = 0;
}

PHASE(phase_before_scratch) {
    (void)begin, (void)end;
    frame->scratch[-1] = 0;
}

/* Results out of memory that nobody wrote. */
PHASE(phase_from_workspace) {
    const int32_t *workspace = (const int32_t *)frame->workspace;
    int32_t *out = frame->buffers[1];
    for (int64_t i = begin; i < end; i++)
        out[i] = workspace[i];
}

PHASE(phase_from_scratch) {
    const int32_t *scratch = (const int32_t *)frame->scratch;
    int32_t *out = frame->buffers[1];
    for (int64_t i = begin; i < end; i++)
        out[i] = scratch[i % 16];
}

PHASE(phase_copy) {
    const int32_t *a = frame->buffers[0];
    int32_t *out = frame->buffers[1];
    for (int64_t i = begin; i < end; i++)
        out[i] = a[i];
}
