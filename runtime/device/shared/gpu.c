/* gpu.c - see gpu.h.
 *
 * An allocation is a piece of a block (gpu_pool.h). Under debug it is a block of its own, and its
 * data lie between canaries of 64 bytes, the second one longer where padding follows, and are
 * poisoned. */
#include "device/shared/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"

enum { ALIGNMENT = 64, CANARY_BYTES = 64, CANARY = 0xA5, POISON = 0xCB, ADDRESSES_MOST = 1024 };

typedef struct gpu_memory {
    device_memory base;
    gpu_piece piece;
    size_t offset; /* of the data in its block */
} gpu_memory;

bool gpu_software_wanted(void) {
    const char *wanted = getenv(SOFTWARE_DEVICES);
    return wanted && *wanted && strcmp(wanted, "0") != 0;
}

/* ---- loss ---- */

static bool gone(soft_device *d, status *why) {
    gpu_device *g = (gpu_device *)d;
    return g->functions->gone && g->functions->gone(g, why);
}

bool gpu_lose(gpu_device *g, const char *why, status *st) {
    status lost = STATUS_INIT;
    status_set(&lost, STATUS_DEVICE_LOST, "device '%s' is lost: %s", g->soft.base.info.name, why);
    pthread_mutex_lock(&g->soft.mutex);
    soft_lose(&g->soft, &lost);
    pthread_mutex_unlock(&g->soft.mutex);
    return status_set(st, lost.code, "%s", lost.message);
}

