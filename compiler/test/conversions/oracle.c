/* oracle.c - decoding by fields, encoding by search. */
#include "test/conversions/oracle.h"

#include <math.h>
#include <string.h>

/* IEEE 754-2008 table 3.5; bfloat16; OCP OFP8 specification 1.0, table 1. */
typedef struct layout {
    int exponent_bits, mantissa_bits, bias;
    bool has_infinity;
    uint32_t greatest, nan;
    uint32_t count; /* finite magnitudes */
    /* midpoint[i]: between magnitude i and the next; the last one is where overflow begins */
    long double midpoint[1 << 15];
} layout;

static layout layouts[DTYPE_COUNT] = {
    [DTYPE_F16] = {5, 10, 15, true, 0x7bff, 0x7e00, 0, {0}},
    [DTYPE_BF16] = {8, 7, 127, true, 0x7f7f, 0x7fc0, 0, {0}},
    [DTYPE_F8E4M3FN] = {4, 3, 7, false, 0x7e, 0x7f, 0, {0}},
    [DTYPE_F8E5M2] = {5, 2, 15, true, 0x7b, 0x7e, 0, {0}},
};

static bool is_listed(dtype t) {
    return layouts[t].exponent_bits != 0;
}

/* The format's number for a magnitude, also for the one beyond the greatest. */
static long double magnitude_value(const layout *f, uint32_t magnitude) {
    int exponent = (int)(magnitude >> f->mantissa_bits);
    uint32_t fraction = magnitude & ((1u << f->mantissa_bits) - 1);
    if (exponent == 0)
        return ldexpl((long double)fraction, 1 - f->bias - f->mantissa_bits);
    return ldexpl((long double)(fraction + (1u << f->mantissa_bits)),
                  exponent - f->bias - f->mantissa_bits);
}

void oracle_init(void) {
    for (int t = 0; t < DTYPE_COUNT; t++) {
        layout *f = &layouts[t];
        if (!is_listed((dtype)t))
            continue;
        f->count = f->greatest + 1;
        for (uint32_t i = 0; i < f->count; i++)
            f->midpoint[i] = (magnitude_value(f, i) + magnitude_value(f, i + 1)) / 2;
    }
}

uint32_t oracle_greatest(dtype t) {
    return layouts[t].greatest;
}

long double oracle_value(dtype t, uint64_t bits) {
    const layout *f = &layouts[t];
    if (t == DTYPE_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return (long double)value;
    }
    if (!is_listed(t)) {
        float value;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        return (long double)value;
    }
    uint32_t sign = 1u << (f->exponent_bits + f->mantissa_bits),
             magnitude = (uint32_t)bits & (sign - 1);
    long double value = magnitude <= f->greatest ? magnitude_value(f, magnitude)
                        : f->has_infinity && magnitude == f->greatest + 1 ? HUGE_VALL
                                                                          : (long double)NAN;
    return bits & sign ? -value : value;
}

/* ---- integers ---- */

typedef struct integers {
    int width; /* bits of the numbers, which fill the bytes of an element */
    bool negative;
} integers;

static const integers kinds[DTYPE_COUNT] = {
    [DTYPE_I64] = {64, true},  [DTYPE_I32] = {32, true},  [DTYPE_I16] = {16, true},
    [DTYPE_I8] = {8, true},    [DTYPE_I4] = {4, true},    [DTYPE_U64] = {64, false},
    [DTYPE_U32] = {32, false}, [DTYPE_U16] = {16, false}, [DTYPE_U8] = {8, false},
};

/* The number's bits with its sign repeated above them. */
static uint64_t spread(dtype t, uint64_t bits) {
    const integers *k = &kinds[t];
    if (t == DTYPE_BOOL)
        return bits != 0;
    const uint64_t top = UINT64_C(1) << (k->width - 1), low = bits & (top | (top - 1));
    return k->negative && (low & top) ? low - top - top : low;
}

/* A long double of x86 holds all integers of 64 bits. */
static long double integer_value(dtype t, uint64_t bits) {
    const uint64_t wide = spread(t, bits);
    return kinds[t].negative && wide >> 63 ? -(long double)(0 - wide) : (long double)wide;
}

