/* import_complex_functions.c - functions of complex numbers: in f64, and those of complex<f32>
 * rounded once. Signs of zeros and infinities are those of C's Annex G where a sequence does not
 * give them by itself. */
#include "import/stablehlo/import_complex.h"

/* From here on e^x is no number, but its root is. */
#define STEEP 709.0

/* ---- steps ---- */

complex_value complex_widened(importer *im, complex_value x) {
    return (complex_value){build_convert(&im->b, x.re, DTYPE_F64),
                           build_convert(&im->b, x.im, DTYPE_F64)};
}

complex_value complex_rounded(importer *im, complex_value x, dtype to) {
    return (complex_value){build_convert(&im->b, x.re, to), build_convert(&im->b, x.im, to)};
}

complex_value complex_product(importer *im, complex_value x, complex_value y) {
    return (complex_value){import_sub(im, import_mul(im, x.re, y.re), import_mul(im, x.im, y.im)),
                           import_add(im, import_mul(im, x.re, y.im), import_mul(im, x.im, y.re))};
}

complex_value complex_turned(importer *im, complex_value x, bool back) {
    return back ? (complex_value){x.im, real_negated(im, x.re)}
                : (complex_value){real_negated(im, x.im), x.re};
}

complex_value complex_sizes(importer *im, complex_value x) {
    ir_value a = real_abs(im, x.re), b = real_abs(im, x.im);
    return (complex_value){import_binary(im, GRAPH_MAXIMUM, a, b),
                           import_binary(im, GRAPH_MINIMUM, a, b)};
}

static ir_value magnitude(importer *im, complex_value x) {
    const complex_value sizes = complex_sizes(im, x);
    return real_hypotenuse(im, sizes.re, sizes.im);
}

/* Squares of f32 are exact in f64, and their sum is a number. */
ir_value complex_magnitude(importer *im, complex_value x) {
    const dtype t = import_type_of(im, x.re)->element;
    if (t == DTYPE_F64)
        return magnitude(im, x);
    const complex_value w = complex_widened(im, x);
    ir_value sum = import_add(im, import_mul(im, w.re, w.re), import_mul(im, w.im, w.im));
    return build_convert(&im->b, real_sqrt(im, sum), t);
}

static ir_value is_infinite(importer *im, ir_value x) {
    return real_is(im, "eq", real_abs(im, x), __builtin_inf());
}

/* (ac + bd, bc - ad) / (c^2 + d^2), in f64; of f64 with c and d divided by the greater first. */
static complex_value divided(importer *im, complex_value x, complex_value y, bool scaled) {
    complex_value a = x, b = y;
    if (scaled) {
        ir_value scale = complex_sizes(im, y).re;
        a = (complex_value){import_div(im, a.re, scale), import_div(im, a.im, scale)};
        b = (complex_value){import_div(im, b.re, scale), import_div(im, b.im, scale)};
    }
    ir_value norm = import_add(im, import_mul(im, b.re, b.re), import_mul(im, b.im, b.im));
    complex_value q = {
        import_div(im, import_add(im, import_mul(im, a.re, b.re), import_mul(im, a.im, b.im)),
                   norm),
        import_div(im, import_sub(im, import_mul(im, a.im, b.re), import_mul(im, a.re, b.im)),
                   norm)};
    /* A finite number by an infinite one is 0. */
    ir_value infinity = import_like(im, b.re, __builtin_inf());
    ir_value endless = import_binary(im, GRAPH_OR, is_infinite(im, y.re), is_infinite(im, y.im));
    ir_value finite =
        import_binary(im, GRAPH_AND, import_is(im, "lt", real_abs(im, x.re), infinity),
                      import_is(im, "lt", real_abs(im, x.im), infinity));
    ir_value none = import_binary(im, GRAPH_AND, endless, finite), zero = import_like(im, b.re, 0);
    return (complex_value){real_choose(im, none, zero, q.re), real_choose(im, none, zero, q.im)};
}

