/* simulated_memory.c - one allocation: the address that all others know, the mapping of the queues,
 * and the one of the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "device/host_memory.h"
#include "device/simulated.h"

typedef struct simulated_allocation {
    device_memory base;
    host_memory queues;    /* guarded */
    unsigned char *facade; /* PROT_NONE */
    unsigned char *host;   /* of mappable memory; PROT_NONE unless it is mapped */
    size_t inside_bytes;   /* of each of these two */
} simulated_allocation;

void *simulated_resolve(device_span span) {
    if (!span.memory)
        return span.address;
    const simulated_allocation *a = (const simulated_allocation *)span.memory;
    return a->queues.data + ((unsigned char *)span.address - (unsigned char *)a->base.address);
}

static size_t offset_in(const simulated_allocation *a) {
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

static bool map_views(simulated_allocation *a, size_t size_bytes, status *st) {
    unsigned char *start;
    bool mappable = a->base.kind != DEVICE_MEMORY_DEVICE;
    if (!(mappable ? host_memory_map_shared(size_bytes, &a->queues, st)
                   : host_memory_map(size_bytes, true, &a->queues, st)))
        return false;
    host_memory_inside(&a->queues, &start, &a->inside_bytes);
    a->facade = map_none(a->inside_bytes);
    a->host = mappable ? map_again(start, a->inside_bytes) : NULL;
    return (a->facade && (a->host || !mappable)) ||
           status_set_errno(st, errno, "mapping %zu bytes of a simulated device", size_bytes);
}

static void unmap_views(simulated_allocation *a) {
    if (a->facade)
        munmap(a->facade, a->inside_bytes);
    if (a->host)
        munmap(a->host, a->inside_bytes);
    host_memory_unmap(&a->queues);
    free(a);
}

bool simulated_alloc(size_t size_bytes, device_memory_kind kind, bool askew,
                     device_memory **memory_out, status *st) {
    simulated_allocation *a = base_calloc(1, sizeof *a);
    a->base = (device_memory){.size_bytes = size_bytes, .kind = kind};
    if (!map_views(a, size_bytes, st)) {
        unmap_views(a);
        return false;
    }
    a->base.address = a->facade + offset_in(a) + (askew ? 32 : 0);
    *memory_out = &a->base;
    return true;
}

void simulated_free(device_memory *memory) {
    unmap_views((simulated_allocation *)memory);
}

bool simulated_intact(const device_memory *memory, status *st) {
    return host_memory_intact(&((const simulated_allocation *)memory)->queues, st);
}

bool simulated_map(device_memory *memory, void **host_out, status *st) {
    simulated_allocation *a = (simulated_allocation *)memory;
    if (!a->host)
        return status_set(st, STATUS_INVALID, "memory of the device alone cannot be mapped");
    if (mprotect(a->host, a->inside_bytes, PROT_READ | PROT_WRITE) != 0)
        return status_set_errno(st, errno, "mapping memory of a simulated device");
    *host_out = a->host + offset_in(a);
    return true;
}

void simulated_unmap(device_memory *memory) {
    simulated_allocation *a = (simulated_allocation *)memory;
    (void)mprotect(a->host, a->inside_bytes, PROT_NONE); /* fewer rights are always granted */
}
