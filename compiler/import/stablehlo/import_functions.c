/* import_functions.c - functions of numbers that Graph IR has no operation for, made of those that
 * it has; docs/numerics.md has their sequences. */
#include <string.h>

#include "import/stablehlo/import_special.h"

static ir_value choose(importer *im, const char *predicate, ir_value a, ir_value b, ir_value yes,
                       ir_value no) {
    return build_select(&im->b, import_is(im, predicate, a, b), yes, no);
}

/* A result without its sign, with that of x. */
static ir_value with_sign(importer *im, ir_value magnitude, ir_value x) {
    return choose(im, "lt", x, import_like(im, x, 0), import_unary(im, GRAPH_NEG, magnitude),
                  magnitude);
}

/* Half of e^a, where that is no number but half of it is. */
static ir_value half_exp(importer *im, ir_value a) {
    ir_value half = import_like(im, a, 0.5),
             root = import_unary(im, GRAPH_EXP, import_mul(im, a, half));
    ir_value far = import_mul(im, import_mul(im, root, half), root);
    ir_value near = import_mul(im, import_unary(im, GRAPH_EXP, a), half);
    return choose(im, "lt", a, import_like(im, a, 88), near, far);
}

/* (e + e / (e + 1)) / 2 of e^x - 1, which loses nothing near 0. */
static ir_value sinh_of(importer *im, ir_value x) {
    ir_value a = import_unary(im, GRAPH_ABS, x), one = import_like(im, x, 1),
             half = import_like(im, x, 0.5);
    ir_value e = import_unary(im, GRAPH_EXPM1, a);
    ir_value near =
        import_mul(im, half, import_add(im, e, import_div(im, e, import_add(im, e, one))));
    ir_value magnitude = choose(im, "lt", a, import_like(im, x, 20), near, half_exp(im, a));
    return choose(im, "eq", x, import_like(im, x, 0), x, with_sign(im, magnitude, x));
}

static ir_value cosh_of(importer *im, ir_value x) {
    ir_value a = import_unary(im, GRAPH_ABS, x);
    ir_value e = import_unary(im, GRAPH_EXP, import_unary(im, GRAPH_NEG, a));
    return import_add(im, half_exp(im, a), import_mul(im, import_like(im, x, 0.5), e));
}

static ir_value asinh_of(importer *im, ir_value x) {
    ir_value a = import_unary(im, GRAPH_ABS, x), one = import_like(im, x, 1),
             square = import_mul(im, a, a);
    ir_value root = import_unary(im, GRAPH_SQRT, import_add(im, square, one));
    ir_value near = import_unary(
        im, GRAPH_LOG1P, import_add(im, a, import_div(im, square, import_add(im, one, root))));
    ir_value far =
        import_add(im, import_unary(im, GRAPH_LOG, a), import_like(im, x, 0.69314718055994531));
    ir_value magnitude = choose(im, "lt", a, import_like(im, x, 1e9), near, far);
    return choose(im, "eq", x, import_like(im, x, 0), x, with_sign(im, magnitude, x));
}

static ir_value acosh_of(importer *im, ir_value x) {
    ir_value one = import_like(im, x, 1), t = import_sub(im, x, one);
    ir_value root =
        import_unary(im, GRAPH_SQRT, import_add(im, import_mul(im, t, t), import_add(im, t, t)));
    ir_value near = import_unary(im, GRAPH_LOG1P, import_add(im, t, root));
    ir_value far =
        import_add(im, import_unary(im, GRAPH_LOG, x), import_like(im, x, 0.69314718055994531));
    ir_value made = choose(im, "lt", x, import_like(im, x, 1e9), near, far);
    return choose(im, "lt", x, one, import_like(im, x, __builtin_nan("")), made);
}

static ir_value atanh_of(importer *im, ir_value x) {
    ir_value up = import_unary(im, GRAPH_LOG1P, x),
             down = import_unary(im, GRAPH_LOG1P, import_unary(im, GRAPH_NEG, x));
    return import_mul(im, import_like(im, x, 0.5), import_sub(im, up, down));
}

