/* kernel.h - a recorded call as a kernel with one case, and as code that makes the call again.
 *
 * A matrix in columns stands in a stream as its transpose, so that all tensors are row-major. */
#ifndef TESSERA_HARNESS_CAPTURE_KERNEL_H
#define TESSERA_HARNESS_CAPTURE_KERNEL_H

#include "capture/stream.h"

#define CAPTURE_CASE "recorded"

typedef struct capture_kernel {
    const char *name;                /* of the kernel: the function's; borrowed from the call */
    text source;                     /* of the kernel, in the language */
    text code;                       /* Python, which calls the recorded library's function */
    const capture_tensor *inputs[8]; /* in the order of the kernel's parameters */
    uint32_t input_count;
    const capture_tensor *output;
} capture_kernel;

/* False: no kernel of ours says what the function does. capture_kernel_release in any case. */
bool capture_kernel_make(const capture_stream *s, const capture_call *c, capture_kernel *out,
                         status *st);
void capture_kernel_release(capture_kernel *k);
/* The number of threads that the process' environment asked for, else all of its cores. */
uint32_t capture_threads(const capture_stream *s, const capture_call *c);

#endif
