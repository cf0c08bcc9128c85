/* test_math.c - the specified functions: the sequences of compiler/math agree with the
 * interpreter's transcription bit for bit, and special values are what docs/numerics.md says. All
 * 2^32 inputs: ci/exhaustive. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/test/math_evaluator.h"
#include "math/correct/build.h"
#include "target/interp/functions.h"

enum { STEP = 4099, CORRECT_STEP = 4 * STEP + 3 };

static uint32_t by_sequence(math_set set, math_function function, uint32_t x) {
    evaluator e = {.count = 0};
    math_emit emit = emitter_of(&e);
    return (uint32_t)
        e.values[(set == MATH_CORRECT ? correct_build : math_build)(&emit, function, keep(&e, x))];
}

static uint32_t by_transcription(math_function function, uint32_t x) {
    static float (*const functions[])(float) = {
#define F(ENUM, name) [MATH_##ENUM] = function_##name,
#include "math/functions.def"
    };
    return f32_bits(functions[function](f32_from_bits(x)));
}

static void compare_at(math_function function, uint32_t x) {
    uint32_t sequence = canonical(by_sequence(MATH_SPECIFIED, function, x));
    uint32_t scalar = canonical(by_transcription(function, x));
    float in = f32_from_bits(x), out;
    function_apply(MATH_SPECIFIED, function, &out, &in, 1);
    if (sequence != scalar || canonical(f32_bits(out)) != scalar)
        fail_msg("%s(0x%08x): sequence 0x%08x, scalar 0x%08x, array 0x%08x",
                 function_name(function), x, sequence, scalar, f32_bits(out));
}

/* The correctly rounded sequence and the interpreter, which knows none. */
static void compare_correct_at(math_function function, uint32_t x) {
    uint32_t sequence = canonical(by_sequence(MATH_CORRECT, function, x));
    float in = f32_from_bits(x), out;
    function_apply(MATH_CORRECT, function, &out, &in, 1);
    if (sequence != canonical(f32_bits(out)))
        fail_msg("correct %s(0x%08x): sequence 0x%08x, by value 0x%08x", function_name(function), x,
                 sequence, f32_bits(out));
}

static void compare_both_at(math_function function, uint32_t x) {
    compare_at(function, x);
    compare_correct_at(function, x);
}

static void test_writings_agree(void **state) {
    (void)state;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        for (uint64_t x = 0; x < 1ull << 32; x += STEP)
            compare_at((math_function)f, (uint32_t)x);
}

static void test_correct_writings_agree(void **state) {
    (void)state;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        for (uint64_t x = 0; x < 1ull << 32; x += CORRECT_STEP)
            compare_correct_at((math_function)f, (uint32_t)x);
}

/* The neighbourhood of every power of two, and of the ends of the functions' ranges. */
static void test_edges_agree(void **state) {
    static const float edges[] = {-104.0f,     89.0f,      88.72284f,  -87.33655f, 18.0f,
                                  10.0f,       4.0f,       1.1875f,    1.046875f,  -151.0f,
                                  129.0f,      -149.5f,    -18.0f,     -17.328f,   0.3465736f,
                                  -0.3465736f, 0.6666667f, 1.3333334f, 0.3333333f, -0.3333333f,
                                  0.7853982f,  1.5707964f, 3.1415927f};
    (void)state;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++) {
        for (uint32_t exponent = 0; exponent < 512; exponent++)
            for (uint32_t i = 0; i < 9; i++)
                compare_both_at((math_function)f, (exponent << 23) + i - 4);
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
            for (uint32_t i = 0; i < 65; i++)
                compare_both_at((math_function)f, f32_bits(edges[e]) + i - 32);
    }
}

