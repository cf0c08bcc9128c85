/* align.h - two sequences, element by element: the longest common subsequence (Myers, "An O(ND)
 * difference algorithm and its variations", 1986). */
#ifndef TESSERA_HARNESS_DIFF_ALIGN_H
#define TESSERA_HARNESS_DIFF_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGN_NONE SIZE_MAX

/* Elements are equal where their numbers are; partner[i] becomes the index in `b` of the partner of
 * a[i], or ALIGN_NONE. Partners rise. False: the sequences differ in too many places for the
 * longest; a long one was found, each element with the next that is free. */
bool align_sequences(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     size_t *partner);

#endif