static ir_value asin_of(importer *im, ir_value x) {
    ir_value one = import_like(im, x, 1);
    ir_value root = import_unary(im, GRAPH_SQRT,
                                 import_mul(im, import_sub(im, one, x), import_add(im, one, x)));
    return import_binary(im, GRAPH_ATAN2, x, root);
}

static ir_value acos_of(importer *im, ir_value x) {
    ir_value one = import_like(im, x, 1), two = import_like(im, x, 2);
    ir_value y = import_unary(im, GRAPH_SQRT, import_sub(im, one, x)),
             z = import_unary(im, GRAPH_SQRT, import_add(im, one, x));
    return import_mul(im, two, import_binary(im, GRAPH_ATAN2, y, z));
}

static ir_value atan_of(importer *im, ir_value x) {
    return import_binary(im, GRAPH_ATAN2, x, import_like(im, x, 1));
}

static ir_value tan_of(importer *im, ir_value x) {
    return import_div(im, import_unary(im, GRAPH_SIN, x), import_unary(im, GRAPH_COS, x));
}

static ir_value square_of(importer *im, ir_value x) {
    return import_mul(im, x, x);
}

/* M. Giles, Approximating the erfinv function (2010), single precision. */
static ir_value erf_inv_of(importer *im, ir_value x) {
    static const double central[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                     -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                     -0.00417768164,  0.246640727,    1.50140941};
    static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                  0.00943887047,   1.00167406,     2.83297682};
    enum { TERMS = 9 };
    ir_value w = import_unary(
        im, GRAPH_NEG,
        import_unary(im, GRAPH_LOG1P, import_unary(im, GRAPH_NEG, import_mul(im, x, x))));
    ir_value near = real_polynomial(im, import_sub(im, w, import_like(im, x, 2.5)), central, TERMS);
    ir_value root = import_sub(im, import_unary(im, GRAPH_SQRT, w), import_like(im, x, 3));
    ir_value far = real_polynomial(im, root, tail, TERMS);
    ir_value p = choose(im, "lt", w, import_like(im, x, 5), near, far);
    ir_value one = import_is(im, "eq", import_unary(im, GRAPH_ABS, x), import_like(im, x, 1));
    ir_value infinity = import_like(im, x, __builtin_inf());
    return import_mul(im, x, build_select(&im->b, one, infinity, p));
}

/* z - (z - a / z^2) / 3: what is taken away is small, and so are its roundings. */
static ir_value corrected_root(importer *im, ir_value z, ir_value a) {
    ir_value rest = import_sub(im, z, import_div(im, a, import_mul(im, z, z)));
    return import_sub(im, z, import_mul(im, import_like(im, z, 1.0 / 3), rest));
}

/* Newton's steps in f64 from the specified power on: the last one is rounded once. Of f64 a third
 * one corrects what the others rounded. */
static ir_value cbrt_of(importer *im, ir_value x) {
    enum { STEPS = 2 };
    ir_value a = import_unary(im, GRAPH_ABS, x);
    ir_value wide = build_convert(&im->b, a, DTYPE_F64);
    ir_value y = import_binary(im, GRAPH_POW, a, import_like(im, a, 1.0 / 3));
    ir_value z = build_convert(&im->b, y, DTYPE_F64), third = import_like(im, z, 1.0 / 3);
    for (int i = 0; i < STEPS; i++)
        z = import_mul(
            im, third,
            import_add(im, import_add(im, z, z), import_div(im, wide, import_mul(im, z, z))));
    if (import_type_of(im, x)->element == DTYPE_F64)
        z = corrected_root(im, z, a);
    z = build_convert(&im->b, z, import_type_of(im, x)->element);
    ir_value zero = import_is(im, "eq", x, import_like(im, x, 0));
    ir_value end = import_is(im, "eq", a, import_like(im, x, __builtin_inf()));
    ir_value same = import_binary(im, GRAPH_OR, zero, end);
    return build_select(&im->b, same, x, with_sign(im, z, x));
}