complex_value complex_quotient(importer *im, complex_value x, complex_value y) {
    const dtype t = import_type_of(im, x.re)->element;
    return complex_rounded(
        im, divided(im, complex_widened(im, x), complex_widened(im, y), t == DTYPE_F64), t);
}

/* x where it is a zero: so a real number has a real function, also where that is infinite. */
static ir_value zero_or(importer *im, ir_value x, ir_value otherwise) {
    return real_choose(im, real_is(im, "eq", x, 0), x, otherwise);
}

static complex_value one_of(importer *im, complex_value like) {
    return (complex_value){import_like(im, like.re, 1), import_like(im, like.im, 0)};
}

/* ---- roots ---- */

/* The root with a real part that is not negative: t = sqrt((|z| + |a|) / 2), and b / 2t beside it;
 * of z times a power of 4 where that may not be a number, or is subnormal. */
static complex_value root(importer *im, complex_value x) {
    ir_value size = complex_sizes(im, x).re, one = import_like(im, size, 1);
    ir_value great = real_is(im, "ge", size, 0x1p1000), small = real_is(im, "lt", size, 0x1p-900);
    ir_value scale = real_choose(im, small, import_like(im, size, 0x1p200), one);
    scale = real_choose(im, great, import_like(im, size, 0x1p-8), scale);
    ir_value back = real_choose(im, small, import_like(im, size, 0x1p-100), one);
    back = real_choose(im, great, import_like(im, size, 0x1p4), back);
    const complex_value w = {import_mul(im, x.re, scale), import_mul(im, x.im, scale)};
    ir_value sum = import_add(im, magnitude(im, w), real_abs(im, w.re));
    ir_value big = real_sqrt(im, real_times(im, sum, 0.5));
    ir_value safe = real_choose(im, real_is(im, "eq", big, 0), one, big);
    ir_value other = real_times(im, import_div(im, real_abs(im, w.im), safe), 0.5);
    ir_value right = real_is(im, "ge", x.re, 0), endless = is_infinite(im, x.im);
    ir_value infinity = import_like(im, size, __builtin_inf());
    ir_value re = import_mul(im, real_choose(im, right, big, other), back);
    ir_value side = import_mul(im, real_choose(im, right, other, big), back);
    return (complex_value){real_choose(im, endless, infinity, re),
                           real_signed(im, real_choose(im, endless, infinity, side), x.im)};
}

static complex_value inverse_root(importer *im, complex_value x) {
    return divided(im, one_of(im, x), root(im, x), true);
}

/* ---- exponentials ---- */

/* e^x in two factors: the second is 1 unless e^x is no number. */
static real_pair steep(importer *im, ir_value x) {
    ir_value far = real_is(im, "gt", x, STEEP);
    ir_value size = import_unary(im, GRAPH_EXP, real_choose(im, far, real_times(im, x, 0.5), x));
    return (real_pair){size, real_choose(im, far, size, import_like(im, x, 1))};
}

/* e^a (cos b, sin b) */
static complex_value exponential(importer *im, complex_value x) {
    const real_pair e = steep(im, x.re);
    ir_value re = import_mul(im, e.high, import_unary(im, GRAPH_COS, x.im)),
             side = import_mul(im, e.high, import_unary(im, GRAPH_SIN, x.im));
    return (complex_value){import_mul(im, re, e.low),
                           zero_or(im, x.im, import_mul(im, side, e.low))};
}

/* e^z - 1 = (expm1(a) cos b - 2 sin^2(b/2), e^a sin b) */
static complex_value exponential_minus_one(importer *im, complex_value x) {
    ir_value half = import_unary(im, GRAPH_SIN, real_times(im, x.im, 0.5));
    ir_value less = import_mul(im, real_times(im, half, 2), half);
    ir_value near = import_sub(
        im, import_mul(im, import_unary(im, GRAPH_EXPM1, x.re), import_unary(im, GRAPH_COS, x.im)),
        less);
    const complex_value e = exponential(im, x);
    return (complex_value){real_choose(im, real_is(im, "gt", x.re, 40), e.re, near), e.im};
}

