/* test_dtype.c - the float formats: every narrow value both ways, and rounding checked by looking
 * at the two neighbours of each result instead of repeating the bit tricks. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>

#include "base/dtype.h"

/* Written from the definitions of the formats, not from dtype.c's table. */
typedef struct format {
    dtype type;
    int bits, mantissa_bits, bias;
    uint32_t beyond; /* what overflow gives: infinity, or the greatest number */
    uint32_t last;   /* greatest finite */
    uint32_t quiet_nan;
    double overflow; /* the magnitude that first rounds beyond the greatest number */
} format;

static const format formats[] = {
    {DTYPE_F16, 16, 10, 15, 0x7c00, 0x7bff, 0x7e00, 65520.0},
    {DTYPE_BF16, 16, 7, 127, 0x7f80, 0x7f7f, 0x7fc0, 0x1.ffp127},
    {DTYPE_F8E4M3FN, 8, 3, 7, 0x7e, 0x7e, 0x7f, 464.0},
    {DTYPE_F8E5M2, 8, 2, 15, 0x7c, 0x7b, 0x7e, 61440.0},
};

static uint32_t mask_of(const format *f) {
    return (1u << (f->bits - 1)) - 1;
}

/* The value of a narrow pattern from its fields, by the definition of the format. */
static double value_of(const format *f, uint32_t bits) {
    int exponent = (int)((bits & mask_of(f)) >> f->mantissa_bits),
        mantissa = (int)(bits & ((1u << f->mantissa_bits) - 1));
    double sign = bits > mask_of(f) ? -1 : 1;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    return sign * ldexp(mantissa + (1 << f->mantissa_bits), exponent - f->bias - f->mantissa_bits);
}

static uint32_t narrowed(const format *f, double x) {
    uint32_t got = 0;
    dtype_store(f->type, &got, 0, x);
    return got;
}

static void every_narrow_value_survives_the_way_up_and_down(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t bits = 0; bits < 1u << f->bits; bits++) {
            float wide = narrow_to_f32(f->type, bits);
            uint32_t magnitude = bits & mask_of(f);
            assert_int_equal(dtype_is_nan(f->type, bits), magnitude > f->beyond);
            if (magnitude > f->beyond) {
                assert_int_equal(f32_bits(wide), 0x7fc00000u);
                assert_int_equal(narrowed(f, (double)wide), f->quiet_nan);
                continue;
            }
            if (magnitude > f->last)
                assert_true(isinf(wide));
            else
                assert_true((double)wide == value_of(f, bits));
            assert_int_equal(narrowed(f, (double)wide), bits);
        }
    }
}

/* `got` is the nearest of its neighbours to x, and even where two are as near. */
static void expect_nearest(const format *f, double x, uint32_t got) {
    double magnitude = fabs(x);
    assert_int_equal(got > mask_of(f), signbit(x) ? 1 : 0);
    uint32_t bits = got & mask_of(f);
    if (magnitude >= f->overflow) {
        assert_int_equal(bits, f->beyond);
        return;
    }
    assert_true(bits <= f->last);
    double here = fabs(magnitude - value_of(f, bits));
    if (bits > 0) {
        double below = fabs(magnitude - value_of(f, bits - 1));
        assert_true(here < below || (here == below && bits % 2 == 0));
    }
    if (bits < f->last) {
        double above = fabs(magnitude - value_of(f, bits + 1));
        assert_true(here < above || (here == above && bits % 2 == 0));
    }
}

static void f32_rounds_to_the_nearest_even(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint64_t pattern = 0; pattern <= UINT32_MAX; pattern += 1021) {
            float x = f32_from_bits((uint32_t)pattern);
            uint32_t got = f32_to_narrow(f->type, x, false), held = f32_to_narrow(f->type, x, true);
            if (isnan(x))
                assert_int_equal(got, f->quiet_nan);
            else
                expect_nearest(f, (double)x, got);
            bool beyond = !isnan(x) && (got & mask_of(f)) > f->last;
            assert_int_equal(held, beyond ? (got & ~mask_of(f)) | f->last : got);
        }
    }
}

