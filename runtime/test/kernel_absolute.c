/* kernel_absolute.c - compiled without -fPIC, so that it needs a 32-bit absolute relocation. */
#include "tessera/kernel.h"

static int values[64];
void phase(const tsr_kernel_frame *frame, int64_t begin, int64_t end);

void phase(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    (void)frame;
    for (int64_t i = begin; i < end; i++)
        values[(values[i & 63] + i) & 63]++;
}
