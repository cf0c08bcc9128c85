/* host_memory.h - host allocations: small, large (huge pages) and guarded (canaries and guard
 * pages). */
#ifndef TESSERA_RUNTIME_HOST_MEMORY_H
#define TESSERA_RUNTIME_HOST_MEMORY_H

#include "device/device.h"

/* Data is aligned to 64 bytes; from 4 MiB on to 2 MiB, with huge pages asked for. A guarded
 * allocation ends right before a PROT_NONE page (but for padding to 64 bytes), and is preceded by
 * one. Contents are undefined. */
bool host_memory_map(size_t size_bytes, bool guarded, device_memory *memory_out, status *st);
void host_memory_unmap(device_memory *memory);
/* Whether the canary bytes around guarded data are whole; if not, says where and mends them. */
bool host_memory_intact(const device_memory *memory, status *st);

#endif