/* 1 / (1 + w) of w = e^-z; where a < 0 w / (1 + w) of w = e^z, so that w is never large. */
static complex_value logistic(importer *im, complex_value x) {
    ir_value negative = real_is(im, "lt", x.re, 0);
    ir_value angle = real_choose(im, negative, x.im, real_negated(im, x.im));
    const complex_value w =
        exponential(im, (complex_value){real_negated(im, real_abs(im, x.re)), angle});
    const complex_value one = one_of(im, x), below = {import_add(im, w.re, one.re), w.im};
    const complex_value above = {real_choose(im, negative, w.re, one.re),
                                 real_choose(im, negative, w.im, one.im)};
    return divided(im, above, below, false);
}

/* ---- hyperbolic and trigonometric functions ---- */

/* sinh |x|, cosh x, and a factor of both that is 1 unless they are no numbers. */
typedef struct hyperbolic {
    ir_value sine, cosine, factor;
} hyperbolic;

/* (e + e / (e + 1)) / 2 of e = e^|x| - 1, which loses nothing near 0, and (e^|x| + e^-|x|) / 2. */
static hyperbolic hyperbolic_of(importer *im, ir_value x) {
    ir_value a = real_abs(im, x), e = import_unary(im, GRAPH_EXPM1, a);
    const real_pair up = steep(im, a);
    ir_value half = real_times(im, up.high, 0.5);
    ir_value near = real_times(im, import_add(im, e, import_div(im, e, real_plus(im, e, 1))), 0.5);
    ir_value down = import_unary(im, GRAPH_EXP, real_negated(im, a));
    return (hyperbolic){real_choose(im, real_is(im, "lt", a, 22), near, half),
                        import_add(im, half, real_times(im, down, 0.5)), up.low};
}

/* (sin a cosh b, cos a sinh b) */
static complex_value sine(importer *im, complex_value x) {
    const hyperbolic h = hyperbolic_of(im, x.im);
    ir_value re = import_mul(im, import_unary(im, GRAPH_SIN, x.re), h.cosine),
             side =
                 import_mul(im, import_unary(im, GRAPH_COS, x.re), real_signed(im, h.sine, x.im));
    return (complex_value){zero_or(im, x.re, import_mul(im, re, h.factor)),
                           zero_or(im, x.im, import_mul(im, side, h.factor))};
}

/* (cos a cosh b, -sin a sinh b) */
static complex_value cosine(importer *im, complex_value x) {
    const hyperbolic h = hyperbolic_of(im, x.im);
    ir_value re = import_mul(im, import_unary(im, GRAPH_COS, x.re), h.cosine);
    ir_value sine = real_negated(im, import_unary(im, GRAPH_SIN, x.re));
    ir_value side = import_mul(im, sine, real_signed(im, h.sine, x.im));
    ir_value none =
        import_binary(im, GRAPH_OR, real_is(im, "eq", x.re, 0), real_is(im, "eq", x.im, 0));
    return (complex_value){import_mul(im, re, h.factor),
                           real_choose(im, none, import_mul(im, x.im, real_negated(im, x.re)),
                                       import_mul(im, side, h.factor))};
}

/* (sinh a cosh a, sin b cos b) / (sinh^2 a + cos^2 b), where nothing cancels; from 20 on the first
 * is 1, and the other 4 sin b cos b e^-2a. */
