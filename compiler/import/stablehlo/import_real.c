/* import_real.c - steps on f64 that functions are made of. */
#include "import/stablehlo/import_real.h"

ir_value real_times(importer *im, ir_value x, double number) {
    return import_mul(im, x, import_like(im, x, number));
}

ir_value real_plus(importer *im, ir_value x, double number) {
    return import_add(im, x, import_like(im, x, number));
}

ir_value real_is(importer *im, const char *predicate, ir_value x, double number) {
    return import_is(im, predicate, x, import_like(im, x, number));
}

ir_value real_choose(importer *im, ir_value condition, ir_value yes, ir_value no) {
    return build_select(&im->b, condition, yes, no);
}

ir_value real_abs(importer *im, ir_value x) {
    return import_unary(im, GRAPH_ABS, x);
}

ir_value real_negated(importer *im, ir_value x) {
    return import_unary(im, GRAPH_NEG, x);
}

ir_value real_sqrt(importer *im, ir_value x) {
    return import_unary(im, GRAPH_SQRT, x);
}

ir_value real_signed(importer *im, ir_value magnitude, ir_value of) {
    const dtype t = import_type_of(im, of)->element, bits = import_unsigned(t);
    ir_value sign = import_bitcast(im, of, bits);
    sign = import_binary(im, GRAPH_AND, sign,
                         import_bits_like(im, sign, (uint64_t)1 << (8 * dtype_size(t) - 1)));
    return import_bitcast(
        im, import_binary(im, GRAPH_OR, import_bitcast(im, magnitude, bits), sign), t);
}

ir_value real_fma(importer *im, ir_value x, ir_value y, ir_value z) {
    return ir_op_result(im->m, graph_build(&im->b, GRAPH_FMA, (ir_value[]){x, y, z}, 3, NULL, 0),
                        0);
}

ir_value real_polynomial(importer *im, ir_value x, const double *p, int count) {
    ir_value sum = import_like(im, x, p[0]);
    for (int i = 1; i < count; i++)
        sum = real_fma(im, sum, x, import_like(im, x, p[i]));
    return sum;
}

/* ---- pairs ---- */

real_pair real_sum(importer *im, ir_value x, ir_value y) {
    ir_value sum = import_add(im, x, y), from_y = import_sub(im, sum, x);
    ir_value lost_x = import_sub(im, x, import_sub(im, sum, from_y));
    return (real_pair){sum, import_add(im, lost_x, import_sub(im, y, from_y))};
}

real_pair real_product(importer *im, ir_value x, ir_value y) {
    ir_value product = import_mul(im, x, y);
    return (real_pair){product, real_fma(im, x, y, real_negated(im, product))};
}

/* 2^-e for great from 2^e to 2^(e + 1), as a number; of a subnormal one the greatest there is. */
static ir_value power_against(importer *im, ir_value great) {
    const double exponents = (double)((uint64_t)2046 << 52), most = (double)((uint64_t)2045 << 52);
    ir_value bits = import_bitcast(im, great, DTYPE_I64);
    bits = import_binary(im, GRAPH_AND, bits, import_bits_like(im, bits, (uint64_t)2047 << 52));
    bits = import_binary(im, GRAPH_MINIMUM, bits, import_like(im, bits, most));
    return import_bitcast(im, import_sub(im, import_like(im, bits, exponents), bits), DTYPE_F64);
}

real_pair real_squares(importer *im, ir_value x, ir_value y) {
    const real_pair p = real_product(im, x, x), q = real_product(im, y, y);
    const real_pair sum = real_sum(im, p.high, q.high);
    return (real_pair){sum.high, import_add(im, sum.low, import_add(im, p.low, q.low))};
}

/* A step of Newton's corrects the root by what it and the squares have lost. */
ir_value real_hypotenuse(importer *im, ir_value great, ir_value small) {
    ir_value scale = power_against(im, great);
    ir_value a = import_mul(im, great, scale), b = import_mul(im, small, scale);
    const real_pair sum = real_squares(im, a, b);
    ir_value root = real_sqrt(im, sum.high);
    ir_value rest = import_add(im, real_fma(im, real_negated(im, root), root, sum.high), sum.low);
    root = import_add(im, root, import_div(im, rest, import_add(im, root, root)));
    ir_value usual = import_binary(im, GRAPH_AND, real_is(im, "gt", great, 0),
                                   real_is(im, "lt", great, __builtin_inf()));
    return real_choose(im, usual, import_div(im, root, scale), great);
}

ir_value real_beyond_one(importer *im, ir_value great, ir_value small) {
    const real_pair p = real_product(im, great, great), q = real_product(im, small, small);
    const real_pair first = real_sum(im, p.high, import_like(im, great, -1));
    const real_pair sum = real_sum(im, first.high, q.high);
    ir_value lost = import_add(im, first.low, import_add(im, p.low, q.low));
    return import_add(im, sum.high, import_add(im, sum.low, lost));
}
