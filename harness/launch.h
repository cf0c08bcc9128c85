/* launch.h - one compiled kernel with its buffers on a device, through the C ABI alone: what is benchmarked is what a
 * user of libtessera runs. */
#ifndef TESSERA_HARNESS_LAUNCH_H
#define TESSERA_HARNESS_LAUNCH_H

#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum { LAUNCH_BUFFERS_MAX = 2 * COMPILER_MAX_PARAMETERS };

typedef struct launch {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t input_count, output_count;
    void *buffers[LAUNCH_BUFFERS_MAX];
    size_t sizes[LAUNCH_BUFFERS_MAX];
    void *args[LAUNCH_BUFFERS_MAX];
} launch;

typedef struct launch_request {
    uint32_t device, threads;
    const compiler_artifact *artifact;
    const char *kernel;
    const compiler_signature *signature;
} launch_request;

/* Opens, loads and allocates. launch_close in any case. */
bool launch_open(launch *l, const launch_request *request, status *st);
void launch_close(launch *l);
bool launch_write_inputs(launch *l, const tensor *inputs, status *st);
/* Fills the outputs with a pattern that no kernel writes by chance, so that stale memory shows. */
bool launch_poison_outputs(launch *l, status *st);
bool launch_run(launch *l, status *st);
/* Initialises `outputs`. */
bool launch_read_outputs(launch *l, const compiler_signature *signature, tensor *outputs, status *st);
void launch_release_tensors(tensor *tensors, uint32_t count);

#endif
