/* gpu.c - see gpu.h.
 *
 * An allocation is a piece of a block (gpu_pool.h). Under debug it is a block of its own, and its
 * data lie between canaries of 64 bytes, the second one longer where padding follows, and are
 * poisoned. */
#include "device/shared/gpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"

enum { CANARY_BYTES = 64, CANARY = 0xA5 };

typedef struct gpu_memory {
    device_memory base;
    gpu_piece piece;
    size_t offset;     /* of the data in its block */
    gpu_block adopted; /* ... which is here where the pool did not give it */
} gpu_memory;

bool gpu_software_wanted(void) {
    const char *wanted = getenv(SOFTWARE_DEVICES);
    return wanted && *wanted && strcmp(wanted, "0") != 0;
}

/* ---- loss ---- */

bool gpu_lose(gpu_device *g, const char *why, status *st) {
    status lost = STATUS_INIT;
    status_set(&lost, STATUS_DEVICE_LOST, "device '%s' is lost: %s", g->soft.base.info.name, why);
    pthread_mutex_lock(&g->soft.mutex);
    soft_lose(&g->soft, &lost);
    pthread_mutex_unlock(&g->soft.mutex);
    return status_set(st, lost.code, "%s", lost.message);
}

void gpu_pause_after(uint64_t passed_ns) {
    uint64_t ns = soft_pause_ns(passed_ns);
    if (ns)
        nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    else
        sched_yield();
}

static bool all_idle(gpu_device *g) {
    pthread_mutex_lock(&g->soft.mutex);
    bool idle = g->functions->idle(&g->own);
    for (device_queue *q = g->soft.queues; q && idle; q = q->next)
        idle = g->functions->idle((gpu_queue *)q);
    pthread_mutex_unlock(&g->soft.mutex);
    return idle;
}

/* Threads that only wait for the device have ended before what they wait for. */
bool gpu_cancel(device *d) {
    gpu_device *g = (gpu_device *)d;
    return soft_cancel(d) && (!g->functions->idle || all_idle(g));
}

/* ---- memory ---- */

static bool alloc_block(void *owner, size_t size_bytes, device_memory_kind kind,
                        gpu_block *block_out, status *st) {
    gpu_device *g = owner;
    return g->functions->alloc(g, size_bytes, kind, block_out, st);
}

static void free_block(void *owner, gpu_block *block) {
    gpu_device *g = owner;
    g->functions->free(g, block);
}

static gpu_place place_in(const gpu_memory *m, size_t offset) {
    return (gpu_place){.block = m->piece.block, .offset = m->offset + offset};
}

static size_t padding_of(const gpu_memory *m) {
    return gpu_round_up(m->base.size_bytes) - m->base.size_bytes + CANARY_BYTES;
}

static bool guard(gpu_device *g, const gpu_memory *m, status *st) {
    size_t bytes = m->base.size_bytes;
    gpu_place before = place_in(m, 0);
    before.offset -= CANARY_BYTES;
    pthread_mutex_lock(&g->own_mutex);
    bool ok = gpu_fill(&g->own, before, CANARY, CANARY_BYTES, st) &&
              gpu_fill(&g->own, place_in(m, bytes), CANARY, padding_of(m), st) &&
              (bytes == 0 || gpu_fill(&g->own, place_in(m, 0), GPU_POISON, bytes, st));
    ok = gpu_finish(&g->own, ok ? st : NULL) && ok;
    pthread_mutex_unlock(&g->own_mutex);
    return ok;
}

bool gpu_alloc(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
               status *st) {
    gpu_device *g = (gpu_device *)d;
    size_t around = g->soft.options.debug ? CANARY_BYTES : 0;
    if (size_bytes > d->info.memory_bytes)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes on device '%s'",
                          size_bytes, d->info.name);
    gpu_memory *m = base_calloc(1, sizeof *m);
    m->base = (device_memory){.size_bytes = size_bytes, .kind = kind};
    if (!gpu_pool_take(&g->pool, gpu_round_up(size_bytes) + 2 * around, kind, &m->piece, st)) {
        free(m);
        return false;
    }
    m->offset = m->piece.offset + around;
    m->base.address = (void *)(uintptr_t)(gpu_piece_address(&m->piece) + around);
    *memory_out = &m->base;
    if (!around || guard(g, m, st))
        return true;
    gpu_free(d, &m->base);
    return false;
}

void gpu_free(device *d, device_memory *memory) {
    gpu_device *g = (gpu_device *)d;
    gpu_memory *m = (gpu_memory *)memory;
    if (m->piece.range)
        gpu_pool_give(&g->pool, &m->piece);
    free(m);
}

