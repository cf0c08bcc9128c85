/* spec_launch.h - one launch of a module on the first input set of a spec (timing.h), outside of
 * any timing. */
#ifndef TESSERA_HARNESS_GATE_SPEC_LAUNCH_H
#define TESSERA_HARNESS_GATE_SPEC_LAUNCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "tessera/tessera.h"

enum { SPEC_BUFFERS_MAX = 32, SPEC_DIMS_MAX = 64 };

/* Values of the dimensions that the kernel wants, in its order. */
bool spec_dims(tsr_kernel_t kernel, const json_t *spec, int64_t dims[SPEC_DIMS_MAX],
               uint32_t *count, status *st);

typedef struct spec_launch {
    tsr_context_t context;
    tsr_kernel_t kernel;
    void *buffers[SPEC_BUFFERS_MAX]; /* inputs first; outputs hold a pattern before the launch */
    size_t sizes[SPEC_BUFFERS_MAX];
    size_t inputs, count;
    int64_t dims[SPEC_DIMS_MAX];
    uint32_t dim_count;
    void *args[SPEC_BUFFERS_MAX + SPEC_DIMS_MAX];
} spec_launch;

/* `data`: the scratch file. spec_launch_close in any case. */
bool spec_launch_open(spec_launch *l, tsr_context_t context, tsr_kernel_t kernel,
                      const unsigned char *data, const json_t *spec, status *st);
bool spec_launch_run(spec_launch *l, status *st);
void spec_launch_close(spec_launch *l);

#endif
