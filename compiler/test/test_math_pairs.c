/* test_math_pairs.c - pow and atan2: the sequences of compiler/math agree with the interpreter's
 * transcription bit for bit, are at most 1 ULP off, and have the special values of IEEE 754.
 *
 * compiler_math_pairs N tries N samples, for another N other ones, and says how far off the
 * results were at most. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/philox.h"
#include "compiler/test/math_evaluator.h"
#include "target/interp/functions.h"

enum { SEED = 7 };

static uint32_t samples = 60000;

static const struct {
    const char *name;
    float (*transcription)(float, float);
    double (*exact)(double, double);
} pairs[MATH_PAIR_COUNT] = {
#define P(ENUM, name, first, second) [MATH_##ENUM] = {#name, function_##name, name},
#include "math/pairs.def"
};

/* In ULP, by pair; and where. */
static struct {
    double error;
    float first, second;
} worst[MATH_PAIR_COUNT];

static void note_error(math_pair pair, float first, float second, double error) {
    if (error <= worst[pair].error)
        return;
    worst[pair].error = error;
    worst[pair].first = first;
    worst[pair].second = second;
}

static void check_at(math_pair pair, float first, float second) {
    evaluator e = {.count = 0};
    math_emit emit = emitter_of(&e);
    ir_value a = keep_f32(&e, first), b = keep_f32(&e, second);
    uint32_t sequence = canonical((uint32_t)e.values[math_build_pair(&emit, pair, a, b)]);
    uint32_t scalar = canonical(f32_bits(pairs[pair].transcription(first, second)));
    float out;
    function_apply_pair(pair, &out, &first, &second, 1);
    if (sequence != scalar || canonical(f32_bits(out)) != scalar)
        fail_msg("%s(%a, %a): sequence 0x%08x, scalar 0x%08x, array 0x%08x", pairs[pair].name,
                 (double)first, (double)second, sequence, scalar, f32_bits(out));
    double exact = pairs[pair].exact((double)first, (double)second);
    double got = (double)f32_from_bits(scalar);
    bool right = isnan(exact)                    ? isnan(got)
                 : fabs(exact) >= 0x1.ffffffp127 ? got == copysign(HUGE_VAL, exact)
                                                 : fabs(got - exact) <= spacing(exact);
    if (!right || (!isnan(exact) && !signbit(exact) != !signbit(got)))
        fail_msg("%s(%a, %a) is %a, not %a", pairs[pair].name, (double)first, (double)second, got,
                 exact);
    if (isfinite(got) && isfinite(exact))
        note_error(pair, first, second, fabs(got - exact) / spacing(exact));
}

/* Zeros, infinities, NaN, the ends of the normal and subnormal numbers, whole numbers that are odd
 * and even up to where all are, halves, neighbours of 1, and where the sequences change: each with
 * each, of both signs. */
