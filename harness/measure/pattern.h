/* pattern.h - memory filled with one 64-bit word over and over, and the question whether it still
 * is. Of a random word nobody writes it by chance. */
#ifndef TESSERA_HARNESS_MEASURE_PATTERN_H
#define TESSERA_HARNESS_MEASURE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

void pattern_fill(void *data, size_t size_bytes, uint64_t word);
/* Index of the first byte that is not the pattern's; `size_bytes` where there is none. */
size_t pattern_broken_at(const void *data, size_t size_bytes, uint64_t word);
/* Counts the whole words that are the pattern's. */
size_t pattern_words_left(const void *data, size_t size_bytes, uint64_t word);

#endif
