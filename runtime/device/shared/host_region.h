/* host_region.h - allocations that share huge pages: a model's weights of 1 MiB each lie in pages
 * of 2 MiB, and a read of them needs a 512th of the address translations. */
#ifndef TESSERA_RUNTIME_HOST_REGION_H
#define TESSERA_RUNTIME_HOST_REGION_H

#include <stdbool.h>
#include <stddef.h>

/* Regions have 32 MiB; an allocation takes parts of 64 KiB of one. */
bool host_region_holds(size_t size_bytes); /* 256 KiB up to 4 MiB */
/* Aligned to 64 KiB, contents undefined; NULL: no memory. Any thread may call. */
void *host_region_alloc(size_t size_bytes);
/* With the size that it was allocated with. A region without allocations goes back to the system,
 * except one. */
void host_region_free(void *data, size_t size_bytes);

/* Memory of its own, aligned to 2 MiB, with huge pages asked for, contents undefined; the size is a
 * multiple of 2 MiB, and becomes that which there is. NULL: no memory. */
void *host_region_map(size_t *size_bytes);
/* With that size. Up to 256 MiB of such blocks are kept, and used again. */
void host_region_unmap(void *start, size_t size_bytes);

/* Another bound than 256 MiB, for all devices of the process whose memory is the host's. */
void host_region_keep(size_t size_bytes);
/* Takes so much of the system now, with all its pages, where less of it is left from before: what
 * host_region_map and regions take first. False: no memory. */
bool host_region_fill(size_t size_bytes);

#endif