bool gpu_may_wait(gpu_queue *q, status *st) {
    soft_device *d = q->base.device;
    pthread_mutex_lock(&d->mutex);
    bool lost = soft_is_lost(d);
    if (lost)
        status_set(st, d->lost.code, "%s", d->lost.message);
    pthread_mutex_unlock(&d->mutex);
    return !lost;
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

static size_t round_up(size_t n) {
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static gpu_place place_in(const gpu_memory *m, size_t offset) {
    return (gpu_place){.block = m->piece.block, .offset = m->offset + offset};
}

static gpu_place of_host(void *address) {
    return (gpu_place){.host = address};
}

static size_t padding_of(const gpu_memory *m) {
    return round_up(m->base.size_bytes) - m->base.size_bytes + CANARY_BYTES;
}

static bool guard(gpu_device *g, const gpu_memory *m, status *st) {
    size_t bytes = m->base.size_bytes;
    gpu_place before = place_in(m, 0);
    before.offset -= CANARY_BYTES;
    pthread_mutex_lock(&g->own_mutex);
    bool ok = g->functions->fill(&g->own, before, CANARY, CANARY_BYTES, st) &&
              g->functions->fill(&g->own, place_in(m, bytes), CANARY, padding_of(m), st) &&
              (bytes == 0 || g->functions->fill(&g->own, place_in(m, 0), POISON, bytes, st));
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
    if (!gpu_pool_take(&g->pool, round_up(size_bytes) + 2 * around, kind, &m->piece, st)) {
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
    gpu_pool_give(&g->pool, &((gpu_memory *)memory)->piece);
    free(memory);
}

static bool all_canary(gpu_device *g, gpu_place at, size_t bytes, bool *sound, status *st) {
    unsigned char got[2 * CANARY_BYTES];
    *sound = true;
    if (!g->functions->copy(&g->own, of_host(got), at, bytes, st))
        return false;
    for (size_t i = 0; i < bytes; i++)
        *sound &= got[i] == CANARY;
    return *sound || g->functions->fill(&g->own, at, CANARY, bytes, st);
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

/* ---- launches ---- */

static bool grow(gpu_device *g, gpu_queue *q, size_t size_bytes, status *st) {
    if (q->workspace.size_bytes >= size_bytes)
        return true;
    gpu_pool_give(&g->pool, &q->workspace);
    return gpu_pool_take(&g->pool, size_bytes, DEVICE_MEMORY_DEVICE, &q->workspace, st) ||
           status_context(st, "allocating the workspace of %zu bytes", size_bytes);
}

/* The workspace, and behind it what is prepared for this launch alone; under debug poisoned. */
static bool prepare_workspace(gpu_device *g, gpu_queue *q, size_t size_bytes, status *st) {
    if (q->recorded_workspace)
        return true; /* it is large enough for all that is recorded */
    if (!grow(g, q, size_bytes, st))
        return false;
    const gpu_place place = {.block = q->workspace.block, .offset = q->workspace.offset};
    return size_bytes == 0 || !g->soft.options.debug ||
           g->functions->fill(q, place, POISON, size_bytes, st);
}

static bool has_shared(const gpu_device *g, const device_dispatch *p, status *st) {
    uint64_t most = g->soft.base.info.workgroup_memory_bytes;
    return p->workgroup_bytes <= most ||
           status_set(st, STATUS_OUT_OF_MEMORY,
                      "a workgroup needs %zu bytes of shared memory; device '%s' has %llu",
                      p->workgroup_bytes, g->soft.base.info.name, (unsigned long long)most);
}

static bool launch(gpu_device *g, gpu_queue *q, const device_dispatch *p, device_times *times,
                   status *st) {
    uint64_t addresses[ADDRESSES_MOST], phase_ns[DEVICE_TIMED_PHASES] = {0};
    size_t lines = round_up(p->workspace_bytes), own = p->prepared.address ? 0 : p->prepared_bytes;
    if (p->buffer_count + 2 > ADDRESSES_MOST)
        return status_set(st, STATUS_INVALID, "%u buffers are too many", p->buffer_count);
    if (!has_shared(g, p, st) || !prepare_workspace(g, q, lines + own, st))
        return false;
    const gpu_piece *room = q->recorded_workspace ? q->recorded_workspace : &q->workspace;
    uint64_t workspace = room->block ? gpu_piece_address(room) : 0;
    for (uint32_t i = 0; i < p->buffer_count; i++)
        addresses[i] = (uint64_t)(uintptr_t)p->buffers[i];
    addresses[p->buffer_count] = workspace;
    addresses[p->buffer_count + 1] =
        own ? workspace + lines : (uint64_t)(uintptr_t)p->prepared.address;
    const bool wanted = times && p->image->phase_count <= DEVICE_TIMED_PHASES;
    const gpu_launch l = {.image = p->image,
                          .addresses = addresses,
                          .address_count = p->buffer_count + 2,
                          .workgroups = p->workgroups,
                          .workgroup_bytes = p->workgroup_bytes,
                          .phase_ns = wanted ? phase_ns : NULL};
    if (!g->functions->launch(q, &l, st))
        return false;
    if (times)
        memcpy(times->phase_ns, phase_ns, sizeof phase_ns);
    return true;
}

static bool dispatch(gpu_device *g, gpu_queue *q, const device_dispatch *p, status *st) {
    uint64_t start = clock_now_ns(), phases = 0;
    device_times times = {.label = p->label,
                          .start_ns = start - g->soft.clock_start_ns,
                          .phases = p->image->phase_count};
    if (!launch(g, q, p, p->timed ? &times : NULL, st))
        return status_context(st, "kernel '%s'", p->label);
    if (!p->timed)
        return true;
    for (int i = 0; i < DEVICE_TIMED_PHASES; i++)
        phases += times.phase_ns[i];
    times.total_ns = clock_now_ns() - start;
    times.total_ns = times.total_ns < phases ? phases : times.total_ns; /* two clocks */
    g->soft.options.timed(g->soft.options.timed_context, &times);
    return true;
}

gpu_place gpu_place_of(device_span s) {
    if (!s.memory)
        return of_host(s.address);
    return place_in((const gpu_memory *)s.memory,
                    (size_t)((uintptr_t)s.address - (uintptr_t)s.memory->address));
}

static bool transfer(const gpu_device *g, gpu_queue *q, const device_command *c, status *st) {
    size_t bytes = c->range.size_bytes;
    gpu_place to = gpu_place_of(c->range.to);
    if (bytes == 0)
        return true;
    if (c->kind == DEVICE_FILL && !to.block)
        memset(to.host, c->byte, bytes);
    if (c->kind == DEVICE_FILL)
        return !to.block || g->functions->fill(q, to, c->byte, bytes, st);
    gpu_place from = gpu_place_of(c->range.from);
    if (!to.block && !from.block)
        memmove(to.host, from.host, bytes);
    return (!to.block && !from.block) || g->functions->copy(q, to, from, bytes, st);
}

bool gpu_run(gpu_queue *q, const device_command *c, status *st) {
    gpu_device *g = (gpu_device *)q->base.device;
    if (!soft_begin(&q->base, c, st))
        return false;
    bool ok = c->kind == DEVICE_DISPATCH ? dispatch(g, q, &c->dispatch, st) : transfer(g, q, c, st);
    soft_end(&q->base, c);
    return ok;
}

static bool execute(device_queue *queue, const device_command *c, status *st) {
    gpu_queue *q = (gpu_queue *)queue;
    pthread_mutex_lock(&q->turn);
    bool ok = gpu_run(q, c, st);
    pthread_mutex_unlock(&q->turn);
    return ok;
}

/* ---- queues and devices ---- */

static const soft_functions with_gone = {
    .execute = execute, .replay = gpu_replay, .gone = gone, .inline_execution = true};
static const soft_functions without = {
    .execute = execute, .replay = gpu_replay, .inline_execution = true};

bool gpu_queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    gpu_device *g = (gpu_device *)d;
    gpu_queue *q = base_calloc(1, sizeof *q);
    if (!g->functions->queue_open(g, q, st)) {
        free(q);
        return false;
    }
    pthread_mutex_init(&q->turn, NULL);
    soft_queue_init(&q->base, &g->soft, synchronous);
    *queue_out = &q->base;
    return true;
}

static void close_queue(gpu_device *g, gpu_queue *q) {
    gpu_pool_give(&g->pool, &q->workspace);
    g->functions->queue_close(g, q);
}

void gpu_queue_destroy(device *d, device_queue *queue) {
    soft_queue_release(queue);
    close_queue((gpu_device *)d, (gpu_queue *)queue);
    pthread_mutex_destroy(&((gpu_queue *)queue)->turn);
    free(queue);
}

bool gpu_device_init(gpu_device *g, const device_driver *driver, const gpu_functions *functions,
                     const device_options *options, status *st) {
    soft_device_init(&g->soft, driver, functions->gone ? &with_gone : &without, options);
    g->functions = functions;
    g->soft.clock_start_ns = clock_now_ns();
    gpu_pool_init(&g->pool, (gpu_block_source){g, alloc_block, free_block},
                  g->soft.base.info.memory_bytes, options->debug);
    pthread_mutex_init(&g->own_mutex, NULL);
    g->own.base.device = &g->soft;
    g->has_own = functions->queue_open(g, &g->own, st);
    if (!g->has_own)
        gpu_device_release(g);
    return g->has_own;
}

void gpu_device_release(gpu_device *g) {
    if (g->has_own)
        close_queue(g, &g->own);
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
