/* units.c - products for test_cli_matrix_unit.sh, of bf16 in f32, whose sums are added as Intel's
 * AMX adds them, and as AVX512-BF16 does: in plain C, for numbers far from the subnormal ones. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tessera/implementation.h"

enum { INSTRUCTION = 32 };

static float widened(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

typedef struct factors {
    const uint16_t *x, *y;
    int64_t k, stride;
} factors;

static float added(const factors *f, int64_t at, float sum) {
    return at < f->k ? fmaf(widened(f->x[at]), widened(f->y[at * f->stride]), sum) : sum;
}

static float in_lanes(const factors *f) {
    float sum = 0;
    for (int64_t first = 0; first < f->k; first += INSTRUCTION) {
        float lanes[2] = {0, 0};
        for (int64_t i = 0; i < INSTRUCTION; i++)
            lanes[i % 2] = added(f, first + i, lanes[i % 2]);
        sum = sum + (lanes[0] + lanes[1]);
    }
    return sum;
}

static float in_pairs(const factors *f) {
    float sum = 0;
    for (int64_t at = 0; at < f->k; at += 2)
        sum = added(f, at, added(f, at + 1, sum));
    return sum;
}

/* Without the last instruction. */
static float without_tail(const factors *f) {
    factors whole = *f;
    whole.k = (f->k - 1) / INSTRUCTION * INSTRUCTION;
    return in_lanes(&whole);
}

static int product(DLTensor *const *t, int32_t count, float (*sum)(const factors *)) {
    float *out = t[2]->data;
    int64_t m = t[0]->shape[0], k = t[0]->shape[1], n = t[1]->shape[1];
    for (int64_t i = 0; i < m * n && count == 3; i++) {
        const factors f = {(const uint16_t *)t[0]->data + i / n * k,
                           (const uint16_t *)t[1]->data + i % n, k, n};
        out[i] = sum(&f);
    }
    return count != 3;
}

#define FUNCTION(name, sum)                                                                        \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    int name(DLTensor *const *t, int32_t count) {                                                  \
        return product(t, count, sum);                                                             \
    }
FUNCTION(as_amx, in_lanes)
FUNCTION(as_avx512, in_pairs)
FUNCTION(too_short, without_tail)
