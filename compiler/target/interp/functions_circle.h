/* functions_circle.h - sine and cosine, transcribed. */
#ifndef TESSERA_INTERP_FUNCTIONS_CIRCLE_H
#define TESSERA_INTERP_FUNCTIONS_CIRCLE_H

#include "target/interp/functions_scalar.h"

/* x = (quarter + turns) pi/2 + r with |r| <= pi/4, r = high + low; the quarter is in the two upper
 * bits of `quarter`, after half a quarter turn was added to it. */
typedef struct reduced {
    float high, low;
    uint32_t quarter;
} reduced;

static inline __attribute__((always_inline)) uint32_t upper(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* 32 bits of a stream, from bit `by` of `a` on. */
static inline __attribute__((always_inline)) uint32_t window(uint32_t a, uint32_t b, uint32_t by) {
    return (uint32_t)((((uint64_t)a << 32 | b) << by) >> 32);
}

/* |x| is an integer m times a power of two; its product with those 96 bits of 2/pi that decide
 * where it is within a turn has the quarter turns in its two upper bits. Below 1 r is x, and for
 * an infinity too, which makes a NaN of z. */
static inline __attribute__((always_inline)) reduced reduce(float x) {
    uint32_t bits = bits_of(x) & 0x7fffffffu, place = bits - 0x3f800000u;
    int far = place < 0x40000000u, by64 = (place & 0x20000000u) != 0,
        by32 = (place & 0x10000000u) != 0;
    uint32_t m = far ? (bits & 0x007fffffu) | 0x00800000u : 0;
    uint32_t a = by64 ? MATH_TWO_OVER_PI_2 : MATH_TWO_OVER_PI_0;
    uint32_t b = by64 ? MATH_TWO_OVER_PI_3 : MATH_TWO_OVER_PI_1;
    uint32_t c = by64 ? MATH_TWO_OVER_PI_4 : MATH_TWO_OVER_PI_2;
    uint32_t d = by64 ? MATH_TWO_OVER_PI_5 : MATH_TWO_OVER_PI_3;
    uint32_t e = by64 ? MATH_TWO_OVER_PI_6 : MATH_TWO_OVER_PI_4;
    a = by32 ? b : a;
    b = by32 ? c : b;
    c = by32 ? d : c;
    d = by32 ? e : d;
    uint32_t by = place >> EXPONENT_SHIFT & 31;
    a = window(a, b, by);
    b = window(b, c, by);
    c = window(c, d, by);
    uint32_t whole = m * a + upper(m, b), fraction = m * b;
    /* 23 + 24 + 15 bits of it, the last with what c adds */
    float f1 = (float)(int32_t)(whole << 2 & ~0x1ffu);
    float f2 = (float)(int32_t)((whole << 17 & 0x00fe0000u) | fraction >> 15);
    float f3 = (float)(int32_t)(fraction & 0x7fff);
    f3 = fma32(f3, 0x1p24f, (float)(int32_t)m * (float)(int32_t)(c >> 8));
    float s = fma32(f2, 0x1p-15f, f1);
    float t = fma32(f2, 0x1p-15f, -(s - f1));
    t = fma32(f3, 0x1p-54f, t);
    float high = s * (MATH_HALF_PI * 0x1p-32f);
    float low = fma32(s, MATH_HALF_PI * 0x1p-32f, -high);
    low = fma32(s, MATH_HALF_PI_LOW * 0x1p-32f, low);
    low = fma32(t, MATH_HALF_PI * 0x1p-32f, low);
    high = far ? high : from_bits(bits);
    return (reduced){high, low, whole};
}

/* The sine of r for even quarters, the cosine for odd ones, negative in the upper half turn. */
SEQUENCE sine_or_cosine(reduced r, uint32_t quarter) {
    float z = fma32(r.high, r.high, (r.high + r.high) * r.low);
    float s = fma32(MATH_SIN_3, z, MATH_SIN_2);
    s = fma32(s, z, MATH_SIN_1);
    s = fma32(s, z, MATH_SIN_0);
    s = r.high + fma32(r.high * z, s, r.low);
    float c = fma32(MATH_COS_3, z, MATH_COS_2);
    c = fma32(c, z, MATH_COS_1);
    c = fma32(c, z, MATH_COS_0);
    c = fma32(c, z, 1.0f);
    float y = (quarter & 0x40000000u) != 0 ? c : s;
    return from_bits(bits_of(y) ^ (quarter & 0x80000000u));
}

SEQUENCE sequence_sin(float x) {
    reduced r = reduce(x);
    float y = sine_or_cosine(r, r.quarter + 0x20000000u);
    return from_bits(bits_of(y) ^ (bits_of(x) & 0x80000000u));
}

SEQUENCE sequence_cos(float x) {
    reduced r = reduce(x);
    return sine_or_cosine(r, r.quarter + 0x60000000u);
}

#endif
