/* host_run.h - kernels on threads of this machine: images loaded, and dispatches run by a pool. */
#ifndef TESSERA_RUNTIME_HOST_RUN_H
#define TESSERA_RUNTIME_HOST_RUN_H

#include "device/device.h"
#include "device/host/host_pool.h"
#include "device/shared/host_memory.h"

/* Describes this machine as a target of code: isa, targets and target_limit. */
void host_describe_code(device_info *info);

/* For device_driver. */
bool host_load(device *d, const device_source *source, device_image **image_out, status *st);
void host_unload(device *d, device_image *image);

/* Threads and a workspace; for one dispatch at a time. */
typedef struct host_runner {
    host_pool *pool;
    host_memory workspace; /* grown on demand */
    const device_options *options;
    uint64_t clock_start_ns;
} host_runner;

/* `options` outlive the runner. `threads` as in device_options. */
bool host_runner_init(host_runner *r, const device_options *options, uint32_t threads,
                      uint64_t clock_start_ns, status *st);
void host_runner_release(host_runner *r);
/* Runs all phases of the dispatch, whose buffers are addresses of this process. */
bool host_runner_run(host_runner *r, const device_dispatch *p, status *st);

#endif
