/* integers.h - arithmetic of extents and blocks. */
#ifndef TESSERA_SCHEDULE_INTEGERS_H
#define TESSERA_SCHEDULE_INTEGERS_H

#include <stdint.h>

static inline int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* The next multiple of a positive `to`. */
static inline int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

/* Greatest common divisor; of 0 and n, n. */
static inline int64_t greatest_divisor(int64_t a, int64_t b) {
    return a == 0 ? b : greatest_divisor(b % a, a);
}

/* Takes two positive numbers. */
static inline int64_t least_common_multiple(int64_t a, int64_t b) {
    return a / greatest_divisor(a, b) * b;
}

/* The least power of two that is not below n; the least that is not below `most` where that is
 * less. */
static inline int64_t power_at_least(int64_t n, int64_t most) {
    int64_t power = 1;
    while (power < n && power < most)
        power *= 2;
    return power;
}

#endif
