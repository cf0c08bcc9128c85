/* kernel_linear.c - C = A x B for any dimensions, as a compiler would emit it: a workgroup is a
 * tile of 8 by 8, rows of tiles one after the other. */
#include "tessera/kernel.h"

enum { TILE = 8 };

void linear_phase_0(const tsr_kernel_frame *frame, int64_t begin, int64_t end);

void linear_phase_0(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    const float *a = frame->buffers[0], *b = frame->buffers[1];
    float *c = frame->buffers[2];
    const int64_t m = frame->dims[0], n = frame->dims[1], k = frame->dims[2];
    const int64_t across = (n + TILE - 1) / TILE;
    for (int64_t workgroup = begin; workgroup < end; workgroup++) {
        for (int64_t i = workgroup / across * TILE; i < m && i < (workgroup / across + 1) * TILE;
             i++) {
            for (int64_t j = workgroup % across * TILE;
                 j < n && j < (workgroup % across + 1) * TILE; j++) {
                float sum = 0;
                for (int64_t at = 0; at < k; at++)
                    sum += a[i * k + at] * b[at * n + j];
                c[i * n + j] = sum;
            }
        }
    }
}