static void test_edges_agree(void **state) {
    static const uint32_t edges[] = {
        0x00000000, 0x00000001, 0x00000003, 0x007fffff, 0x00800000, 0x00800001, 0x21800000,
        0x21ffffff, 0x22000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f2aaaaa, 0x3f2aaaab,
        0x3f7fffff, 0x3f800000, 0x3f800001, 0x3faaaaaa, 0x3faaaaab, 0x3fc00000, 0x40000000,
        0x40200000, 0x40400000, 0x40490fdb, 0x42fe0000, 0x43000000, 0x43150000, 0x43160000,
        0x43170000, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4b800001, 0x4c000000,
        0x4c000001, 0x4f7fffff, 0x4f800000, 0x4f800001, 0x71ffffff, 0x72000000, 0x72000001,
        0x7e800000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
    enum { EDGES = 2 * sizeof edges / sizeof *edges };
    (void)state;
    for (uint32_t i = 0; i < EDGES; i++)
        for (uint32_t k = 0; k < EDGES; k++)
            for (int pair = 0; pair < MATH_PAIR_COUNT; pair++)
                check_at((math_pair)pair, f32_from_bits(edges[i / 2] | i << 31),
                         f32_from_bits(edges[k / 2] | k << 31));
}

/* Bases of all sizes, or within 2^-12 of 1, and exponents for which the power is a number. */
static void check_powers(philox_words w) {
    uint32_t near = 0x3f800000 + w.w[1] % 4096 - 2048, between = 0x3f000000 + w.w[1] % 0x01000000;
    float all = f32_from_bits(w.w[1] % 0x7f800000);
    float bases[] = {all, f32_from_bits(between), f32_from_bits(near)};
    for (int i = 0; i < 3; i++) {
        double bits = (double)w.w[2] * 0x1p-32 * 279 - 150.5;
        check_at(MATH_POW, bases[i], (float)(bits / log2((double)bases[i])));
        check_at(MATH_POW, -bases[i], (float)((int)(w.w[3] % 41) - 20));
    }
    check_at(MATH_POW, f32_from_bits(w.w[1]), f32_from_bits(w.w[2]));
}

/* Points anywhere, near the diagonals, and near where the quotient is 1/2. */
static void check_angles(philox_words w) {
    float x = f32_from_bits(w.w[1]), factor = 1 + (float)w.w[3] * 0x1p-33f;
    check_at(MATH_ATAN2, x, f32_from_bits(w.w[2]));
    check_at(MATH_ATAN2, x, f32_from_bits(w.w[1] + w.w[2] % 64 - 32));
    check_at(MATH_ATAN2, x, x * (w.w[2] & 1 ? factor : -factor));
    check_at(MATH_ATAN2, x,
             x * (w.w[2] & 1 ? -2.0f : 0.5f) * (1 + (float)(w.w[3] % 64) * 0x1p-23f));
}

static void test_a_sample(void **state) {
    (void)state;
    for (uint32_t i = 0; i < samples; i++) {
        philox_words w = philox_element(SEED, i, samples, PHILOX_DOMAIN_INPUTS);
        check_powers(w);
        check_angles(w);
    }
}

/* Greatest errors that were found, over 300 million pairs: at results that are subnormal, and round
 * twice. */
static void test_greatest_errors(void **state) {
    static const struct {
        math_pair pair;
        float first, second;
    } cases[] = {
        {MATH_POW, 0x1.582cd2p-1f, 0x1.b83284p+7f},
        {MATH_POW, 0x1.580c3ep+0f, -0x1.2778b6p+8f},
        {MATH_POW, 0x1.5bd516p-1f, 0x1.c51cbap+7f},
        {MATH_ATAN2, -0x1.2897b2p-124f, 0x1.ff141p+0f},
        {MATH_ATAN2, -0x1.feeb14p-125f, 0x1.f280ecp+0f},
        {MATH_ATAN2, 0x1.597eeep-124f, 0x1.d1ba78p+0f},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_at(cases[i].pair, cases[i].first, cases[i].second);
}

/* Cases that libm is not asked for, by name. x^0 and 1^y are 1, also of a NaN; whole powers are
 * exact where they are f32. */
static void test_special_values(void **state) {
    const float inf = HUGE_VALF, nan = NAN, pi = 0x1.921fb6p1f;
    const struct {
        math_pair pair;
        float first, second, result;
    } cases[] = {
        {MATH_POW, nan, 0.0f, 1.0f},
        {MATH_POW, 1.0f, nan, 1.0f},
        {MATH_POW, nan, 1.0f, nan},
        {MATH_POW, 2.0f, nan, nan},
        {MATH_POW, -1.0f, inf, 1.0f},
        {MATH_POW, -1.0f, -inf, 1.0f},
        {MATH_POW, -0.0f, -3.0f, -inf},
        {MATH_POW, -0.0f, -2.0f, inf},
        {MATH_POW, -0.0f, -0.5f, inf},
        {MATH_POW, -0.0f, 3.0f, -0.0f},
        {MATH_POW, -0.0f, 0.5f, 0.0f},
        {MATH_POW, 0.5f, -inf, inf},
        {MATH_POW, -0.5f, inf, 0.0f},
        {MATH_POW, -inf, 3.0f, -inf},
        {MATH_POW, -inf, -3.0f, -0.0f},
        {MATH_POW, -inf, 0.5f, inf},
        {MATH_POW, -8.0f, 0.5f, nan},
        {MATH_POW, -3.0f, 3.0f, -27.0f},
        {MATH_POW, -3.0f, -1.0f, -0x1.555556p-2f},
        {MATH_POW, 3.0f, 15.0f, 14348907.0f},
        {MATH_POW, 2.0f, -149.0f, 0x1p-149f},
        {MATH_POW, 2.0f, 128.0f, inf},
        {MATH_POW, -2.0f, 0x1p25f, inf},
        {MATH_POW, 6.25f, 0.5f, 2.5f},
        {MATH_ATAN2, 0.0f, 0.0f, 0.0f},
        {MATH_ATAN2, -0.0f, 0.0f, -0.0f},
        {MATH_ATAN2, 0.0f, -0.0f, pi},
        {MATH_ATAN2, -0.0f, -0.0f, -pi},
        {MATH_ATAN2, 1.0f, 0.0f, pi / 2},
        {MATH_ATAN2, -1.0f, -0.0f, -pi / 2},
        {MATH_ATAN2, 2.0f, 2.0f, pi / 4},
        {MATH_ATAN2, inf, inf, pi / 4},
        {MATH_ATAN2, -inf, -inf, -0x1.2d97c8p1f},
        {MATH_ATAN2, inf, -1.0f, pi / 2},
        {MATH_ATAN2, -1.0f, inf, -0.0f},
        {MATH_ATAN2, 1.0f, -inf, pi},
        {MATH_ATAN2, 0x1p-149f, 1.0f, 0x1p-149f},
        {MATH_ATAN2, 0x1.fffffep127f, 0x1.fffffep127f, pi / 4},
        {MATH_ATAN2, nan, 0.0f, nan},
        {MATH_ATAN2, 0.0f, nan, nan},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float got = pairs[cases[i].pair].transcription(cases[i].first, cases[i].second);
        if (canonical(f32_bits(got)) != canonical(f32_bits(cases[i].result)))
            fail_msg("%s(%a, %a) is %a", pairs[cases[i].pair].name, (double)cases[i].first,
                     (double)cases[i].second, (double)got);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_agree),
        cmocka_unit_test(test_a_sample),
        cmocka_unit_test(test_greatest_errors),
        cmocka_unit_test(test_special_values),
    };
    if (argc > 1)
        samples = (uint32_t)strtoul(argv[1], NULL, 10);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < MATH_PAIR_COUNT; i++)
        printf("%s: at most %.4f ULP, at (%a, %a)\n", pairs[i].name, worst[i].error,
               (double)worst[i].first, (double)worst[i].second);
    return failed;
}
