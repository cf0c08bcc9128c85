/* soft_hidden.c - memory that the queues alone can reach: the address that the program knows, the
 * mapping of the queues, and the one of the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "device/shared/host_memory.h"
#include "device/shared/soft.h"

typedef struct hidden_allocation {
    device_memory base;
    host_memory queues;    /* guarded */
    unsigned char *facade; /* PROT_NONE */
    unsigned char *host;   /* of mappable memory; PROT_NONE unless it is mapped */
    size_t inside_bytes;   /* of each of these two */
} hidden_allocation;

void *soft_hidden_resolve(device_span span) {
    if (!span.memory)
        return span.address;
    const hidden_allocation *a = (const hidden_allocation *)span.memory;
    return a->queues.data + ((unsigned char *)span.address - (unsigned char *)a->base.address);
}

static size_t offset_in(const hidden_allocation *a) {
    unsigned char *start;
    size_t bytes;
    host_memory_inside(&a->queues, &start, &bytes);
    return (size_t)(a->queues.data - start);
}

static void *map_none(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* The same pages at another address, which nobody can touch yet: what mremap does with shared
 * memory whose old size is said to be 0. */
static void *map_again(void *start, size_t bytes) {
    void *p = mremap(start, 0, bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED)
        return NULL;
    (void)mprotect(p, bytes, PROT_NONE); /* fewer rights are always granted */
    return p;
}

static bool map_views(hidden_allocation *a, size_t size_bytes, status *st) {
    unsigned char *start;
    bool mappable = a->base.kind != DEVICE_MEMORY_DEVICE;
    if (!(mappable ? host_memory_map_shared(size_bytes, &a->queues, st)
                   : host_memory_map(size_bytes, true, &a->queues, st)))
        return false;
    host_memory_inside(&a->queues, &start, &a->inside_bytes);
    a->facade = map_none(a->inside_bytes);
    a->host = mappable ? map_again(start, a->inside_bytes) : NULL;
    return (a->facade && (a->host || !mappable)) ||
           status_set_errno(st, errno, "mapping %zu bytes of a device", size_bytes);
}

static void unmap_views(hidden_allocation *a) {
    if (a->facade)
        munmap(a->facade, a->inside_bytes);
    if (a->host)
        munmap(a->host, a->inside_bytes);
    host_memory_unmap(&a->queues);
    free(a);
}

bool soft_hidden_make(size_t size_bytes, device_memory_kind kind, size_t skew_bytes,
                      device_memory **memory_out, status *st) {
    hidden_allocation *a = base_calloc(1, sizeof *a);
    a->base = (device_memory){.size_bytes = size_bytes, .kind = kind};
    if (!map_views(a, size_bytes, st)) {
        unmap_views(a);
        return false;
    }
    a->base.address = a->facade + offset_in(a) + skew_bytes;
    *memory_out = &a->base;
    return true;
}

bool soft_hidden_alloc(device *d, size_t size_bytes, device_memory_kind kind,
                       device_memory **memory_out, status *st) {
    if (size_bytes > d->info.memory_bytes)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes on device '%s'",
                          size_bytes, d->info.name);
    return soft_hidden_make(size_bytes, kind, 0, memory_out, st);
}

void soft_hidden_free(device *d, device_memory *memory) {
    (void)d;
    unmap_views((hidden_allocation *)memory);
}

bool soft_hidden_intact(device *d, const device_memory *memory, status *st) {
    (void)d;
    return host_memory_intact(&((const hidden_allocation *)memory)->queues, st);
}

bool soft_hidden_map(device *d, device_memory *memory, void **host_out, status *st) {
    (void)d;
    hidden_allocation *a = (hidden_allocation *)memory;
    if (!a->host)
        return status_set(st, STATUS_INVALID, "memory of the device alone cannot be mapped");
    if (mprotect(a->host, a->inside_bytes, PROT_READ | PROT_WRITE) != 0)
        return status_set_errno(st, errno, "mapping memory of a device");
    *host_out = a->host + offset_in(a);
    return true;
}

void soft_hidden_unmap(device *d, device_memory *memory) {
    (void)d;
    hidden_allocation *a = (hidden_allocation *)memory;
    (void)mprotect(a->host, a->inside_bytes, PROT_NONE); /* fewer rights are always granted */
}