static complex_value hyperbolic_tangent(importer *im, complex_value x) {
    ir_value a = real_abs(im, x.re), far = real_is(im, "ge", a, 20);
    const hyperbolic h = hyperbolic_of(im, real_choose(im, far, import_like(im, a, 20), a));
    ir_value c = import_unary(im, GRAPH_COS, x.im);
    ir_value both = import_mul(im, import_unary(im, GRAPH_SIN, x.im), c);
    ir_value below = import_add(im, import_mul(im, h.sine, h.sine), import_mul(im, c, c));
    ir_value re = import_div(im, import_mul(im, h.sine, h.cosine), below);
    re = real_choose(im, far, import_like(im, a, 1), re);
    ir_value fall = import_unary(im, GRAPH_EXP, real_times(im, a, -2));
    ir_value side = real_choose(im, far, import_mul(im, real_times(im, both, 4), fall),
                                import_div(im, both, below));
    return (complex_value){real_signed(im, re, x.re), zero_or(im, x.im, side)};
}

static complex_value tangent(importer *im, complex_value x) {
    return complex_turned(im, hyperbolic_tangent(im, complex_turned(im, x, false)), true);
}

static complex_value hyperbolic_sine(importer *im, complex_value x) {
    return complex_turned(im, sine(im, complex_turned(im, x, false)), true);
}

static complex_value hyperbolic_cosine(importer *im, complex_value x) {
    return cosine(im, complex_turned(im, x, false));
}

/* ---- logarithms ---- */

/* (ln |z|, angle): where the greater part is near 1 by log1p of a^2 + b^2 - 1. */
static complex_value logarithm(importer *im, complex_value x) {
    const complex_value sizes = complex_sizes(im, x);
    ir_value rest = real_beyond_one(im, sizes.re, sizes.im);
    ir_value near = real_times(im, import_unary(im, GRAPH_LOG1P, rest), 0.5);
    ir_value is_near = import_binary(im, GRAPH_AND, real_is(im, "ge", sizes.re, 0.5),
                                     real_is(im, "lt", sizes.re, 2));
    return (complex_value){real_choose(im, is_near, near, complex_log_size(im, sizes)),
                           import_binary(im, GRAPH_ATAN2, x.im, x.re)};
}

/* ln |1 + z| by log1p of 2a + (a^2 + b^2), in pairs; near -1 of what 1 + z is, where 1 + a is
 * exact.
 */
static complex_value logarithm_plus_one(importer *im, complex_value x) {
    const complex_value sizes = complex_sizes(im, x), moved = {real_plus(im, x.re, 1), x.im};
    const real_pair squares = real_squares(im, sizes.re, sizes.im);
    const real_pair sum = real_sum(im, real_times(im, x.re, 2), squares.high);
    ir_value rest = import_add(im, sum.high, import_add(im, sum.low, squares.low));
    ir_value near = real_times(im, import_unary(im, GRAPH_LOG1P, rest), 0.5);
    ir_value is_near = import_binary(im, GRAPH_AND, real_is(im, "gt", rest, -0.5),
                                     real_is(im, "lt", sizes.re, 0x1p500));
    return (complex_value){
        real_choose(im, is_near, near, complex_log_size(im, complex_sizes(im, moved))),
        import_binary(im, GRAPH_ATAN2, x.im, moved.re)};
}

/* e^(y ln x). A power of 0 is 0, or 1 where y is 0. */
static complex_value power(importer *im, complex_value x, complex_value y) {
    const complex_value e = exponential(im, complex_product(im, logarithm(im, x), y));
    ir_value zero = import_like(im, x.re, 0), one = import_like(im, x.re, 1);
    ir_value none =
        import_binary(im, GRAPH_AND, real_is(im, "eq", x.re, 0), real_is(im, "eq", x.im, 0));
    ir_value unit =
        import_binary(im, GRAPH_AND, real_is(im, "eq", y.re, 0), real_is(im, "eq", y.im, 0));
    return (complex_value){real_choose(im, unit, one, real_choose(im, none, zero, e.re)),
                           real_choose(im, unit, zero, real_choose(im, none, zero, e.im))};
}

complex_value complex_power(importer *im, complex_value x, complex_value y) {
    const dtype t = import_type_of(im, x.re)->element;
    return complex_rounded(im, power(im, complex_widened(im, x), complex_widened(im, y)), t);
}