/* The steps are those of the element's type, or of another one; the result is rounded once. */
bool import_function(importer *im, const shlo_op *op, int graph, ir_value *results) {
    static const struct function {
        shlo_opcode opcode;
        ir_value (*of)(importer *im, ir_value x);
        ir_value (*of_f64)(importer *im, ir_value x); /* its own; without `of` that of every type */
    } functions[] = {
        {SHLO_OP_TAN, tan_of, NULL},
        {SHLO_OP_CHLO_TAN, tan_of, NULL},
        {SHLO_OP_CBRT, cbrt_of, NULL},
        {SHLO_OP_CHLO_SINH, sinh_of, NULL},
        {SHLO_OP_CHLO_COSH, cosh_of, NULL},
        {SHLO_OP_CHLO_ASINH, asinh_of, NULL},
        {SHLO_OP_CHLO_ACOSH, acosh_of, NULL},
        {SHLO_OP_CHLO_ATANH, atanh_of, NULL},
        {SHLO_OP_CHLO_ASIN, asin_of, NULL},
        {SHLO_OP_CHLO_ACOS, acos_of, NULL},
        {SHLO_OP_CHLO_ATAN, atan_of, NULL},
        {SHLO_OP_CHLO_SQUARE, square_of, NULL},
        {SHLO_OP_CHLO_ERF_INV, erf_inv_of, special_erf_inv},
        {SHLO_OP_CHLO_ERFC, NULL, special_erfc},
        {SHLO_OP_CHLO_LGAMMA, NULL, special_log_gamma},
        {SHLO_OP_CHLO_DIGAMMA, NULL, special_digamma},
        {SHLO_OP_CHLO_BESSEL_I1E, NULL, special_bessel_i1e},
    };
    const struct function *f = functions;
    (void)graph;
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    if (!x)
        return false;
    const dtype t = import_type_of(im, x)->element;
    while (f->opcode != op->info->opcode)
        if (++f == functions + sizeof functions / sizeof *functions)
            return false;
    const bool square = f->opcode == SHLO_OP_CHLO_SQUARE;
    if (!square && !dtype_is_float(t))
        return import_refuse(im, op, "of %s is not supported", dtype_name(t));
    const dtype as = !f->of ? DTYPE_F64 : dtype_is_narrow(t) ? DTYPE_F32 : t;
    ir_value (*of)(importer * im, ir_value x) = as == DTYPE_F64 && f->of_f64 ? f->of_f64 : f->of;
    results[0] = build_convert(&im->b, of(im, build_convert(&im->b, x, as)), t);
    return true;
}

/* The greatest along the last axis, in descending order, and their places. */
bool import_top_k(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const int64_t k = shlo_op_int(op, "k", -1);
    if (op->operand_count != 1 || op->result_count != 2)
        return import_refuse(im, op, "takes one value and gives two");
    ir_value x = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, x);
    if (t.rank == 0 || k < 0 || k > t.dims[t.rank - 1])
        return import_refuse(im, op, "'k' does not fit the last axis");
    ir_named_attr attrs[] = {{"axis", ir_attr_int(im->m, t.rank - 1)},
                             {"descending", ir_attr_bool(im->m, true)}};
    ir_value keys = t.element == DTYPE_BOOL     ? build_convert(&im->b, x, DTYPE_I32)
                    : dtype_is_float(t.element) ? import_total_order(im, x)
                                                : x;
    ir_value places = import_build(im, op, GRAPH_ARGSORT, &keys, 1, attrs, 2);
    if (!places)
        return false;
    results[1] = build_slice_axis(&im->b, places, t.rank - 1, 0, k);
    results[0] = build_gather(&im->b, x, results[1], t.rank - 1, t.rank - 1);
    return true;
}

/* ---- normalisation over all axes but the features' ---- */

