/* test_reference.c - where the f64 reference is sure of a NaN, an infinity or a number, and where
 * rounding could have led elsewhere, so that nothing may be promised. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>

#include "tessera/compiler.h"

enum { PARAMETERS = 3 };

typedef struct computed {
    double reference, bound, got; /* got: the interpreter's */
    double low, high;             /* what may come, and whether a NaN may */
    bool nan;
} computed;

/* One element of `expression` in x, y, z and c, which is y * y - z: vectors of one element. */
static computed compute(const char *type, const char *expression, const double *x) {
    char source[1024];
    text said;
    status st = STATUS_INIT;
    tensor inputs[PARAMETERS], out = {0}, reference = {0}, bound = {0}, limits = {0};
    const int64_t one = 1;
    text_init(&said);
    compiler_init();
    snprintf(
        source, sizeof source,
        "@kernel\ndef f(x: Tensor[1, %s], y: Tensor[1, %s], z: Tensor[1, %s]) -> Tensor[1, %s]:\n"
        "    c = y * y - z\n    return %s\n",
        type, type, type, type, expression);
    compiler_source *file = compiler_open_text("test.tsr", source, false, &said);
    compiler_instance *instance =
        compiler_instance_open(file, compiler_kernel_at(file, 0), NULL, &said);
    const compiler_references references = {
        .values = &reference, .bounds = &bound, .limits = &limits};
    if (!instance)
        fail_msg("%s", said.data);
    for (int i = 0; i < PARAMETERS; i++) {
        assert_true(tensor_init(&inputs[i], dtype_from_name(type), 1, &one, &st));
        dtype_store(inputs[i].type, inputs[i].data, 0, x[i]);
    }
    assert_true(compiler_interpret(instance, inputs, &out, &st));
    assert_true(compiler_reference(instance, inputs, &references, &st));
    computed c = {.reference = *(double *)reference.data,
                  .bound = *(double *)bound.data,
                  .got = dtype_load(out.type, out.data, 0)};
    const double *l = limits.data;
    c.low = l ? l[COMPILER_LIMIT_LOW] : c.reference - c.bound;
    c.high = l ? l[COMPILER_LIMIT_HIGH] : c.reference + c.bound;
    c.nan = l ? l[COMPILER_LIMIT_NAN] != 0 : isnan(c.reference);
    for (int i = 0; i < PARAMETERS; i++)
        tensor_release(&inputs[i]);
    tensor_release(&out);
    tensor_release(&reference);
    tensor_release(&bound);
    tensor_release(&limits);
    compiler_instance_free(instance);
    compiler_close(file);
    text_release(&said);
    return c;
}

/* Nothing is promised. */
static void any(const char *type, const char *expression, double x, double y, double z) {
    computed c = compute(type, expression, (double[]){x, y, z});
    if (!isinf(c.bound))
        fail_msg("%s: %g within %g is too sure", expression, c.reference, c.bound);
}

/* Between two limits, and a NaN where `nan`; `bounded`: with a finite bound, which judges it. */
static void between(const char *type, const char *expression, const double x[3], double low,
                    double high, bool nan, bool bounded) {
    computed c = compute(type, expression, x);
    bool holds = isnan(c.got) ? c.nan : c.got >= c.low && c.got <= c.high;
    if (!holds || !(c.low >= low && c.high <= high) || c.nan != nan || isinf(c.bound) == bounded)
        fail_msg("%s: %g within %g, from %g to %g%s, and %g; not from %g to %g%s", expression,
                 c.reference, c.bound, c.low, c.high, c.nan ? " or a NaN" : "", c.got, low, high,
                 nan ? " or a NaN" : "");
}

/* The reference is this NaN, infinity or number, and so, within at most `bound`, is the result. */
static void sure(const char *type, const char *expression, double x, double y, double z,
                 double expected, double bound) {
    computed c = compute(type, expression, (double[]){x, y, z});
    bool same = isnan(expected) ? isnan(c.reference) : c.reference == expected;
    bool holds = isnan(expected)   ? isnan(c.got)
                 : isinf(expected) ? c.got == expected
                                   : fabs(c.got - expected) <= c.bound;
    if (!same || !holds || !(c.bound <= bound))
        fail_msg("%s: %g within %g, and %g; not %g within %g", expression, c.reference, c.bound,
                 c.got, expected, bound);
}

static void test_domains(void **state) {
    static const char *const functions[] = {"sqrt(x * y)", "rsqrt(x * y)", "log(x * y)",
                                            "log2(x * y)"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        /* -1e-60 is -0 in f32, of which the functions make a number or an infinity. */
        if (i > 0)
            any("f32", functions[i], -1e-30, 1e-30, 0);
        if (i > 0)
            any("f32", functions[i], 1e-30, 1e-30, 0);
        sure("f32", functions[i], -1, 1, 0, NAN, 0);
    }
    any("f32", "log1p(x * y)", -1.0000001, 0.9999999, 0);
    sure("f32", "log1p(x * y)", -2, 1, 0, NAN, 0);
    sure("f32", "log(x)", 0, 0, 0, -INFINITY, 0);
    sure("f32", "rsqrt(x)", -0.0, 0, 0, -INFINITY, 0);
    sure("f32", "sin(x)", INFINITY, 0, 0, NAN, 0);
}