/* Doubles a hair beside the midpoints: rounding first to f32 would land on the midpoint and then on
 * even. */
static void doubles_round_once(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t bits = 0; bits < f->last; bits++) {
            double middle = (value_of(f, bits) + value_of(f, bits + 1)) / 2;
            double around[] = {middle, nextafter(middle, 0), nextafter(middle, INFINITY)};
            for (int i = 0; i < 3; i++)
                expect_nearest(f, around[i], narrowed(f, around[i]));
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
    {DTYPE_I16, -40000, 0x8000},
    {DTYPE_U8, 255.9, 255},
    {DTYPE_U8, -0.9, 0},
    {DTYPE_U16, 65536, 0xffff},
    {DTYPE_U32, -1, 0},
    {DTYPE_U64, 0x1p63, 0x8000000000000000u},
    {DTYPE_U64, 0x1p64, UINT64_MAX},
    {DTYPE_U64, NAN, 0},
    {DTYPE_BOOL, NAN, 1},
    {DTYPE_BOOL, -0.0, 0},
    {DTYPE_F64, -NAN, 0x7ff8000000000000u},
    {DTYPE_F32, -NAN, 0x7fc00000},
    {DTYPE_F16, -1e9, 0xfc00},
    {DTYPE_BF16, 1e300, 0x7f80},
    {DTYPE_F16, -0x1p-1074, 0x8000},
    {DTYPE_TF32, 1 + 0x1p-23, 0x3f800001}, /* kept as f32 */
    {DTYPE_TF32, NAN, 0x7fc00000},
    {DTYPE_F8E4M3FN, -INFINITY, 0xfe},
    {DTYPE_F8E4M3FN, NAN, 0x7f},
    {DTYPE_F8E5M2, -INFINITY, 0xfc},
    {DTYPE_F8E5M2, -NAN, 0x7e},
    {DTYPE_I4, 7.9, 7},
    {DTYPE_I4, 8, 7},
    {DTYPE_I4, -1e9, 0xf8},
    {DTYPE_I4, -7.9, 0xf9},
    {DTYPE_I4, NAN, 0},
};

/* The low four bits count, whatever the byte holds. */
static void i4_is_four_bits_of_a_byte(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        int64_t expected = (byte & 15) < 8 ? byte & 15 : (byte & 15) - 16;
        assert_int_equal(dtype_integer(DTYPE_I4, (uint64_t)byte), expected);
        assert_int_equal(dtype_wrap(DTYPE_I4, byte), (uint64_t)expected & 0xff);
    }
}

static void types_hold_types(void **state) {
    (void)state;
    static const dtype pairs[][2] = {
        {DTYPE_F64, DTYPE_F32},     {DTYPE_F32, DTYPE_TF32},    {DTYPE_F32, DTYPE_BF16},
        {DTYPE_F16, DTYPE_F8E5M2},  {DTYPE_BF16, DTYPE_F8E5M2}, {DTYPE_F16, DTYPE_F8E4M3FN},
        {DTYPE_F8E4M3FN, DTYPE_I4}, {DTYPE_F32, DTYPE_I8},      {DTYPE_I8, DTYPE_I4},
        {DTYPE_I4, DTYPE_BOOL},     {DTYPE_I8, DTYPE_I8},       {DTYPE_F16, DTYPE_F16},
        {DTYPE_I16, DTYPE_U8},      {DTYPE_U16, DTYPE_U8},      {DTYPE_F16, DTYPE_U8},
        {DTYPE_U8, DTYPE_BOOL},     {DTYPE_F64, DTYPE_U32},     {DTYPE_I64, DTYPE_U32}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        assert_true(dtype_holds(pairs[i][0], pairs[i][1]));
        assert_int_equal(dtype_holds(pairs[i][1], pairs[i][0]), pairs[i][0] == pairs[i][1]);
    }
    assert_false(dtype_holds(DTYPE_F16, DTYPE_BF16));
    assert_false(dtype_holds(DTYPE_F8E4M3FN, DTYPE_F8E5M2));
    assert_false(dtype_holds(DTYPE_F8E5M2, DTYPE_F8E4M3FN));
    assert_false(dtype_holds(DTYPE_F32, DTYPE_I32));
    assert_false(dtype_holds(DTYPE_U8, DTYPE_I8) || dtype_holds(DTYPE_I8, DTYPE_U8));
    assert_false(dtype_holds(DTYPE_U64, DTYPE_I8) || dtype_holds(DTYPE_I64, DTYPE_U64));
    assert_false(dtype_holds(DTYPE_I32, DTYPE_F8E4M3FN));
}

