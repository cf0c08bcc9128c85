/* host_memory.c - see host_memory.h.
 *
 * A guarded allocation: [no access][canary ... data, padded to 64 with canary][no access]. The data
 * ends at the guard, so overruns beyond the padding fault at the very instruction; smaller ones are
 * seen in the canary, and so is whatever is written between the start of the page and the data. */
#include "device/shared/host_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/shared/host_region.h"

enum { ALIGNMENT = 64, CANARY_BEFORE = 64, CANARY = 0xA5 };
static const size_t page_bytes = 4096, huge_page_bytes = (size_t)2 << 20,
                    large_bytes = (size_t)4 << 20;

static size_t round_up(size_t n, size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static bool no_memory(size_t size_bytes, status *st) {
    return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for an allocation of %zu bytes",
                      size_bytes);
}

static void *map_pages(size_t size_bytes, int protection) {
    void *p = mmap(NULL, size_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool map_large(host_memory *m, status *st) {
    size_t mapped = round_up(m->size_bytes, huge_page_bytes);
    m->data = m->base = host_region_map(&mapped);
    m->mapped_bytes = m->base ? mapped : 0;
    return m->base || no_memory(m->size_bytes, st);
}

/* The pages between the guards. */
static bool open_inside(unsigned char *start, size_t bytes, bool shared) {
    const int access = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    return shared ? mmap(start, bytes, access, how, -1, 0) != MAP_FAILED
                  : mprotect(start, bytes, access) == 0;
}

static bool map_guarded(host_memory *m, bool shared, status *st) {
    size_t padded = round_up(m->size_bytes, ALIGNMENT),
           inside = round_up(padded + CANARY_BEFORE, page_bytes);
    m->mapped_bytes = inside + 2 * page_bytes;
    unsigned char *start = map_pages(m->mapped_bytes, PROT_NONE);
    if (!start)
        return no_memory(m->size_bytes, st);
    if (!open_inside(start + page_bytes, inside, shared)) {
        munmap(start, m->mapped_bytes);
        return no_memory(m->size_bytes, st);
    }
    m->base = start;
    m->data = start + page_bytes + inside - padded;
    memset(start + page_bytes, CANARY, inside - padded);
    memset(m->data + m->size_bytes, CANARY, padded - m->size_bytes);
    return true;
}

bool host_memory_map(size_t size_bytes, bool guarded, host_memory *memory_out, status *st) {
    *memory_out = (host_memory){.size_bytes = size_bytes, .guarded = guarded};
    if (size_bytes > SIZE_MAX / 2)
        return no_memory(size_bytes, st);
    if (guarded)
        return map_guarded(memory_out, false, st);
    if (size_bytes >= large_bytes)
        return map_large(memory_out, st);
    size_t padded = round_up(size_bytes ? size_bytes : 1, ALIGNMENT);
    memory_out->base = host_region_holds(size_bytes) ? host_region_alloc(size_bytes)
                                                     : aligned_alloc(ALIGNMENT, padded);
    memory_out->data = memory_out->base;
    return memory_out->data || no_memory(size_bytes, st);
}

bool host_memory_map_shared(size_t size_bytes, host_memory *memory_out, status *st) {
    *memory_out = (host_memory){.size_bytes = size_bytes, .guarded = true};
    if (size_bytes > SIZE_MAX / 2)
        return no_memory(size_bytes, st);
    return map_guarded(memory_out, true, st);
}

bool host_memory_keep(const device_pools *pools, status *st) {
    if (pools->bounded)
        host_region_keep((size_t)pools->kept_bytes);
    return pools->filled_bytes == 0 || host_region_fill((size_t)pools->filled_bytes) ||
           no_memory((size_t)pools->filled_bytes, st);
}

void host_memory_inside(const host_memory *memory, unsigned char **start_out, size_t *bytes_out) {
    *start_out = (unsigned char *)memory->base + page_bytes;
    *bytes_out = memory->mapped_bytes - 2 * page_bytes;
}

void host_memory_unmap(host_memory *memory) {
    if (memory->mapped_bytes && memory->guarded)
        munmap(memory->base, memory->mapped_bytes);
    else if (memory->mapped_bytes)
        host_region_unmap(memory->base, memory->mapped_bytes);
    else if (memory->base && host_region_holds(memory->size_bytes))
        host_region_free(memory->base, memory->size_bytes);
    else
        free(memory->base);
    *memory = (host_memory){0};
}

static bool all_canary(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != CANARY)
            return false;
    return true;
}

bool host_memory_intact(const host_memory *memory, status *st) {
    if (!memory->guarded)
        return true;
    unsigned char *before = (unsigned char *)memory->base + page_bytes,
                  *after = memory->data + memory->size_bytes;
    size_t slack = (size_t)(memory->data - before),
           padding = round_up(memory->size_bytes, ALIGNMENT) - memory->size_bytes;
    bool sound_before = all_canary(before, slack), sound_after = all_canary(after, padding);
    if (sound_before && sound_after)
        return true;
    memset(before, CANARY, slack);
    memset(after, CANARY, padding);
    return status_set(st, STATUS_INTERNAL, "bytes %s its %zu were overwritten",
                      sound_before ? "after" : "before", memory->size_bytes);
}