static double logistic(double x) {
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double rsqrt(double x) {
    return 1 / sqrt(x);
}

/* At most 1 ULP from libm in f64. */
static void check_error(math_function function, uint32_t x) {
    static double (*const exact[])(double) = {
#define F(ENUM, name) [MATH_##ENUM] = name,
#include "math/functions.def"
    };
    double e = exact[function]((double)f32_from_bits(x));
    double got = (double)f32_from_bits(by_transcription(function, x));
    if (isnan(e)                    ? isnan(got)
        : fabs(e) >= 0x1.ffffffp127 ? got == copysign(HUGE_VAL, e)
                                    : fabs(got - e) <= spacing(e))
        return;
    fail_msg("%s(0x%08x) is %a, not %a", function_name(function), x, got, e);
}

/* f32 nearer to a multiple of pi/2 than all others, and where each function's error is greatest. */
static void test_hard_cases_agree(void **state) {
    static const uint32_t cases[] = {0x6f79be45, 0x50a3e87f, 0x6ff9be45, 0x5123e87f, 0x437ce5f1,
                                     0x7079be45, 0x6a1976f1, 0x53b146a6, 0x65898498, 0x51a3e87f,
                                     0x43fce5f1, 0x77584625, 0x6217c113, 0x3f7d1bc0, 0x3eb17e5d,
                                     0x3faf0c74, 0x3eab4e67, 0xc2fcfe35, 0x3eb1a86a};
    (void)state;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            compare_both_at((math_function)f, cases[i]);
            compare_both_at((math_function)f, cases[i] ^ 0x80000000u);
            check_error((math_function)f, cases[i]);
            check_error((math_function)f, cases[i] ^ 0x80000000u);
        }
}

static int function_named(const char *name) {
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        if (strcmp(name, function_name((math_function)f)) == 0)
            return f;
    fail_msg("hard.txt: no function is called '%s'", name);
    return -1;
}

static void check_hard_case(math_function function, uint32_t x, uint32_t nearest) {
    uint32_t got = canonical(by_transcription(function, x));
    compare_both_at(function, x);
    if (canonical(by_sequence(MATH_CORRECT, function, x)) != nearest)
        fail_msg("correct %s(0x%08x) is not 0x%08x", function_name(function), x, nearest);
    if (dtype_ulp_distance(DTYPE_F32, got, nearest) > 1)
        fail_msg("%s(0x%08x) gave 0x%08x, the nearest f32 is 0x%08x", function_name(function), x,
                 got, nearest);
}

/* The inputs that all 2^32 were found to be hardest at, with their correctly rounded results. */
static void test_hard_cases(void **state) {
    uint32_t cases[MATH_FUNCTION_COUNT] = {0};
    char line[128], name[32];
    uint32_t x, nearest;
    (void)state;
    FILE *file = fopen("compiler/math/check/hard.txt", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* what the file is */
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%31s %x %x", name, &x, &nearest), 3);
        int function = function_named(strncmp(name, "correct:", 8) == 0 ? name + 8 : name);
        check_hard_case((math_function)function, x, nearest);
        cases[function]++;
    }
    fclose(file);
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        if (cases[f] < 40)
            fail_msg("%s has %u hard cases; run: ci/exhaustive %s correct:%s",
                     function_name((math_function)f), cases[f], function_name((math_function)f),
                     function_name((math_function)f));
}

typedef struct special {
    math_function function;
    float x, result;
} special;

#define INF HUGE_VALF

