/* dtype.c - element types and float formats. Every narrowing goes through one integer routine, from
 * a double, which holds each source value exactly; so each conversion rounds once. */
#include "base/dtype.h"

#include <math.h>
#include <string.h>

typedef struct dtype_row {
    const char *name;
    size_t size_bytes;
    int integer_bits;
    bool has_sign;
    const char *npy;
    bool owns_npy;
} dtype_row;

static const dtype_row rows[DTYPE_COUNT] = {[DTYPE_NONE] = {"none", 0, 0, true, "", false},
#define X(text, id, size, bits, sign, descr, owns) [id] = {text, size, bits, sign, descr, owns},
                                            DTYPE_LIST(X)
#undef X
};

/* tf32 has the significand of its name and the bits of an f32: it is never rounded to 10 bits. */
static const dtype_format formats[DTYPE_COUNT] = {
    [DTYPE_F64] = {11, 52, 0x7fefffffffffffffu, 0x7ff0000000000000u, 0x7ff8000000000000u,
                   0x1.fffffffffffffp1023, 0x1p-1074},
    [DTYPE_F32] = {8, 23, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x1.fffffep127, 0x1p-149},
    [DTYPE_TF32] = {8, 10, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x1.fffffep127, 0x1p-136},
    [DTYPE_F16] = {5, 10, 0x7bff, 0x7c00, 0x7e00, 0x1.ffcp15, 0x1p-24},
    [DTYPE_BF16] = {8, 7, 0x7f7f, 0x7f80, 0x7fc0, 0x1.fep127, 0x1p-133},
    [DTYPE_F8E4M3FN] = {4, 3, 0x7e, 0, 0x7f, 0x1.cp8, 0x1p-9},
    [DTYPE_F8E5M2] = {5, 2, 0x7b, 0x7c, 0x7e, 0x1.cp15, 0x1p-16},
};

static const dtype_row *row_of(dtype t) {
    return (unsigned)t < DTYPE_COUNT ? &rows[t] : &rows[DTYPE_NONE];
}

const char *dtype_name(dtype t) {
    return row_of(t)->name;
}

dtype dtype_from_name(const char *name) {
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (strcmp(rows[t].name, name) == 0)
            return (dtype)t;
    return DTYPE_NONE;
}

size_t dtype_size(dtype t) {
    return row_of(t)->size_bytes;
}

bool dtype_is_float(dtype t) {
    return row_of(t)->size_bytes && row_of(t)->integer_bits == 0;
}

bool dtype_is_integer(dtype t) {
    return row_of(t)->integer_bits > 1;
}

bool dtype_is_unsigned(dtype t) {
    return !row_of(t)->has_sign;
}

int dtype_integer_bits(dtype t) {
    return row_of(t)->integer_bits;
}

bool dtype_is_narrow(dtype t) {
    return dtype_is_float(t) && t != DTYPE_F64 && t != DTYPE_F32;
}

dtype dtype_stored_as(dtype t) {
    return t == DTYPE_TF32 ? DTYPE_F32 : t;
}

const char *dtype_npy_descr(dtype t) {
    return row_of(t)->npy;
}

bool dtype_owns_npy_descr(dtype t) {
    return row_of(t)->owns_npy;
}

const dtype_format *dtype_format_of(dtype t) {
    return dtype_is_float(t) ? &formats[t] : NULL;
}

bool dtype_is_nan(dtype t, uint64_t bits) {
    const dtype_format *f = dtype_format_of(t);
    if (!f)
        return false;
    uint64_t magnitude = bits & ((UINT64_C(1) << (8 * dtype_size(t) - 1)) - 1);
    return magnitude > (f->infinity ? f->infinity : f->greatest);
}

/* The integers that a type holds without gaps have at most this many bits, the sign aside. */
static int whole_bits(dtype t) {
    return dtype_is_float(t) ? formats[t].mantissa_bits + 1
                             : row_of(t)->integer_bits - row_of(t)->has_sign;
}

bool dtype_holds(dtype to, dtype from) {
    const dtype_format *x = dtype_format_of(from), *y = dtype_format_of(to);
    if (!x && to == DTYPE_BOOL)
        return from == DTYPE_BOOL;
    if (!x)
        return whole_bits(to) >= whole_bits(from) &&
               (!dtype_is_unsigned(to) || dtype_is_unsigned(from));
    return y && y->mantissa_bits >= x->mantissa_bits && y->largest >= x->largest &&
           y->spacing <= x->spacing && (y->infinity || !x->infinity);
}

uint32_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double f64_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- narrow floats ---- */

