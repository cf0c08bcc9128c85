/* cache_size.h - how large this machine's data caches are. */
#ifndef TESSERA_HARNESS_MEASURE_CACHE_SIZE_H
#define TESSERA_HARNESS_MEASURE_CACHE_SIZE_H

#include <stdint.h>

/* Bytes of one instance of the data or unified cache at `level` (1 to 3), as the kernel describes
 * the first CPU under `directory` ("/sys/devices/system/cpu/cpu0/cache"); 0 where it does not. */
uint64_t cache_size_in(const char *directory, int level);
/* That of this machine, or what the C library knows, or a common size. */
uint64_t cache_size(int level);

#endif
