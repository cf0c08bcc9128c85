/* dtype.c - element types and float formats. Every narrowing goes through one integer routine, from
 * a double, which holds each source value exactly; so each conversion rounds once. */
#include "base/dtype.h"

#include <math.h>
#include <string.h>

typedef struct dtype_row {
    const char *name;
    size_t size_bytes;
    bool is_float;
    const char *npy;
} dtype_row;

static const dtype_row rows[DTYPE_COUNT] = {[DTYPE_NONE] = {"none", 0, false, ""},
#define X(text, id, size, flt, descr) [id] = {text, size, flt, descr},
                                            DTYPE_LIST(X)
#undef X
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
    return row_of(t)->is_float;
}

bool dtype_is_integer(dtype t) {
    return t == DTYPE_I64 || t == DTYPE_I32 || t == DTYPE_I8;
}

const char *dtype_npy_descr(dtype t) {
    return row_of(t)->npy;
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

/* An IEEE-like binary format of at most 16 bits. */
typedef struct narrow_format {
    int exponent_bits, mantissa_bits;
} narrow_format;

static const narrow_format format_f16 = {5, 10}, format_bf16 = {8, 7};

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

static uint16_t narrow(double value, narrow_format f) {
    uint64_t bits = f64_bits(value), mantissa = bits & 0xfffffffffffffu;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t sign = (bits >> 63) << (f.exponent_bits + f.mantissa_bits);
    uint64_t infinity = ((UINT64_C(1) << f.exponent_bits) - 1) << f.mantissa_bits;
    if (exponent == 0x7ff && mantissa)
        return (uint16_t)(infinity | UINT64_C(1) << (f.mantissa_bits - 1));
    int biased = exponent - 1023 + ((1 << (f.exponent_bits - 1)) - 1);
    if (biased >= (1 << f.exponent_bits) - 1)
        return (uint16_t)(sign | infinity);
    if (exponent == 0)
        return (uint16_t)sign; /* zero, or a binary64 subnormal, far below every narrow one */
    uint64_t significand = mantissa | UINT64_C(1) << 52;
    int shift = 52 - f.mantissa_bits;
    if (biased < 1)
        return (uint16_t)(sign | shift_right_even(significand, shift + 1 - biased));
    /* The implicit one adds itself to the exponent; so does a carry out of the mantissa, up to
     * infinity. */
    uint64_t magnitude =
        ((uint64_t)(biased - 1) << f.mantissa_bits) + shift_right_even(significand, shift);
    return (uint16_t)(sign | magnitude);
}

uint16_t f32_to_f16(float value) {
    return narrow((double)value, format_f16);
}

uint16_t f32_to_bf16(float value) {
    return narrow((double)value, format_bf16);
}

float f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu,
             mantissa = bits & 0x3ffu;
    if (exponent == 0x1f)
        return f32_from_bits(mantissa ? 0x7fc00000u : sign | 0x7f800000u);
    if (exponent == 0) {
        float magnitude = (float)mantissa * 0x1p-24f; /* exact */
        return f32_from_bits(sign | f32_bits(magnitude));
    }
    return f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

float bf16_to_f32(uint16_t bits) {
    bool is_nan = (bits & 0x7fffu) > 0x7f80u;
    return f32_from_bits(is_nan ? 0x7fc00000u : (uint32_t)bits << 16);
}

uint64_t dtype_load_bits(dtype t, const void *data, size_t index) {
    const unsigned char *p = (const unsigned char *)data + index * dtype_size(t);
    uint64_t bits = 0;
    memcpy(&bits, p, dtype_size(t)); /* the host is little endian, as every file format here */
    return bits;
}

static int64_t sign_extend(dtype t, uint64_t bits) {
    int unused = 64 - 8 * (int)dtype_size(t);
    return (int64_t)(bits << unused) >> unused;
}

double dtype_load(dtype t, const void *data, size_t index) {
    uint64_t bits = dtype_load_bits(t, data, index);
    switch (t) {
    case DTYPE_F64:
        return f64_from_bits(bits);
    case DTYPE_F32:
        return (double)f32_from_bits((uint32_t)bits);
    case DTYPE_F16:
        return (double)f16_to_f32((uint16_t)bits);
    case DTYPE_BF16:
        return (double)bf16_to_f32((uint16_t)bits);
    case DTYPE_BOOL:
        return bits != 0;
    case DTYPE_I64:
    case DTYPE_I32:
    case DTYPE_I8:
        return (double)sign_extend(t, bits);
    default:
        return 0;
    }
}

static int64_t saturate(double value, int bits) {
    double limit = ldexp(1.0, bits - 1);
    if (isnan(value))
        return 0;
    if (value >= limit)
        return (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    if (value < -limit)
        return -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1;
    return (int64_t)value;
}

static uint64_t bits_to_store(dtype t, double value) {
    switch (t) {
    case DTYPE_F64:
        return isnan(value) ? 0x7ff8000000000000u : f64_bits(value);
    case DTYPE_F32:
        return isnan(value) ? 0x7fc00000u : f32_bits((float)value);
    case DTYPE_F16:
        return narrow(value, format_f16);
    case DTYPE_BF16:
        return narrow(value, format_bf16);
    case DTYPE_BOOL:
        return value != 0;
    default:
        return (uint64_t)saturate(value, 8 * (int)dtype_size(t));
    }
}

void dtype_store(dtype t, void *data, size_t index, double value) {
    if (dtype_size(t) == 0)
        return;
    uint64_t bits = bits_to_store(t, value);
    memcpy((unsigned char *)data + index * dtype_size(t), &bits, dtype_size(t));
}

/* Bits of the infinity of a float type: above it, without the sign, are the NaNs. */
static uint64_t infinity_bits(dtype t) {
    switch (t) {
    case DTYPE_F64:
        return 0x7ff0000000000000u;
    case DTYPE_F32:
        return 0x7f800000u;
    case DTYPE_F16:
        return 0x7c00u;
    default:
        return 0x7f80u;
    }
}

uint64_t dtype_ulp_distance(dtype t, uint64_t a_bits, uint64_t b_bits) {
    if (!dtype_is_float(t)) {
        int64_t a = sign_extend(t, a_bits), b = sign_extend(t, b_bits);
        return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    }
    uint64_t sign = UINT64_C(1) << (8 * dtype_size(t) - 1);
    uint64_t a = a_bits & (sign - 1), b = b_bits & (sign - 1), infinity = infinity_bits(t);
    if (a > infinity || b > infinity)
        return a > infinity && b > infinity ? 0 : UINT64_MAX;
    if ((a_bits & sign) != (b_bits & sign))
        return a + b; /* through zero */
    return a > b ? a - b : b - a;
}