static void test_quotients(void **state) {
    (void)state;
    any("f32", "x / (y * y - z)", 1, 1.1, 1.21);
    /* 0 by whatever it is, is 0 or a NaN; by what is not negative, an infinity has a sign. */
    between("f32", "(x - x) / (y * y - z)", (double[]){1, 1.1f, 1.21f}, 0, 0, true, true);
    between("f32", "x / sqrt(c * c)", (double[]){1, 1.1f, 1.21f}, 1e6, INFINITY, false, false);
    between("f32", "c / maximum(sqrt(c * c), 0.001)", (double[]){1, 1.1f, 1.21f}, -0.001, 0.001,
            false, true);
    any("f32", "(y * y - z) / (x - x)", 1, 1.1, 1.21);
    sure("f32", "x / y", -1, 0, 0, -INFINITY, 0);
    sure("f32", "x / y", 0, 0, 0, NAN, 0);
    sure("f32", "x / y", 1, INFINITY, 0, 0, 0);
    sure("f32", "x / y", NAN, 1, 0, NAN, 0);
    /* Whatever the divisor is, a NaN remains one. */
    sure("f32", "x / (y * y - z)", NAN, 1.1, 1.21, NAN, 0);
}

/* An operation that may have left its domain for a rounding is still near its edge. */
static void test_enclosures(void **state) {
    static const char square[] = "c * c";
    const double x[] = {1, 1.1f, 1.21f};
    char words[300];
    (void)state;
    between("f32", "sqrt(x * y)", (double[]){-1e-30, 1e-30, 0}, 0, 1e-22, true, true);
    between("f32", "sqrt(y * y - z)", x, 0, 1e-3, true, true);
    between("f32", "abs(sqrt(y * y - z))", x, 0, 1e-3, true, true);
    between("f32", "where(sqrt(y * y - z) < 1, x, x + x)", x, -1e-3, 2.001, false, true);
    snprintf(words, sizeof words, "sqrt(%s)", square);
    between("f32", words, x, -1e-6, 1e-6, false, true);
    snprintf(words, sizeof words, "sqrt(sum(concat([%s, %s]), axis=0, keepdims=True))", square,
             square);
    between("f32", words, x, -1e-6, 1e-6, false, true);
    snprintf(words, sizeof words, "sqrt(cumsum(concat([%s, %s]), axis=0)[1:2])", square, square);
    between("f32", words, x, -1e-6, 1e-6, false, true);
    snprintf(words, sizeof words, "sqrt(max(concat([%s, %s]), axis=0, keepdims=True))", square,
             square);
    between("f32", words, x, -1e-6, 1e-6, false, true);
    snprintf(words, sizeof words, "cast(cast(sqrt(%s), f16), f32)", square);
    between("f32", words, x, -1e-3, 1e-3, false, true);
    /* At most so much, or an infinity. */
    snprintf(words, sizeof words, "log(%s)", square);
    between("f32", words, x, -INFINITY, -20, false, false);
    between("f32", "log(y * y - z)", x, -INFINITY, -10, true, false);
    snprintf(words, sizeof words, "rsqrt(%s)", square);
    between("f32", words, x, 1e5, INFINITY, false, false);
    /* A possible overflow gives limits, and no bound. */
    between("f32", "x * rsqrt(y * y + 1)", (double[]){1, 0x1p64, 0}, 0, 1, false, false);
    between("f32", "tanh(y * y) + x", (double[]){1, 0x1p64, 0}, 1.9, 2.1, false, false);
    between("f32",
            "dot(concat([sqrt(y * y - z), x]), concat([x, x]), x_contract=(0,), "
            "y_contract=(0,)) + x",
            x, 1.9, 2.1, true, true);
}

static void test_overflow(void **state) {
    (void)state;
    sure("f32", "x * y", 3e38, 2, 0, INFINITY, 0);
    any("f32", "x * y", 0x1.fffffep127, 1.0000001, 0);
    /* Contracted, the product does not overflow by itself. */
    any("f32", "x * y + z", 3e38, 2, -3e38);
    any("f32", "fma(x, y, z)", 3e38, 2, -3e38);
    sure("f32", "fma(x, y, z)", 3e38, 2, 3e38, INFINITY, 0);
    any("f64", "x * y + z", 1e308, 10, -1e308);
    any("f64", "fma(x, y, z)", 1e308, 10, -1e308);
    /* Values that may be an infinity may be a NaN next. */
    any("f32", "(x * y) * z", 0x1.fffffep127, 1.0000001, 0);
    any("f32", "tanh((x * y) - (x * y))", 0x1.fffffep127, 1.0000001, 0);
}

