/* import_parts.c - steps of factorisations and of triangular systems on numbers as their parts: of
 * what is not complex `im` is 0, and nothing is made for it. */
#include "import/stablehlo/import_factor.h"

complex_value parts_taken(importer *im, complex_value x, ir_value at, int axis) {
    ir_value re = factor_taken(im, x.re, at, axis);
    return (complex_value){re, x.im ? factor_taken(im, x.im, at, axis) : 0};
}

complex_value parts_spread(importer *im, complex_value x, ir_value like, int axis) {
    ir_value re = build_spread(&im->b, x.re, like, axis);
    return (complex_value){re, x.im ? build_spread(&im->b, x.im, like, axis) : 0};
}

complex_value parts_select(importer *im, ir_value where, complex_value x, complex_value y) {
    ir_value re = build_select(&im->b, where, x.re, y.re);
    return (complex_value){re, x.im ? build_select(&im->b, where, x.im, y.im) : 0};
}

complex_value parts_like(importer *im, complex_value x, double re) {
    ir_value real = import_like(im, x.re, re);
    return (complex_value){real, x.im ? import_like(im, x.im, 0) : 0};
}

complex_value parts_sub(importer *im, complex_value x, complex_value y) {
    ir_value re = import_sub(im, x.re, y.re);
    return (complex_value){re, x.im ? import_sub(im, x.im, y.im) : 0};
}

complex_value parts_mul(importer *im, complex_value x, complex_value y) {
    return x.im ? complex_product(im, x, y) : (complex_value){import_mul(im, x.re, y.re), 0};
}

complex_value parts_div(importer *im, complex_value x, complex_value y) {
    return x.im ? complex_quotient(im, x, y) : (complex_value){import_div(im, x.re, y.re), 0};
}

complex_value parts_conjugate(importer *im, complex_value x) {
    return (complex_value){x.re, x.im ? import_unary(im, GRAPH_NEG, x.im) : 0};
}

complex_value parts_transposed(importer *im, complex_value x) {
    ir_value re = factor_transposed(im, x.re);
    return (complex_value){re, x.im ? factor_transposed(im, x.im) : 0};
}

/* (ac - bd, ad + bc) of complex numbers, each a sum of its own. */
complex_value parts_row_by(importer *im, complex_value row, complex_value x, bool turned) {
    complex_value sum = {factor_row_by(im, row.re, x.re, turned), 0};
    if (!x.im)
        return sum;
    sum.re = import_sub(im, sum.re, factor_row_by(im, row.im, x.im, turned));
    ir_value cross = factor_row_by(im, row.re, x.im, turned);
    sum.im = import_add(im, cross, factor_row_by(im, row.im, x.re, turned));
    return sum;
}

complex_value parts_as_steps(importer *im, complex_value x) {
    ir_value re = factor_as_steps(im, x.re);
    return (complex_value){re, x.im ? factor_as_steps(im, x.im) : 0};
}

complex_value parts_converted(importer *im, complex_value x, dtype to) {
    ir_value re = build_convert(&im->b, x.re, to);
    return (complex_value){re, x.im ? build_convert(&im->b, x.im, to) : 0};
}
