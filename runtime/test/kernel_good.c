/* kernel_good.c - a kernel as the compiler would emit it: out = 2 * a + table, in two phases
 * through the workspace. It has constants, written data, a pointer that needs a relocation and a
 * call between sections. */
#include "tessera/kernel.h"

static const float table[4] = {1, 2, 3, 4};
static int64_t calls_made;
static const float *volatile table_pointer = table;

void phase_double(const tsr_kernel_frame *frame, int64_t begin, int64_t end);
void phase_add(const tsr_kernel_frame *frame, int64_t begin, int64_t end);

static __attribute__((noinline, section(".text.helper"))) float twice(float x) {
    return x + x;
}

void phase_double(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    const float *a = frame->buffers[0];
    float *doubled = (float *)frame->workspace;
    __atomic_fetch_add(&calls_made, 1, __ATOMIC_RELAXED);
    for (int64_t i = begin; i < end; i++)
        doubled[i] = twice(a[i]);
}

void phase_add(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    const float *doubled = (const float *)frame->workspace;
    float *out = frame->buffers[1], *scratch = (float *)frame->scratch;
    for (int64_t i = begin; i < end; i++) {
        *scratch = table_pointer[i % 4];
        out[i] = doubled[i] + *scratch;
    }
}
