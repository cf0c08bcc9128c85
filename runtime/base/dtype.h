/* dtype.h - element types and the one place where float formats are converted.
 *
 * All conversions round once, to nearest even, from the exact source value (NUMERICS: conversions).
 * f16 is IEEE binary16; bf16 is the high half of binary32; bool is one byte, 0 or 1. A NaN that is
 * stored is the canonical quiet NaN of its type. */
#ifndef TESSERA_BASE_DTYPE_H
#define TESSERA_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, enum, size in bytes, is float, numpy descr ("" = NumPy has none; bf16 travels as '<u2') */
#define DTYPE_LIST(X)                                                                              \
    X("f64", DTYPE_F64, 8, 1, "<f8")                                                               \
    X("f32", DTYPE_F32, 4, 1, "<f4")                                                               \
    X("f16", DTYPE_F16, 2, 1, "<f2")                                                               \
    X("bf16", DTYPE_BF16, 2, 1, "<u2")                                                             \
    X("i64", DTYPE_I64, 8, 0, "<i8")                                                               \
    X("i32", DTYPE_I32, 4, 0, "<i4")                                                               \
    X("i8", DTYPE_I8, 1, 0, "|i1")                                                                 \
    X("bool", DTYPE_BOOL, 1, 0, "|b1")

typedef enum dtype {
    DTYPE_NONE = 0,
#define X(name, id, size, flt, npy) id,
    DTYPE_LIST(X)
#undef X
        DTYPE_COUNT
} dtype;

const char *dtype_name(dtype t);
dtype dtype_from_name(const char *name); /* DTYPE_NONE when unknown */
size_t dtype_size(dtype t);              /* bytes an element */
bool dtype_is_float(dtype t);
bool dtype_is_integer(dtype t); /* i64, i32, i8; not bool */
const char *dtype_npy_descr(dtype t);

uint16_t f32_to_f16(float value);
float f16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);
float bf16_to_f32(uint16_t bits);
uint32_t f32_bits(float value);
float f32_from_bits(uint32_t bits);
uint64_t f64_bits(double value);
double f64_from_bits(uint64_t bits);

/* Element `index` of a buffer as double (exact for all types but i64 above 2^53), and
 * its raw bits (zero-extended). */
double dtype_load(dtype t, const void *data, size_t index);
uint64_t dtype_load_bits(dtype t, const void *data, size_t index);
/* Store with one rounding from double (floats: nearest even; integers: truncate, saturate, NaN to
 * 0). */
void dtype_store(dtype t, void *data, size_t index, double value);
/* Distance in units in the last place between two elements of float type `t`, counted on the
 * ordered integer line (-0 and +0 are 0 apart); UINT64_MAX when exactly one is NaN, 0 when both
 * are. Integers: |a - b|. */
uint64_t dtype_ulp_distance(dtype t, uint64_t a_bits, uint64_t b_bits);

#endif
