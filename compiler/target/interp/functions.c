/* functions.c - the specified functions, transcribed into scalar C. Selection is by value: every
 * line is computed. */
#include "target/interp/functions.h"

#include <math.h>

#include "base/dtype.h"
#include "math/coefficients.h"

#define SEQUENCE static inline __attribute__((always_inline)) float

enum { EXPONENT_SHIFT = 23 };

static inline __attribute__((always_inline)) uint32_t bits_of(float x) {
    union {
        float value;
        uint32_t bits;
    } both = {.value = x};
    return both.bits;
}

SEQUENCE from_bits(uint32_t bits) {
    union {
        uint32_t bits;
        float value;
    } both = {.bits = bits};
    return both.value;
}

SEQUENCE fma32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

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

SEQUENCE sequence_log(float x) {
    int tiny = x < 0x1p-126f;
    float scaled = tiny ? x * 0x1p23f : x;
    uint32_t base = tiny ? 23 : 0;
    uint32_t offset = bits_of(scaled) - MATH_LOG_SPLIT;
    uint32_t exponent = (uint32_t)((int32_t)offset >> EXPONENT_SHIFT);
    float f = from_bits(bits_of(scaled) - (exponent << EXPONENT_SHIFT)) - 1.0f;
    float n = (float)(int32_t)(exponent - base);
    float p = fma32(MATH_LOG_7, f, MATH_LOG_6);
    p = fma32(p, f, MATH_LOG_5);
    p = fma32(p, f, MATH_LOG_4);
    p = fma32(p, f, MATH_LOG_3);
    p = fma32(p, f, MATH_LOG_2);
    p = fma32(p, f, MATH_LOG_1);
    p = fma32(p, f, MATH_LOG_0);
    p = fma32(p, f, -0.5f);
    p = fma32(p, f * f, f);
    p = fma32(n, MATH_LN2, p);
    float special = x < 0.0f ? from_bits(0x7fc00000) : x;
    special = x == 0.0f ? -HUGE_VALF : special;
    return ((0.0f < x) & (x < HUGE_VALF)) ? p : special;
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

SEQUENCE sequence_rsqrt(float x) {
    float y = 1.0f / __builtin_sqrtf(x);
    float h = x * y;
    float low = fma32(x, y, -h);
    float e = fma32(-h, y, 1.0f);
    e = fma32(-low, y, e);
    float better = fma32(0.5f * e, y, y);
    return e < 1.0f ? better : y;
}

#define F(ENUM, name)                                                                              \
    float function_##name(float x) {                                                               \
        return sequence_##name(x);                                                                 \
    }
#include "math/functions.def"

#define CASE(ENUM, name)                                                                           \
    case MATH_##ENUM:                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = sequence_##name(in[i]);                                                       \
        break;

typedef void (*apply_fn)(math_function function, float *out, const float *in, size_t count);

static void apply_plain(math_function function, float *out, const float *in, size_t count) {
    switch (function) {
#define F(ENUM, name) CASE(ENUM, name)
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void apply_fma(math_function function, float *out,
                                                          const float *in, size_t count) {
    switch (function) {
#define F(ENUM, name) CASE(ENUM, name)
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
}

static apply_fn best_apply(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? apply_fma
                                                                           : apply_plain;
}
#else
static apply_fn best_apply(void) {
    return apply_plain;
}
#endif

void function_apply(math_function function, float *out, const float *in, size_t count) {
    best_apply()(function, out, in, count);
}

const char *function_name(math_function function) {
#define F(ENUM, name) [MATH_##ENUM] = #name,
    static const char *const names[] = {
#include "math/functions.def"
    };
    return names[function];
}
