/* philox.h - Philox4x32-10 counter-based random numbers (Salmon et al., SC'11), and the input
 * distributions built on it. The key is the 64-bit seed (low word first); the counter is (element
 * low, element high, parameter index, domain). Multipliers 0xD2511F53, 0xCD9E8D57; Weyl constants
 * 0x9E3779B9, 0xBB67AE85. */
#ifndef TESSERA_BASE_PHILOX_H
#define TESSERA_BASE_PHILOX_H

#include <stdint.h>

typedef struct philox_words {
    uint32_t w[4];
} philox_words;

philox_words philox4x32_10(philox_words counter, uint32_t key0, uint32_t key1);

/* Uses of the numbers: the last word of the counter, so that no two uses share any. */
enum {
    PHILOX_DOMAIN_INPUTS = 0,
    PHILOX_DOMAIN_ROUNDING = 1,
    PHILOX_DOMAIN_SCHEDULES = 2,
    PHILOX_DOMAIN_PERMUTATIONS = 3,
    PHILOX_DOMAIN_RANDOM_BITS = 4
};

/* Words for element `index` of parameter `parameter` in `domain` under `seed`. */
philox_words philox_element(uint64_t seed, uint64_t index, uint32_t parameter, uint32_t domain);

/* uniform = fma((w0 >> 8) * 2^-24, hi - lo, lo), in f32. */
float philox_uniform(philox_words words, float lo, float hi);
/* normal = f32(sum of the eight 16-bit halves of the four words - 262140) * 0x1.3988e2p-16f, then
 * fma(normal, stddev, mean) in f32 (exactly `normal` for mean 0, stddev 1). */
float philox_normal(philox_words words, float mean, float stddev);
/* lo + high half of w0 * (hi - lo), a 32x32->64 product; result in [lo, hi). hi must exceed lo. */
int32_t philox_integer(philox_words words, int32_t lo, int32_t hi);

#endif
