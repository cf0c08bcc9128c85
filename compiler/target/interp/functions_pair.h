/* functions_pair.h - pow and atan2, transcribed. */
#ifndef TESSERA_INTERP_FUNCTIONS_PAIR_H
#define TESSERA_INTERP_FUNCTIONS_PAIR_H

#include "target/interp/functions_scalar.h"

/* A value as the sum of two f32; |low| is at most about half a unit in the last place of high. */
typedef struct two_floats {
    float high, low;
} two_floats;

/* log2 of 0 < x < Inf: n + log2(m) with 2/3 <= m < 4/3, and log2(m) = s (2/ln2 + 2/(3 ln2) s^2 +
 * ...), s = (m - 1)/(m + 1). All but the tail of the series is carried in two f32. */
static inline __attribute__((always_inline)) two_floats log2_in_two(float x) {
    int tiny = x < 0x1p-126f;
    float scaled = tiny ? x * 0x1p23f : x;
    uint32_t base = tiny ? 23 : 0;
    uint32_t offset = bits_of(scaled) - MATH_LOG_SPLIT;
    uint32_t exponent = (uint32_t)((int32_t)offset >> EXPONENT_SHIFT);
    float m = from_bits(bits_of(scaled) - (exponent << EXPONENT_SHIFT));
    float n = (float)(int32_t)(exponent - base);
    float f = m - 1.0f;
    float d = m + 1.0f;
    float d_low = f - (d - 2.0f);
    float s = f / d;
    float s_low = fma32(-s, d_low, fma32(-s, d, f)) / d;
    float z = s * s;
    float z_low = fma32(s + s, s_low, fma32(s, s, -z));
    float tail = fma32(MATH_RATIO_3, z, MATH_RATIO_2);
    tail = fma32(tail, z, MATH_RATIO_1);
    tail = fma32(tail, z, MATH_RATIO_0);
    float t = z * MATH_RATIO_SECOND;
    float t_low = fma32(z, MATH_RATIO_SECOND, -t);
    t_low = fma32(z, MATH_RATIO_SECOND_LOW, t_low);
    t_low = fma32(z_low, MATH_RATIO_SECOND, t_low);
    float u = MATH_RATIO_FIRST + t;
    float u_low = t - (u - MATH_RATIO_FIRST);
    tail = z * tail;
    u_low = fma32(z_low + z_low, tail, u_low + (t_low + MATH_RATIO_FIRST_LOW));
    u_low = fma32(z, tail, u_low);
    float v = s * u;
    float v_low = fma32(s, u, -v);
    v_low = fma32(s_low, u, fma32(s, u_low, v_low));
    float high = n + v;
    float low = (v - (high - n)) + v_low;
    float sum = high + low;
    return (two_floats){sum, low - (sum - high)};
}

/* 2^(p.high + p.low); beyond -151 and 129 it is 0 or infinite anyway. */
SEQUENCE exp2_of_two(two_floats p) {
    float low = p.high < -151.0f ? 0.0f : p.low;
    low = 129.0f < p.high ? 0.0f : low;
    float x = p.high < -151.0f ? -151.0f : p.high;
    x = 129.0f < x ? 129.0f : x;
    float t = x + (MATH_ROUND + 254.0f);
    float rest = x - (t - (MATH_ROUND + 254.0f));
    float r = rest + low;
    low = low - (r - rest);
    float q = fma32(MATH_EXP2_5, r, MATH_EXP2_4);
    q = fma32(q, r, MATH_EXP2_3);
    q = fma32(q, r, MATH_EXP2_2);
    q = fma32(q, r, MATH_EXP2_1);
    float a = r * MATH_EXP2_0;
    float a_low = fma32(low, MATH_EXP2_0, fma32(r, MATH_EXP2_0, -a));
    float sum = 1.0f + a;
    float lost = a - (sum - 1.0f);
    float y = sum + (lost + fma32(q, r * r, a_low));
    uint32_t half = bits_of(t) >> 1;
    float s1 = from_bits(half << EXPONENT_SHIFT);
    float s2 = from_bits((bits_of(t) - half) << EXPONENT_SHIFT);
    return (y * s1) * s2;
}

