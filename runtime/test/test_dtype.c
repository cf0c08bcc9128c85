/* test_dtype.c - the float formats: every narrow value both ways, and rounding checked by looking
 * at the two neighbours of each result instead of repeating the bit tricks. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>

#include "base/dtype.h"

typedef struct format {
    const char *name;
    dtype type;
    uint16_t infinity, quiet_nan;
    uint16_t (*narrow)(float);
    float (*widen)(uint16_t);
    double overflow; /* the magnitude that first rounds to infinity */
} format;

static const format formats[] = {
    {"f16", DTYPE_F16, 0x7c00, 0x7e00, f32_to_f16, f16_to_f32, 65520.0},
    {"bf16", DTYPE_BF16, 0x7f80, 0x7fc0, f32_to_bf16, bf16_to_f32, 0x1.ffp127},
};

/* The value of a narrow pattern from its fields, by the definition of the format. */
static double value_of(const format *f, uint16_t bits) {
    int mantissa_bits = f->type == DTYPE_F16 ? 10 : 7, bias = f->type == DTYPE_F16 ? 15 : 127;
    int exponent = (bits & 0x7fff) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

static void every_narrow_value_survives_the_way_up_and_down(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t bits = 0; bits <= 0xffff; bits++) {
            float wide = f->widen((uint16_t)bits);
            bool is_nan = (bits & 0x7fff) > f->infinity;
            if (is_nan) {
                assert_int_equal(f32_bits(wide), 0x7fc00000u);
                assert_int_equal(f->narrow(wide), f->quiet_nan);
                continue;
            }
            if ((bits & 0x7fff) == f->infinity)
                assert_true(isinf(wide));
            else
                assert_true((double)wide == value_of(f, (uint16_t)bits));
            assert_int_equal(f->narrow(wide), bits);
        }
    }
}

/* `got` is the nearest of its neighbours to x, and even where two are as near. */
static void expect_nearest(const format *f, double x, uint16_t got) {
    double magnitude = fabs(x);
    assert_int_equal(got >> 15, signbit(x) ? 1 : 0);
    uint16_t bits = got & 0x7fff;
    if (magnitude >= f->overflow) {
        assert_int_equal(bits, f->infinity);
        return;
    }
    assert_true(bits < f->infinity);
    double here = fabs(magnitude - value_of(f, bits));
    if (bits > 0) {
        double below = fabs(magnitude - value_of(f, (uint16_t)(bits - 1)));
        assert_true(here < below || (here == below && bits % 2 == 0));
    }
    if (bits + 1 < f->infinity) {
        double above = fabs(magnitude - value_of(f, (uint16_t)(bits + 1)));
        assert_true(here < above || (here == above && bits % 2 == 0));
    }
}

static void f32_rounds_to_the_nearest_even(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        for (uint64_t pattern = 0; pattern <= UINT32_MAX; pattern += 1021) {
            float x = f32_from_bits((uint32_t)pattern);
            if (isnan(x))
                assert_int_equal(formats[k].narrow(x), formats[k].quiet_nan);
            else
                expect_nearest(&formats[k], (double)x, formats[k].narrow(x));
        }
    }
}

/* Doubles a hair beside the midpoints: rounding first to f32 would land on the midpoint and then on
 * even. */
static void doubles_round_once(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint16_t bits = 0; bits + 1 < f->infinity; bits++) {
            double middle = (value_of(f, bits) + value_of(f, (uint16_t)(bits + 1))) / 2;
            double around[] = {middle, nextafter(middle, 0), nextafter(middle, INFINITY)};
            for (int i = 0; i < 3; i++) {
                uint16_t got;
                dtype_store(f->type, &got, 0, around[i]);
                expect_nearest(f, around[i], got);
            }
        }
    }
    float single;
    dtype_store(DTYPE_F32, &single, 0, 1 + 0x1p-24 + 0x1p-50);
    assert_true(single == 1 + 0x1p-23f);
}

typedef struct store_case {
    dtype type;
    double value;
    uint64_t bits;
} store_case;

static const store_case stores[] = {
    {DTYPE_I8, 127.9, 127},
    {DTYPE_I8, 128, 127},
    {DTYPE_I8, -129, 0x80},
    {DTYPE_I8, -1.9, 0xff},
    {DTYPE_I32, NAN, 0},
    {DTYPE_I32, 1e300, 0x7fffffff},
    {DTYPE_I64, 0x1p63, INT64_MAX},
    {DTYPE_I64, -INFINITY, 0x8000000000000000u},
    {DTYPE_BOOL, NAN, 1},
    {DTYPE_BOOL, -0.0, 0},
    {DTYPE_F64, -NAN, 0x7ff8000000000000u},
    {DTYPE_F32, -NAN, 0x7fc00000},
    {DTYPE_F16, -1e9, 0xfc00},
    {DTYPE_BF16, 1e300, 0x7f80},
    {DTYPE_F16, -0x1p-1074, 0x8000},
};

static void stores_saturate_and_canonicalise(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(stores); i++) {
        uint64_t memory[2] = {0};
        dtype_store(stores[i].type, memory, 1, stores[i].value);
        assert_int_equal(dtype_load_bits(stores[i].type, memory, 1), stores[i].bits);
    }
    int8_t minus_five = -5;
    assert_true(dtype_load(DTYPE_I8, &minus_five, 0) == -5.0);
}

static void ulp_distances_count_steps(void **state) {
    (void)state;
    assert_int_equal(dtype_ulp_distance(DTYPE_F32, f32_bits(0.0f), f32_bits(-0.0f)), 0);
    assert_int_equal(dtype_ulp_distance(DTYPE_F32, f32_bits(1.0f), f32_bits(1.0f + 0x1p-23f)), 1);
    assert_int_equal(dtype_ulp_distance(DTYPE_F32, 1, 0x80000001u), 2);
    assert_int_equal(dtype_ulp_distance(DTYPE_F16, 0x7e00, 0x3c00), UINT64_MAX);
    assert_int_equal(dtype_ulp_distance(DTYPE_BF16, 0x7fc0, 0xffc1), 0);
    assert_int_equal(dtype_ulp_distance(DTYPE_F64, 0x7ff0000000000000u, 0x7fefffffffffffffu), 1);
    assert_int_equal(dtype_ulp_distance(DTYPE_I8, 0xff, 1), 2);
    assert_int_equal(dtype_ulp_distance(DTYPE_I64, (uint64_t)INT64_MIN, INT64_MAX), UINT64_MAX);
}

static void names_round_trip(void **state) {
    (void)state;
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        assert_int_equal(dtype_from_name(dtype_name((dtype)t)), t);
    assert_int_equal(dtype_from_name("float"), DTYPE_NONE);
    assert_int_equal(dtype_from_name("none"), DTYPE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_narrow_value_survives_the_way_up_and_down),
        cmocka_unit_test(f32_rounds_to_the_nearest_even),
        cmocka_unit_test(doubles_round_once),
        cmocka_unit_test(stores_saturate_and_canonicalise),
        cmocka_unit_test(ulp_distances_count_steps),
        cmocka_unit_test(names_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
