/* format.h - the floats that a matrix unit reads and writes, as bits: taken apart, and put together
 * again with one rounding. All in integers; nothing here depends on the floats of the machine that
 * it runs on. */
#ifndef MATRIX_UNITS_FORMAT_H
#define MATRIX_UNITS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct float_format {
    const char *name;
    int storage_bits;
    int ignored_bits; /* lowest bits of the storage that the unit does not read (tf32: 13) */
    int exponent_bits;
    int fraction_bits;
    bool has_infinity; /* e4m3 has none, and its one NaN is all ones */
} float_format;

extern const float_format format_f16, format_bf16, format_tf32, format_e4m3, format_e5m2,
    format_f32, format_f64;

/* The format of that name, or NULL. */
const float_format *format_named(const char *name);

typedef enum { NUMBER_ZERO, NUMBER_FINITE, NUMBER_INFINITE, NUMBER_NAN } number_kind;

/* significand * 2^(exponent - fraction_bits). The exponent is the stored one: a subnormal, and
 * zero, have the least normal exponent and a significand below 2^fraction_bits. */
typedef struct number {
    number_kind kind;
    bool negative;
    int exponent;
    uint64_t significand;
} number;

number format_decode(const float_format *format, uint64_t code);

typedef enum { ROUND_CUT, ROUND_NEAREST_EVEN } rounding;

/* The float nearest to magnitude * 2^unit, or the next one towards zero, with `fraction_bits` (at
 * most the format's) bits below the leading one; below the least normal exponent the last kept bit
 * stays where it is. Too large is infinity (e4m3: NaN), whatever the rounding. */
uint64_t format_encode(const float_format *format, int fraction_bits, rounding round, bool negative,
                       uint64_t magnitude, int unit);

/* Exact: a double holds every float of the formats above. */
double format_value(const float_format *format, uint64_t code);
/* To nearest even; a NaN is format_nan. */
uint64_t format_round(const float_format *format, double x);

uint64_t format_infinity(const float_format *format, bool negative);
/* All bits but the sign set: what the units return for every NaN. */
uint64_t format_nan(const float_format *format);
int format_least_exponent(const float_format *format);
int format_greatest_exponent(const float_format *format);
/* From parts. An exponent below the least one makes the fraction a subnormal's; one above the
 * greatest is taken as that. */
uint64_t format_code(const float_format *format, bool negative, int exponent, uint64_t fraction);

#endif