static const special specials[] = {
    {MATH_EXP, 0.0f, 1.0f},
    {MATH_EXP, -0.0f, 1.0f},
    {MATH_EXP, INF, INF},
    {MATH_EXP, -INF, 0.0f},
    {MATH_EXP, 88.8f, INF},
    {MATH_EXP, -150.0f, 0.0f},
    {MATH_EXP, NAN, NAN},
    {MATH_EXP2, 0.0f, 1.0f},
    {MATH_EXP2, INF, INF},
    {MATH_EXP2, -INF, 0.0f},
    {MATH_EXP2, 128.0f, INF},
    {MATH_EXP2, 127.0f, 0x1p127f},
    {MATH_EXP2, -3.0f, 0.125f},
    {MATH_EXP2, -149.0f, 0x1p-149f},
    {MATH_EXP2, -150.0f, 0.0f},
    {MATH_EXP2, -149.9f, 0x1p-149f},
    {MATH_EXP2, NAN, NAN},
    {MATH_EXPM1, 0.0f, 0.0f},
    {MATH_EXPM1, -0.0f, -0.0f},
    {MATH_EXPM1, INF, INF},
    {MATH_EXPM1, -INF, -1.0f},
    {MATH_EXPM1, -100.0f, -1.0f},
    {MATH_EXPM1, 88.8f, INF},
    {MATH_EXPM1, 0x1p-149f, 0x1p-149f},
    {MATH_EXPM1, -0x1p-149f, -0x1p-149f},
    {MATH_EXPM1, NAN, NAN},
    {MATH_LOG, 0.0f, -INF},
    {MATH_LOG, -0.0f, -INF},
    {MATH_LOG, 1.0f, 0.0f},
    {MATH_LOG, INF, INF},
    {MATH_LOG, -1.0f, NAN},
    {MATH_LOG, -INF, NAN},
    {MATH_LOG, -0x1p-149f, NAN},
    {MATH_LOG, NAN, NAN},
    {MATH_LOG2, 0.0f, -INF},
    {MATH_LOG2, -0.0f, -INF},
    {MATH_LOG2, 1.0f, 0.0f},
    {MATH_LOG2, 8.0f, 3.0f},
    {MATH_LOG2, 0x1p-149f, -149.0f},
    {MATH_LOG2, 0x1p127f, 127.0f},
    {MATH_LOG2, INF, INF},
    {MATH_LOG2, -1.0f, NAN},
    {MATH_LOG2, -INF, NAN},
    {MATH_LOG2, NAN, NAN},
    {MATH_LOG1P, 0.0f, 0.0f},
    {MATH_LOG1P, -0.0f, -0.0f},
    {MATH_LOG1P, 0x1p-149f, 0x1p-149f},
    {MATH_LOG1P, -0x1p-149f, -0x1p-149f},
    {MATH_LOG1P, -1.0f, -INF},
    {MATH_LOG1P, -1.0000001f, NAN},
    {MATH_LOG1P, -INF, NAN},
    {MATH_LOG1P, INF, INF},
    {MATH_LOG1P, 0x1.fffffep127f, 0x1.62e43p6f},
    {MATH_LOG1P, NAN, NAN},
    {MATH_TANH, 0.0f, 0.0f},
    {MATH_TANH, -0.0f, -0.0f},
    {MATH_TANH, INF, 1.0f},
    {MATH_TANH, -INF, -1.0f},
    {MATH_TANH, NAN, NAN},
    {MATH_TANH, 0x1p-149f, 0x1p-149f},
    {MATH_ERF, 0.0f, 0.0f},
    {MATH_ERF, -0.0f, -0.0f},
    {MATH_ERF, INF, 1.0f},
    {MATH_ERF, -INF, -1.0f},
    {MATH_ERF, NAN, NAN},
    {MATH_LOGISTIC, 0.0f, 0.5f},
    {MATH_LOGISTIC, INF, 1.0f},
    {MATH_LOGISTIC, -INF, 0.0f},
    {MATH_LOGISTIC, NAN, NAN},
    {MATH_SIN, 0.0f, 0.0f},
    {MATH_SIN, -0.0f, -0.0f},
    {MATH_SIN, 0x1p-149f, 0x1p-149f},
    {MATH_SIN, -0x1p-149f, -0x1p-149f},
    {MATH_SIN, INF, NAN},
    {MATH_SIN, -INF, NAN},
    {MATH_SIN, NAN, NAN},
    {MATH_COS, 0.0f, 1.0f},
    {MATH_COS, -0.0f, 1.0f},
    {MATH_COS, INF, NAN},
    {MATH_COS, -INF, NAN},
    {MATH_COS, NAN, NAN},
    {MATH_RSQRT, 0.0f, INF},
    {MATH_RSQRT, -0.0f, -INF},
    {MATH_RSQRT, INF, 0.0f},
    {MATH_RSQRT, -1.0f, NAN},
    {MATH_RSQRT, -INF, NAN},
    {MATH_RSQRT, NAN, NAN},
    {MATH_RSQRT, 0x1p-148f, 0x1p74f},
    {MATH_RSQRT, 4.0f, 0.5f},
};

#undef INF

static void test_special_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const special *c = &specials[i];
        uint32_t got = canonical(by_transcription(c->function, f32_bits(c->x)));
        uint32_t correct = canonical(f32_bits(function_correct(c->function, c->x)));
        if (got != canonical(f32_bits(c->result)) || correct != got)
            fail_msg("%s(%a) gave 0x%08x, correct 0x%08x", function_name(c->function), (double)c->x,
                     got, correct);
    }
}

/* A sample against f64; the whole is ci/exhaustive's. */
static void test_error_of_a_sample(void **state) {
    (void)state;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        for (uint64_t x = 0; x < 1ull << 32; x += STEP * 16)
            check_error((math_function)f, (uint32_t)x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writings_agree),    cmocka_unit_test(test_correct_writings_agree),
        cmocka_unit_test(test_edges_agree),       cmocka_unit_test(test_hard_cases_agree),
        cmocka_unit_test(test_hard_cases),        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_error_of_a_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
