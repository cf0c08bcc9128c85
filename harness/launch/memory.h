/* memory.h - memory of a device with a view of it that the host reads and writes: the memory itself
 * where the host can reach it, else a copy that is sent and fetched. */
#ifndef TESSERA_HARNESS_LAUNCH_MEMORY_H
#define TESSERA_HARNESS_LAUNCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "tessera/tessera.h"

typedef struct launch_memory {
    tsr_context_t context; /* borrowed */
    void *device;          /* the address that kernels are given */
    unsigned char *view;
    size_t size_bytes;
    bool copied; /* the view is a copy, owned */
} launch_memory;

/* launch_memory_close in any case. */
bool launch_memory_open(launch_memory *m, tsr_context_t context, size_t size_bytes, status *st);
void launch_memory_close(launch_memory *m);
/* From the view to the device, and back; nothing to do where they are one. */
bool launch_memory_send(const launch_memory *m, size_t offset, size_t bytes, status *st);
bool launch_memory_fetch(const launch_memory *m, size_t offset, size_t bytes, status *st);

#endif
