/* test_double.c - the specified functions of f64 beside MPFR: samples of all kinds of numbers, hard
 * ones, and the special values of docs/numerics.md. `compiler_math_double 2000000` takes so many.
 */
#include "runtime/test/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "math/double/evaluate.h"

enum { BLOCK = 4096, DIGITS = 200, KINDS = 6, SAMPLES = 3 * BLOCK };
static const double wrong = 1e9;
static const char *const names[] = {
#define F(ENUM, name) #name,
#include "math/functions.def"
};

static uint64_t state = 88172645463325252u;
static long samples = SAMPLES;

/* G. Marsaglia, Xorshift RNGs, J. Stat. Softw. 8, 2003; S. Vigna's last step. */
static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}

static double between_0_and_1(void) {
    return (double)(draw() >> 11) * 0x1p-53;
}

static double any_sign(double x) {
    return draw() & 1 ? x : -x;
}

/* Any bits; near 0; where functions turn; where they end; near 1; near multiples of pi/2. */
static double sample(int kind) {
    static const double reach[] = {0, 2, 40, 760};
    if (kind == 0)
        return f64_from_bits(draw());
    if (kind < 4)
        return any_sign(between_0_and_1() * reach[kind]);
    if (kind == 4)
        return 1 + any_sign(between_0_and_1() / 2);
    double turns = 1 + (double)(draw() % 2000), aside = (double)(int)(draw() % 5) - 2;
    return any_sign(turns * 0x1.921fb54442d18p0 * (1 + aside * 0x1p-52));
}

static void exact(math_function function, mpfr_t out, mpfr_t x) {
    static int (*const functions[])(mpfr_t, const mpfr_t, mpfr_rnd_t) = {
        [MATH_RSQRT] = mpfr_rec_sqrt, [MATH_EXP] = mpfr_exp,   [MATH_EXP2] = mpfr_exp2,
        [MATH_EXPM1] = mpfr_expm1,    [MATH_LOG] = mpfr_log,   [MATH_LOG2] = mpfr_log2,
        [MATH_LOG1P] = mpfr_log1p,    [MATH_TANH] = mpfr_tanh, [MATH_ERF] = mpfr_erf,
        [MATH_LOGISTIC] = mpfr_exp,   [MATH_SIN] = mpfr_sin,   [MATH_COS] = mpfr_cos,
    };
    if (function == MATH_LOGISTIC)
        mpfr_neg(x, x, MPFR_RNDN);
    functions[function](out, x, MPFR_RNDN);
    if (function != MATH_LOGISTIC)
        return;
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

/* In spacings of f64 at the exact result, which is not above the greatest f64. */
static double distance(double got, mpfr_t result) {
    mpfr_exp_t unit = mpfr_get_exp(result) - 53;
    mpfr_t apart;
    mpfr_init2(apart, DIGITS);
    mpfr_set_d(apart, got, MPFR_RNDN);
    mpfr_sub(apart, apart, result, MPFR_RNDN);
    mpfr_div_2si(apart, apart, unit < -1074 ? -1074 : unit, MPFR_RNDN);
    double units = fabs(mpfr_get_d(apart, MPFR_RNDN));
    mpfr_clear(apart);
    return units;
}

/* `wrong` where a NaN, an infinity or a zero is out of place. */
static double error_of(double got, mpfr_t result) {
    double nearest = mpfr_get_d(result, MPFR_RNDN);
    if (isnan(nearest) || isnan(got))
        return isnan(nearest) && isnan(got) ? 0 : wrong;
    if (isinf(nearest) || isinf(got) || mpfr_zero_p(result))
        return got == nearest ? 0 : wrong;
    return distance(got, result);
}

typedef struct worst {
    double error, at, other, got;
} worst;

static void note(worst *w, double error, double at, double other, double got) {
    if (error > w->error)
        *w = (worst){error, at, other, got};
}

static void judge_block(math_function function, const double *in, worst *w) {
    static double out[BLOCK];
    mpfr_t x, result;
    mpfr_inits2(DIGITS, x, result, (mpfr_ptr)0);
    double_apply(function, out, in, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        mpfr_set_d(x, in[i], MPFR_RNDN);
        exact(function, result, x);
        note(w, error_of(out[i], result), in[i], 0, out[i]);
    }
    mpfr_clears(x, result, (mpfr_ptr)0);
}

static void report(const char *name, const worst *w) {
    print_message("%s: %.4f ULP at %a, %a\n", name, w->error, w->at, w->other);
    if (!(w->error <= 1))
        fail_msg("%s is off by %g ULP at %a, %a: %a", name, w->error, w->at, w->other, w->got);
}

static void test_functions(void **unused) {
    static double in[BLOCK];
    (void)unused;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++) {
        worst w = {0};
        for (long done = 0; done < samples; done += BLOCK) {
            for (int i = 0; i < BLOCK; i++)
                in[i] = sample(i % KINDS);
            judge_block((math_function)f, in, &w);
        }
        report(names[f], &w);
    }
}

