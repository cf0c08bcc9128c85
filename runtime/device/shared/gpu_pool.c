/* gpu_pool.c - see gpu_pool.h.
 *
 * A chunk is a block of the driver; its ranges, used and free, lie side by side in a list, and no
 * two free ones are neighbours. Free ranges are in bins by their size, four to each power of 2. */
#include "device/shared/gpu_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { SMALL_MOST = 1 << 20, CHUNK_LEAST = 2 << 20, CHUNK_MOST = 32 << 20 };
enum { DEVICE_SHARE = 16, HOST_KEPT = 256 << 20 };

struct gpu_range {
    gpu_chunk *chunk;
    size_t offset, size_bytes;
    bool used;
    gpu_range *before, *after;       /* in the chunk */
    gpu_range *free_next, **free_at; /* in its bin */
};

struct gpu_chunk {
    gpu_block block;
    gpu_chunk *next, **at; /* of the pool */
    device_memory_kind kind;
    bool large;
    gpu_range *first;
    size_t bytes; /* of its ranges */
};

/* Pools of the process, so that one that finds no memory can ask the others. Locked before the lock
 * of a pool. */
static struct {
    pthread_mutex_t mutex;
    gpu_pool *first;
} all = {PTHREAD_MUTEX_INITIALIZER, NULL};

static size_t round_up(size_t bytes) {
    return (bytes + GPU_PIECE_ALIGNMENT - 1) / GPU_PIECE_ALIGNMENT * GPU_PIECE_ALIGNMENT;
}

/* ---- bins; with the lock held ---- */

static gpu_bins *bins_of(gpu_pool *p, device_memory_kind kind, bool large) {
    return &p->bins[2 * (int)kind + large];
}

/* Ranges of a bin differ by less than a quarter. */
static unsigned bin_of(size_t bytes) {
    uint64_t units = bytes / GPU_PIECE_ALIGNMENT;
    unsigned log = 63 - (unsigned)__builtin_clzll(units);
    unsigned quarter = log < 2 ? 0 : (unsigned)(units >> (log - 2) & 3);
    return 4 * log + quarter;
}

static void put_in_bin(gpu_pool *p, gpu_range *r) {
    gpu_bins *bins = bins_of(p, r->chunk->kind, r->chunk->large);
    unsigned bin = bin_of(r->size_bytes);
    r->free_next = bins->first[bin];
    r->free_at = &bins->first[bin];
    if (r->free_next)
        r->free_next->free_at = &r->free_next;
    bins->first[bin] = r;
    bins->filled[bin / 64] |= UINT64_C(1) << bin % 64;
}

static void take_from_bin(gpu_pool *p, gpu_range *r) {
    gpu_bins *bins = bins_of(p, r->chunk->kind, r->chunk->large);
    unsigned bin = bin_of(r->size_bytes);
    *r->free_at = r->free_next;
    if (r->free_next)
        r->free_next->free_at = r->free_at;
    if (!bins->first[bin])
        bins->filled[bin / 64] &= ~(UINT64_C(1) << bin % 64);
}

/* The first bin from `bin` on that has ranges; GPU_BINS: none. */
static unsigned next_filled(const gpu_bins *bins, unsigned bin) {
    for (unsigned word = bin / 64; word < GPU_BINS / 64; word++) {
        uint64_t filled = bins->filled[word];
        if (word == bin / 64)
            filled &= ~UINT64_C(0) << bin % 64;
        if (filled)
            return 64 * word + (unsigned)__builtin_ctzll(filled);
    }
    return GPU_BINS;
}

/* The smallest free range that is large enough. */
static gpu_range *find(const gpu_bins *bins, size_t bytes) {
    gpu_range *best = NULL;
    unsigned bin = next_filled(bins, bin_of(bytes));
    for (; bin < GPU_BINS && !best; bin = next_filled(bins, bin + 1)) {
        for (gpu_range *r = bins->first[bin]; r; r = r->free_next)
            if (r->size_bytes >= bytes && (!best || r->size_bytes < best->size_bytes))
                best = r;
    }
    return best;
}

/* ---- ranges; with the lock held ---- */

static bool is_empty(const gpu_chunk *c) {
    return !c->first->used && !c->first->after;
}

static gpu_range *add_range(gpu_chunk *c, gpu_range *before, size_t offset, size_t bytes) {
    gpu_range *r = base_calloc(1, sizeof *r);
    *r = (gpu_range){.chunk = c, .offset = offset, .size_bytes = bytes, .before = before};
    r->after = before ? before->after : c->first;
    if (r->after)
        r->after->before = r;
    *(before ? &before->after : &c->first) = r;
    return r;
}

