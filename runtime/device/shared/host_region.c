/* host_region.c - see host_region.h. First fit: a region has a bit for each of its parts. */
#include "device/shared/host_region.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PARTS = 512 };
static const size_t part_bytes = (size_t)64 << 10, region_bytes = PARTS * ((size_t)64 << 10),
                    huge_page_bytes = (size_t)2 << 20, smallest_bytes = (size_t)256 << 10,
                    large_bytes = (size_t)4 << 20;

typedef struct region {
    struct region *next;
    unsigned char *start;
    bool used[PARTS];
    uint32_t free_parts;
} region;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static region *regions;

bool host_region_holds(size_t size_bytes) {
    return size_bytes >= smallest_bytes && size_bytes < large_bytes;
}

static uint32_t parts_of(size_t size_bytes) {
    return (uint32_t)((size_bytes + part_bytes - 1) / part_bytes);
}

/* ---- mappings ---- */

/* Blocks that were given back, the oldest first: their pages are there already, where a page of a
 * new one has to be found and cleared. */
enum { KEPT_MOST = 8 };
static size_t kept_bytes = (size_t)256 << 20; /* under the mutex */
static struct {
    unsigned char *start;
    size_t size_bytes;
} kept[KEPT_MOST];
static size_t kept_count;

static void *take_kept(size_t i) {
    void *start = kept[i].start;
    kept_count--;
    memmove(kept + i, kept + i + 1, (kept_count - i) * sizeof *kept);
    return start;
}

/* The first block that is no more than an eighth too large; NULL: there is none. */
static void *find_kept(size_t *size_bytes) {
    void *found = NULL;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < kept_count && !found; i++)
        if (kept[i].size_bytes >= *size_bytes &&
            kept[i].size_bytes - *size_bytes <= *size_bytes / 8) {
            *size_bytes = kept[i].size_bytes;
            found = take_kept(i);
        }
    pthread_mutex_unlock(&mutex);
    return found;
}

/* Gives the oldest ones back to the system, until so many bytes and one place are left. The mutex
 * is held. */
static void make_place(size_t size_bytes) {
    size_t all = size_bytes;
    for (size_t i = 0; i < kept_count; i++)
        all += kept[i].size_bytes;
    while (kept_count > 0 && (all > kept_bytes || kept_count == KEPT_MOST)) {
        const size_t oldest = kept[0].size_bytes;
        munmap(take_kept(0), oldest);
        all -= oldest;
    }
}

/* Memory that was filled and has not been taken; under the mutex. */
static struct {
    unsigned char *start;
    size_t size_bytes;
} filled;

/* From the start of what was filled; NULL: it has not so much. The mutex is held. */
static void *take_filled(size_t size_bytes) {
    unsigned char *start = filled.start;
    if (filled.size_bytes < size_bytes)
        return NULL;
    filled.start += size_bytes;
    filled.size_bytes -= size_bytes;
    return start;
}

/* Maps more than needed and returns the ends, since mmap knows no alignment. */
static void *map_aligned(size_t size_bytes) {
    const size_t total = size_bytes + huge_page_bytes;
    unsigned char *start =
        mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)start % huge_page_bytes;
    if (before)
        munmap(start, before);
    if (total - before > size_bytes)
        munmap(start + before + size_bytes, total - before - size_bytes);
    /* Advice: an old kernel's refusal changes speed alone. */
    (void)madvise(start + before, size_bytes, MADV_HUGEPAGE);
    return start + before;
}

void *host_region_map(size_t *size_bytes) {
    void *found = find_kept(size_bytes);
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = take_filled(*size_bytes);
        pthread_mutex_unlock(&mutex);
    }
    if (!found)
        found = map_aligned(*size_bytes);
    if (!found) {
        pthread_mutex_lock(&mutex);
        make_place(kept_bytes + 1);
        pthread_mutex_unlock(&mutex);
        found = map_aligned(*size_bytes);
    }
    return found;
}

void host_region_unmap(void *start, size_t size_bytes) {
    pthread_mutex_lock(&mutex);
    const bool keeps = size_bytes <= kept_bytes;
    if (keeps) {
        make_place(size_bytes);
        kept[kept_count].start = start;
        kept[kept_count].size_bytes = size_bytes;
        kept_count++;
    }
    pthread_mutex_unlock(&mutex);
    if (!keeps)
        munmap(start, size_bytes);
}

void host_region_keep(size_t size_bytes) {
    pthread_mutex_lock(&mutex);
    kept_bytes = size_bytes;
    make_place(0);
    pthread_mutex_unlock(&mutex);
}

bool host_region_fill(size_t size_bytes) {
    const size_t wanted = (size_bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    pthread_mutex_lock(&mutex);
    if (filled.size_bytes < wanted) {
        if (filled.size_bytes)
            munmap(filled.start, filled.size_bytes);
        filled.start = map_aligned(wanted);
        filled.size_bytes = filled.start ? wanted : 0;
        if (filled.start)
            memset(filled.start, 0, wanted); /* each page is found and cleared now */
    }
    const bool ok = filled.size_bytes >= wanted;
    pthread_mutex_unlock(&mutex);
    return ok;
}

/* ---- regions ---- */

static region *add_region(void) {
    region *r = calloc(1, sizeof *r);
    unsigned char *start = r ? take_filled(region_bytes) : NULL;
    if (r && !start)
        start = map_aligned(region_bytes);
    if (!start) {
        free(r);
        return NULL;
    }
    *r = (region){.next = regions, .start = start, .free_parts = PARTS};
    regions = r;
    return r;
}

/* The first of so many free parts in a row; PARTS: there are none. */
static uint32_t find_run(const region *r, uint32_t count) {
    uint32_t run = 0;
    for (uint32_t at = 0; at < PARTS && r->free_parts >= count; at++) {
        run = r->used[at] ? 0 : run + 1;
        if (run == count)
            return at + 1 - count;
    }
    return PARTS;
}

static void mark(region *r, uint32_t first, uint32_t count, bool used) {
    for (uint32_t at = first; at < first + count; at++)
        r->used[at] = used;
    r->free_parts += used ? -count : count;
}

void *host_region_alloc(size_t size_bytes) {
    const uint32_t count = parts_of(size_bytes);
    uint32_t first = PARTS;
    pthread_mutex_lock(&mutex);
    region *r = regions;
    while (r && (first = find_run(r, count)) == PARTS)
        r = r->next;
    if (!r && (r = add_region()))
        first = 0;
    if (r)
        mark(r, first, count, true);
    pthread_mutex_unlock(&mutex);
    return r ? r->start + first * part_bytes : NULL;
}

static bool another_is_empty(const region *r) {
    for (const region *other = regions; other; other = other->next)
        if (other != r && other->free_parts == PARTS)
            return true;
    return false;
}

void host_region_free(void *data, size_t size_bytes) {
    region **at = &regions, *gone = NULL;
    pthread_mutex_lock(&mutex);
    while ((size_t)((unsigned char *)data - (*at)->start) >= region_bytes)
        at = &(*at)->next;
    region *r = *at;
    const size_t offset = (size_t)((unsigned char *)data - r->start);
    mark(r, (uint32_t)(offset / part_bytes), parts_of(size_bytes), false);
    if (r->free_parts == PARTS && another_is_empty(r)) {
        *at = r->next;
        gone = r;
    }
    pthread_mutex_unlock(&mutex);
    if (gone)
        munmap(gone->start, region_bytes);
    free(gone);
}
