/* format.c - floats taken apart and put together as bits: format.h. */
#include "format.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const float_format format_f16 = {"f16", 16, 0, 5, 10, true};
const float_format format_bf16 = {"bf16", 16, 0, 8, 7, true};
const float_format format_tf32 = {"tf32", 32, 13, 8, 10, true};
const float_format format_e4m3 = {"e4m3", 8, 0, 4, 3, false};
const float_format format_e5m2 = {"e5m2", 8, 0, 5, 2, true};
const float_format format_f32 = {"f32", 32, 0, 8, 23, true};
const float_format format_f64 = {"f64", 64, 0, 11, 52, true};

const float_format *format_named(const char *name) {
    const float_format *all[] = {&format_f16,  &format_bf16, &format_tf32, &format_e4m3,
                                 &format_e5m2, &format_f32,  &format_f64};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

static uint64_t ones(int bits) {
    return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

static int bias(const float_format *format) {
    return (1 << (format->exponent_bits - 1)) - 1;
}

int format_least_exponent(const float_format *format) {
    return 1 - bias(format);
}

int format_greatest_exponent(const float_format *format) {
    return bias(format) + (format->has_infinity ? 0 : 1);
}

static uint64_t sign_bit(const float_format *format, bool negative) {
    return (uint64_t)negative << (format->storage_bits - 1);
}

number format_decode(const float_format *format, uint64_t code) {
    uint64_t bits = code >> format->ignored_bits;
    uint64_t fraction = bits & ones(format->fraction_bits);
    int stored = (int)(bits >> format->fraction_bits & ones(format->exponent_bits));
    number x = {NUMBER_FINITE, (code >> (format->storage_bits - 1) & 1) != 0, stored - bias(format),
                fraction};
    bool top = stored == (int)ones(format->exponent_bits);
    if (top && format->has_infinity)
        x.kind = fraction ? NUMBER_NAN : NUMBER_INFINITE;
    else if (top && fraction == ones(format->fraction_bits))
        x.kind = NUMBER_NAN;
    else if (stored)
        x.significand |= UINT64_C(1) << format->fraction_bits;
    else
        x.exponent = format_least_exponent(format), x.kind = fraction ? NUMBER_FINITE : NUMBER_ZERO;
    return x;
}

uint64_t format_nan(const float_format *format) {
    return ones(format->storage_bits - 1);
}

uint64_t format_infinity(const float_format *format, bool negative) {
    if (!format->has_infinity)
        return format_nan(format);
    int shift = format->fraction_bits + format->ignored_bits;
    return sign_bit(format, negative) | ones(format->exponent_bits) << shift;
}

uint64_t format_code(const float_format *format, bool negative, int exponent, uint64_t fraction) {
    int greatest = format_greatest_exponent(format), least = format_least_exponent(format);
    int limited = exponent > greatest ? greatest : exponent;
    uint64_t stored = limited < least ? 0 : (uint64_t)(limited + bias(format));
    fraction &= ones(format->fraction_bits);
    if (!format->has_infinity && limited == greatest && fraction == ones(format->fraction_bits))
        fraction--; /* e4m3's NaN */
    return sign_bit(format, negative) | (stored << format->fraction_bits | fraction)
                                            << format->ignored_bits;
}

/* magnitude / 2^shift; a negative shift multiplies. */
static uint64_t shift_right(uint64_t magnitude, int shift, rounding round) {
    if (shift <= 0)
        return magnitude << -shift;
    if (shift > 64)
        return 0;
    uint64_t kept = shift == 64 ? 0 : magnitude >> shift;
    uint64_t half = UINT64_C(1) << (shift - 1), rest = magnitude & ones(shift);
    if (round == ROUND_NEAREST_EVEN && (rest > half || (rest == half && (kept & 1))))
        kept++;
    return kept;
}

uint64_t format_encode(const float_format *format, int fraction_bits, rounding round, bool negative,
                       uint64_t magnitude, int unit) {
    if (!magnitude)
        return sign_bit(format, negative);
    int least = format_least_exponent(format);
    int leading = 63 - __builtin_clzll(magnitude) + unit;
    int exponent = leading < least ? least : leading;
    uint64_t kept = shift_right(magnitude, exponent - fraction_bits - unit, round);
    if (kept >> (fraction_bits + 1))
        kept >>= 1, exponent++;
    bool normal = kept >> fraction_bits != 0;
    kept <<= format->fraction_bits - fraction_bits;
    bool is_nan = !format->has_infinity && kept == ones(format->fraction_bits + 1);
    if (exponent > format_greatest_exponent(format) ||
        (exponent == format_greatest_exponent(format) && is_nan))
        return format_infinity(format, negative);
    return format_code(format, negative, normal ? exponent : least - 1, kept);
}

double format_value(const float_format *format, uint64_t code) {
    number x = format_decode(format, code);
    double magnitude = x.kind == NUMBER_NAN ? NAN
                       : x.kind == NUMBER_INFINITE
                           ? INFINITY
                           : ldexp((double)x.significand, x.exponent - format->fraction_bits);
    return x.negative ? -magnitude : magnitude;
}

uint64_t format_round(const float_format *format, double x) {
    uint64_t code;
    memcpy(&code, &x, sizeof code);
    number n = format_decode(&format_f64, code);
    if (n.kind == NUMBER_NAN)
        return format_nan(format);
    if (n.kind == NUMBER_INFINITE)
        return format_infinity(format, n.negative);
    return format_encode(format, format->fraction_bits, ROUND_NEAREST_EVEN, n.negative,
                         n.significand, n.exponent - format_f64.fraction_bits);
}