device_memory *gpu_adopt(gpu_device *g, void *address, size_t size_bytes) {
    gpu_memory *m = base_calloc(1, sizeof *m);
    m->base = (device_memory){address, size_bytes, DEVICE_MEMORY_DEVICE};
    m->adopted = (gpu_block){.address = (uint64_t)(uintptr_t)address,
                             .size_bytes = size_bytes,
                             .number = DEVICE_MEMORY_DEVICE,
                             .serial = gpu_pool_serial(&g->pool)};
    m->piece = (gpu_piece){.block = &m->adopted, .size_bytes = size_bytes};
    return &m->base;
}

static bool all_canary(gpu_device *g, gpu_place at, size_t bytes, bool *sound, status *st) {
    unsigned char got[2 * CANARY_BYTES];
    *sound = true;
    bool ok = gpu_copy(&g->own, (gpu_place){.host = got}, at, bytes, st);
    if (!gpu_finish(&g->own, ok ? st : NULL) || !ok)
        return false;
    for (size_t i = 0; i < bytes; i++)
        *sound &= got[i] == CANARY;
    return *sound || (gpu_fill(&g->own, at, CANARY, bytes, st) && gpu_finish(&g->own, st));
}

bool gpu_intact(device *d, const device_memory *memory, status *st) {
    gpu_device *g = (gpu_device *)d;
    const gpu_memory *m = (const gpu_memory *)memory;
    gpu_place before = place_in(m, 0);
    bool sound_before, sound_after;
    if (!g->soft.options.debug)
        return true;
    before.offset -= CANARY_BYTES;
    pthread_mutex_lock(&g->own_mutex);
    bool ok = all_canary(g, before, CANARY_BYTES, &sound_before, st) &&
              all_canary(g, place_in(m, memory->size_bytes), padding_of(m), &sound_after, st);
    pthread_mutex_unlock(&g->own_mutex);
    if (!ok || (sound_before && sound_after))
        return ok;
    return status_set(st, STATUS_INTERNAL, "bytes %s its %zu were overwritten",
                      sound_before ? "after" : "before", memory->size_bytes);
}

bool gpu_map(device *d, device_memory *memory, void **host_out, status *st) {
    const gpu_memory *m = (const gpu_memory *)memory;
    if (!m->piece.block->host || !(d->info.mappable_kinds >> memory->kind & 1))
        return status_set(st, STATUS_INVALID, "memory of the device alone cannot be mapped");
    *host_out = m->piece.block->host + m->offset;
    return true;
}

void gpu_unmap(device *d, device_memory *memory) {
    (void)d, (void)memory; /* the host reaches it as long as it lives */
}

gpu_place gpu_place_of(device_span s) {
    if (!s.memory)
        return (gpu_place){.host = s.address};
    return place_in((const gpu_memory *)s.memory,
                    (size_t)((uintptr_t)s.address - (uintptr_t)s.memory->address));
}

/* ---- devices ---- */

bool gpu_device_init(gpu_device *g, const device_driver *driver, const gpu_functions *functions,
                     const device_options *options, status *st) {
    soft_device_init(&g->soft, driver, gpu_soft_functions(functions), options);
    g->functions = functions;
    g->soft.clock_start_ns = clock_now_ns();
    gpu_pool_init(&g->pool, (gpu_block_source){g, alloc_block, free_block},
                  g->soft.base.info.memory_bytes, options->debug);
    pthread_mutex_init(&g->own_mutex, NULL);
    g->own.base.device = &g->soft;
    g->own.last = &g->own.moments;
    g->has_own = functions->queue_open(g, &g->own, st);
    bool ok = g->has_own && gpu_pool_keep(&g->pool, &options->pools, st);
    if (!ok)
        gpu_device_release(g);
    return ok;
}

void gpu_device_release(gpu_device *g) {
    if (g->has_own)
        gpu_queue_close(g, &g->own);
    g->has_own = false;
    gpu_pool_release(&g->pool);
    pthread_mutex_destroy(&g->own_mutex);
    soft_device_release(&g->soft);
}

void gpu_count(device *d, device_counts *out) {
    gpu_device *g = (gpu_device *)d;
    *out = (device_counts){.recordings = atomic_load(&g->recordings),
                           .replays = atomic_load(&g->replays)};
    pthread_mutex_lock(&g->pool.mutex);
    memcpy(out->memory, g->pool.counts, sizeof out->memory);
    pthread_mutex_unlock(&g->pool.mutex);
}
