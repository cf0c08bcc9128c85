/* import_special.c - erfc, the inverse of erf, logarithms of gamma, digamma and a Bessel function,
 * in f64; other types are rounded once. Series of Chebyshev's polynomials are this program's own
 * (compiler/math/generate/special.py). Near the zeros that ln |gamma| and digamma have at negative
 * numbers the error is small beside 1, not beside the result. */
#include "import/stablehlo/import_special.h"

#include "import/stablehlo/import_special_series.h"

#define SERIES(name) name##_series, (int)(sizeof name##_series / sizeof *name##_series)
#define PI 0x1.921fb54442d18p+1

/* c[0] + c[1] T1(t) + ...: C. W. Clenshaw, Math. Tables Aids Comput. 9 (1955). */
static ir_value chebyshev(importer *im, ir_value t, const double *c, int count) {
    ir_value twice = import_add(im, t, t);
    ir_value next = import_like(im, t, 0), last = import_like(im, t, c[count - 1]);
    for (int i = count - 2; i > 0; i--) {
        ir_value sum = real_fma(im, twice, last, import_sub(im, import_like(im, t, c[i]), next));
        next = last;
        last = sum;
    }
    return real_fma(im, t, last, import_sub(im, import_like(im, t, c[0]), next));
}

/* ---- the error function ---- */

/* e^(-z^2) and the series of the rest, of z^2 in two parts; 28 and more have 0. */
ir_value special_erfc(importer *im, ir_value x) {
    ir_value z = import_binary(im, GRAPH_MINIMUM, real_abs(im, x), import_like(im, x, 28));
    ir_value t = import_div(im, real_plus(im, z, -3.75), real_plus(im, z, 3.75));
    const real_pair square = real_product(im, z, z);
    ir_value fall = import_unary(im, GRAPH_EXP, real_negated(im, square.high));
    ir_value rest = import_mul(im, chebyshev(im, t, SERIES(erfcx)),
                               import_sub(im, import_like(im, z, 1), square.low));
    ir_value tail =
        import_mul(im, fall, import_div(im, rest, real_plus(im, import_add(im, z, z), 1)));
    ir_value far =
        real_choose(im, real_is(im, "lt", x, 0), import_sub(im, import_like(im, x, 2), tail), tail);
    ir_value near = import_sub(im, import_like(im, x, 1), import_unary(im, GRAPH_ERF, x));
    return real_choose(im, real_is(im, "le", real_abs(im, x), 0.5), near, far);
}

/* x times a series in w = -ln(1 - x^2), or in its root. */
ir_value special_erf_inv(importer *im, ir_value x) {
    ir_value one = import_like(im, x, 1), a = real_abs(im, x);
    ir_value small = import_unary(im, GRAPH_LOG1P, real_negated(im, import_mul(im, x, x)));
    ir_value great =
        import_unary(im, GRAPH_LOG, import_mul(im, import_sub(im, one, a), import_add(im, one, a)));
    ir_value w = real_negated(im, real_choose(im, real_is(im, "lt", a, 0.5), small, great));
    ir_value near =
        chebyshev(im, real_times(im, real_plus(im, w, -3), 1.0 / 3), SERIES(erf_inv_near));
    ir_value root = real_plus(im, real_sqrt(im, w), -4.25);
    ir_value far = chebyshev(im, real_times(im, root, 1 / 1.85), SERIES(erf_inv_far));
    ir_value by_x = real_choose(im, real_is(im, "lt", w, 6), near, far);
    by_x = real_choose(im, real_is(im, "eq", a, 1), import_like(im, x, __builtin_inf()), by_x);
    return import_mul(im, x, by_x);
}

/* ---- gamma ---- */

enum { STIRLING = 10 }; /* from here on the asymptotic series has all digits */

/* A number above 0 for the series around 2: z + 1 below 1, and z less whole numbers up to
 * STIRLING. `from_one` is what that is, less 1, exactly. */
typedef struct shifted {
    ir_value from_one;
    ir_value product; /* of the numbers that z passes, and the sum of their inverses */
    ir_value inverses;
    ir_value below_one, far;
} shifted;

static shifted shifted_of(importer *im, ir_value z) {
    shifted s = {.below_one = real_is(im, "lt", z, 1), .far = real_is(im, "ge", z, STIRLING)};
    ir_value y = z;
    s.product = import_like(im, z, 1);
    s.inverses = import_like(im, z, 0);
    for (int i = 3; i < STIRLING; i++) {
        ir_value above = real_is(im, "ge", y, 3), down = real_plus(im, y, -1);
        y = real_choose(im, above, down, y);
        s.product = real_choose(im, above, import_mul(im, s.product, y), s.product);
        ir_value sum = import_add(im, s.inverses, import_div(im, import_like(im, y, 1), y));
        s.inverses = real_choose(im, above, sum, s.inverses);
    }
    s.from_one = real_choose(im, s.below_one, z, real_plus(im, y, -1));
    return s;
}

/* The distance to the nearest whole number, times pi. */
static ir_value turn_of(importer *im, ir_value z) {
    return real_times(im, import_sub(im, z, import_unary(im, GRAPH_ROUND, z)), PI);
}

