/* cache_evict.h - takes memory out of the caches. */
#ifndef TESSERA_HARNESS_MEASURE_CACHE_EVICT_H
#define TESSERA_HARNESS_MEASURE_CACHE_EVICT_H

#include <stddef.h>

/* What lies there is in no cache of any core afterwards, and in the memory as it was: line by line
 * (x86-64's CLFLUSH, which invalidates a line everywhere), elsewhere by reading and writing more
 * than the last cache holds. */
void cache_evict(const void *data, size_t size_bytes);

#endif
