/* thresholds.h - the sizes at which the scheduler changes its mind, for fuzzers that look around
 * them. */
#ifndef TESSERA_THRESHOLDS_H
#define TESSERA_THRESHOLDS_H

#include <stdint.h>

/* A size at which the scheduler, or what it makes code from, changes its mind: on one side of it,
 * or at it, kernels take another way than on the other (parameters/thresholds.def). */
typedef enum compiler_threshold_of {
    COMPILER_THRESHOLD_BYTES,           /* of what one phase reads or writes, or of a block */
    COMPILER_THRESHOLD_LENGTH,          /* elements along an axis, or along several as one */
    COMPILER_THRESHOLD_VECTORS,         /* ... in vectors of the target */
    COMPILER_THRESHOLD_ROWS,            /* of a contraction's left side: m */
    COMPILER_THRESHOLD_COLUMNS,         /* of its right side: n */
    COMPILER_THRESHOLD_DEPTH,           /* what it adds: k */
    COMPILER_THRESHOLD_LEFT,            /* m * k */
    COMPILER_THRESHOLD_RIGHT,           /* k * n */
    COMPILER_THRESHOLD_RIGHT_ROW_BYTES, /* n times an element's size */
    COMPILER_THRESHOLD_MULTIPLICATIONS  /* m * n * k */
} compiler_threshold_of;
typedef struct compiler_threshold {
    const char *name;
    compiler_threshold_of of;
    int64_t value;
    const char *summary;
} compiler_threshold;
/* All of them; returns the count. */
uint32_t compiler_thresholds(const compiler_threshold **list);

#endif