static void remove_range(gpu_range *r) {
    *(r->before ? &r->before->after : &r->chunk->first) = r->after;
    if (r->after)
        r->after->before = r->before;
    free(r);
}

/* Uses the beginning of a free range. */
static void use(gpu_pool *p, gpu_range *r, size_t bytes, gpu_piece *out) {
    gpu_chunk *c = r->chunk;
    device_memory_counts *counts = &p->counts[c->kind];
    if (is_empty(c))
        p->spare_bytes[c->kind] -= c->bytes;
    take_from_bin(p, r);
    if (r->size_bytes > bytes) {
        put_in_bin(p, add_range(c, r, r->offset + bytes, r->size_bytes - bytes));
        r->size_bytes = bytes;
    }
    r->used = true;
    counts->used_bytes += bytes;
    counts->allocations++;
    if (counts->used_bytes > counts->used_peak_bytes)
        counts->used_peak_bytes = counts->used_bytes;
    *out = (gpu_piece){.block = &c->block, .offset = r->offset, .size_bytes = bytes, .range = r};
}

/* Makes a range free, and one with free neighbours. */
static void unuse(gpu_pool *p, gpu_range *r) {
    r->used = false;
    p->counts[r->chunk->kind].used_bytes -= r->size_bytes;
    if (r->after && !r->after->used) {
        take_from_bin(p, r->after);
        r->size_bytes += r->after->size_bytes;
        remove_range(r->after);
    }
    if (r->before && !r->before->used) {
        gpu_range *before = r->before;
        take_from_bin(p, before);
        before->size_bytes += r->size_bytes;
        remove_range(r);
        r = before;
    }
    put_in_bin(p, r);
}

/* ---- chunks ---- */

/* Adds a block that the driver gave; with the lock held. */
static gpu_chunk *add_chunk(gpu_pool *p, const gpu_block *block, device_memory_kind kind,
                            bool large) {
    gpu_chunk *c = base_calloc(1, sizeof *c);
    size_t offset = round_up((size_t)block->address) - (size_t)block->address;
    c->block = *block;
    c->block.serial = ++p->serial;
    c->kind = kind;
    c->large = large;
    c->bytes = (block->size_bytes - offset) / GPU_PIECE_ALIGNMENT * GPU_PIECE_ALIGNMENT;
    c->next = p->chunks;
    c->at = &p->chunks;
    if (c->next)
        c->next->at = &c->next;
    p->chunks = c;
    put_in_bin(p, add_range(c, NULL, offset, c->bytes));
    p->spare_bytes[kind] += c->bytes;
    p->counts[kind].held_bytes += block->size_bytes;
    p->counts[kind].blocks++;
    p->counts[kind].blocks_made++;
    return c;
}

/* Unlinks one that is empty: it is in no list any more. With the lock held. */
static void unlink_chunk(gpu_pool *p, gpu_chunk *c) {
    take_from_bin(p, c->first);
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    p->spare_bytes[c->kind] -= c->bytes;
    p->counts[c->kind].held_bytes -= c->block.size_bytes;
    p->counts[c->kind].blocks--;
}

/* Without the lock. */
static void free_chunks(gpu_pool *p, gpu_chunk *c) {
    while (c) {
        gpu_chunk *next = c->next;
        p->source.free(p->source.owner, &c->block);
        free(c->first);
        free(c);
        c = next;
    }
}

void gpu_pool_trim(gpu_pool *p) {
    gpu_chunk *empty = NULL;
    pthread_mutex_lock(&p->mutex);
    for (gpu_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        if (!is_empty(c))
            continue;
        unlink_chunk(p, c);
        c->next = empty;
        empty = c;
    }
    pthread_mutex_unlock(&p->mutex);
    free_chunks(p, empty);
}

static void trim_all(void) {
    pthread_mutex_lock(&all.mutex);
    for (gpu_pool *p = all.first; p; p = p->next)
        gpu_pool_trim(p);
    pthread_mutex_unlock(&all.mutex);
}

/* ---- taking and giving ---- */

static bool ask(const gpu_pool *p, size_t bytes, device_memory_kind kind, gpu_block *out,
                status *st) {
    *st = (status)STATUS_INIT;
    return p->source.alloc(p->source.owner, bytes + GPU_PIECE_ALIGNMENT, kind, out, st);
}

/* A new block with room for the bytes: first one with room for more, at last one that other blocks
 * were given back for. */
