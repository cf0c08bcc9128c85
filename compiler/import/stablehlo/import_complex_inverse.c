/* import_complex_inverse.c - inverse functions of complex numbers, in f64.
 *
 * asin and acos: T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, Implementing the complex arcsine and
 * arccosine functions using exception handling (ACM TOMS 23, 1997): with x, y the sizes of the
 * parts, r and s the distances from -1 and 1, and a = (r + s) / 2, one is the angle of x and
 * sqrt(a^2 - x^2), the other ln(a + sqrt(a^2 - 1)), written so that nothing cancels. atanh by log1p
 * and the angle of 1 - x^2 - y^2, which is computed in pairs. Branch cuts and signs of zeros are
 * those of C's Annex G. */
#include "import/stablehlo/import_complex.h"

/* From here on what lies beside x^2 + y^2 no longer counts; squares of what is less are finite. */
#define FAR 0x1p500
/* Squares of what is less do not count, and may not be there. */
#define NONE 0x1p-500

ir_value complex_log_size(importer *im, complex_value sizes) {
    ir_value ratio = import_div(im, sizes.im, sizes.re);
    ir_value usual = import_binary(im, GRAPH_AND, real_is(im, "gt", sizes.re, 0),
                                   real_is(im, "lt", sizes.re, __builtin_inf()));
    ratio = real_choose(im, usual, ratio, import_like(im, ratio, 0));
    ir_value rest = import_unary(im, GRAPH_LOG1P, import_mul(im, ratio, ratio));
    return import_add(im, import_unary(im, GRAPH_LOG, sizes.re), real_times(im, rest, 0.5));
}

static ir_value hypotenuse(importer *im, ir_value x, ir_value y) {
    const complex_value sizes = complex_sizes(im, (complex_value){x, y});
    return real_hypotenuse(im, sizes.re, sizes.im);
}

/* The plane around -1 and 1, of the sizes of the parts. */
typedef struct ellipse {
    ir_value x, y;
    ir_value beyond; /* x - 1 */
    ir_value a;
    ir_value left, right; /* r + (x + 1), and s + |x - 1| */
    ir_value inside;      /* x < 1 */
    ir_value far;
} ellipse;

static ellipse ellipse_of(importer *im, complex_value z) {
    ellipse e = {.x = real_abs(im, z.re), .y = real_abs(im, z.im)};
    e.beyond = real_plus(im, e.x, -1);
    ir_value up = real_plus(im, e.x, 1), distance = real_abs(im, e.beyond);
    ir_value r = hypotenuse(im, up, e.y), s = hypotenuse(im, distance, e.y);
    e.a = real_times(im, import_add(im, r, s), 0.5);
    e.left = import_add(im, r, up);
    e.right = import_add(im, s, distance);
    e.inside = real_is(im, "lt", e.x, 1);
    e.far = import_binary(im, GRAPH_OR, real_is(im, "ge", e.x, FAR), real_is(im, "ge", e.y, FAR));
    return e;
}

/* sqrt(a^2 - x^2) */
static ir_value beside(importer *im, const ellipse *e) {
    ir_value half = real_times(im, import_add(im, e->a, e->x), 0.5);
    ir_value first = import_div(im, import_mul(im, e->y, e->y), e->left);
    ir_value near = real_sqrt(im, import_mul(im, half, import_add(im, first, e->right)));
    ir_value sum = import_add(im, import_div(im, half, e->left), import_div(im, half, e->right));
    ir_value out = import_mul(im, e->y, real_sqrt(im, sum));
    ir_value within = import_binary(im, GRAPH_OR, e->inside, real_is(im, "eq", e->x, 1));
    return real_choose(im, e->far, e->y, real_choose(im, within, near, out));
}

