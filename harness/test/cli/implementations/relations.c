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

FUNCTION(leaves_the_last) {
    DLTensor shorter = *t[0];
    int64_t shape[2] = {t[0]->shape[0] - 1, t[0]->shape[1]};
    DLTensor *const tensors[2] = {&shorter, t[1]};
    shorter.shape = shape;
    return all(tensors, count, false);
}

/* ---- what is none of its outputs ---- */

FUNCTION(into_input) {
    int code = all(t, count, false);
    if (t[0]->shape[0] > 0 && t[0]->shape[1] > 0)
        ((float *)t[0]->data)[0] = 0.5f;
    return code;
}

FUNCTION(before_its_beginning) {
    int code = all(t, count, false);
    ((unsigned char *)t[1]->data)[-1] ^= 1;
    return code;
}

FUNCTION(past_its_end) {
    int code = all(t, count, false);
    memset((float *)t[1]->data + t[1]->shape[0] + 2, 0x11, sizeof(float));
    return code;
}

FUNCTION(by_environment) {
    const char *order = getenv("TEST_ORDER"); // NOLINT(concurrency-mt-unsafe)
    return all(t, count, order && strcmp(order, "backward") == 0);
}

/* ---- tensors that lie apart ---- */

static int64_t stride_of(const DLTensor *t, int32_t axis) {
    int64_t stride = 1;
    for (int32_t i = axis + 1; i < t->ndim; i++)
        stride *= t->shape[i];
    return t->strides ? t->strides[axis] : stride;
}

static char *data_of(const DLTensor *t) {
    return (char *)t->data + t->byte_offset;
}

/* Rows forward, of tensors as they lie; `more` bytes are written behind each result. */
static int sums_apart(DLTensor *const *t, int32_t count, int more) {
    for (int64_t row = 0; row < t[0]->shape[0] && count == 2; row++) {
        float sum = 0;
        for (int64_t i = 0; i < t[0]->shape[1]; i++) {
            float x;
            memcpy(&x, data_of(t[0]) + 4 * (row * stride_of(t[0], 0) + i * stride_of(t[0], 1)), 4);
            sum += x;
        }
        char *out = data_of(t[1]) + 4 * row * stride_of(t[1], 0);
        memcpy(out, &sum, 4);
        if (stride_of(t[1], 0) > 1)
            memset(out + 4, 0, (size_t)more);
    }
    return count != 2;
}

FUNCTION(by_strides) { /* adds backward what lies apart */
    if (stride_of(t[0], 1) == 1 && stride_of(t[0], 0) == t[0]->shape[1])
        return sums_apart(t, count, 0);
    int64_t n = t[0]->shape[1], step = stride_of(t[0], 1);
    DLTensor x = *t[0];
    int64_t strides[] = {stride_of(t[0], 0), -step};
    DLTensor *tensors[] = {&x, t[1]};
    x.byte_offset += (uint64_t)(4 * (n - 1) * step);
    x.strides = strides;
    return sums_apart(tensors, count, 0);
}

FUNCTION(into_gaps) {
    return sums_apart(t, count, 1);
}

FUNCTION(as_they_lie) {
    return sums_apart(t, count, 0);
}

FUNCTION(dense_alone) {
    return t[0]->strides ? TSR_IMPLEMENTATION_UNSUPPORTED : sums_apart(t, count, 0);
}

/* ---- what stands in the inputs ---- */

static int has_negative_nan(const DLTensor *x) {
    for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)x->data + 4 * i, 4);
        if (bits > 0xff800000u)
            return 1;
    }
    return 0;
}

FUNCTION(by_payload) {
    return all(t, count, has_negative_nan(t[0]));
}

/* The first elements of each row; what is left out is multiplied by zero, or not read. */
static int partial(DLTensor *const *t, int32_t count, int multiplied) {
    const float *x = t[0]->data;
    const int32_t *lengths = t[1]->data;
    float *out = t[2]->data;
    for (int64_t row = 0; row < t[0]->shape[0] && count == 3; row++) {
        out[row] = 0;
        for (int64_t i = 0; i < t[0]->shape[1]; i++, x++)
            if (multiplied || i < lengths[row])
                out[row] += (i < lengths[row] ? 1.0f : 0.0f) * *x;
    }
    return count != 3;
}

FUNCTION(by_mask) {
    return partial(t, count, 1);
}

FUNCTION(by_what_is_seen) {
    return partial(t, count, 0);
}
