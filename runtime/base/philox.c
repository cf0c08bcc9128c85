/* philox.c - Philox4x32-10 and the distributions of philox.h. */
#include "base/philox.h"

#include <math.h>

static philox_words one_round(philox_words c, uint32_t key0, uint32_t key1) {
    uint64_t product0 = (uint64_t)0xD2511F53u * c.w[0], product1 = (uint64_t)0xCD9E8D57u * c.w[2];
    return (philox_words){{(uint32_t)(product1 >> 32) ^ c.w[1] ^ key0, (uint32_t)product1,
                           (uint32_t)(product0 >> 32) ^ c.w[3] ^ key1, (uint32_t)product0}};
}

philox_words philox4x32_10(philox_words counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        counter = one_round(counter, key0, key1);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

philox_words philox_element(uint64_t seed, uint64_t index, uint32_t parameter, uint32_t domain) {
    philox_words counter = {{(uint32_t)index, (uint32_t)(index >> 32), parameter, domain}};
    return philox4x32_10(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

float philox_uniform(philox_words words, float lo, float hi) {
    return fmaf((float)(words.w[0] >> 8) * 0x1p-24f, hi - lo, lo);
}

float philox_normal(philox_words words, float mean, float stddev) {
    int32_t sum = -262140;
    for (int i = 0; i < 4; i++)
        sum += (int32_t)(words.w[i] & 0xffffu) + (int32_t)(words.w[i] >> 16);
    return fmaf((float)sum * 0x1.3988e2p-16f, stddev, mean);
}

int32_t philox_integer(philox_words words, int32_t lo, int32_t hi) {
    uint32_t range = (uint32_t)hi - (uint32_t)lo;
    uint32_t offset = (uint32_t)((uint64_t)words.w[0] * range >> 32);
    return (int32_t)((uint32_t)lo + offset);
}