/* e^(ln z / 3), and 0 of 0. */
static complex_value cube_root(importer *im, complex_value x) {
    const complex_value third = {import_like(im, x.re, 1.0 / 3), import_like(im, x.re, 0)};
    return power(im, x, third);
}

/* -i ln((x + iy) / sqrt(x^2 + y^2)) */
complex_value complex_atan2(importer *im, complex_value y, complex_value x) {
    const dtype t = import_type_of(im, x.re)->element;
    const complex_value a = complex_widened(im, x), b = complex_widened(im, y);
    const complex_value up = complex_turned(im, b, false);
    const complex_value sum = {import_add(im, a.re, up.re), import_add(im, a.im, up.im)};
    const complex_value p = complex_product(im, a, a), q = complex_product(im, b, b);
    const complex_value squares = {import_add(im, p.re, q.re), import_add(im, p.im, q.im)};
    const complex_value ratio = divided(im, sum, root(im, squares), true);
    return complex_rounded(im, complex_turned(im, logarithm(im, ratio), true), t);
}

/* ---- others ---- */

/* z / |z|, and z where that is 0. */
static complex_value sign(importer *im, complex_value x) {
    ir_value size = magnitude(im, x), none = real_is(im, "eq", size, 0);
    ir_value safe = real_choose(im, none, import_like(im, size, 1), size);
    return (complex_value){real_choose(im, none, x.re, import_div(im, x.re, safe)),
                           real_choose(im, none, x.im, import_div(im, x.im, safe))};
}

/* ((a - b)(a + b), 2ab); a difference that is 0 makes a product of 0, whatever the sum is. */
static complex_value squared(importer *im, complex_value x) {
    ir_value less = import_sub(im, x.re, x.im), more = import_add(im, x.re, x.im);
    ir_value none =
        import_binary(im, GRAPH_OR, real_is(im, "eq", less, 0), real_is(im, "eq", more, 0));
    return (complex_value){
        real_choose(im, none, import_like(im, less, 0), import_mul(im, less, more)),
        real_times(im, import_mul(im, x.re, x.im), 2)};
}

/* ---- the table ---- */

bool complex_function(importer *im, shlo_opcode opcode, complex_value x, complex_value *y) {
    static const struct complex_entry {
        shlo_opcode opcode;
        complex_value (*of)(importer *im, complex_value x);
    } functions[] = {
        {SHLO_OP_SQRT, root},
        {SHLO_OP_RSQRT, inverse_root},
        {SHLO_OP_CBRT, cube_root},
        {SHLO_OP_SIGN, sign},
        {SHLO_OP_CHLO_SQUARE, squared},
        {SHLO_OP_EXPONENTIAL, exponential},
        {SHLO_OP_EXPONENTIAL_MINUS_ONE, exponential_minus_one},
        {SHLO_OP_LOG, logarithm},
        {SHLO_OP_LOG_PLUS_ONE, logarithm_plus_one},
        {SHLO_OP_LOGISTIC, logistic},
        {SHLO_OP_SINE, sine},
        {SHLO_OP_COSINE, cosine},
        {SHLO_OP_TAN, tangent},
        {SHLO_OP_CHLO_TAN, tangent},
        {SHLO_OP_TANH, hyperbolic_tangent},
        {SHLO_OP_CHLO_SINH, hyperbolic_sine},
        {SHLO_OP_CHLO_COSH, hyperbolic_cosine},
        {SHLO_OP_CHLO_ASIN, complex_asin},
        {SHLO_OP_CHLO_ACOS, complex_acos},
        {SHLO_OP_CHLO_ATAN, complex_atan},
        {SHLO_OP_CHLO_ASINH, complex_asinh},
        {SHLO_OP_CHLO_ACOSH, complex_acosh},
        {SHLO_OP_CHLO_ATANH, complex_atanh},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].opcode != opcode)
            continue;
        const dtype t = import_type_of(im, x.re)->element;
        *y = complex_rounded(im, functions[i].of(im, complex_widened(im, x)), t);
        return true;
    }
    return false;
}