/* significand * 2^-shift, to nearest even; significand < 2^53. */
static uint64_t shift_right_even(uint64_t significand, int shift) {
    if (shift >= 54)
        return 0; /* below half of the last place */
    uint64_t quotient = significand >> shift;
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    if (rest > half || (rest == half && (quotient & 1)))
        quotient++;
    return quotient;
}

/* Bits of a magnitude that was rounded without looking at the end of the range. */
static uint64_t within_range(uint64_t magnitude, const dtype_format *f, bool saturate) {
    if (magnitude <= f->greatest)
        return magnitude;
    return saturate || !f->infinity ? f->greatest : f->infinity;
}

static uint32_t narrow(double value, dtype t, bool saturate) {
    const dtype_format *f = &formats[t];
    uint64_t bits = f64_bits(value), mantissa = bits & 0xfffffffffffffu, magnitude;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t sign = (bits >> 63) << (f->exponent_bits + f->mantissa_bits);
    if (exponent == 0x7ff && mantissa)
        return (uint32_t)f->nan;
    if (exponent == 0)
        return (uint32_t)sign; /* zero, or a binary64 subnormal, far below every narrow one */
    int biased = exponent - 1023 + ((1 << (f->exponent_bits - 1)) - 1);
    int shift = 52 - f->mantissa_bits;
    uint64_t significand = mantissa | UINT64_C(1) << 52;
    if (biased < 1)
        magnitude = shift_right_even(significand, shift + 1 - biased);
    else /* the implicit one adds itself to the exponent; so does a carry out of the mantissa */
        magnitude =
            ((uint64_t)(biased - 1) << f->mantissa_bits) + shift_right_even(significand, shift);
    return (uint32_t)(sign | within_range(magnitude, f, saturate));
}

uint16_t f32_to_f16(float value) {
    return (uint16_t)narrow((double)value, DTYPE_F16, false);
}

uint16_t f32_to_bf16(float value) {
    return (uint16_t)narrow((double)value, DTYPE_BF16, false);
}

uint32_t f32_to_narrow(dtype t, float value, bool saturate) {
    uint64_t bits = 0;
    (saturate ? dtype_store_saturated : dtype_store)(t, &bits, 0, (double)value);
    return (uint32_t)bits;
}

static float widen(uint32_t bits, const dtype_format *f) {
    int sign_bit = f->exponent_bits + f->mantissa_bits;
    uint32_t sign = (bits >> sign_bit & 1) << 31, magnitude = bits & ((1u << sign_bit) - 1);
    uint32_t exponent = magnitude >> f->mantissa_bits;
    int bias = (1 << (f->exponent_bits - 1)) - 1;
    if (magnitude > (f->infinity ? f->infinity : f->greatest))
        return f32_from_bits(0x7fc00000u);
    if (magnitude > f->greatest)
        return f32_from_bits(sign | 0x7f800000u);
    if (exponent == 0) /* exact */
        return f32_from_bits(sign | f32_bits((float)((double)magnitude * f->spacing)));
    uint32_t mantissa = magnitude << (23 - f->mantissa_bits);
    return f32_from_bits(sign | (mantissa + ((uint32_t)(127 - bias) << 23)));
}

float f16_to_f32(uint16_t bits) {
    return widen(bits, &formats[DTYPE_F16]);
}

float bf16_to_f32(uint16_t bits) {
    return widen(bits, &formats[DTYPE_BF16]);
}

float narrow_to_f32(dtype t, uint32_t bits) {
    return t == DTYPE_TF32 ? f32_from_bits(bits) : widen(bits, &formats[t]);
}

uint32_t f32_to_narrow_stochastic(dtype t, float value, uint32_t random, bool saturate) {
    const dtype_format *f = &formats[t];
    uint32_t bits = f32_bits(value), magnitude = bits & 0x7fffffffu;
    int exponent = (int)(magnitude >> 23), least = 128 - (1 << (f->exponent_bits - 1)) + 1;
    if (magnitude > 0x7f800000u || t == DTYPE_TF32)
        return f32_to_narrow(t, value, saturate);
    uint32_t significand = exponent ? (magnitude & 0x7fffffu) | 0x800000u : magnitude;
    exponent = exponent ? exponent : 1;
    int below = exponent < least ? least - exponent : 0; /* the result's exponent stands still */
    int dropped = 23 - f->mantissa_bits + below;         /* bits of the significand */
    uint32_t distance = dropped <= 32  ? (uint32_t)((uint64_t)significand << (32 - dropped))
                        : dropped < 64 ? significand >> (dropped - 32)
                                       : 0;
    uint64_t kept = dropped < 24 ? significand >> dropped : 0;
    if (below == 0)
        kept += (uint64_t)(exponent - least) << f->mantissa_bits;
    kept += random < distance;
    uint32_t sign = (bits >> 31) << (f->exponent_bits + f->mantissa_bits);
    return sign | (uint32_t)within_range(kept, f, saturate);
}

