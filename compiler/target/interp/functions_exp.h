/* functions_exp.h - the exponential and what is made of it, transcribed. */
#ifndef TESSERA_INTERP_FUNCTIONS_EXP_H
#define TESSERA_INTERP_FUNCTIONS_EXP_H

#include "target/interp/functions_scalar.h"

/* e^r - 1 - r, divided by r^2. */
SEQUENCE exp_tail(float r) {
    float q = fma32(MATH_EXP_4, r, MATH_EXP_3);
    q = fma32(q, r, MATH_EXP_2);
    q = fma32(q, r, MATH_EXP_1);
    return fma32(q, r, MATH_EXP_0);
}

/* e^r on the reduced interval. */
SEQUENCE exp_reduced(float r) {
    float p = fma32(exp_tail(r), r, 1.0f);
    return fma32(p, r, 1.0f);
}

SEQUENCE sequence_exp(float x) {
    x = x < -104.0f ? -104.0f : x;
    x = 89.0f < x ? 89.0f : x;
    float t = fma32(x, MATH_LOG2_E, MATH_ROUND + 254.0f);
    float n = t - (MATH_ROUND + 254.0f);
    float r = fma32(n, -MATH_LN2_HIGH, x);
    r = fma32(n, -MATH_LN2_LOW, r);
    float p = exp_reduced(r);
    uint32_t half = bits_of(t) >> 1;
    float s1 = from_bits(half << EXPONENT_SHIFT);
    float s2 = from_bits((bits_of(t) - half) << EXPONENT_SHIFT);
    return (p * s1) * s2;
}

SEQUENCE sequence_exp2(float x) {
    x = x < -151.0f ? -151.0f : x;
    x = 129.0f < x ? 129.0f : x;
    float t = x + (MATH_ROUND + 254.0f);
    float r = x - (t - (MATH_ROUND + 254.0f));
    float p = fma32(MATH_EXP2_5, r, MATH_EXP2_4);
    p = fma32(p, r, MATH_EXP2_3);
    p = fma32(p, r, MATH_EXP2_2);
    p = fma32(p, r, MATH_EXP2_1);
    p = fma32(p, r, MATH_EXP2_0);
    p = fma32(p, r, 1.0f);
    uint32_t half = bits_of(t) >> 1;
    float s1 = from_bits(half << EXPONENT_SHIFT);
    float s2 = from_bits((bits_of(t) - half) << EXPONENT_SHIFT);
    return (p * s1) * s2;
}

/* h = 2^(n-1): half the result is (h - 1/2) + h (e^r - 1), whose greater parts are added without
 * loss. */
SEQUENCE sequence_expm1(float x) {
    float y = x < -18.0f ? -18.0f : x;
    y = 89.0f < y ? 89.0f : y;
    float t = fma32(y, MATH_LOG2_E, MATH_ROUND + 126.0f);
    float n = t - (MATH_ROUND + 126.0f);
    float high = fma32(n, -MATH_LN2_HIGH, y);
    float low = n * -MATH_LN2_LOW;
    float r = high + low;
    float h = from_bits(bits_of(t) << EXPONENT_SHIFT);
    float p = fma32(MATH_EXPM1_5, r, MATH_EXPM1_4);
    p = fma32(p, r, MATH_EXPM1_3);
    p = fma32(p, r, MATH_EXPM1_2);
    p = fma32(p, r, MATH_EXPM1_1);
    p = fma32(p, r, MATH_EXPM1_0);
    float rest = fma32(p, r * r, low);
    float c = h - 0.5f;
    float lost = (h - c) - 0.5f;
    float product = high * h;
    float sum = c + product;
    lost = lost + (product - (sum - c));
    sum = sum + fma32(rest, h, lost);
    return from_bits(bits_of(x) & 0x7fffffffu) < 0x1p-64f ? x : sum + sum;
}

