/* kernel_prepared.c - out = 2 * a + 1 in two phases, as a compiler would emit it: through memory
 * that is prepared from `a`, or through the workspace. */
#include "tessera/kernel.h"

#define PHASE(name)                                                                                \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end);                          \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end)

static void twice(const float *a, float *doubled, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        doubled[i] = a[i] + a[i];
}

static void add(const float *doubled, float *out, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        out[i] = doubled[i] + 1;
}

PHASE(phase_twice_prepared) {
    twice(frame->buffers[0], (float *)frame->prepared, begin, end);
}

PHASE(phase_add_prepared) {
    add((const float *)frame->prepared, frame->buffers[1], begin, end);
}

PHASE(phase_twice) {
    twice(frame->buffers[0], (float *)frame->workspace, begin, end);
}

PHASE(phase_add) {
    add((const float *)frame->workspace, frame->buffers[1], begin, end);
}
