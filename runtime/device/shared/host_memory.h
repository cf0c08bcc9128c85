/* host_memory.h - host allocations: small, large (huge pages of their own or shared) and guarded
 * (canaries and guard pages). */
#ifndef TESSERA_RUNTIME_HOST_MEMORY_H
#define TESSERA_RUNTIME_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "device/device_pools.h"

/* `base` and `mapped_bytes`: what was mapped, guard pages and all; 0 bytes: it is from malloc
 * or, by its size, in a region (host_region.h). */
typedef struct host_memory {
    unsigned char *data;
    size_t size_bytes;
    void *base;
    size_t mapped_bytes;
    bool guarded;
} host_memory;

/* Data is aligned to 64 bytes; from 4 MiB on to 2 MiB, with huge pages asked for, which smaller
 * ones share from 256 KiB on. A guarded allocation ends right before a PROT_NONE page (but for
 * padding to 64 bytes), and is preceded by one. Contents are undefined. */
bool host_memory_map(size_t size_bytes, bool guarded, host_memory *memory_out, status *st);
/* Guarded memory whose pages between the guards can be mapped again (MAP_SHARED). */
bool host_memory_map_shared(size_t size_bytes, host_memory *memory_out, status *st);
/* Sets how much of it the process keeps at hand, of all devices whose memory it is. */
bool host_memory_keep(const device_pools *pools, status *st);
void host_memory_unmap(host_memory *memory); /* does nothing for a zeroed one */
/* The file's pages: where they begin in the mapping, and their bytes. */
void host_memory_inside(const host_memory *memory, unsigned char **start_out, size_t *bytes_out);
/* Checks the canary bytes around guarded data; if they are not whole, says where and mends them. */
bool host_memory_intact(const host_memory *memory, status *st);

#endif
