/* host_pool.h - persistent threads that share the workgroups of a grid.
 *
 * The caller takes part, so a pool of one thread has no workers and runs inline. Workgroups are
 * claimed in chunks that shrink towards the end, for balance. Workers spin for some tens of
 * microseconds after a grid, then sleep. Every workgroup runs under the default floating-point
 * environment; the caller's own is restored. */
#ifndef TESSERA_RUNTIME_HOST_POOL_H
#define TESSERA_RUNTIME_HOST_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "device/device.h"
#include "tessera/kernel.h"

typedef struct host_pool host_pool;

/* A kernel: grids that run one after the other, or concurrently as parts of one. */
typedef struct host_pool_work {
    const tsr_phase_fn *phases;
    const int64_t *workgroups; /* of each phase */
    uint32_t phase_count;
    const tsr_kernel_frame *frame; /* its scratch is each thread's own */
    size_t scratch_bytes;
    bool guarded;        /* scratch is poisoned before each call and must be whole after the grid */
    device_times *times; /* of the phases, which run one by one then; NULL: nobody asks */
    const bool
        *concurrent; /* of each phase: it may run while the one before does; NULL: none may */
} host_pool_work;

host_pool *host_pool_new(uint32_t threads, status *st); /* threads >= 1; NULL on failure */
void host_pool_free(host_pool *pool);
uint32_t host_pool_threads(const host_pool *pool);
/* Returns when every workgroup has run. Fails before the first workgroup when scratch cannot be
 * had, and after the grid in which a call broke the bounds of guarded scratch. One caller at a
 * time. */
bool host_pool_run(host_pool *pool, const host_pool_work *work, status *st);
/* No more workgroups are handed out: work that runs, and every later one, ends early and fails with
 * STATUS_TIMEOUT. Workgroups that run are left to end. Any thread may call it; does not wait. */
void host_pool_cancel(host_pool *pool);

#endif
