/* kernel_undefined.c - a kernel that calls something outside its image. */
#include "tessera/kernel.h"

void memory_barrier_of_somebody(void);
void phase(const tsr_kernel_frame *frame, int64_t begin, int64_t end);

void phase(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    (void)frame, (void)begin, (void)end;
    memory_barrier_of_somebody();
}
