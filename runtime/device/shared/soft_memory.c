/* soft_memory.c - the memory of devices that work in that of the process. */
#include <stdlib.h>

#include "base/arena.h"
#include "device/shared/host_memory.h"
#include "device/shared/soft.h"

typedef struct soft_allocation {
    device_memory base;
    host_memory memory;
} soft_allocation;

bool soft_alloc(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
                status *st) {
    host_memory memory;
    if (!host_memory_map(size_bytes, ((soft_device *)d)->options.debug, &memory, st))
        return false;
    soft_allocation *a = base_malloc(sizeof *a);
    *a = (soft_allocation){{memory.data, size_bytes, kind}, memory};
    *memory_out = &a->base;
    return true;
}

void soft_free(device *d, device_memory *memory) {
    (void)d;
    host_memory_unmap(&((soft_allocation *)memory)->memory);
    free(memory);
}

bool soft_intact(device *d, const device_memory *memory, status *st) {
    (void)d;
    return host_memory_intact(&((const soft_allocation *)memory)->memory, st);
}

bool soft_map(device *d, device_memory *memory, void **host_out, status *st) {
    (void)d, (void)st;
    *host_out = memory->address;
    return true;
}

void soft_unmap(device *d, device_memory *memory) {
    (void)d, (void)memory; /* the host reaches it at all times */
}
