/* cache_evict.h - takes memory out of the caches. */
#ifndef TESSERA_HARNESS_MEASURE_CACHE_EVICT_H
#define TESSERA_HARNESS_MEASURE_CACHE_EVICT_H

#include <stddef.h>

/* Puts all that lies there out of every core's caches, and leaves the memory as it was: line by
 * line (x86-64's CLFLUSH, which invalidates a line everywhere), elsewhere by reading and writing
 * more than the last cache holds. */
void cache_evict(const void *data, size_t size_bytes);

#endif
