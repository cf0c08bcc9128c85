/* dtype.h - element types and the one place where float formats are converted.
 *
 * All conversions round once, to nearest even, from the exact source value (docs/numerics.md,
 * "Conversions"). f16 is IEEE binary16; bf16 is the high half of binary32; f8e4m3fn and f8e5m2 are
 * the 8-bit formats of the OCP OFP8 specification 1.0: e4m3fn has no infinity, so what overflows
 * becomes its greatest number. tf32 is stored as an f32. i4 is one byte an element, sign-extended.
 * bool is one byte, 0 or 1. A NaN that is stored is the canonical quiet NaN of its type. */
#ifndef TESSERA_BASE_DTYPE_H
#define TESSERA_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, enum, size in bytes, bits of an integer (0: a float), has it a sign, NumPy's descr, does
 * that descr mean this type. Where it does not, files hold the descr's type, and what is meant must
 * be known from elsewhere: bf16 travels as u2, the 8-bit floats as u1, tf32 as f4 and i4 as i1. */
#define DTYPE_LIST(X)                                                                              \
    X("f64", DTYPE_F64, 8, 0, 1, "<f8", 1)                                                         \
    X("f32", DTYPE_F32, 4, 0, 1, "<f4", 1)                                                         \
    X("tf32", DTYPE_TF32, 4, 0, 1, "<f4", 0)                                                       \
    X("f16", DTYPE_F16, 2, 0, 1, "<f2", 1)                                                         \
    X("bf16", DTYPE_BF16, 2, 0, 1, "<u2", 0)                                                       \
    X("f8e4m3fn", DTYPE_F8E4M3FN, 1, 0, 1, "|u1", 0)                                               \
    X("f8e5m2", DTYPE_F8E5M2, 1, 0, 1, "|u1", 0)                                                   \
    X("i64", DTYPE_I64, 8, 64, 1, "<i8", 1)                                                        \
    X("i32", DTYPE_I32, 4, 32, 1, "<i4", 1)                                                        \
    X("i16", DTYPE_I16, 2, 16, 1, "<i2", 1)                                                        \
    X("i8", DTYPE_I8, 1, 8, 1, "|i1", 1)                                                           \
    X("i4", DTYPE_I4, 1, 4, 1, "|i1", 0)                                                           \
    X("u64", DTYPE_U64, 8, 64, 0, "<u8", 1)                                                        \
    X("u32", DTYPE_U32, 4, 32, 0, "<u4", 1)                                                        \
    X("u16", DTYPE_U16, 2, 16, 0, "<u2", 1)                                                        \
    X("u8", DTYPE_U8, 1, 8, 0, "|u1", 1)                                                           \
    X("bool", DTYPE_BOOL, 1, 1, 0, "|b1", 1)

typedef enum dtype {
    DTYPE_NONE = 0,
#define X(name, id, ...) id,
    DTYPE_LIST(X)
#undef X
        DTYPE_COUNT
} dtype;

const char *dtype_name(dtype t);
dtype dtype_from_name(const char *name); /* DTYPE_NONE when unknown */
size_t dtype_size(dtype t);              /* bytes an element */
bool dtype_is_float(dtype t);
bool dtype_is_integer(dtype t);  /* with a sign or without; not bool */
bool dtype_is_unsigned(dtype t); /* u64, u32, u16, u8, and bool */
int dtype_integer_bits(dtype t); /* 4 for i4, although it takes a byte; 0 for floats */
bool dtype_is_narrow(dtype t);   /* a float that computes as f32 and is rounded to its own type */
dtype dtype_stored_as(dtype t);  /* the type whose bits these are: f32 for tf32, else itself */
const char *dtype_npy_descr(dtype t);
bool dtype_owns_npy_descr(
    dtype t); /* a file with that descr holds this type, unless told otherwise */

/* A float type: significand and exponent as documented, bits as stored. */
typedef struct dtype_format {
    int exponent_bits, mantissa_bits;
    uint64_t greatest; /* bits of the greatest finite number */
    uint64_t infinity; /* 0: there is none, and what overflows becomes the greatest number */
    uint64_t nan;      /* the canonical one; every magnitude above greatest and infinity is a NaN */
    double largest;    /* the value of `greatest` */
    double spacing;    /* between subnormal numbers */
} dtype_format;
const dtype_format *dtype_format_of(dtype t); /* NULL for what is no float */
bool dtype_is_nan(dtype t, uint64_t bits);
/* Does `to` hold every value of `from` exactly, NaN and infinities included? */
bool dtype_holds(dtype to, dtype from);

uint16_t f32_to_f16(float value);
float f16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);
float bf16_to_f32(uint16_t bits);
/* Bits of any narrow type as f32, exactly. */
float narrow_to_f32(dtype t, uint32_t bits);
/* The same way back; `saturate`: what overflows becomes the greatest number. */
uint32_t f32_to_narrow(dtype t, float value, bool saturate);
/* Rounds away from zero with a probability that is the distance from the number below it, in units
 * of the spacing there, cut to 32 bits: where `random` is less than those bits. A number of the
 * type stays what it is. */
uint32_t f32_to_narrow_stochastic(dtype t, float value, uint32_t random, bool saturate);
uint32_t f32_bits(float value);
float f32_from_bits(uint32_t bits);
uint64_t f64_bits(double value);
double f64_from_bits(uint64_t bits);

/* Element `index` of a buffer as double (exact for all types but i64 and u64 above 2^53, which are
 * rounded once), and its raw bits (zero-extended). */
double dtype_load(dtype t, const void *data, size_t index);
uint64_t dtype_load_bits(dtype t, const void *data, size_t index);
/* Store with one rounding from double (floats: nearest even; integers: truncate, saturate, NaN to
 * 0). */
void dtype_store(dtype t, void *data, size_t index, double value);
/* The same; what overflows a float type becomes its greatest number. */
void dtype_store_saturated(dtype t, void *data, size_t index, double value);
/* The low bits of an integer, i4 sign-extended to its byte; bool: is it not 0. */
uint64_t dtype_wrap(dtype t, int64_t value);
/* The integer that such bits are; of u64, the one that is congruent to it modulo 2^64. */
int64_t dtype_integer(dtype t, uint64_t bits);
/* The least and the greatest integer of a type, in the same form. */
int64_t dtype_lowest(dtype t);
int64_t dtype_highest(dtype t);
/* Is a < b, of integers in that form? */
bool dtype_integer_less(dtype t, int64_t a, int64_t b);
double dtype_integer_value(dtype t, int64_t value); /* rounded once */
/* Distance in units in the last place between two elements of float type `t`, counted on the
 * ordered integer line (-0 and +0 are 0 apart); UINT64_MAX when exactly one is NaN, 0 when both
 * are. Integers: |a - b|. */
uint64_t dtype_ulp_distance(dtype t, uint64_t a_bits, uint64_t b_bits);

#endif
