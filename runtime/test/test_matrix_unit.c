/* test_matrix_unit.c - how matrix units add, on products with known answers; and numbers as bits,
 * on all of them. */
#include "test/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/splitmix64.h"
#include "chip/matrix_unit.h"

/* ---- numbers as bits ---- */

/* The formats that are element types, beside what dtype.h makes of them. */
static const struct {
    dtype type;
    const binary_format *format;
} element_types[] = {
    {DTYPE_F16, &binary_f16},
    {DTYPE_BF16, &binary_bf16},
    {DTYPE_F8E4M3FN, &binary_e4m3},
    {DTYPE_F8E5M2, &binary_e5m2},
};

static void test_every_code_is_the_number_of_its_type(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof element_types / sizeof *element_types; t++)
        for (uint32_t code = 0; code >> element_types[t].format->storage_bits == 0; code++) {
            const binary_format *format = element_types[t].format;
            double value = binary_value(format, code);
            bool nan = binary_decode(format, code).kind == BINARY_NAN;
            float other = narrow_to_f32(element_types[t].type, code);
            assert_int_equal(nan, other != other);
            if (nan)
                continue;
            assert_int_equal(f64_bits(value), f64_bits((double)other));
            assert_int_equal(binary_round(format, value), code);
        }
}

/* The formats without infinity and -0: what OCP's would give with half of each number. */
static void test_finite_formats_have_half_of_the_value(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 256; code++) {
        bool nan = code == 0x80;
        assert_int_equal(binary_decode(&binary_e4m3fnuz, code).kind == BINARY_NAN, nan);
        assert_int_equal(binary_decode(&binary_e5m2fnuz, code).kind == BINARY_NAN, nan);
        if (nan)
            continue;
        if ((code & 0x7f) != 0x7f)
            assert_true(2 * binary_value(&binary_e4m3fnuz, code) ==
                        binary_value(&binary_e4m3, code));
        if ((code & 0x7f) < 0x7c)
            assert_true(2 * binary_value(&binary_e5m2fnuz, code) ==
                        binary_value(&binary_e5m2, code));
        assert_int_equal(binary_round(&binary_e4m3fnuz, binary_value(&binary_e4m3fnuz, code)),
                         code);
    }
    assert_int_equal(binary_round(&binary_e4m3fnuz, -0.0), 0);
    assert_int_equal(binary_round(&binary_e4m3fnuz, 1e9), 0x80);
}

/* ---- known answers ---- */

/* Products as codes "a*b" or "a*bxN", N times; zeros up to the instruction's k. */
typedef struct known {
    const char *unit, *a, *b, *products;
    uint64_t c, expected;
} known;

