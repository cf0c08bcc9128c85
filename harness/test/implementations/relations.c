/* relations.c - sums of rows for test_cli_check.sh: one that its inputs alone decide, and one for
 * each thing that must not. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/implementation.h"

#define FUNCTION(name)                                                                             \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    int name(DLTensor *const *t, int32_t count)

static float sum_of(const float *x, int64_t n, bool backward) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[backward ? n - 1 - i : i];
    return sum;
}

/* Rows from `first` on, every `step`th, backward; the others forward. */
static int sums(DLTensor *const *t, int32_t count, int64_t first, int64_t step) {
    const float *x = t[0]->data;
    float *out = t[1]->data;
    int64_t n = t[0]->shape[1];
    for (int64_t row = 0; row < t[0]->shape[0] && count == 2; row++)
        out[row] = sum_of(x + row * n, n, row >= first && (row - first) % step == 0);
    return count != 2;
}

static int all(DLTensor *const *t, int32_t count, bool backward) {
    return sums(t, count, backward ? 0 : INT64_MAX, 1);
}

FUNCTION(by_nothing) {
    return all(t, count, false);
}

FUNCTION(by_chance) {
    static int calls;
    return all(t, count, calls++ % 2);
}

FUNCTION(by_threads) {
    const char *threads = getenv("OMP_NUM_THREADS"); // NOLINT(concurrency-mt-unsafe)
    return all(t, count, threads && atoi(threads) > 1);
}

FUNCTION(by_place_in_memory) {
    return all(t, count, (uintptr_t)t[0]->data % 4096 != 0);
}

FUNCTION(by_output) {
    unsigned char old;
    memcpy(&old, t[1]->data, 1);
    return all(t, count, old == 0xFF);
}

FUNCTION(by_neighbour) {
    const unsigned char *behind =
        (const unsigned char *)t[0]->data + 4 * t[0]->shape[0] * t[0]->shape[1];
    return all(t, count, *behind == 0xFF);
}

FUNCTION(by_batch) {
    return all(t, count, t[0]->shape[0] > 16);
}

FUNCTION(by_position) {
    return sums(t, count, 1, 2);
}

/* A lane that is masked by multiplying with zero. */
FUNCTION(by_others) {
    int code = all(t, count, false);
    float *out = t[1]->data;
    const float *x = t[0]->data;
    int64_t rows = t[0]->shape[0], n = t[0]->shape[1];
    for (int64_t row = 0; row < rows && n > 0; row++)
        out[row] += 0 * x[(row + 1) % rows * n];
    return code;
}

FUNCTION(by_environment) {
    const char *order = getenv("TEST_ORDER"); // NOLINT(concurrency-mt-unsafe)
    return all(t, count, order && strcmp(order, "backward") == 0);
}