/* The nearest above is taken for exactly the draws below its share. */
static void stochastic_rounding_has_the_share_of_the_distance(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t bits = 0; bits < f->last; bits += f->bits == 16 ? 997 : 1) {
            double low = value_of(f, bits), high = value_of(f, bits + 1);
            for (int eighths = 0; eighths < 8; eighths++) {
                float x = (float)(low + (high - low) * eighths / 8);
                uint32_t edge = (uint32_t)eighths << 29;
                uint32_t less = f32_to_narrow_stochastic(f->type, x, edge - 1, false),
                         same = f32_to_narrow_stochastic(f->type, x, edge, false);
                if (eighths)
                    assert_int_equal(less, bits + 1);
                assert_int_equal(same, bits);
                assert_int_equal(f32_to_narrow_stochastic(f->type, -x, edge, false),
                                 bits | (mask_of(f) + 1));
            }
        }
    }
}

static void stochastic_rounding_at_the_ends(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        assert_int_equal(f32_to_narrow_stochastic(f->type, NAN, 0, false), f->quiet_nan);
        assert_int_equal(f32_to_narrow_stochastic(f->type, INFINITY, 0, false), f->beyond);
        assert_int_equal(f32_to_narrow_stochastic(f->type, INFINITY, 0, true), f->last);
        float above = nextafterf((float)value_of(f, f->last), INFINITY);
        assert_int_equal(f32_to_narrow_stochastic(f->type, above, 0, false), f->beyond);
        assert_int_equal(f32_to_narrow_stochastic(f->type, above, 0, true), f->last);
        assert_int_equal(f32_to_narrow_stochastic(f->type, above, UINT32_MAX, false), f->last);
        /* Far below the smallest number the share is cut to nothing. */
        bool tiny = f->type != DTYPE_BF16;
        assert_int_equal(f32_to_narrow_stochastic(f->type, 0x1p-149f, 0, false), !tiny);
        assert_int_equal(f32_to_narrow_stochastic(f->type, -0.0f, 0, false), mask_of(f) + 1);
    }
}

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
    assert_int_equal(dtype_ulp_distance(DTYPE_F8E4M3FN, 0x7f, 0x7e), UINT64_MAX);
    assert_int_equal(dtype_ulp_distance(DTYPE_F8E4M3FN, 0xfe, 0x7e), 252);
    assert_int_equal(dtype_ulp_distance(DTYPE_F8E5M2, 0x7e, 0xfd), 0);
    assert_int_equal(dtype_ulp_distance(DTYPE_I8, 0xff, 1), 2);
    assert_int_equal(dtype_ulp_distance(DTYPE_I4, 0xf8, 7), 15);
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
        cmocka_unit_test(i4_is_four_bits_of_a_byte),
        cmocka_unit_test(types_hold_types),
        cmocka_unit_test(stochastic_rounding_has_the_share_of_the_distance),
        cmocka_unit_test(stochastic_rounding_at_the_ends),
        cmocka_unit_test(names_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
