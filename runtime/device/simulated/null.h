/* null.h - the null driver's record of what it was asked to do; for tests of everything above the
 * drivers. */
#ifndef TESSERA_RUNTIME_NULL_H
#define TESSERA_RUNTIME_NULL_H

#include "device/device.h"

typedef struct null_launch {
    uint32_t phases;
    int64_t workgroups; /* of the first phase */
    const void *first_buffer;
} null_launch;

/* The last dispatches on `d` (at most 64 are kept), oldest first; returns how many. */
size_t null_launches(device *d, null_launch *out, size_t capacity);

#endif
