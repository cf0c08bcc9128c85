/* inputs.c - the edges of every rounding, and a sample. */
#include "test/conversions/inputs.h"

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "test/conversions/oracle.h"

enum { SAMPLE = 1 << 17 };

static void add(bit_list *out, uint64_t bits) {
    vec_push(out, bits);
}

static void add_every(int bits, bit_list *out) {
    for (uint64_t i = 0; i < UINT64_C(1) << bits; i++)
        add(out, i);
}

/* A number and the two beside it, of either sign. */
static void add_float_around(dtype from, long double value, bit_list *out) {
    uint64_t sign = UINT64_C(1) << (8 * dtype_size(from) - 1), bits = 0;
    double d = (double)value;
    float s = (float)value;
    memcpy(&bits, from == DTYPE_F64 ? (void *)&d : (void *)&s, dtype_size(from));
    for (uint64_t k = bits ? bits - 1 : 0; k <= bits + 1; k++) {
        add(out, k);
        add(out, k | sign);
    }
}

static void add_integer_around(dtype from, long double value, bit_list *out) {
    const bool is_long = dtype_size(from) == 8;
    if (fabsl(value) >= ldexpl(1, (is_long ? 63 : 31) + dtype_is_unsigned(from)))
        return;
    uint64_t middle = value < 0 ? 0 - (uint64_t)-value : (uint64_t)value,
             mask = is_long ? UINT64_MAX : UINT32_MAX;
    for (uint64_t k = middle - 2; k != middle + 3; k++) {
        add(out, k & mask);
        add(out, (0 - k) & mask);
    }
}

static void add_around(dtype from, long double value, bit_list *out) {
    if (dtype_is_float(from))
        add_float_around(from, value, out);
    else
        add_integer_around(from, value, out);
}

/* Every number of a narrow float and every midpoint above it, the one where overflow begins too. */
static void add_edges_of(dtype from, dtype narrow, bit_list *out) {
    long double below = 0;
    uint32_t greatest = oracle_greatest(narrow);
    for (uint32_t i = 0; i <= greatest; i++) {
        long double value = oracle_value(narrow, i), step = value - below;
        if (i)
            add_around(from, below + step / 2, out);
        if (i == 0 || fabsl(value) >= 0.5L || dtype_is_float(from))
            add_around(from, value, out);
        if (i == greatest)
            add_around(from, value + step / 2, out);
        below = value;
    }
}

/* Powers of two, where formats and integers end; halves of the last place of f32 and f64. */
static void add_powers(dtype from, bit_list *out) {
    for (int e = -1075; e <= 1024; e++) {
        if (e >= (dtype_is_float(from) ? -1075 : -1))
            add_around(from, ldexpl(1, e), out);
        for (int odd = 1; odd < 8 && e >= 0 && e < 64; odd += 2) {
            add_around(from, ldexpl((long double)((1 << 24) + odd), e - 24), out);
            add_around(from, ldexpl((long double)((INT64_C(1) << 53) + odd), e - 53), out);
        }
    }
}

/* Random bits, and random bits of every magnitude. */
static void add_sample(dtype from, bit_list *out) {
    uint64_t mask = UINT64_MAX >> (64 - 8 * dtype_size(from));
    for (uint32_t i = 0; i < SAMPLE; i++) {
        philox_words w = philox_element(20, i, (uint32_t)from, 7);
        uint64_t bits = (uint64_t)w.w[0] << 32 | w.w[1];
        add(out, bits & mask);
        if (!dtype_is_float(from))
            add(out, (uint64_t)((int64_t)bits >> (w.w[2] & 63)) & mask);
    }
}

static void add_special(dtype from, bit_list *out) {
    const uint64_t infinity = from == DTYPE_F64 ? 0x7ff0000000000000u : 0x7f800000u,
                   sign = UINT64_C(1) << (8 * dtype_size(from) - 1);
    const uint64_t list[] = {0, infinity, infinity + 1, infinity | infinity >> 1, sign - 1};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        add(out, list[i]);
        add(out, list[i] | sign);
    }
}

void conversion_inputs(dtype from, bit_list *out) {
    static const dtype narrow[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F8E4M3FN, DTYPE_F8E5M2};
    if (from == DTYPE_BOOL) {
        add_every(1, out);
        return;
    }
    if (dtype_size(from) <= 2) {
        add_every(8 * (int)dtype_size(from), out);
        return;
    }
    if (dtype_is_float(from))
        add_special(from, out);
    for (int i = 0; i < 4; i++)
        add_edges_of(from, narrow[i], out);
    add_powers(from, out);
    add_sample(from, out);
}
