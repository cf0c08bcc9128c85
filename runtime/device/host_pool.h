/* host_pool.h - persistent threads that share the cells of a grid.
 *
 * The caller takes part, so a pool of one thread has no workers and runs inline. Cells are claimed
 * in chunks that shrink towards the end, for balance. Workers spin for some tens of microseconds
 * after a grid, then sleep. Every cell runs under the default floating-point environment; the
 * caller's own is restored. Several threads may call host_pool_run on one pool: their grids run one
 * after the other. */
#ifndef TESSERA_RUNTIME_HOST_POOL_H
#define TESSERA_RUNTIME_HOST_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct host_pool host_pool;
typedef void (*host_pool_fn)(void *context, unsigned char *scratch, int64_t begin, int64_t end);

typedef struct host_pool_grid {
    host_pool_fn run;
    void *context;
    int64_t cells;
    size_t scratch_bytes; /* private memory of each thread, aligned to 64; contents undefined */
    bool guarded; /* scratch is poisoned before each call and must be whole after the grid */
} host_pool_grid;

host_pool *host_pool_new(uint32_t threads, status *st); /* threads >= 1; NULL on failure */
void host_pool_free(host_pool *pool);
uint32_t host_pool_threads(const host_pool *pool);
/* Returns when every cell has run. Fails before the first cell when scratch cannot be had, and
 * after the last when a call broke the bounds of guarded scratch. */
bool host_pool_run(host_pool *pool, const host_pool_grid *grid, status *st);
/* No more cells are handed out: a grid that runs, and every later one, ends early and fails with
 * STATUS_TIMEOUT. Cells that run are left to end. Any thread may call it; does not wait. */
void host_pool_cancel(host_pool *pool);

#endif