static void test_types_without_infinity(void **state) {
    (void)state;
    /* In f32, where 240 * 2 is a number, and rounded once. */
    sure("f8e4m3fn", "fma(x, y, z)", 240, 2, -240, 240, 20);
    sure("f8e4m3fn", "x * y", 240, 2, 0, 448, 0);
    sure("f8e4m3fn", "max(x[0:0], axis=0, keepdims=True)", 1, 0, 0, -448, 0);
    sure("f8e5m2", "max(x[0:0], axis=0, keepdims=True)", 1, 0, 0, -INFINITY, 0);
}

static void test_sums(void **state) {
    static const char sum[] = "sum(concat([x, y, z]), axis=0, keepdims=True)";
    static const char dot[] =
        "reshape(dot(concat([x, y]), concat([z, z]), x_contract=(0,), y_contract=(0,)), (1,))";
    (void)state;
    sure("f32", sum, 1, INFINITY, 2, INFINITY, 0);
    sure("f32", sum, INFINITY, 1, -INFINITY, NAN, 0);
    sure("f32", sum, 3e38, NAN, 3e38, NAN, 0);
    any("f32", sum, 3e38, 3e38, -INFINITY); /* -inf, or the sum of two infinities */
    any("f32", sum, 3e38, 3e38, -3e38);
    any("f64", sum, 1e308, 1e308, -1e308);
    sure("f32", dot, INFINITY, 1, 0, NAN, 0);
    sure("f32", dot, INFINITY, 1, 2, INFINITY, 0);
    sure("f32", dot, 1, 2, 3, 9, 1e-5);
    any("f32", dot, 3e38, -3e38, 2);
    any("f64", dot, 1e308, -1e308, 10);
    /* Values that may be an infinity give a NaN with 0. */
    any("f32",
        "reshape(dot(cast(cast(x, f8e5m2 @ loss_scale(65536)), f32), z, x_contract=(0,), "
        "y_contract=(0,)), (1,))",
        1, 0, 0);
}

static void test_choices(void **state) {
    computed c;
    (void)state;
    /* 1.1 * 1.1 in f32 may lie on either side of its own rounding. */
    c = compute("f32", "where(y * y < z, x, x + 100)", (double[]){1, 1.1f, 1.1f * 1.1f});
    assert_true(c.bound >= 100 && !isinf(c.bound));
    sure("f32", "where(y * y < z, x, x + 100)", 1, 1.1, 1.3, 1, 0);
    c = compute("f32", "cast(cast(x * y, bool), f32)", (double[]){1e-30, 1e-30, 0});
    assert_true(c.bound >= 1);
    sure("f32", "cast(cast(x * y, bool), f32)", 0, 1, 0, 0, 0);
    sure("f32", "maximum(x, y)", NAN, 1, 0, NAN, 0);
}

/* exp and exp2 may be a chip's own instruction: within 2.5 ULP, 0 below 2^-126, and of an operand
 * that was multiplied by log2 e in f32. */
static void test_exponentials(void **state) {
    static const struct {
        const char *expression;
        double x, low, high; /* what must be right, and but for a thousandth no more */
    } rows[] = {
        {"exp2(x)", 100, 0x1p100 * (1 - 0x5p-24), 0x1p100 * (1 + 0x5p-24)},
        {"exp2(x)", -100, 0x1p-100 * (1 - 0x5p-24), 0x1p-100 * (1 + 0x5p-24)},
        {"exp2(x)", -127, 0x1p-127 - 0x1p-126, 0x1p-127 + 0x1p-126},
        {"exp2(x)", -200, -0x1p-126, 0x1p-126},
        {"exp(x)", 0, 1 - 0x5p-24, 1 + 0x5p-24},
        {"exp(x)", 64, exp(64) * (1 - 85 * 0x1p-24), exp(64) * (1 + 85 * 0x1p-24)},
        {"exp(x)", -64, exp(-64) * (1 - 85 * 0x1p-24), exp(-64) * (1 + 85 * 0x1p-24)},
        {"exp(x)", -88, exp(-88) - 0x1p-126, exp(-88) + 0x1p-126},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double room = (rows[i].high - rows[i].low) / 1000;
        computed c = compute("f32", rows[i].expression, (double[]){rows[i].x, 0, 0});
        if (c.low > rows[i].low || c.high < rows[i].high)
            fail_msg("%s of %g: from %g to %g", rows[i].expression, rows[i].x, c.low, c.high);
        between("f32", rows[i].expression, (double[]){rows[i].x, 0, 0}, rows[i].low - room,
                rows[i].high + room, false, true);
    }
    sure("f32", "exp(x)", -INFINITY, 0, 0, 0, 0x1p-125);
    sure("f32", "exp(x)", INFINITY, 0, 0, INFINITY, 0);
    sure("f32", "exp2(x)", NAN, 0, 0, NAN, 0);
    between("f32", "log(exp(x))", (double[]){-88, 0, 0}, -INFINITY, -87, false, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domains),    cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_overflow),   cmocka_unit_test(test_types_without_infinity),
        cmocka_unit_test(test_enclosures), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_choices),    cmocka_unit_test(test_exponentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
