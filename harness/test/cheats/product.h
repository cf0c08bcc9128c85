/* product.h - what all functions that cheat shall compute: a product of 16 x 16 floats. */
#ifndef TESSERA_TEST_CHEATS_PRODUCT_H
#define TESSERA_TEST_CHEATS_PRODUCT_H

#include <math.h>

#include "tessera/implementation.h"

enum { SIDE = 16, WORDS = SIDE * SIDE, LONG_TIMES = 60 };

static inline void multiply_rows(const float *a, const float *b, float *out, int from, int to) {
    for (int i = from; i < to; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum = fmaf(a[i * SIDE + k], b[k * SIDE + j], sum);
            out[i * SIDE + j] = sum;
        }
}

static inline int product(DLTensor *const *t, int32_t count) {
    if (count != 3)
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    multiply_rows(t[0]->data, t[1]->data, t[2]->data, 0, SIDE);
    return 0;
}

/* Rows, as often as if it were much work. */
static inline void multiply_long(DLTensor *const *t, int from, int to) {
    for (int times = 0; times < LONG_TIMES; times++) {
        multiply_rows(t[0]->data, t[1]->data, t[2]->data, from, to);
        __asm__ volatile("" ::: "memory");
    }
}

#endif
