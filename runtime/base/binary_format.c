/* binary_format.c - numbers taken apart and put together as bits: binary_format.h. */
#include "base/binary_format.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"

const binary_format binary_f16 = {"f16", 16, 0, 5, 10, true, false};
const binary_format binary_bf16 = {"bf16", 16, 0, 8, 7, true, false};
const binary_format binary_tf32 = {"tf32", 32, 13, 8, 10, true, false};
const binary_format binary_e4m3 = {"e4m3", 8, 0, 4, 3, false, false};
const binary_format binary_e5m2 = {"e5m2", 8, 0, 5, 2, true, false};
const binary_format binary_e4m3fnuz = {"e4m3fnuz", 8, 0, 4, 3, false, true};
const binary_format binary_e5m2fnuz = {"e5m2fnuz", 8, 0, 5, 2, false, true};
const binary_format binary_f32 = {"f32", 32, 0, 8, 23, true, false};
const binary_format binary_f64 = {"f64", 64, 0, 11, 52, true, false};
const binary_format binary_i8 = {"i8", 8, 0, 0, 7, false, false};
const binary_format binary_u8 = {"u8", 8, 0, 0, 8, false, false};
const binary_format binary_i32 = {"i32", 32, 0, 0, 31, false, false};

const binary_format *binary_format_named(const char *name) {
    const binary_format *all[] = {&binary_f16,      &binary_bf16,     &binary_tf32, &binary_e4m3,
                                  &binary_e5m2,     &binary_e4m3fnuz, &binary_f32,  &binary_f64,
                                  &binary_e5m2fnuz, &binary_i8,       &binary_u8,   &binary_i32};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

bool binary_is_integer(const binary_format *format) {
    return format->exponent_bits == 0;
}

static uint64_t ones(int bits) {
    return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

static int bias(const binary_format *format) {
    return (1 << (format->exponent_bits - 1)) - (format->finite ? 0 : 1);
}

int binary_least_exponent(const binary_format *format) {
    return 1 - bias(format);
}

int binary_greatest_exponent(const binary_format *format) {
    return (int)ones(format->exponent_bits) - (format->has_infinity ? 1 : 0) - bias(format);
}

static uint64_t sign_bit(const binary_format *format, bool negative) {
    return (uint64_t)negative << (format->storage_bits - 1);
}

static binary_number decode_integer(const binary_format *format, uint64_t code) {
    code &= ones(format->storage_bits);
    bool negative = format->fraction_bits < format->storage_bits && code >> format->fraction_bits;
    uint64_t magnitude = negative ? (UINT64_C(1) << format->storage_bits) - code : code;
    return (binary_number){magnitude ? BINARY_FINITE : BINARY_ZERO, negative, format->fraction_bits,
                           magnitude};
}

binary_number binary_decode(const binary_format *format, uint64_t code) {
    if (binary_is_integer(format))
        return decode_integer(format, code);
    uint64_t bits = code >> format->ignored_bits;
    uint64_t fraction = bits & ones(format->fraction_bits);
    int stored = (int)(bits >> format->fraction_bits & ones(format->exponent_bits));
    binary_number x = {BINARY_FINITE, (code >> (format->storage_bits - 1) & 1) != 0,
                       stored - bias(format), fraction};
    bool top = stored == (int)ones(format->exponent_bits);
    if (format->finite && x.negative && stored == 0 && fraction == 0)
        x.kind = BINARY_NAN;
    else if (top && format->has_infinity)
        x.kind = fraction ? BINARY_NAN : BINARY_INFINITE;
    else if (top && !format->finite && fraction == ones(format->fraction_bits))
        x.kind = BINARY_NAN;
    else if (stored)
        x.significand |= UINT64_C(1) << format->fraction_bits;
    else
        x.exponent = binary_least_exponent(format), x.kind = fraction ? BINARY_FINITE : BINARY_ZERO;
    return x;
}

uint64_t binary_nan(const binary_format *format) {
    return format->finite ? sign_bit(format, true) : ones(format->storage_bits - 1);
}

uint64_t binary_quiet_nan(const binary_format *format) {
    int shift = format->fraction_bits + format->ignored_bits - 1;
    return format->has_infinity ? ones(format->exponent_bits + 1) << shift : binary_nan(format);
}

uint64_t binary_infinity(const binary_format *format, bool negative) {
    if (!format->has_infinity)
        return binary_nan(format);
    int shift = format->fraction_bits + format->ignored_bits;
    return sign_bit(format, negative) | ones(format->exponent_bits) << shift;
}

uint64_t binary_code(const binary_format *format, bool negative, int exponent, uint64_t fraction) {
    int greatest = binary_greatest_exponent(format), least = binary_least_exponent(format);
    int limited = exponent > greatest ? greatest : exponent;
    uint64_t stored = limited < least ? 0 : (uint64_t)(limited + bias(format));
    fraction &= ones(format->fraction_bits);
    if (!format->has_infinity && !format->finite && limited == greatest &&
        fraction == ones(format->fraction_bits))
        fraction--; /* e4m3's NaN */
    uint64_t magnitude = (stored << format->fraction_bits | fraction) << format->ignored_bits;
    return sign_bit(format, negative && (magnitude || !format->finite)) | magnitude;
}

/* magnitude / 2^shift; a negative shift multiplies. */
static uint64_t shift_right(uint64_t magnitude, int shift, binary_rounding round) {
    if (shift <= 0)
        return magnitude << -shift;
    if (shift > 64)
        return 0;
    uint64_t kept = shift == 64 ? 0 : magnitude >> shift;
    uint64_t half = UINT64_C(1) << (shift - 1), rest = magnitude & ones(shift);
    if (round == BINARY_NEAREST_EVEN && (rest > half || (rest == half && (kept & 1))))
        kept++;
    return kept;
}

uint64_t binary_encode(const binary_format *format, int fraction_bits, binary_rounding round,
                       bool negative, uint64_t magnitude, int unit) {
    if (!magnitude)
        return sign_bit(format, negative && !format->finite);
    int least = binary_least_exponent(format);
    int leading = 63 - __builtin_clzll(magnitude) + unit;
    int exponent = leading < least ? least : leading;
    uint64_t kept = shift_right(magnitude, exponent - fraction_bits - unit, round);
    if (kept >> (fraction_bits + 1))
        kept >>= 1, exponent++;
    bool normal = kept >> fraction_bits != 0;
    kept <<= format->fraction_bits - fraction_bits;
    bool is_nan =
        !format->has_infinity && !format->finite && kept == ones(format->fraction_bits + 1);
    if (exponent > binary_greatest_exponent(format) ||
        (exponent == binary_greatest_exponent(format) && is_nan))
        return binary_infinity(format, negative);
    return binary_code(format, negative, normal ? exponent : least - 1, kept);
}

double binary_value(const binary_format *format, uint64_t code) {
    if (format == &binary_f64)
        return f64_from_bits(code);
    if (format == &binary_f32)
        return (double)f32_from_bits((uint32_t)code);
    binary_number x = binary_decode(format, code);
    double magnitude = x.kind == BINARY_NAN ? NAN
                       : x.kind == BINARY_INFINITE
                           ? INFINITY
                           : ldexp((double)x.significand, x.exponent - format->fraction_bits);
    return x.negative ? -magnitude : magnitude;
}

uint64_t binary_round(const binary_format *format, double x) {
    binary_number n = binary_decode(&binary_f64, f64_bits(x));
    if (n.kind == BINARY_NAN)
        return binary_nan(format);
    if (n.kind == BINARY_INFINITE)
        return binary_infinity(format, n.negative);
    return binary_encode(format, format->fraction_bits, BINARY_NEAREST_EVEN, n.negative,
                         n.significand, n.exponent - binary_f64.fraction_bits);
}
