/* elements.h - two arrays of elements in memory, compared bit for bit on all cores.
 *
 * A first pass over blocks looks for any difference at all, at the speed of memory; only a block
 * that has one is looked at element by element. A NaN equals any NaN; pairs of NaN with other bits
 * are counted by themselves. */
#ifndef TESSERA_HARNESS_DIFF_ELEMENTS_H
#define TESSERA_HARNESS_DIFF_ELEMENTS_H

#include <stdint.h>

#include "base/tensor.h"
#include "diff/histogram.h"

typedef struct element_diff {
    int64_t count, differing;
    int64_t nan_payloads;      /* pairs of NaN whose bits differ; not in `differing` */
    int64_t first;             /* flat index of the first difference, -1: none */
    uint64_t first_a, first_b; /* its bits */
    uint64_t max_ulp;          /* of pairs of numbers; integers: |a - b| */
    int64_t max_ulp_at;        /* flat index, -1: no such pair */
    int64_t infinite;          /* pairs of which |a - b| is infinite: an infinity meets a number or
                                  the other one, or f64 cannot hold it */
    double max_absolute;       /* greatest |a - b| of all other pairs of numbers */
    uint64_t histogram[HISTOGRAM_BUCKETS];
} element_diff;

/* `a` and `b` hold `count` elements each; no alignment is asked for. */
void elements_diff(dtype type, const void *a, const void *b, int64_t count, element_diff *out);

/* The indices of a flat one, row-major. Empty for rank 0. */
void elements_index(int rank, const int64_t *dims, int64_t flat, int64_t index[TENSOR_MAX_RANK]);

#endif