static bool make_block(gpu_pool *p, size_t bytes, size_t wished, device_memory_kind kind,
                       gpu_block *out, status *st) {
    status why;
    bool ok = wished > bytes && ask(p, wished, kind, out, &why);
    if (!ok)
        ok = ask(p, bytes, kind, out, &why);
    if (!ok && why.code == STATUS_OUT_OF_MEMORY) {
        trim_all();
        ok = ask(p, bytes, kind, out, &why);
    }
    return ok || status_set(st, why.code, "%s", why.message);
}

/* Blocks grow with what is held. With the lock held. */
static size_t wished_bytes(const gpu_pool *p, device_memory_kind kind, bool large) {
    size_t bytes = CHUNK_LEAST;
    if (large || p->alone)
        return 0;
    while (bytes < CHUNK_MOST && bytes < p->counts[kind].held_bytes / 4)
        bytes *= 2;
    return bytes;
}

bool gpu_pool_take(gpu_pool *p, size_t size_bytes, device_memory_kind kind, gpu_piece *piece_out,
                   status *st) {
    size_t bytes = round_up(size_bytes ? size_bytes : 1);
    bool large = bytes > SMALL_MOST;
    gpu_block block;
    if (bytes < size_bytes)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes", size_bytes);
    pthread_mutex_lock(&p->mutex);
    gpu_range *r = p->alone ? NULL : find(bins_of(p, kind, large), bytes);
    size_t wished = wished_bytes(p, kind, large);
    if (!r) {
        pthread_mutex_unlock(&p->mutex);
        if (!make_block(p, bytes, wished, kind, &block, st))
            return false;
        pthread_mutex_lock(&p->mutex);
        r = add_chunk(p, &block, kind, large)->first;
    }
    use(p, r, bytes, piece_out);
    pthread_mutex_unlock(&p->mutex);
    return true;
}

void gpu_pool_give(gpu_pool *p, gpu_piece *piece) {
    gpu_chunk *released = NULL;
    if (!piece->block)
        return;
    pthread_mutex_lock(&p->mutex);
    gpu_chunk *c = piece->range->chunk;
    unuse(p, piece->range);
    if (is_empty(c)) {
        p->spare_bytes[c->kind] += c->bytes;
        if (p->alone || p->spare_bytes[c->kind] > p->bound_bytes[c->kind]) {
            unlink_chunk(p, c);
            c->next = NULL;
            released = c;
        }
    }
    pthread_mutex_unlock(&p->mutex);
    free_chunks(p, released);
    *piece = (gpu_piece){0};
}

uint64_t gpu_pool_serial(gpu_pool *p) {
    pthread_mutex_lock(&p->mutex);
    const uint64_t serial = ++p->serial;
    pthread_mutex_unlock(&p->mutex);
    return serial;
}

/* ---- pools ---- */

void gpu_pool_init(gpu_pool *p, gpu_block_source source, uint64_t memory_bytes, bool alone) {
    const char *kept = getenv(MEMORY_KEPT);
    p->source = source;
    pthread_mutex_init(&p->mutex, NULL);
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
        uint64_t bound = memory_bytes / DEVICE_SHARE;
        if (kind != DEVICE_MEMORY_DEVICE && bound > HOST_KEPT)
            bound = HOST_KEPT;
        p->bound_bytes[kind] = kept && *kept ? strtoull(kept, NULL, 10) : bound;
    }
    p->alone = alone || p->bound_bytes[DEVICE_MEMORY_DEVICE] == 0;
    pthread_mutex_lock(&all.mutex);
    p->next = all.first;
    all.first = p;
    pthread_mutex_unlock(&all.mutex);
}

bool gpu_pool_keep(gpu_pool *p, const device_pools *pools, status *st) {
    const char *kept = getenv(MEMORY_KEPT);
    gpu_piece piece = {0};
    const bool bounded = pools->bounded && !(kept && *kept);
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT && bounded; kind++)
        p->bound_bytes[kind] = pools->kept_bytes;
    p->alone = p->alone || (bounded && pools->kept_bytes == 0);
    if (pools->filled_bytes == 0 || p->alone)
        return true;
    if (p->bound_bytes[DEVICE_MEMORY_DEVICE] < pools->filled_bytes)
        p->bound_bytes[DEVICE_MEMORY_DEVICE] = pools->filled_bytes;
    if (!gpu_pool_take(p, (size_t)pools->filled_bytes, DEVICE_MEMORY_DEVICE, &piece, st))
        return false;
    gpu_pool_give(p, &piece);
    return true;
}

void gpu_pool_release(gpu_pool *p) {
    pthread_mutex_lock(&all.mutex);
    gpu_pool **at = &all.first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    pthread_mutex_unlock(&all.mutex);
    gpu_pool_trim(p);
    pthread_mutex_destroy(&p->mutex);
}