static ir_value of_features(importer *im, ir_value v, const ir_type_data *t, int64_t axis) {
    return build_broadcast(&im->b, v, t->rank, t->dims, &axis);
}

static ir_value feature_mean(importer *im, const shlo_op *op, ir_value x, int64_t axis) {
    const ir_type_data t = *import_type_of(im, x);
    int64_t axes[IR_MAX_RANK], count = 1;
    uint32_t n = 0;
    for (int i = 0; i < t.rank; i++)
        if (i != axis) {
            axes[n++] = i;
            count *= t.dims[i];
        }
    ir_named_attr attrs[] = {{"kind", ir_attr_string(im->m, "sum")},
                             {"axes", ir_attr_int_array(im->m, axes, n)},
                             {"order", ir_attr_string(im->m, "lanes64")}};
    ir_value sum = n ? import_build(im, op, GRAPH_REDUCE, &x, 1, attrs, 3) : x;
    return sum ? import_div(im, sum, import_like(im, sum, (double)count)) : 0;
}

static double epsilon_of(const shlo_op *op) {
    const shlo_attr *a = shlo_op_attr(op, "epsilon");
    const dtype t =
        a && a->kind == SHLO_ATTR_FLOAT ? shlo_element_get(a->type->element)->type : DTYPE_NONE;
    return t == DTYPE_NONE ? 0 : dtype_load(t, &a->bits, 0);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + offset */
static ir_value normalised(importer *im, const shlo_op *op, ir_value mean, ir_value variance,
                           int64_t axis) {
    ir_value x = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, x);
    ir_value deviation = import_unary(
        im, GRAPH_SQRT, import_add(im, variance, import_like(im, variance, epsilon_of(op))));
    ir_value centred = import_sub(im, x, of_features(im, mean, &t, axis));
    ir_value whitened = import_div(im, centred, of_features(im, deviation, &t, axis));
    return import_add(
        im, import_mul(im, whitened, of_features(im, import_operand(im, op, 1), &t, axis)),
        of_features(im, import_operand(im, op, 2), &t, axis));
}

static bool has_features(importer *im, const shlo_op *op, uint32_t operands, int64_t *axis) {
    *axis = shlo_op_int(op, "feature_index", -1);
    if (op->operand_count != operands)
        return import_refuse(im, op, "takes %u values", operands);
    const ir_type_data *t = import_type_of(im, import_operand(im, op, 0));
    if (!dtype_is_float(t->element))
        return import_refuse(im, op, "needs floats");
    if (*axis < 0 || *axis >= t->rank)
        return import_refuse(im, op, "'feature_index' is no axis of the operand");
    for (uint32_t i = 1; i < operands; i++) {
        const ir_type_data *f = import_type_of(im, import_operand(im, op, i));
        if (f->rank != 1 || f->dims[0] != t->dims[*axis] || f->element != t->element)
            return import_refuse(im, op, "operand %u does not have a number for each feature", i);
    }
    return true;
}

bool import_batch_norm_inference(importer *im, const shlo_op *op, int graph, ir_value *results) {
    int64_t axis;
    (void)graph;
    if (!has_features(im, op, 5, &axis))
        return false;
    results[0] = normalised(im, op, import_operand(im, op, 3), import_operand(im, op, 4), axis);
    return true;
}

bool import_batch_norm_training(importer *im, const shlo_op *op, int graph, ir_value *results) {
    int64_t axis;
    (void)graph;
    if (!has_features(im, op, 3, &axis) || op->result_count != 3)
        return import_refuse(im, op, "gives three values");
    ir_value x = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, x);
    ir_value mean = feature_mean(im, op, x, axis);
    if (!mean)
        return false;
    ir_value centred = import_sub(im, x, of_features(im, mean, &t, axis));
    ir_value variance = feature_mean(im, op, import_mul(im, centred, centred), axis);
    results[0] = normalised(im, op, mean, variance, axis);
    results[1] = mean;
    results[2] = variance;
    return true;
}
