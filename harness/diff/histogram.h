/* histogram.h - how far apart elements are: counts by distance in units in the last place.
 *
 * Bucket 0 holds what differs at a distance of 0 (+0 and -0), bucket 1 distance 1, bucket k
 * distances in (2^(k-2), 2^(k-1)] up to 2^24; the last three are what lies beyond, floats of
 * different sign, and a NaN against a number. Elements that are equal are in none. */
#ifndef TESSERA_HARNESS_DIFF_HISTOGRAM_H
#define TESSERA_HARNESS_DIFF_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/text.h"

enum {
    HISTOGRAM_BEYOND = 26, /* more than 2^24 */
    HISTOGRAM_SIGN,
    HISTOGRAM_NAN,
    HISTOGRAM_BUCKETS
};

/* The bucket of two elements whose bits differ; `ulp` is their dtype_ulp_distance. */
int histogram_bucket(dtype type, uint64_t a_bits, uint64_t b_bits, uint64_t ulp);
/* "0", "1", "2", "3-4", ..., ">2^24", "sign", "NaN". */
void histogram_label(int bucket, text *out);
/* One line for each bucket between the first and the last that count something, the bars on a
 * linear scale; nothing counted: nothing drawn. */
void histogram_draw(const uint64_t counts[HISTOGRAM_BUCKETS], bool is_float, text *out);

bool histogram_is_nan(dtype type, uint64_t bits);

#endif
