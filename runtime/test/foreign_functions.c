/* foreign_functions.c - what the guest of test_foreign.c calls: 100 floats in, 100 out. */
#include <stdlib.h>
#include <unistd.h>

#include "tessera/implementation.h"

#define FUNCTION(name)                                                                             \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    int name(DLTensor *const *t, int32_t count)

enum { CELLS = 100 };

FUNCTION(plus_one) {
    const float *a = t[0]->data;
    float *out = t[1]->data;
    for (int i = 0; i < CELLS && count == 2; i++)
        out[i] = a[i] + 1;
    return 0;
}

/* Reads what the call before wrote, and is slow about it. */
FUNCTION(slow_plus_one) {
    usleep(2000);
    return plus_one(t, count);
}

FUNCTION(refuses) {
    (void)t, (void)count;
    return TSR_IMPLEMENTATION_UNSUPPORTED;
}

FUNCTION(falls) {
    (void)t, (void)count;
    abort();
}

FUNCTION(sleeps) {
    (void)t, (void)count;
    for (;;)
        pause();
}

FUNCTION(runs_over) {
    ((float *)t[1]->data)[CELLS + 12] = 1; /* rounded up to 64 bytes there are 112 */
    return plus_one(t, count);
}

FUNCTION(threads) {
    const char *words = getenv("OMP_NUM_THREADS"); // NOLINT(concurrency-mt-unsafe)
    *(float *)t[1]->data = words ? (float)atoi(words) : -1;
    return count == 2 ? 0 : 1;
}