uint64_t dtype_load_bits(dtype t, const void *data, size_t index) {
    const unsigned char *p = (const unsigned char *)data + index * dtype_size(t);
    uint64_t bits = 0;
    memcpy(&bits, p, dtype_size(t)); /* the host is little endian, as every file format here */
    return bits;
}

int64_t dtype_integer(dtype t, uint64_t bits) {
    if (t == DTYPE_BOOL)
        return bits != 0;
    int unused = 64 - row_of(t)->integer_bits;
    return dtype_is_unsigned(t) ? (int64_t)(bits << unused >> unused)
                                : (int64_t)(bits << unused) >> unused;
}

int64_t dtype_highest(dtype t) {
    return (int64_t)(UINT64_MAX >> (64 - row_of(t)->integer_bits + row_of(t)->has_sign));
}

int64_t dtype_lowest(dtype t) {
    return dtype_is_unsigned(t) ? 0 : -dtype_highest(t) - 1;
}

bool dtype_integer_less(dtype t, int64_t a, int64_t b) {
    return dtype_is_unsigned(t) ? (uint64_t)a < (uint64_t)b : a < b;
}

double dtype_integer_value(dtype t, int64_t value) {
    return dtype_is_unsigned(t) ? (double)(uint64_t)value : (double)value;
}

uint64_t dtype_wrap(dtype t, int64_t value) {
    uint64_t mask = UINT64_MAX >> (64 - 8 * dtype_size(t));
    if (t == DTYPE_BOOL)
        return value != 0;
    return (uint64_t)dtype_integer(t, (uint64_t)value) & mask;
}

double dtype_load(dtype t, const void *data, size_t index) {
    uint64_t bits = dtype_load_bits(t, data, index);
    switch (t) {
    case DTYPE_NONE:
        return 0;
    case DTYPE_F64:
        return f64_from_bits(bits);
    case DTYPE_F32:
        return (double)f32_from_bits((uint32_t)bits);
    default:
        return dtype_is_float(t) ? (double)narrow_to_f32(t, (uint32_t)bits)
                                 : dtype_integer_value(t, dtype_integer(t, bits));
    }
}

static int64_t saturate(double value, dtype t) {
    double limit = ldexp(1.0, whole_bits(t));
    if (isnan(value))
        return 0;
    if (value >= limit)
        return dtype_highest(t);
    if (value < dtype_integer_value(t, dtype_lowest(t)))
        return dtype_lowest(t);
    return dtype_is_unsigned(t) ? (int64_t)(uint64_t)value : (int64_t)value;
}

static double clamped(double value, double limit) {
    return value > limit ? limit : value < -limit ? -limit : value; /* a NaN stays */
}

static uint64_t bits_to_store(dtype t, double value, bool saturating) {
    if (!dtype_is_float(t))
        return t == DTYPE_BOOL ? value != 0 : dtype_wrap(t, saturate(value, t));
    if (isnan(value))
        return formats[t].nan;
    switch (t) {
    case DTYPE_F64:
        return f64_bits(saturating ? clamped(value, formats[t].largest) : value);
    case DTYPE_F32:
    case DTYPE_TF32:
        return f32_bits((float)(saturating ? clamped(value, formats[t].largest) : value));
    default:
        return narrow(value, t, saturating);
    }
}

static void store(dtype t, void *data, size_t index, double value, bool saturating) {
    if (dtype_size(t) == 0)
        return;
    uint64_t bits = bits_to_store(t, value, saturating);
    memcpy((unsigned char *)data + index * dtype_size(t), &bits, dtype_size(t));
}

void dtype_store(dtype t, void *data, size_t index, double value) {
    store(t, data, index, value, false);
}

void dtype_store_saturated(dtype t, void *data, size_t index, double value) {
    store(t, data, index, value, true);
}

uint64_t dtype_ulp_distance(dtype t, uint64_t a_bits, uint64_t b_bits) {
    if (!dtype_is_float(t)) {
        int64_t a = dtype_integer(t, a_bits), b = dtype_integer(t, b_bits);
        return dtype_integer_less(t, b, a) ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    }
    uint64_t sign = UINT64_C(1) << (8 * dtype_size(t) - 1);
    uint64_t a = a_bits & (sign - 1), b = b_bits & (sign - 1);
    if (dtype_is_nan(t, a) || dtype_is_nan(t, b))
        return dtype_is_nan(t, a) && dtype_is_nan(t, b) ? 0 : UINT64_MAX;
    if ((a_bits & sign) != (b_bits & sign))
        return a + b; /* through zero */
    return a > b ? a - b : b - a;
}