/* (z - 1/2) (ln z - 1) + (ln 2 pi - 1) / 2 + 1/12z - ... */
static ir_value stirling(importer *im, ir_value z, ir_value logarithm) {
    static const double p[] = {1.0 / 156,  -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                               1.0 / 1260, -1.0 / 360,      1.0 / 12};
    ir_value w = import_div(im, import_like(im, z, 1), z);
    ir_value rest = import_mul(
        im, w, real_polynomial(im, import_mul(im, w, w), p, (int)(sizeof p / sizeof *p)));
    rest = real_plus(im, rest, 0.41893853320467274178);
    return real_fma(im, real_plus(im, z, -0.5), real_plus(im, logarithm, -1), rest);
}

/* ln |gamma(x)|: below 0 ln(pi / |sin pi x|) - ln gamma(1 - x). */
ir_value special_log_gamma(importer *im, ir_value x) {
    ir_value z = real_abs(im, x), zero = import_like(im, x, 0);
    const shifted s = shifted_of(im, z);
    ir_value from_two = real_plus(im, s.from_one, -1);
    ir_value sum = import_mul(im, import_mul(im, s.from_one, from_two),
                              chebyshev(im, from_two, SERIES(log_gamma)));
    sum = import_add(im, sum, import_unary(im, GRAPH_LOG, s.product));
    ir_value logarithm = import_unary(im, GRAPH_LOG, z);
    sum = real_choose(im, s.far, stirling(im, z, logarithm), sum);
    /* Below 1 the sum is that of z + 1. */
    ir_value of_next = real_choose(im, s.below_one, sum, import_add(im, sum, logarithm));
    ir_value own = import_sub(im, sum, real_choose(im, s.below_one, logarithm, zero));
    ir_value sine = import_unary(im, GRAPH_SIN, real_abs(im, turn_of(im, z)));
    ir_value turned = import_unary(im, GRAPH_LOG, import_div(im, import_like(im, x, PI), sine));
    ir_value below = import_sub(im, turned, of_next);
    ir_value infinity = import_like(im, x, __builtin_inf());
    below = real_choose(im, real_is(im, "eq", sine, 0), infinity, below);
    ir_value made = real_choose(im, real_is(im, "lt", x, 0), below, own);
    return real_choose(im, real_is(im, "eq", z, __builtin_inf()), infinity, made);
}

/* ln z - 1/2z - 1/12z^2 + ... */
static ir_value digamma_far(importer *im, ir_value z) {
    static const double p[] = {-1.0 / 12,  691.0 / 32760, -1.0 / 132, 1.0 / 240,
                               -1.0 / 252, 1.0 / 120,     -1.0 / 12};
    ir_value w = import_div(im, import_like(im, z, 1), z), square = import_mul(im, w, w);
    ir_value rest =
        import_mul(im, square, real_polynomial(im, square, p, (int)(sizeof p / sizeof *p)));
    return import_add(im, import_unary(im, GRAPH_LOG, z),
                      import_sub(im, rest, real_times(im, w, 0.5)));
}

/* Below 0 digamma(1 - x) - pi / tan pi x; NaN at whole numbers up to 0. */
ir_value special_digamma(importer *im, ir_value x) {
    ir_value z = real_abs(im, x), one = import_like(im, x, 1);
    const shifted s = shifted_of(im, z);
    ir_value from_zero =
        real_plus(im, real_plus(im, s.from_one, -DIGAMMA_ZERO), -DIGAMMA_ZERO_REST);
    ir_value sum =
        import_mul(im, from_zero, chebyshev(im, real_plus(im, s.from_one, -1), SERIES(digamma)));
    sum = real_choose(im, s.far, digamma_far(im, z), import_add(im, sum, s.inverses));
    ir_value inverse = import_div(im, one, z), none = import_like(im, x, 0);
    ir_value of_next = import_add(im, sum, real_choose(im, s.below_one, none, inverse));
    ir_value own = import_sub(im, sum, real_choose(im, s.below_one, inverse, none));
    ir_value turn = turn_of(im, z);
    ir_value cotangent =
        import_div(im, import_unary(im, GRAPH_COS, turn), import_unary(im, GRAPH_SIN, turn));
    ir_value below = import_add(im, of_next, real_times(im, cotangent, PI));
    ir_value pole = real_is(im, "eq", turn, 0), low = real_is(im, "le", x, 0);
    below = real_choose(im, pole, import_like(im, x, __builtin_nan("")), below);
    return real_choose(im, low, below, own);
}

/* e^-|x| I1(x) */
ir_value special_bessel_i1e(importer *im, ir_value x) {
    ir_value z = real_abs(im, x), least = import_like(im, x, 8);
    ir_value in = import_binary(im, GRAPH_MINIMUM, z, least);
    ir_value near =
        import_mul(im, import_div(im, in, real_plus(im, in, 1)),
                   chebyshev(im, real_plus(im, real_times(im, in, 0.25), -1), SERIES(bessel_near)));
    ir_value out = import_binary(im, GRAPH_MAXIMUM, z, least);
    ir_value t = real_plus(im, import_div(im, import_like(im, x, 16), out), -1);
    ir_value far = import_div(im, chebyshev(im, t, SERIES(bessel_far)), real_sqrt(im, out));
    return real_signed(im, real_choose(im, real_is(im, "le", z, 8), near, far), x);
}
