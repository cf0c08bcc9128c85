/* binary_format.h - numbers that arithmetic units read and write, as bits: taken apart, and put
 * together again with one rounding. All in integers; nothing here depends on the floats of the
 * machine that it runs on. dtype.h converts the element types of tensors; this has formats that are
 * none, and roundings that are not to nearest. */
#ifndef TESSERA_BASE_BINARY_FORMAT_H
#define TESSERA_BASE_BINARY_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct binary_format {
    const char *name;
    int storage_bits;
    int ignored_bits;  /* lowest bits of the storage that a unit does not read (tf32: 13) */
    int exponent_bits; /* 0: an integer, without a sign where all bits are its fraction */
    int fraction_bits;
    bool has_infinity; /* e4m3 has none, and its one NaN is all ones */
    bool finite;       /* the "fnuz" formats: no infinity, no -0, which is their NaN instead; the
                          bias is one greater */
} binary_format;

extern const binary_format binary_f16, binary_bf16, binary_tf32, binary_e4m3, binary_e5m2,
    binary_e4m3fnuz, binary_e5m2fnuz, binary_f32, binary_f64, binary_i8, binary_u8, binary_i32;

/* The format of that name, or NULL. */
const binary_format *binary_format_named(const char *name);
bool binary_is_integer(const binary_format *format);

typedef enum { BINARY_ZERO, BINARY_FINITE, BINARY_INFINITE, BINARY_NAN } binary_kind;

/* significand * 2^(exponent - fraction_bits). The exponent is the stored one: a subnormal, and
 * zero, have the least normal exponent and a significand below 2^fraction_bits. */
typedef struct binary_number {
    binary_kind kind;
    bool negative;
    int exponent;
    uint64_t significand;
} binary_number;

binary_number binary_decode(const binary_format *format, uint64_t code);

typedef enum { BINARY_CUT, BINARY_NEAREST_EVEN } binary_rounding;

/* The float nearest to magnitude * 2^unit, or the next one towards zero, with `fraction_bits` (at
 * most the format's) bits below the leading one; below the least normal exponent the last kept bit
 * stays where it is. Too large is infinity (without one: NaN), whatever the rounding. */
uint64_t binary_encode(const binary_format *format, int fraction_bits, binary_rounding round,
                       bool negative, uint64_t magnitude, int unit);

/* Exact: a double holds every number of the formats above. */
double binary_value(const binary_format *format, uint64_t code);
/* To nearest even, of a float format; a NaN is binary_nan. */
uint64_t binary_round(const binary_format *format, double x);

uint64_t binary_infinity(const binary_format *format, bool negative);
/* All bits but the sign set, which NVIDIA's units return for every NaN; "fnuz": the one there is.
 */
uint64_t binary_nan(const binary_format *format);
/* The NaN that the others are taken as: the highest bit of the fraction set, positive. */
uint64_t binary_quiet_nan(const binary_format *format);
int binary_least_exponent(const binary_format *format);
int binary_greatest_exponent(const binary_format *format);
/* From parts. An exponent below the least one makes the fraction a subnormal's; one above the
 * greatest is taken as that. */
uint64_t binary_code(const binary_format *format, bool negative, int exponent, uint64_t fraction);

#endif