/* ln(a + sqrt(a^2 - 1)); far away ln 2|z|. */
static ir_value logarithm(importer *im, const ellipse *e) {
    ir_value square = import_mul(im, e->y, e->y);
    ir_value other = real_choose(im, e->inside, import_div(im, square, e->right), e->right);
    ir_value more = real_times(im, import_add(im, import_div(im, square, e->left), other), 0.5);
    ir_value root = real_sqrt(im, import_mul(im, more, real_plus(im, e->a, 1)));
    ir_value usual = import_unary(im, GRAPH_LOG1P, import_add(im, more, root));
    ir_value cosine =
        real_sqrt(im, import_mul(im, real_negated(im, e->beyond), real_plus(im, e->x, 1)));
    ir_value flat = import_binary(im, GRAPH_AND, e->inside, real_is(im, "lt", e->y, NONE));
    usual = real_choose(im, flat, import_div(im, e->y, cosine), usual);
    const complex_value sizes = complex_sizes(im, (complex_value){e->x, e->y});
    ir_value away = real_plus(im, complex_log_size(im, sizes), 0x1.62e42fefa39efp-1);
    return real_choose(im, e->far, away, usual);
}

complex_value complex_asin(importer *im, complex_value z) {
    const ellipse e = ellipse_of(im, z);
    return (complex_value){
        real_signed(im, import_binary(im, GRAPH_ATAN2, e.x, beside(im, &e)), z.re),
        real_signed(im, logarithm(im, &e), z.im)};
}

complex_value complex_acos(importer *im, complex_value z) {
    const ellipse e = ellipse_of(im, z);
    return (complex_value){import_binary(im, GRAPH_ATAN2, beside(im, &e), z.re),
                           real_signed(im, logarithm(im, &e), real_negated(im, z.im))};
}

complex_value complex_asinh(importer *im, complex_value z) {
    return complex_turned(im, complex_asin(im, complex_turned(im, z, false)), true);
}

/* i acos z or -i acos z, that with a real part of at least 0. */
complex_value complex_acosh(importer *im, complex_value z) {
    const complex_value w = complex_acos(im, z);
    return (complex_value){real_abs(im, w.im), real_signed(im, w.re, z.im)};
}

/* ln(1 + 4x / ((1 - x)^2 + y^2)) / 4; far away x / (x^2 + y^2), and at 1 ln(2 / y) / 2. */
static ir_value atanh_size(importer *im, ir_value x, ir_value y, complex_value sizes) {
    ir_value less = import_sub(im, import_like(im, x, 1), x);
    ir_value below = import_add(im, import_mul(im, less, less), import_mul(im, y, y));
    ir_value near = import_div(im, real_times(im, x, 4), below);
    near = real_times(im, import_unary(im, GRAPH_LOG1P, near), 0.25);
    ir_value ratio = import_div(im, sizes.im, sizes.re);
    ir_value far =
        import_div(im, import_div(im, x, sizes.re), real_plus(im, import_mul(im, ratio, ratio), 1));
    far = import_div(im, far, sizes.re);
    far = real_choose(im, real_is(im, "eq", sizes.re, __builtin_inf()), import_like(im, x, 0), far);
    ir_value pole = real_times(
        im,
        import_sub(im, import_like(im, x, 0x1.62e42fefa39efp-1), import_unary(im, GRAPH_LOG, y)),
        0.5);
    ir_value at_pole =
        import_binary(im, GRAPH_AND, real_is(im, "eq", x, 1), real_is(im, "lt", y, NONE));
    near = real_choose(im, at_pole, pole, near);
    return real_choose(im, real_is(im, "ge", sizes.re, FAR), far, near);
}

complex_value complex_atanh(importer *im, complex_value z) {
    ir_value x = real_abs(im, z.re), y = real_abs(im, z.im);
    const complex_value sizes = complex_sizes(im, z);
    ir_value below = /* 0 on the circle, not -0 */
        import_sub(im, import_like(im, x, 0), real_beyond_one(im, sizes.re, sizes.im));
    ir_value angle =
        real_times(im, import_binary(im, GRAPH_ATAN2, import_add(im, y, y), below), 0.5);
    angle = real_choose(im, real_is(im, "ge", sizes.re, FAR),
                        import_like(im, x, 0x1.921fb54442d18p+0), angle);
    return (complex_value){real_signed(im, atanh_size(im, x, y, sizes), z.re),
                           real_signed(im, angle, z.im)};
}

complex_value complex_atan(importer *im, complex_value z) {
    return complex_turned(im, complex_atanh(im, complex_turned(im, z, false)), true);
}