/* Any two; powers over the whole range; small bases to whole powers; bases beside 1. */
static void sample_pair(int kind, double *x, double *y) {
    *x = f64_from_bits(draw()), *y = f64_from_bits(draw());
    if (kind == 1) {
        *x = fabs(*x);
        *y = any_sign(between_0_and_1() * 1074 / fmax(fabs(log2(*x)), 1e-3));
    } else if (kind == 2) {
        *x = any_sign(between_0_and_1() * 4);
        *y = (double)(draw() % 600) - 300;
    } else if (kind == 3) {
        *x = 1 + (between_0_and_1() - 0.5) * ldexp(1, -(int)(draw() % 50));
        *y = ldexp(between_0_and_1(), (int)(draw() % 60));
    }
}

static void judge_pairs(math_pair pair, const double *first, const double *second, worst *w) {
    static double out[BLOCK];
    mpfr_t x, y, result;
    mpfr_inits2(DIGITS, x, y, result, (mpfr_ptr)0);
    double_apply_pair(pair, out, first, second, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        mpfr_set_d(x, first[i], MPFR_RNDN);
        mpfr_set_d(y, second[i], MPFR_RNDN);
        (pair == MATH_POW ? mpfr_pow : mpfr_atan2)(result, x, y, MPFR_RNDN);
        note(w, error_of(out[i], result), first[i], second[i], out[i]);
    }
    mpfr_clears(x, y, result, (mpfr_ptr)0);
}

static void test_pairs(void **unused) {
    static double first[BLOCK], second[BLOCK];
    static const char *const pairs[] = {"pow", "atan2"};
    (void)unused;
    for (int p = 0; p < MATH_PAIR_COUNT; p++) {
        worst w = {0};
        for (long done = 0; done < samples; done += BLOCK) {
            for (int i = 0; i < BLOCK; i++)
                sample_pair(i % 4, &first[i], &second[i]);
            judge_pairs((math_pair)p, first, second, &w);
        }
        report(pairs[p], &w);
    }
}

/* Every pair of these, and each by itself: zeros, subnormals, ends of ranges, infinities, a NaN. */
static const double edges[] = {0.0,
                               0x1p-1074,
                               0x1p-1022,
                               0x1p-54,
                               0x1p-28,
                               0.5,
                               0x1.921fb54442d18p-1,
                               1.0,
                               1.25,
                               1.5,
                               2.0,
                               3.0,
                               6.0,
                               20.0,
                               40.0,
                               708.5,
                               709.79,
                               745.2,
                               1023.5,
                               1024.0,
                               1075.0,
                               0x1p52,
                               0x1p53,
                               0x1p53 - 1,
                               0x1p1000,
                               HUGE_VAL,
                               NAN,
                               0x1.fffffffffffffp1023,
                               0x1.6ac5b262ca1ffp849};
enum { EDGES = sizeof edges / sizeof *edges };

static double edge(int i) {
    return i < EDGES ? edges[i] : -edges[i - EDGES];
}

/* A result of zero has MPFR's sign, which is that of IEEE 754. */
static bool has_its_sign(double got, mpfr_t result) {
    return !mpfr_zero_p(result) || !signbit(got) == !mpfr_signbit(result);
}

static void test_edges(void **unused) {
    mpfr_t x, result;
    (void)unused;
    mpfr_inits2(DIGITS, x, result, (mpfr_ptr)0);
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++)
        for (int i = 0; i < 2 * EDGES; i++) {
            double in = edge(i), got;
            double_apply((math_function)f, &got, &in, 1);
            mpfr_set_d(x, in, MPFR_RNDN);
            exact((math_function)f, result, x);
            bool log_of_zero = in == 0 && isinf(got);
            if (f == MATH_RSQRT && in == 0) /* IEEE 754: the sign of the zero */
                assert_true(isinf(got) && !signbit(got) == !signbit(in));
            else if (error_of(got, result) > 1 || !(log_of_zero || has_its_sign(got, result)))
                fail_msg("%s(%a) is %a", names[f], in, got);
        }
    mpfr_clears(x, result, (mpfr_ptr)0);
}

static void test_edges_of_pairs(void **unused) {
    mpfr_t x, y, result;
    (void)unused;
    mpfr_inits2(DIGITS, x, y, result, (mpfr_ptr)0);
    for (int k = 0; k < MATH_PAIR_COUNT * 4 * EDGES * EDGES; k++) {
        math_pair pair = (math_pair)(k % MATH_PAIR_COUNT);
        double first = edge(k / MATH_PAIR_COUNT % (2 * EDGES));
        double second = edge(k / MATH_PAIR_COUNT / (2 * EDGES)), got;
        double_apply_pair(pair, &got, &first, &second, 1);
        mpfr_set_d(x, first, MPFR_RNDN);
        mpfr_set_d(y, second, MPFR_RNDN);
        (pair == MATH_POW ? mpfr_pow : mpfr_atan2)(result, x, y, MPFR_RNDN);
        if (error_of(got, result) > 1 || (!isnan(got) && !has_its_sign(got, result)))
            fail_msg("pair %d of %a, %a is %a", (int)pair, first, second, got);
    }
    mpfr_clears(x, y, result, (mpfr_ptr)0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_edges_of_pairs),
    };
    if (argc > 1)
        samples = strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
