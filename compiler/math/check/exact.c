/* exact.c - what each function is, twice. */
#include "math/check/exact.h"

#include <math.h>
#include <string.h>

enum {
    VALUE_BITS = 160, /* of an exact value that is subtracted from a result */
    F32_BITS = 24,
    F32_LEAST_EXPONENT = -148, /* as MPFR counts: 0.5 * 2^-148 is the least f32 */
    F32_GREATEST_EXPONENT = 128,
    UNIT_LEAST_EXPONENT = -149
};

static double logistic_f64(double x) {
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double rsqrt_f64(double x) {
    return x == 0 ? copysign(HUGE_VAL, x) : 1 / sqrt(x);
}

/* Beyond these, the result is what it is there, for f32 and within EXACT_ABSOLUTE. */
static void clamp_logistic(mpfr_ptr t, mpfr_srcptr x) {
    mpfr_set(t, x, MPFR_RNDN);
    if (mpfr_cmp_si(t, -1000) < 0)
        mpfr_set_si(t, -1000, MPFR_RNDN);
    if (mpfr_cmp_si(t, 200) > 0)
        mpfr_set_si(t, 200, MPFR_RNDN);
}

/* 1 / (1 + e^-x) with ever more bits until it can be rounded; three roundings lose less than four
 * bits. */
static int logistic_mpfr(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
    if (mpfr_zero_p(x))
        return mpfr_set_d(result, 0.5, rounding);
    mpfr_prec_t wanted = mpfr_get_prec(result), bits = wanted + 64;
    mpfr_t t;
    mpfr_init2(t, bits);
    for (;; bits *= 2) {
        mpfr_set_prec(t, bits);
        clamp_logistic(t, x);
        mpfr_neg(t, t, MPFR_RNDN);
        mpfr_exp(t, t, MPFR_RNDN);
        mpfr_add_ui(t, t, 1, MPFR_RNDN);
        mpfr_ui_div(t, 1, t, MPFR_RNDN);
        if (mpfr_can_round(t, bits - 4, MPFR_RNDN, MPFR_RNDZ, wanted + 1))
            break;
    }
    int ternary = mpfr_set(result, t, rounding);
    mpfr_clear(t);
    return ternary;
}

static const exact_function functions[] = {
    {"exp", exp, mpfr_exp},       {"exp2", exp2, mpfr_exp2},
    {"expm1", expm1, mpfr_expm1}, {"log", log, mpfr_log},
    {"log2", log2, mpfr_log2},    {"log1p", log1p, mpfr_log1p},
    {"tanh", tanh, mpfr_tanh},    {"logistic", logistic_f64, logistic_mpfr},
    {"erf", erf, mpfr_erf},       {"sin", sin, mpfr_sin},
    {"cos", cos, mpfr_cos},       {"rsqrt", rsqrt_f64, mpfr_rec_sqrt},
};

const exact_function *exact_find(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

void exact_init(exact_judge *j, const exact_function *function) {
    j->function = function;
    mpfr_init2(j->x, F32_BITS);
    mpfr_init2(j->value, VALUE_BITS);
    mpfr_init2(j->difference, VALUE_BITS);
    mpfr_init2(j->nearest, F32_BITS);
}

void exact_release(exact_judge *j) {
    mpfr_clears(j->x, j->value, j->difference, j->nearest, (mpfr_ptr)NULL);
    mpfr_free_cache();
}

/* Rounds to 24 bits in MPFR's own range, then, knowing on which side that is, to f32's. */
float exact_nearest(exact_judge *j, float x) {
    mpfr_exp_t least = mpfr_get_emin(), greatest = mpfr_get_emax();
    mpfr_set_flt(j->x, x, MPFR_RNDN);
    int ternary = j->function->mpfr(j->nearest, j->x, MPFR_RNDN);
    mpfr_set_emin(F32_LEAST_EXPONENT);
    mpfr_set_emax(F32_GREATEST_EXPONENT);
    ternary = mpfr_check_range(j->nearest, ternary, MPFR_RNDN);
    mpfr_subnormalize(j->nearest, ternary, MPFR_RNDN);
    float result = mpfr_get_flt(j->nearest, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(greatest);
    return result;
}

static void evaluate(exact_judge *j, float x) {
    mpfr_set_flt(j->x, x, MPFR_RNDN);
    j->function->mpfr(j->value, j->x, MPFR_RNDN);
}

/* Exponent of the spacing just below |value|. */
static long unit_exponent(mpfr_srcptr value) {
    if (mpfr_zero_p(value))
        return UNIT_LEAST_EXPONENT;
    long exponent = (long)mpfr_get_exp(value) - F32_BITS;
    exponent -= mpfr_min_prec(value) == 1;
    return exponent < UNIT_LEAST_EXPONENT ? UNIT_LEAST_EXPONENT : exponent;
}

double exact_error(exact_judge *j, float x, float got) {
    evaluate(j, x);
    if (isinf(got) && mpfr_sgn(j->value) == (got > 0 ? 1 : -1) &&
        mpfr_get_exp(j->value) > F32_GREATEST_EXPONENT)
        return 0;
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    mpfr_sub_d(j->difference, j->value, value, MPFR_RNDN);
    mpfr_mul_2si(j->difference, j->difference, -unit_exponent(j->value), MPFR_RNDN);
    return fabs(mpfr_get_d(j->difference, MPFR_RNDN));
}

double exact_excess(exact_judge *j, float x, double f64) {
    evaluate(j, x);
    mpfr_sub_d(j->difference, j->value, f64, MPFR_RNDN);
    double allowed = fabs(f64) * EXACT_RELATIVE + EXACT_ABSOLUTE;
    mpfr_div_d(j->difference, j->difference, allowed, MPFR_RNDA);
    return fabs(mpfr_get_d(j->difference, MPFR_RNDA));
}
