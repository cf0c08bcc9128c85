/* gpu_pool.h - memory of a device in pieces: a driver is asked for blocks, and allocations are
 * pieces of these.
 *
 * Pieces of up to a MiB share blocks of 2 to 32 MiB; larger ones have blocks of their own size,
 * which are cut where later ones are smaller. The free piece that fits best is taken. A block of
 * which nothing is used is kept for what comes next, up to a bound for each kind of memory, and
 * given back where it goes beyond that, where the device or another one of the process has no
 * memory left, and when the device is closed.
 *
 * TESSERA_MEMORY_KEPT=BYTES in the environment is the bound; 0: each piece is a block of its own,
 * as it is under debug, so that tools that watch the driver's allocations see each. */
#ifndef TESSERA_RUNTIME_GPU_POOL_H
#define TESSERA_RUNTIME_GPU_POOL_H

#include <pthread.h>

#include "device/device.h"

#define MEMORY_KEPT "TESSERA_MEMORY_KEPT"

/* Memory as the driver gives it. */
typedef struct gpu_block {
    uint64_t address;    /* aligned to 16 bytes at least */
    unsigned char *host; /* where the host reaches it, as long as it lives; NULL: nowhere */
    bool migrates; /* between host and device: the host leaves it alone while the device works */
    size_t size_bytes;
    void *handle;    /* the driver's */
    uint64_t number; /* ... likewise */
    uint64_t serial; /* no other block of the device has it */
} gpu_block;

typedef struct gpu_range gpu_range;
typedef struct gpu_chunk gpu_chunk;

enum { GPU_PIECE_ALIGNMENT = 256, GPU_BINS = 256, GPU_POOLS = 2 * DEVICE_MEMORY_KIND_COUNT };

typedef struct gpu_piece {
    const gpu_block *block; /* NULL: there is none */
    size_t offset;          /* in it; its address is aligned */
    size_t size_bytes;
    gpu_range *range;
} gpu_piece;

static inline uint64_t gpu_piece_address(const gpu_piece *p) {
    return p->block->address + p->offset;
}

/* Source of blocks: a driver. */
typedef struct gpu_block_source {
    void *owner;
    bool (*alloc)(void *owner, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st);
    void (*free)(void *owner, gpu_block *block);
} gpu_block_source;

/* Small pieces of a kind, or large ones. */
typedef struct gpu_bins {
    uint64_t filled[GPU_BINS / 64]; /* bit: the bin has ranges */
    gpu_range *first[GPU_BINS];
} gpu_bins;

typedef struct gpu_pool {
    gpu_block_source source;
    pthread_mutex_t mutex; /* not held while the driver is asked */
    struct gpu_pool *next; /* of all of the process */
    bool alone;            /* each piece is a block */
    gpu_chunk *chunks;
    gpu_bins bins[GPU_POOLS];
    uint64_t bound_bytes[DEVICE_MEMORY_KIND_COUNT], spare_bytes[DEVICE_MEMORY_KIND_COUNT], serial;
    device_memory_counts counts[DEVICE_MEMORY_KIND_COUNT];
} gpu_pool;

/* `memory_bytes`: what the device has. */
void gpu_pool_init(gpu_pool *p, gpu_block_source source, uint64_t memory_bytes, bool alone);
/* Bounds, and memory of the device that is taken now and kept; after gpu_pool_init. The environment
 * rules a bound out. */
bool gpu_pool_keep(gpu_pool *p, const device_pools *pools, status *st);
/* All pieces were given back. */
void gpu_pool_release(gpu_pool *p);
/* STATUS_OUT_OF_MEMORY where there is none, though all that was kept was given back. */
bool gpu_pool_take(gpu_pool *p, size_t size_bytes, device_memory_kind kind, gpu_piece *piece_out,
                   status *st);
/* Nothing that runs uses it. What is none is left alone. */
void gpu_pool_give(gpu_pool *p, gpu_piece *piece);
/* A number that no block of it has. */
uint64_t gpu_pool_serial(gpu_pool *p);
/* Gives blocks of which nothing is used back to the driver. */
void gpu_pool_trim(gpu_pool *p);

#endif