static const known rows[] = {
    /* Four times 2^-25 below 1: kept by 25 bits, cut by 24. Three times is cut in the end. */
    {"mma.sm90.bf16", "bf16", "bf16", "3980*3900x4", 0x3f800000, 0x3f800001},
    {"mma.sm90.bf16", "bf16", "bf16", "3980*3900x3", 0x3f800000, 0x3f800000},
    {"mma.sm80.bf16", "bf16", "bf16", "3980*3900x4", 0x3f800000, 0x3f800000},
    {"mma.sm80.bf16", "bf16", "bf16", "3980*3980x2", 0x3f800000, 0x3f800001},
    /* Cut towards zero: 1 - 2^-25 loses its last bit, and 2^-26 is not seen. */
    {"mma.sm90.bf16", "bf16", "bf16", "3980*b900", 0x3f800000, 0x3f7fffff},
    {"mma.sm90.bf16", "bf16", "bf16", "3900*b900", 0x3f800000, 0x3f800000},
    /* 1.5 * 1.5 is not normalised: eight times 2^-25 are kept beside it. */
    {"mma.sm90.bf16", "bf16", "bf16", "3fc0*3fc0 3980*3900x8", 0, 0x40100001},
    /* Below 2^24 + 15 - 2^24 all are in one step; in sm80 each half is cut to even numbers. */
    {"mma.sm90.f16", "f16", "f16", "6c00*6c00 3c00*3c00x15", 0xcb800000, 0x41700000},
    {"mma.sm80.f16", "f16", "f16", "3c00*3c00x15 6c00*6c00", 0, 0x4b800007},
    {"mma.sm80.tf32", "tf32", "tf32", "45800000*45800000 3f800000*3f800000x7", 0, 0x4b800003},
    {"mma.sm90.tf32", "tf32", "tf32", "45800000*45800000 3f800000*3f800000x7", 0, 0x4b800003},
    /* Zero is +0. A zero beside 2^127 hides nothing; the least subnormal is kept. */
    {"mma.sm90.f16", "f16", "f16", "8000*3c00x16", 0x80000000, 0},
    {"mma.sm90.bf16", "bf16", "bf16", "8000*7f00 1*3f80", 0, 0x10000},
    /* Below 2^-158 nothing is seen when all terms are small: 2^-147 - 2^-159 is not cut down. */
    {"mma.sm90.bf16", "bf16", "bf16", "1a80*1b00 1780*9800", 0, 0x4},
    {"mma.sm90.bf16", "bf16", "bf16", "1a80*1b00 1780*9880", 0, 0x3},
    /* Infinities, NaN, overflow; the low bits of a tf32 are not read. */
    {"mma.sm90.f16", "f16", "f16", "7c00*0000", 0, 0x7fffffff},
    {"mma.sm90.f16", "f16", "f16", "7c00*3c00 7c00*bc00", 0, 0x7fffffff},
    {"mma.sm90.f16", "f16", "f16", "fc00*3c00x2", 0x7f7fffff, 0xff800000},
    {"mma.sm90.f16", "f16", "f16", "3c00*3c00", 0xffc12345, 0x7fffffff},
    {"mma.sm90.bf16", "bf16", "bf16", "7f7f*3f80", 0x7f7fffff, 0x7f800000},
    {"mma.sm90.tf32", "tf32", "tf32", "7f801fff*3f801fff", 0, 0x7f800000},
    /* An f16 accumulator is rounded to nearest even from all 25 bits. */
    {"mma.sm90.f16.f16", "f16", "f16", "2800*2400", 0x3c00, 0x3c00},
    {"mma.sm90.f16.f16", "f16", "f16", "2800*2400 0c00*0800", 0x3c00, 0x3c01},
    {"mma.sm90.f16.f16", "f16", "f16", "2800*2400 0800*0800", 0x3c00, 0x3c00},
    /* 13 bits: of products, of c, of the result. */
    {"mma.sm90.fp8", "e4m3", "e4m3", "08*04", 0x3f800000, 0x3f800400},
    {"mma.sm90.fp8", "e4m3", "e4m3", "08*02x2", 0x3f800000, 0x3f800000},
    {"mma.sm90.fp8", "e4m3", "e4m3", "00*00", 0x3f800200, 0x3f800000},
    {"mma.sm90.fp8", "e4m3", "e4m3", "7f*38", 0x3f800000, 0x7fffffff},
    /* c last, to nearest even: 1 + 2^-24 + 2^-25 is rounded up. */
    {"mma.sm90.fp8_as_f16", "e5m2", "e5m2", "0c*0c 08*0c", 0x3f800000, 0x3f800001},
    /* Each fma of f64 rounds. Of two NaNs b's is kept. */
    {"fma.f64", "f64", "f64", "3e50000000000000*3e40000000000000x2", 0x3ff0000000000000,
     0x3ff0000000000000},
    {"fma.f64", "f64", "f64", "3ff0000000000000*7ff0000000000001", 0x7ff0000000000002,
     0x7ff8000000000001},
    {"fma.f64", "f64", "f64", "7ff0000000000000*0", 0, 0xfff8000000000000},
    /* 23, 24 and 25 bits: two times 2^-24 below 1. 8-bit factors: 16 at once, then 16; 13 bits. */
    {"mma.sm70.f16", "f16", "f16", "0c00*0c00x2", 0x3f800000, 0x3f800000},
    {"mma.sm75.f16", "f16", "f16", "0c00*0c00x2", 0x3f800000, 0x3f800001},
    {"mma.sm90.fp8", "e4m3", "e4m3", "04*04x31 38*38", 0, 0x3f800000},
    {"mma.sm89.fp8", "e4m3", "e4m3", "04*04x31 38*38", 0, 0x3f802000},
    {"mma.sm100.fp8", "e4m3", "e4m3", "04*04x31 38*38", 0, 0x3f803e00},
    {"mma.sm100.fp8", "e4m3", "e5m2", "38*3c", 0, 0x3f800000},
    /* MFMA of f32 and f64: each fma rounds. CDNA1 and 2: trees of four, or of two. */
    {"mfma.gfx942.f32", "f32", "f32", "39800000*39800000x4", 0x3f800000, 0x3f800000},
    {"mfma.gfx90a.f64", "f64", "f64", "3e50000000000000*3e40000000000000x2", 0x3ff0000000000000,
     0x3ff0000000000000},
    {"mfma.gfx908.f16", "f16", "f16", "0c00*0c00x4", 0x3f800000, 0x3f800002},
    {"mfma.gfx908.bf16", "bf16", "bf16", "3980*3980 0*0 3980*3980", 0x3f800000, 0x3f800000},
    {"mfma.gfx90a.bf16", "bf16", "bf16", "3980*3980 0*0 3980*3980", 0x3f800000, 0x3f800000},
    {"mfma.gfx90a.bf16_1k", "bf16", "bf16", "3980*3980 0*0 3980*3980", 0x3f800000, 0x3f800001},
    /* CDNA2 takes subnormal factors, of f16 too, for +0, and -0 for it; CDNA1 does not. */
    {"mfma.gfx908.f16", "f16", "f16", "0200*3c00", 0, 0x38000000},
    {"mfma.gfx90a.f16", "f16", "f16", "0200*3c00", 0, 0},
    {"mfma.gfx90a.bf16_1k", "bf16", "bf16", "1f80*2000", 0x00400000, 0},
    {"mfma.gfx908.bf16", "bf16", "bf16", "1f80*2000", 0x00100000, 0x00500000},
    /* CDNA3: c is rounded down at the greater exponent; with 8-bit factors only when near. */
    /* One fma after the other: 2^-24 beside 1 is lost each time, twice of it before 1 is not. */
    {"wmma.gfx1100.f16", "f16", "f16", "0c00*0c00x2", 0x3f800000, 0x3f800000},
    {"wmma.gfx1100.f16", "f16", "f16", "0c00*0c00x2 3c00*3c00", 0, 0x3f800001},
    {"wmma.gfx1100.bf16", "bf16", "bf16", "3980*3980x2", 0x3f800000, 0x3f800000},
    {"wmma.gfx1100.bf16", "bf16", "bf16", "0001*3f80", 0, 0x00010000},
    {"mfma.gfx942.f16", "f16", "f16", "3c00*3c00", 0xb0800000, 0x3f7fffff},
    {"mfma.gfx942.f16", "f16", "f16", "3c00*3c00", 0x30800000, 0x3f800000},
    {"mfma.gfx942.f16", "f16", "f16", "3c00*3c00 0800*8800", 0, 0x3f800000},
    {"mfma.gfx942.fp8", "e4m3fnuz", "e4m3fnuz", "40*40", 0xb0800000, 0x3f800000},
    {"mfma.gfx942.fp8", "e4m3fnuz", "e4m3fnuz", "40*40", 0xb3000000, 0x3f7fffff},
    {"mfma.gfx942.fp8", "e4m3fnuz", "e5m2fnuz", "80*40", 0, 0x7fc00000},
    {"mfma.gfx942.bf16", "bf16", "bf16", "5f80*5f80", 0, 0x7f800000},
    {"mfma.gfx942.bf16", "bf16", "bf16", "5f80*5f80 5f80*df80", 0, 0x7fc00000},
    {"mfma.gfx942.bf16", "bf16", "bf16", "5f80*5f00 5f80*df00", 0xbf800000, 0xf3000000},
    {"mfma.gfx942.xf32", "tf32", "tf32", "3f801fff*3f800000", 0, 0x3f800000},
    /* 1 + 2^24 is 2^24: what is taken away first decides. AMX: even and odd apart, then c. */
    {"avx512.vdpbf16ps", "bf16", "bf16", "4580*c580 4580*4580", 0x3f800000, 0},
    {"avx512.vdpbf16ps", "bf16", "bf16", "4580*4580 4580*c580", 0x3f800000, 0x3f800000},
    {"avx512.vdpbf16ps", "bf16", "bf16", "1*3f80", 0x80000000, 0},
    {"avx512.vdpbf16ps", "bf16", "bf16", "1*3f80", 0x00400000, 0},
    {"amx.bf16", "bf16", "bf16", "4580*c580 4580*4580", 0x3f800000, 0x3f800000},
    {"amx.bf16", "bf16", "bf16", "4580*4580 4580*c580 3f80*3f80", 0, 0},
    {"amx.bf16", "bf16", "bf16", "4580*4580 3f80*3f80 0*0 4580*c580", 0, 0x3f800000},
    /* Integers wrap; the sign of each is its format's. */
    {"avx512.vpdpbusd", "u8", "i8", "ff*80x4", 0, 0xfffe0200},
    {"avx512.vpdpbusd", "u8", "i8", "ff*80x4", 0x80000000, 0x7ffe0200},
    {"amx.int8", "i8", "i8", "ff*80x64", 0, 0x2000},
    /* To odd: whatever is lost sets the last bit. One rounding for a pair is another. */
    {"bfdot", "bf16", "bf16", "3980*3980", 0x3f800000, 0x3f800001},
    {"bfdot.ebf", "bf16", "bf16", "3980*3980", 0x3f800000, 0x3f800000},
    {"bfdot", "bf16", "bf16", "4580*4580 3f80*3f80", 0xcb800000, 0x40000000},
    {"bfdot.ebf", "bf16", "bf16", "4580*4580 3f80*3f80", 0xcb800000, 0},
    {"bfdot", "bf16", "bf16", "1*3f80", 0, 0},
    {"bfdot.ebf", "bf16", "bf16", "1*3f80", 0, 0x00010000},
    {"bfdot", "bf16", "bf16", "7f7f*7f7f", 0, 0x7f800000},
    {"bfdot", "bf16", "bf16", "7f80*0", 0, 0x7fc00000},
};