/* Bits as stored. */
static uint64_t integer_bits(dtype t, uint64_t wide) {
    const size_t unused = 64 - 8 * dtype_size(t);
    return spread(t, wide) << unused >> unused;
}

static uint64_t limited(dtype t, long double value) {
    const integers *k = &kinds[t];
    const long double limit = ldexpl(1, k->width - k->negative), least = k->negative ? -limit : 0;
    if (isnan(value))
        return 0;
    if (value >= limit)
        return k->width - k->negative == 64 ? UINT64_MAX : (uint64_t)limit - 1;
    value = value <= least ? least : value;
    return value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
}

/* ---- floats ---- */

/* The magnitude whose interval holds x; ties go to the even one. */
static uint32_t search(const layout *f, long double x, oracle_hint *hint) {
    uint32_t low = 0, high = f->count;
    if (x < f->midpoint[0] || x > f->midpoint[f->count - 1]) /* most of all f32 */
        return x < f->midpoint[0] ? 0 : f->count;
    if (hint->at < f->count && hint->at > 0 && x > f->midpoint[hint->at - 1] &&
        x < f->midpoint[hint->at])
        return hint->at;
    while (low < high) { /* the first midpoint that is not below x */
        uint32_t middle = (low + high) / 2;
        if (f->midpoint[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    hint->at = low;
    return low < f->count && f->midpoint[low] == x && low % 2 ? low + 1 : low;
}

static uint64_t narrow_bits(dtype to, long double value, bool saturate, oracle_hint *hint) {
    const layout *f = &layouts[to];
    if (isnan(value))
        return f->nan;
    uint32_t magnitude = search(f, fabsl(value), hint);
    if (magnitude > f->greatest)
        magnitude = f->has_infinity && !saturate ? f->greatest + 1 : f->greatest;
    return magnitude | (uint32_t)(signbit(value) != 0) << (f->exponent_bits + f->mantissa_bits);
}

static uint64_t wide_bits(dtype to, long double value, bool saturate) {
    uint64_t bits = 0;
    double d = (double)value;
    float s = (float)value; /* one rounding each */
    if (isnan(value))
        return to == DTYPE_F64 ? 0x7ff8000000000000u : 0x7fc00000u;
    if (saturate && isinf(s))
        s = copysignf(0x1.fffffep127f, s);
    memcpy(&bits, to == DTYPE_F64 ? (void *)&d : (void *)&s, to == DTYPE_F64 ? 8 : 4);
    return bits;
}

uint64_t oracle_convert(dtype from, dtype to, bool saturate, uint64_t bits, oracle_hint *hint) {
    bool is_float = dtype_is_float(from);
    long double value = is_float ? oracle_value(from, bits) : integer_value(from, bits);
    if (to == DTYPE_BOOL)
        return value != 0;
    if (!dtype_is_float(to)) {
        bool limits = is_float || saturate;
        return integer_bits(to, limits ? limited(to, value) : spread(from, bits));
    }
    return is_listed(to) ? narrow_bits(to, value, saturate, hint) : wide_bits(to, value, saturate);
}

uint64_t oracle_stochastic(dtype to, bool saturate, uint64_t bits, uint32_t random) {
    const layout *f = &layouts[to];
    long double value = oracle_value(DTYPE_F32, bits), x = fabsl(value);
    uint32_t low = 0, high = f->greatest + 1;
    if (isnan(value))
        return f->nan;
    while (low + 1 < high) { /* the greatest number that is not above x */
        uint32_t middle = (low + high) / 2;
        if (magnitude_value(f, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    long double below = magnitude_value(f, low), step = magnitude_value(f, low + 1) - below;
    uint32_t magnitude = low + (floorl((x - below) / step * 0x1p32L) > (long double)random);
    if (x >= below + step || magnitude > f->greatest)
        magnitude = f->has_infinity && !saturate ? f->greatest + 1 : f->greatest;
    return magnitude | (uint32_t)(signbit(value) != 0) << (f->exponent_bits + f->mantissa_bits);
}
