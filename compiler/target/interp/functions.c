/* functions.c - the specified functions, transcribed into scalar C (functions_*.h), one at a time
 * and over arrays. */
#include "target/interp/functions.h"

#include "target/interp/functions_circle.h"
#include "target/interp/functions_exp.h"
#include "target/interp/functions_log.h"
#include "target/interp/functions_pair.h"

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

#define P(ENUM, name, first, second)                                                               \
    float function_##name(float first, float second) {                                             \
        return sequence_##name(first, second);                                                     \
    }
#include "math/pairs.def"

#define CASE(ENUM, name)                                                                           \
    case MATH_##ENUM:                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = sequence_##name(in[i]);                                                       \
        break;

#define PAIR_CASE(ENUM, name)                                                                      \
    case MATH_##ENUM:                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = sequence_##name(first[i], second[i]);                                         \
        break;

typedef void (*apply_fn)(math_function function, float *out, const float *in, size_t count);
typedef void (*apply_pair_fn)(math_pair pair, float *out, const float *first, const float *second,
                              size_t count);

static void apply_plain(math_function function, float *out, const float *in, size_t count) {
    switch (function) {
#define F(ENUM, name) CASE(ENUM, name)
#include "math/functions.def"
    case MATH_FUNCTION_COUNT:
        break;
    }
}

static void apply_pair_plain(math_pair pair, float *out, const float *first, const float *second,
                             size_t count) {
    switch (pair) {
#define P(ENUM, name, one, other) PAIR_CASE(ENUM, name)
#include "math/pairs.def"
    case MATH_PAIR_COUNT:
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

__attribute__((target("avx2,fma"))) static void
apply_pair_fma(math_pair pair, float *out, const float *first, const float *second, size_t count) {
    switch (pair) {
#define P(ENUM, name, one, other) PAIR_CASE(ENUM, name)
#include "math/pairs.def"
    case MATH_PAIR_COUNT:
        break;
    }
}

static bool has_fma(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static apply_fn best_apply(void) {
    return has_fma() ? apply_fma : apply_plain;
}

static apply_pair_fn best_apply_pair(void) {
    return has_fma() ? apply_pair_fma : apply_pair_plain;
}
#else
static apply_fn best_apply(void) {
    return apply_plain;
}

static apply_pair_fn best_apply_pair(void) {
    return apply_pair_plain;
}
#endif

void function_apply(math_set set, math_function function, float *out, const float *in,
                    size_t count) {
    if (set == MATH_CORRECT) {
        for (size_t i = 0; i < count; i++)
            out[i] = function_correct(function, in[i]);
        return;
    }
    best_apply()(function, out, in, count);
}

void function_apply_pair(math_pair pair, float *out, const float *first, const float *second,
                         size_t count) {
    best_apply_pair()(pair, out, first, second, count);
}

const char *function_name(math_function function) {
#define F(ENUM, name) [MATH_##ENUM] = #name,
    static const char *const names[] = {
#include "math/functions.def"
    };
    return names[function];
}
