/* splitmix64.h - 64 random bits from 64 of state: SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA
 * 2014). For the harness's own choices: the random numbers of kernels and of their inputs are
 * Philox's (philox.h). */
#ifndef TESSERA_BASE_SPLITMIX64_H
#define TESSERA_BASE_SPLITMIX64_H

#include <stdint.h>

static inline uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