/* |x|^y = 2^(y log2 |x|), with the sign of x where y is odd; the cases of IEEE 754. */
SEQUENCE sequence_pow(float x, float y) {
    float a = from_bits(bits_of(x) & 0x7fffffffu);
    float b = y < -0x1p32f ? -0x1p32f : y; /* beyond, the result is 1, or 0 or infinite */
    b = 0x1p32f < b ? 0x1p32f : b;
    two_floats l = log2_in_two(a);
    float p = b * l.high;
    float p_low = fma32(b, l.low, fma32(b, l.high, -p));
    float power = exp2_of_two((two_floats){p, p_low});

    float at_zero = y < 0.0f ? HUGE_VALF : 0.0f, at_infinity = y < 0.0f ? 0.0f : HUGE_VALF;
    power = a == 0.0f ? at_zero : power;
    power = a == HUGE_VALF ? at_infinity : power;

    float c = y < -0x1p25f ? -0x1p25f : y; /* from 2^24 on all f32 are even numbers */
    c = 0x1p25f < c ? 0x1p25f : c;
    c = c != c ? 0.0f : c;
    int32_t truncated = (int32_t)c;
    int whole = (float)truncated == c;
    uint32_t sign = whole ? ((uint32_t)truncated << 31) & bits_of(x) : 0;
    power = from_bits(bits_of(power) ^ (sign & 0x80000000u));
    float nan = from_bits(0x7fc00000u);
    power = (x < 0.0f) & (-HUGE_VALF < x) & !whole ? nan : power;
    power = (x != x) | (y != y) ? nan : power;
    return (x == 1.0f) | (y == 0.0f) ? 1.0f : power;
}

/* The angle is k pi/4 + or - atan(q), |q| <= 1/2: q is the quotient of the smaller magnitude by the
 * greater one, or, where that is above 1/2, of their difference by their sum. */
SEQUENCE sequence_atan2(float y, float x) {
    float a = from_bits(bits_of(y) & 0x7fffffffu), b = from_bits(bits_of(x) & 0x7fffffffu);
    int steep = b < a;
    float small = steep ? b : a, great = steep ? a : b;
    float scale = great < 0x1p-60f ? 0x1p64f : 1.0f;
    scale = 0x1p100f < great ? 0x1p-4f : scale;
    small = small == HUGE_VALF ? 1.0f : great == HUGE_VALF ? 0.0f : small * scale;
    great = great == HUGE_VALF || great == 0.0f ? 1.0f : great * scale;
    int diagonal = great * 0.5f < small;
    float numerator = diagonal ? small - great : small;
    float sum = great + small;
    float lost = diagonal ? small - (sum - great) : 0.0f;
    float denominator = diagonal ? sum : great;
    float q = numerator / denominator;
    float q_low = fma32(-q, lost, fma32(-q, denominator, numerator)) / denominator;

    float z = q * q;
    float p = fma32(MATH_ATAN_5, z, MATH_ATAN_4);
    p = fma32(p, z, MATH_ATAN_3);
    p = fma32(p, z, MATH_ATAN_2);
    p = fma32(p, z, MATH_ATAN_1);
    p = fma32(p, z, MATH_ATAN_0);
    float rest = fma32(p, q * z, fma32(-z, q_low, q_low));

    int negative = (bits_of(x) & 0x80000000u) != 0;
    float eighths = diagonal ? 1.0f : 0.0f;
    eighths = steep ? 2.0f - eighths : eighths;
    eighths = negative ? 4.0f - eighths : eighths;
    int down = steep ^ negative;
    float base = eighths * MATH_EIGHTH_TURN;
    float main = down ? -q : q;
    float more = down ? -rest : rest;
    float angle = base + main;
    more = fma32(eighths, MATH_EIGHTH_TURN_LOW, more) + (main - (angle - base));
    angle = from_bits(bits_of(angle + more) | (bits_of(y) & 0x80000000u));
    return (x != x) | (y != y) ? from_bits(0x7fc00000u) : angle;
}

#endif