static size_t read_products(const char *text, uint64_t *a, uint64_t *b) {
    size_t count = 0;
    while (*text) {
        char *end;
        uint64_t x = strtoull(text, &end, 16), y = strtoull(end + 1, &end, 16);
        unsigned long times = *end == 'x' ? strtoul(end + 1, &end, 10) : 1;
        for (; times; times--, count++)
            a[count] = x, b[count] = y;
        text = *end ? end + 1 : end;
    }
    return count;
}

static void test_known_answers(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint64_t a[MATRIX_UNIT_MAX_K] = {0}, b[MATRIX_UNIT_MAX_K] = {0};
        const matrix_unit *unit = matrix_unit_find(rows[r].unit);
        const binary_format *a_format = binary_format_named(rows[r].a),
                            *b_format = binary_format_named(rows[r].b);
        matrix_factors x, y;
        assert_non_null(unit);
        assert_true(matrix_unit_takes(unit, a_format) && matrix_unit_takes(unit, b_format));
        assert_true(read_products(rows[r].products, a, b) <= (size_t)unit->k);
        matrix_factors_decode(&x, unit, a_format, a, (size_t)unit->k);
        matrix_factors_decode(&y, unit, b_format, b, (size_t)unit->k);
        uint64_t got = matrix_unit_dot(unit, &x, &y, rows[r].c);
        if (got != rows[r].expected)
            fail_msg("row %zu, %s: %" PRIx64 " instead of %" PRIx64, r, unit->name, got,
                     rows[r].expected);
    }
}

