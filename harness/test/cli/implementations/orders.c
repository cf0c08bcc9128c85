/* orders.c - products for test_cli_found_order.sh, whose sums are added in orders that have no
 * name; and two that no order describes. */
#include <math.h>
#include <stdint.h>

#include "tessera/implementation.h"

typedef float (*sum_fn)(const float *x, const float *y, int64_t k, int64_t stride);

/* x[M, K] by y[K, N], each element by itself; the last column may have another sum. */
static int product(DLTensor *const *t, int32_t count, sum_fn sum, sum_fn last) {
    const float *x = t[0]->data, *y = t[1]->data;
    float *out = t[2]->data;
    int64_t m = t[0]->shape[0], k = t[0]->shape[1], n = t[1]->shape[1];
    for (int64_t i = 0; i < m * n && count == 3; i++)
        out[i] = (i % n == n - 1 ? last : sum)(x + i / n * k, y + i % n, k, n);
    return count != 3;
}

static float chain(const float *x, const float *y, int64_t k, int64_t stride) {
    float sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum = fmaf(x[i], y[i * stride], sum);
    return sum;
}

static float rounded_backward(const float *x, const float *y, int64_t k, int64_t stride) {
    float sum = 0;
    while (k-- > 0)
        sum += x[k] * y[k * stride];
    return sum;
}

/* Four lanes by fma, joined as ((0+1)+(2+3)); what fills no whole step follows: the first of it by
 * fma, the others as rounded products. */
static float lanes(const float *x, const float *y, int64_t k, int64_t stride) {
    float lane[4] = {0};
    int64_t whole = k - k % 4;
    for (int64_t i = 0; i < whole; i++)
        lane[i % 4] = fmaf(x[i], y[i * stride], lane[i % 4]);
    float sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    for (int64_t i = whole; i < k; i++)
        sum = i == whole ? fmaf(x[i], y[i * stride], sum) : sum + x[i] * y[i * stride];
    return sum;
}

static float blocks_of_lanes(const float *x, const float *y, int64_t k, int64_t stride) {
    float sum = 0;
    for (int64_t at = 0; at < k; at += 38)
        sum += lanes(x + at, y + at * stride, k - at < 38 ? k - at : 38, stride);
    return sum;
}

static float in_double(const float *x, const float *y, int64_t k, int64_t stride) {
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += (double)x[i] * (double)y[i * stride];
    return (float)sum;
}

/* Products are rounded, and then added in f64. */
static float rounded_in_double(const float *x, const float *y, int64_t k, int64_t stride) {
    double sum = 0;
    for (int64_t i = 0; i < k; i++) {
        float xy = x[i] * y[i * stride];
        sum += (double)xy;
    }
    return (float)sum;
}

/* No numbers of a probe are below 1 and above 2^-24. */
static float by_values(const float *x, const float *y, int64_t k, int64_t stride) {
    float sum = chain(x, y, k, stride);
    return fabsf(x[0]) < 1 && fabsf(x[0]) > 0x1p-24f ? nextafterf(sum, 0) : sum;
}

#define FUNCTION(name, sum, last)                                                                  \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    int name(DLTensor *const *t, int32_t count) {                                                  \
        return product(t, count, sum, last);                                                       \
    }
FUNCTION(in_blocks_of_lanes, blocks_of_lanes, blocks_of_lanes)
FUNCTION(backward, rounded_backward, rounded_backward)
FUNCTION(in_f64, in_double, in_double)
FUNCTION(rounded_in_f64, rounded_in_double, rounded_in_double)
FUNCTION(by_column, chain, rounded_backward)
FUNCTION(by_fma, chain, lanes)
FUNCTION(by_value, by_values, by_values)
