/* cache_evict.c - see cache_evict.h. */
#include "measure/cache_evict.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <emmintrin.h>

enum { LINE_BYTES = 64 };

void cache_evict(const void *data, size_t size_bytes) {
    const uintptr_t begin = (uintptr_t)data / LINE_BYTES * LINE_BYTES,
                    end = (uintptr_t)data + size_bytes;
    for (uintptr_t line = begin; line < end; line += LINE_BYTES)
        _mm_clflush((const void *)line);
    _mm_mfence();
}
#else
#include "measure/cache_size.h"

enum { LAST_LEVEL = 3 };

void cache_evict(const void *data, size_t size_bytes) {
    static volatile unsigned char *other;
    const size_t room = 2 * (size_t)cache_size(LAST_LEVEL);
    (void)data;
    if (!other)
        other = calloc(1, room);
    for (size_t i = 0; size_bytes && other && i < room; i += 32)
        other[i]++;
}
#endif