/* ---- the table ---- */

static uint64_t some_code(uint64_t *seed, const binary_format *format) {
    uint64_t bits = splitmix64(seed);
    if (binary_is_integer(format) || bits % 8 == 0)
        return bits >> (64 - format->storage_bits);
    return binary_code(format, bits >> 63, (int)(bits % 9) - 4, bits >> 8);
}

static void draw(uint64_t *seed, const binary_format *format, uint64_t *codes) {
    for (size_t k = 0; k < MATRIX_UNIT_MAX_K; k++)
        codes[k] = some_code(seed, format);
}

/* Products of 128 k are as many instructions, each of which takes on where the last one ended. */
static void expect_a_chain(const matrix_unit *unit, uint64_t seed) {
    uint64_t a[MATRIX_UNIT_MAX_K], b[MATRIX_UNIT_MAX_K], c = 0;
    matrix_factors x, y;
    size_t k = (size_t)unit->k;
    draw(&seed, unit->factors[0], a);
    draw(&seed, unit->factors[0], b);
    for (size_t first = 0; first < MATRIX_UNIT_MAX_K; first += k) {
        matrix_factors_decode(&x, unit, unit->factors[0], a + first, k);
        matrix_factors_decode(&y, unit, unit->factors[0], b + first, k);
        c = matrix_unit_dot(unit, &x, &y, c);
    }
    if (matrix_unit_span(unit) < MATRIX_UNIT_MAX_K)
        return;
    matrix_factors_decode(&x, unit, unit->factors[0], a, MATRIX_UNIT_MAX_K);
    matrix_factors_decode(&y, unit, unit->factors[0], b, MATRIX_UNIT_MAX_K);
    if (matrix_unit_dot(unit, &x, &y, 0) != c)
        fail_msg("%s: 128 products at once are not %zu at a time", unit->name, k);
}

static void test_every_unit_is_whole(void **state) {
    (void)state;
    assert_null(matrix_unit_find("mma.sm90"));
    for (size_t i = 0; i < matrix_unit_count; i++) {
        const matrix_unit *unit = &matrix_units[i];
        assert_ptr_equal(matrix_unit_find(unit->name), unit);
        assert_int_equal(MATRIX_UNIT_MAX_K % unit->k, 0);
        assert_int_equal(unit->k % unit->step, 0);
        assert_true(unit->source[0] && (!unit->matched || unit->matched[0]));
        for (uint64_t seed = 0; seed < 200; seed++)
            expect_a_chain(unit, seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_is_the_number_of_its_type),
        cmocka_unit_test(test_finite_formats_have_half_of_the_value),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_every_unit_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
