/* digest64.h - a fast 64-bit hash of memory, for telling tensors apart many times a second.
 *
 * Folded 64x64-bit products over three lanes (the construction of wyhash, Wang Yi 2019, with keys
 * of our own). Not cryptographic: two tensors that differ have the same digest with a chance of
 * about 2^-64 as long as nobody chooses them for that. The same bytes give the same digest on every
 * machine and in every build, whatever their alignment. */
#ifndef TESSERA_HARNESS_MEASURE_DIGEST64_H
#define TESSERA_HARNESS_MEASURE_DIGEST64_H

#include <stddef.h>
#include <stdint.h>

uint64_t digest64(uint64_t key, const void *data, size_t size_bytes);

#endif
