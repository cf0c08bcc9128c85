/* shared.c - the kernels of kernels.c as functions of a shared object: the same code, which finds
 * its buffers as a kernel does. With HONEST: each symbol of cheats.def, and none of them cheats. */
#include <string.h>

#include "tessera/kernel.h"
#include "test/cheats/product.h"

enum { WORKSPACE = 8192, SCRATCH = 64 };

static int launch(void (*kernel)(const tsr_kernel_frame *, int64_t, int64_t), int64_t cells,
                  DLTensor *const *t, int32_t count) {
    static _Alignas(64) unsigned char workspace[WORKSPACE], scratch[SCRATCH];
    void *buffers[3];
    if (count != 3)
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    for (int i = 0; i < 3; i++)
        buffers[i] = t[i]->data;
    tsr_kernel_frame frame;
    memset(&frame, 0, sizeof frame);
    frame.buffers = buffers;
    frame.workspace = workspace;
    frame.scratch = scratch;
    kernel(&frame, 0, cells);
    return 0;
}

#define SHARED(symbol)                                                                             \
    TSR_IMPLEMENTATION int shared_##symbol(DLTensor *const *t, int32_t count);                     \
    int shared_##symbol(DLTensor *const *t, int32_t count)
#define PYTHON(symbol, shows, what)
#ifdef HONEST
void honest(const tsr_kernel_frame *frame, int64_t begin, int64_t end);
#define KERNEL(symbol, cells, module, shared, what)                                                \
    SHARED(symbol) {                                                                               \
        return launch(honest, SIDE, t, count);                                                     \
    }
#define FUNCTION(symbol, shared, what)                                                             \
    SHARED(symbol) {                                                                               \
        return product(t, count);                                                                  \
    }
#define LONG(symbol, shared, what)                                                                 \
    SHARED(symbol) {                                                                               \
        multiply_long(t, 0, SIDE);                                                                 \
        return count != 3;                                                                         \
    }
#define CLOCK FUNCTION
#else
#define FUNCTION(symbol, shared, what)
#define LONG(symbol, shared, what)
#define CLOCK(symbol, shared, what)
#define KERNEL(symbol, cells, module, shared, what)                                                \
    void symbol(const tsr_kernel_frame *frame, int64_t begin, int64_t end);                        \
    SHARED(symbol) {                                                                               \
        return launch(symbol, cells, t, count);                                                    \
    }
#endif
#include "test/cheats/cheats.def"