SEQUENCE sequence_tanh(float x) {
    uint32_t sign = bits_of(x) & 0x80000000u;
    float a = from_bits(bits_of(x) & 0x7fffffffu);
    float u = fma32(a, a, -MATH_TANH_CENTRE);
    float p = fma32(MATH_TANH_7, u, MATH_TANH_6);
    p = fma32(p, u, MATH_TANH_5);
    p = fma32(p, u, MATH_TANH_4);
    p = fma32(p, u, MATH_TANH_3);
    p = fma32(p, u, MATH_TANH_2);
    p = fma32(p, u, MATH_TANH_1);
    p = fma32(p, u, MATH_TANH_0);
    float near = fma32(p, a, a);
    float y = 10.0f < a ? 10.0f : a;
    float t = fma32(y, -2.0f * MATH_LOG2_E, MATH_ROUND + 127.0f);
    float n = t - (MATH_ROUND + 127.0f);
    float r = fma32(n, -0.5f * MATH_LN2, -y);
    r = r + r;
    float e = exp_reduced(r) * from_bits(bits_of(t) << EXPONENT_SHIFT);
    float far = 1.0f - (e + e) / (1.0f + e);
    return from_bits(bits_of(a < MATH_TANH_SPLIT ? near : far) | sign);
}

SEQUENCE sequence_erf(float x) {
    uint32_t sign = bits_of(x) & 0x80000000u;
    float a = from_bits(bits_of(x) & 0x7fffffffu);
    float u = fma32(a, a, -MATH_ERF_CENTRE);
    float p = fma32(MATH_ERF_7, u, MATH_ERF_6);
    p = fma32(p, u, MATH_ERF_5);
    p = fma32(p, u, MATH_ERF_4);
    p = fma32(p, u, MATH_ERF_3);
    p = fma32(p, u, MATH_ERF_2);
    p = fma32(p, u, MATH_ERF_1);
    p = fma32(p, u, MATH_ERF_0);
    float near = fma32(p, a, a);
    float y = 4.0f < a ? 4.0f : a;
    float g = fma32(MATH_ERFC_5, y, MATH_ERFC_4);
    g = fma32(g, y, MATH_ERFC_3);
    g = fma32(g, y, MATH_ERFC_2);
    g = fma32(g, y, MATH_ERFC_1);
    g = fma32(g, y, MATH_ERFC_0);
    g = fma32(g, y, y);
    float t = fma32(g, -MATH_LOG2_E, MATH_ROUND + 127.0f);
    float n = t - (MATH_ROUND + 127.0f);
    float r = fma32(n, -MATH_LN2, -g);
    float far = fma32(-exp_reduced(r), from_bits(bits_of(t) << EXPONENT_SHIFT), 1.0f);
    return from_bits(bits_of(a < MATH_ERF_SPLIT ? near : far) | sign);
}

/* c / (c + c e^-x) with c = 2^-32, so that neither end leaves the normal range before the last
 * product. */
SEQUENCE sequence_logistic(float x) {
    const float c = 0x1p-32f;
    x = x < -104.0f ? -104.0f : x;
    x = 18.0f < x ? 18.0f : x;
    float t = fma32(x, -MATH_LOG2_E, MATH_ROUND + 95.0f);
    float n = t - (MATH_ROUND + 95.0f);
    float r = fma32(n, -MATH_LN2_HIGH, -x);
    r = fma32(n, -MATH_LN2_LOW, r);
    /* e^r = high + low */
    float one = 1.0f + r;
    float low = fma32(exp_tail(r), r * r, r - (one - 1.0f));
    float high = one + low;
    low = low - (high - one);
    float scale = from_bits(bits_of(t) << EXPONENT_SHIFT);
    high = high * scale;
    low = low * scale;
    /* c + high + low = d + rest */
    float d = high + c;
    float back = d - high;
    float rest = (high - (d - back)) + (c - back);
    rest = rest + low;
    float q = 1.0f / d;
    float e = fma32(-q, d, 1.0f);
    e = fma32(-q, rest, e);
    q = fma32(e, q, q);
    return q * c;
}

#endif
