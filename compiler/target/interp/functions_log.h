/* functions_log.h - logarithms, transcribed. */
#ifndef TESSERA_INTERP_FUNCTIONS_LOG_H
#define TESSERA_INTERP_FUNCTIONS_LOG_H

#include "target/interp/functions_scalar.h"

/* (log(1 + f) - f) / f^2 */
SEQUENCE log_tail(float f) {
    float p = fma32(MATH_LOG_7, f, MATH_LOG_6);
    p = fma32(p, f, MATH_LOG_5);
    p = fma32(p, f, MATH_LOG_4);
    p = fma32(p, f, MATH_LOG_3);
    p = fma32(p, f, MATH_LOG_2);
    p = fma32(p, f, MATH_LOG_1);
    p = fma32(p, f, MATH_LOG_0);
    return fma32(p, f, -0.5f);
}

/* The logarithm of x: p where 0 < x < Inf. */
SEQUENCE log_or_special(float x, float p) {
    float special = x < 0.0f ? from_bits(0x7fc00000) : x;
    special = x == 0.0f ? -HUGE_VALF : special;
    return ((0.0f < x) & (x < HUGE_VALF)) ? p : special;
}

SEQUENCE sequence_log(float x) {
    int tiny = x < 0x1p-126f;
    float scaled = tiny ? x * 0x1p23f : x;
    uint32_t base = tiny ? 23 : 0;
    uint32_t offset = bits_of(scaled) - MATH_LOG_SPLIT;
    uint32_t exponent = (uint32_t)((int32_t)offset >> EXPONENT_SHIFT);
    float f = from_bits(bits_of(scaled) - (exponent << EXPONENT_SHIFT)) - 1.0f;
    float n = (float)(int32_t)(exponent - base);
    float p = fma32(log_tail(f), f * f, f);
    p = fma32(n, MATH_LN2, p);
    return log_or_special(x, p);
}

SEQUENCE sequence_log2(float x) {
    int tiny = x < 0x1p-126f;
    float scaled = tiny ? x * 0x1p23f : x;
    uint32_t base = tiny ? 23 : 0;
    uint32_t offset = bits_of(scaled) - MATH_LOG_SPLIT;
    uint32_t exponent = (uint32_t)((int32_t)offset >> EXPONENT_SHIFT);
    float f = from_bits(bits_of(scaled) - (exponent << EXPONENT_SHIFT)) - 1.0f;
    float n = (float)(int32_t)(exponent - base);
    float p = fma32(MATH_LOG2_9, f, MATH_LOG2_8);
    p = fma32(p, f, MATH_LOG2_7);
    p = fma32(p, f, MATH_LOG2_6);
    p = fma32(p, f, MATH_LOG2_5);
    p = fma32(p, f, MATH_LOG2_4);
    p = fma32(p, f, MATH_LOG2_3);
    p = fma32(p, f, MATH_LOG2_2);
    p = fma32(p, f, MATH_LOG2_1);
    p = fma32(p, f, MATH_LOG2_0);
    float high = f * MATH_LOG2_E;
    float low = fma32(f, MATH_LOG2_E, -high);
    float sum = n + high;
    low = low + (high - (sum - n));
    return log_or_special(x, sum + fma32(p, f, low));
}

/* 1 + x = u + lost exactly; lost / 2^n joins f, whose sum with it is f + low. */
SEQUENCE sequence_log1p(float x) {
    float u = 1.0f + x;
    float back = u - 1.0f;
    float lost = (1.0f - (u - back)) + (x - back);
    uint32_t field = (bits_of(u) - MATH_LOG_SPLIT) & 0xff800000u;
    float n = (float)((int32_t)field >> EXPONENT_SHIFT);
    float shrink = from_bits(0x40000000u - field); /* 2^(1-n), 0 for the greatest n */
    float whole = from_bits(bits_of(u) - field) - 1.0f;
    lost = (lost * shrink) * 0.5f;
    float f = whole + lost;
    float low = lost - (f - whole);
    low = low - f * low; /* / (1 + f) */
    float p = log_tail(f);
    float high = n * MATH_LN2_HIGH;
    float sum = high + f;
    low = low + (f - (sum - high));
    low = fma32(n, MATH_LN2_LOW, low);
    p = sum + fma32(p, f * f, low);
    return from_bits(bits_of(log_or_special(u, p)) | (bits_of(x) & 0x80000000u));
}

#endif
