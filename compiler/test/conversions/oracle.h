/* oracle.h - conversions by the definitions of the types, written without a look at base/dtype.c.
 *
 * A narrow float format is the sorted list of its values; rounding is a search among the midpoints
 * between them. Everything is exact in long double, which holds an i64 and an f64. */
#ifndef TESSERA_TEST_CONVERSIONS_ORACLE_H
#define TESSERA_TEST_CONVERSIONS_ORACLE_H

#include "base/dtype.h"

void oracle_init(void);
/* Bits of `to` for an element of `from`. Not thread-safe but for the hint: one for each caller. */
typedef struct oracle_hint {
    uint32_t at;
} oracle_hint;
uint64_t oracle_convert(dtype from, dtype to, bool saturate, uint64_t bits, oracle_hint *hint);
/* An f32 to a narrow float, away from zero where `random` is below the distance, in units of 2^-32
 * of the step. */
uint64_t oracle_stochastic(dtype to, bool saturate, uint64_t bits, uint32_t random);
/* The value of a float's bits; NaN for a NaN. */
long double oracle_value(dtype t, uint64_t bits);
/* Bits of the greatest finite number of a narrow float. */
uint32_t oracle_greatest(dtype t);

#endif
