/* import_complex.c - complex numbers: two values, of the real and of the imaginary parts.
 *
 * What moves elements, or adds them, is done to each part by itself. The others are written down
 * here: products without contraction, ac - bd and ad + bc; quotients, magnitudes and roots of
 * complex<f32> in f64 and rounded once, of complex<f64> scaled by the greater part. */
#include <string.h>

#include "import/stablehlo/import.h"

typedef struct complex_value {
    ir_value re, im;
} complex_value;

/* ---- steps ---- */

static complex_value operand(const importer *im, const shlo_op *op, uint32_t i) {
    const uint32_t number = op->operands[i]->number;
    return (complex_value){im->made[number], im->imaginary[number]};
}

static complex_value wide(importer *im, complex_value x) {
    return (complex_value){build_convert(&im->b, x.re, DTYPE_F64),
                           build_convert(&im->b, x.im, DTYPE_F64)};
}

static complex_value rounded(importer *im, complex_value x, dtype to) {
    return (complex_value){build_convert(&im->b, x.re, to), build_convert(&im->b, x.im, to)};
}

static complex_value product(importer *im, complex_value x, complex_value y) {
    return (complex_value){import_sub(im, import_mul(im, x.re, y.re), import_mul(im, x.im, y.im)),
                           import_add(im, import_mul(im, x.re, y.im), import_mul(im, x.im, y.re))};
}

/* sqrt(a^2 + b^2): of f32 in f64, where nothing overflows; of f64 by the ratio of the parts. */
static ir_value magnitude(importer *im, complex_value x) {
    if (import_type_of(im, x.re)->element == DTYPE_F32) {
        complex_value w = wide(im, x);
        ir_value root = import_unary(
            im, GRAPH_SQRT, import_add(im, import_mul(im, w.re, w.re), import_mul(im, w.im, w.im)));
        return build_convert(&im->b, root, DTYPE_F32);
    }
    ir_value a = import_unary(im, GRAPH_ABS, x.re), b = import_unary(im, GRAPH_ABS, x.im);
    ir_value great = import_binary(im, GRAPH_MAXIMUM, a, b),
             small = import_binary(im, GRAPH_MINIMUM, a, b);
    ir_value ratio = import_div(im, small, great), one = import_like(im, a, 1);
    ir_value root = import_mul(
        im, great, import_unary(im, GRAPH_SQRT, import_add(im, one, import_mul(im, ratio, ratio))));
    ir_value infinity = import_like(im, a, __builtin_inf());
    root = build_select(&im->b, import_is(im, "eq", great, import_like(im, a, 0)), great, root);
    return build_select(&im->b, import_is(im, "eq", great, infinity), infinity, root);
}

/* (ac + bd, bc - ad) / (c^2 + d^2), in f64; of f64 with c and d divided by the greater first. */
static complex_value divided(importer *im, complex_value x, complex_value y) {
    const dtype t = import_type_of(im, x.re)->element;
    const complex_value x_wide = wide(im, x), y_wide = wide(im, y);
    complex_value a = x_wide, b = y_wide;
    if (t == DTYPE_F64) {
        ir_value scale = import_binary(im, GRAPH_MAXIMUM, import_unary(im, GRAPH_ABS, b.re),
                                       import_unary(im, GRAPH_ABS, b.im));
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
    ir_value endless = import_binary(
        im, GRAPH_OR, import_is(im, "eq", import_unary(im, GRAPH_ABS, y_wide.re), infinity),
        import_is(im, "eq", import_unary(im, GRAPH_ABS, y_wide.im), infinity));
    ir_value finite = import_binary(
        im, GRAPH_AND, import_is(im, "lt", import_unary(im, GRAPH_ABS, x_wide.re), infinity),
        import_is(im, "lt", import_unary(im, GRAPH_ABS, x_wide.im), infinity));
    ir_value none = import_binary(im, GRAPH_AND, endless, finite), zero = import_like(im, b.re, 0);
    q.re = build_select(&im->b, none, zero, q.re);
    q.im = build_select(&im->b, none, zero, q.im);
    return rounded(im, q, t);
}

/* The root with a real part that is not negative: t = sqrt((|z| + |a|) / 2), and b / 2t beside it.
 */
static complex_value root(importer *im, complex_value x) {
    const dtype t = import_type_of(im, x.re)->element;
    complex_value w = wide(im, x);
    ir_value zero = import_like(im, w.re, 0), half = import_like(im, w.re, 0.5);
    ir_value a = import_unary(im, GRAPH_ABS, w.re);
    ir_value big =
        import_unary(im, GRAPH_SQRT, import_mul(im, half, import_add(im, magnitude(im, w), a)));
    ir_value safe =
        build_select(&im->b, import_is(im, "eq", big, zero), import_like(im, big, 1), big);
    ir_value other = import_mul(im, half, import_div(im, import_unary(im, GRAPH_ABS, w.im), safe));
    ir_value right = import_is(im, "ge", w.re, zero);
    ir_value re = build_select(&im->b, right, big, other);
    ir_value size = build_select(&im->b, right, other, big);
    ir_value down = import_is(im, "lt", w.im, zero);
    ir_value side = build_select(&im->b, down, import_unary(im, GRAPH_NEG, size), size);
    return rounded(im, (complex_value){re, side}, t);
}

/* x where it is a zero: so a real number has a real function, also where that is infinite. */
static ir_value zero_or(importer *im, ir_value x, ir_value otherwise) {
    return build_select(&im->b, import_is(im, "eq", x, import_like(im, x, 0)), x, otherwise);
}

/* e^a (cos b, sin b) */
static complex_value exponential(importer *im, complex_value x) {
    ir_value size = import_unary(im, GRAPH_EXP, x.re);
    return (complex_value){
        import_mul(im, size, import_unary(im, GRAPH_COS, x.im)),
        zero_or(im, x.im, import_mul(im, size, import_unary(im, GRAPH_SIN, x.im)))};
}

/* (ln |z|, angle): near |z| = 1 by log1p of a^2 + b^2 - 1, which f64 has to enough digits. */
static complex_value logarithm(importer *im, complex_value x) {
    complex_value w = wide(im, x);
    ir_value one = import_like(im, w.re, 1);
    ir_value square = import_add(im, import_mul(im, w.re, w.re), import_mul(im, w.im, w.im));
    ir_value rest = build_convert(&im->b, import_sub(im, square, one), DTYPE_F32);
    ir_value near = import_mul(im, import_like(im, rest, 0.5), import_unary(im, GRAPH_LOG1P, rest));
    ir_value far = import_unary(im, GRAPH_LOG, magnitude(im, x));
    ir_value is_near =
        import_is(im, "lt", import_unary(im, GRAPH_ABS, rest), import_like(im, rest, 0.5));
    return (complex_value){build_select(&im->b, is_near, near, far),
                           import_binary(im, GRAPH_ATAN2, x.im, x.re)};
}

static ir_value halved_difference(importer *im, ir_value x, bool plus) {
    ir_value up = import_unary(im, GRAPH_EXP, x),
             down = import_unary(im, GRAPH_EXP, import_unary(im, GRAPH_NEG, x));
    return import_mul(im, import_like(im, x, 0.5),
                      plus ? import_add(im, up, down) : import_sub(im, up, down));
}

/* (e^x - e^-x) / 2, by e^x - 1 so that nothing is lost near 0. */
static ir_value hyperbolic_sine(importer *im, ir_value x) {
    ir_value e = import_unary(im, GRAPH_EXPM1, x), one = import_like(im, x, 1);
    ir_value near = import_mul(im, import_like(im, x, 0.5),
                               import_add(im, e, import_div(im, e, import_add(im, e, one))));
    ir_value is_near = import_is(im, "lt", import_unary(im, GRAPH_ABS, x), import_like(im, x, 16));
    return build_select(&im->b, is_near, near, halved_difference(im, x, false));
}

static complex_value sine(importer *im, complex_value x) {
    return (complex_value){
        import_mul(im, import_unary(im, GRAPH_SIN, x.re), halved_difference(im, x.im, true)),
        import_mul(im, import_unary(im, GRAPH_COS, x.re), hyperbolic_sine(im, x.im))};
}

static complex_value cosine(importer *im, complex_value x) {
    return (complex_value){
        import_mul(im, import_unary(im, GRAPH_COS, x.re), halved_difference(im, x.im, true)),
        import_unary(im, GRAPH_NEG,
                     import_mul(im, import_unary(im, GRAPH_SIN, x.re), hyperbolic_sine(im, x.im)))};
}

/* i z, and -i z */
static complex_value turned(importer *im, complex_value x, bool back) {
    return back ? (complex_value){x.im, import_unary(im, GRAPH_NEG, x.re)}
                : (complex_value){import_unary(im, GRAPH_NEG, x.im), x.re};
}

/* With t = e^-2|a|: (sign(a) (1 - t^2), 2 t sin 2b) / (1 + 2 t cos 2b + t^2), which cannot
 * overflow. */
static complex_value hyperbolic_tangent(importer *im, complex_value x) {
    ir_value a = import_unary(im, GRAPH_ABS, x.re), two = import_like(im, a, 2);
    ir_value down = import_unary(im, GRAPH_NEG, import_mul(im, two, a)),
             t = import_unary(im, GRAPH_EXP, down);
    ir_value angle = import_mul(im, import_like(im, x.im, 2), x.im), twice = import_mul(im, two, t);
    ir_value below =
        import_add(im,
                   import_add(im, import_like(im, a, 1),
                              import_mul(im, twice, import_unary(im, GRAPH_COS, angle))),
                   import_mul(im, t, t));
    ir_value size = import_div(
        im, import_unary(im, GRAPH_NEG, import_unary(im, GRAPH_EXPM1, import_mul(im, two, down))),
        below);
    ir_value negative = import_is(im, "lt", x.re, import_like(im, x.re, 0));
    ir_value re = build_select(&im->b, negative, import_unary(im, GRAPH_NEG, size), size);
    ir_value side =
        import_div(im, import_mul(im, twice, import_unary(im, GRAPH_SIN, angle)), below);
    return (complex_value){zero_or(im, x.re, re), zero_or(im, x.im, side)};
}

static complex_value tangent(importer *im, complex_value x) {
    return turned(im, hyperbolic_tangent(im, turned(im, x, false)), true);
}

static complex_value hyperbolic_sine_of(importer *im, complex_value x) {
    return turned(im, sine(im, turned(im, x, false)), true);
}

static complex_value hyperbolic_cosine_of(importer *im, complex_value x) {
    return cosine(im, turned(im, x, false));
}

/* e^z - 1 = (expm1(a) cos b - 2 sin^2(b/2), e^a sin b) */
static complex_value exponential_minus_one(importer *im, complex_value x) {
    ir_value half = import_unary(im, GRAPH_SIN, import_mul(im, x.im, import_like(im, x.im, 0.5)));
    ir_value less = import_mul(im, import_like(im, half, 2), import_mul(im, half, half));
    return (complex_value){import_sub(im,
                                      import_mul(im, import_unary(im, GRAPH_EXPM1, x.re),
                                                 import_unary(im, GRAPH_COS, x.im)),
                                      less),
                           zero_or(im, x.im,
                                   import_mul(im, import_unary(im, GRAPH_EXP, x.re),
                                              import_unary(im, GRAPH_SIN, x.im)))};
}

static complex_value one_of(importer *im, complex_value like) {
    return (complex_value){import_like(im, like.re, 1), import_like(im, like.im, 0)};
}

static complex_value inverse_root(importer *im, complex_value x) {
    return divided(im, one_of(im, x), root(im, x));
}

/* 1 / (1 + w) of w = e^-z; where a < 0 w / (1 + w) of w = e^z, so that w is never large. */
static complex_value logistic(importer *im, complex_value x) {
    ir_value negative = import_is(im, "lt", x.re, import_like(im, x.re, 0));
    ir_value angle = build_select(&im->b, negative, x.im, import_unary(im, GRAPH_NEG, x.im));
    complex_value w = exponential(
        im, (complex_value){import_unary(im, GRAPH_NEG, import_unary(im, GRAPH_ABS, x.re)), angle});
    complex_value one = one_of(im, x), below = {import_add(im, w.re, one.re), w.im};
    complex_value above = {build_select(&im->b, negative, w.re, one.re),
                           build_select(&im->b, negative, w.im, one.im)};
    return divided(im, above, below);
}

static complex_value logarithm_plus_one(importer *im, complex_value x) {
    complex_value w = wide(im, x);
    ir_value two = import_like(im, w.re, 2);
    ir_value rest =
        import_add(im, import_mul(im, w.re, import_add(im, w.re, two)), import_mul(im, w.im, w.im));
    ir_value near = import_unary(im, GRAPH_LOG1P, build_convert(&im->b, rest, DTYPE_F32));
    near = import_mul(im, near, import_like(im, near, 0.5));
    ir_value moved = import_add(im, x.re, import_like(im, x.re, 1));
    ir_value far = import_unary(im, GRAPH_LOG, magnitude(im, (complex_value){moved, x.im}));
    ir_value is_near =
        import_is(im, "lt", import_unary(im, GRAPH_ABS, near), import_like(im, near, 20));
    return (complex_value){build_select(&im->b, is_near, near, far),
                           import_binary(im, GRAPH_ATAN2, x.im, moved)};
}

/* z / |z|, and z where that is 0. */
static complex_value sign(importer *im, complex_value x) {
    ir_value size = magnitude(im, x), zero = import_like(im, size, 0);
    ir_value none = import_is(im, "eq", size, zero);
    ir_value safe = build_select(&im->b, none, import_like(im, size, 1), size);
    return (complex_value){build_select(&im->b, none, x.re, import_div(im, x.re, safe)),
                           build_select(&im->b, none, x.im, import_div(im, x.im, safe))};
}

static complex_value squared(importer *im, complex_value x) {
    return (complex_value){import_mul(im, import_sub(im, x.re, x.im), import_add(im, x.re, x.im)),
                           import_mul(im, import_like(im, x.re, 2), import_mul(im, x.re, x.im))};
}

/* An f64 as an f32 and what that lacks. */
static void cut(importer *im, ir_value x, ir_value *high, ir_value *low) {
    *high = build_convert(&im->b, x, DTYPE_F32);
    ir_value rest = import_sub(im, x, build_convert(&im->b, *high, DTYPE_F64));
    ir_value finite = import_is(im, "lt", import_unary(im, GRAPH_ABS, rest),
                                import_like(im, rest, __builtin_inf()));
    *low = build_convert(&im->b, build_select(&im->b, finite, rest, import_like(im, rest, 0)),
                         DTYPE_F32);
}

/* e^(y ln x): the product is f64's, and what its parts have beyond f32 corrects the functions of
 * them to the first order. A power of 0 is 0, or 1 where y is 0. */
static complex_value power(importer *im, complex_value x, complex_value y) {
    ir_value size, size_rest, angle, angle_rest;
    const complex_value e = product(im, wide(im, logarithm(im, x)), wide(im, y));
    cut(im, e.re, &size, &size_rest);
    cut(im, e.im, &angle, &angle_rest);
    size = import_unary(im, GRAPH_EXP, size);
    size = import_add(im, size, import_mul(im, size, size_rest));
    ir_value cosine = import_unary(im, GRAPH_COS, angle), sine = import_unary(im, GRAPH_SIN, angle);
    ir_value re = import_sub(im, cosine, import_mul(im, sine, angle_rest)),
             side = import_add(im, sine, import_mul(im, cosine, angle_rest));
    ir_value zero = import_like(im, x.re, 0), one = import_like(im, x.re, 1);
    ir_value none = import_binary(im, GRAPH_AND, import_is(im, "eq", x.re, zero),
                                  import_is(im, "eq", x.im, zero));
    ir_value unit = import_binary(im, GRAPH_AND, import_is(im, "eq", y.re, zero),
                                  import_is(im, "eq", y.im, zero));
    re = build_select(&im->b, none, zero, import_mul(im, size, re));
    side = build_select(&im->b, none, zero, import_mul(im, size, side));
    return (complex_value){build_select(&im->b, unit, one, re),
                           build_select(&im->b, unit, zero, side)};
}

/* ---- the table ---- */

typedef complex_value (*complex_fn)(importer *im, complex_value x);

/* Specified functions of f32 are in it. */
static const struct complex_function {
    shlo_opcode opcode;
    complex_fn of;
    bool single; /* of complex<f32> alone */
} functions[] = {
    {SHLO_OP_SQRT, root, false},
    {SHLO_OP_RSQRT, inverse_root, false},
    {SHLO_OP_SIGN, sign, false},
    {SHLO_OP_CHLO_SQUARE, squared, false},
    {SHLO_OP_EXPONENTIAL, exponential, true},
    {SHLO_OP_EXPONENTIAL_MINUS_ONE, exponential_minus_one, true},
    {SHLO_OP_LOG, logarithm, true},
    {SHLO_OP_LOG_PLUS_ONE, logarithm_plus_one, true},
    {SHLO_OP_LOGISTIC, logistic, true},
    {SHLO_OP_SINE, sine, true},
    {SHLO_OP_COSINE, cosine, true},
    {SHLO_OP_TAN, tangent, true},
    {SHLO_OP_CHLO_TAN, tangent, true},
    {SHLO_OP_TANH, hyperbolic_tangent, true},
    {SHLO_OP_CHLO_SINH, hyperbolic_sine_of, true},
    {SHLO_OP_CHLO_COSH, hyperbolic_cosine_of, true},
};

bool import_moves(shlo_opcode opcode) {
    static const shlo_opcode list[] = {SHLO_OP_BROADCAST,     SHLO_OP_BROADCAST_IN_DIM,
                                       SHLO_OP_CONSTANT,      SHLO_OP_CONCATENATE,
                                       SHLO_OP_GATHER,        SHLO_OP_DYNAMIC_BROADCAST_IN_DIM,
                                       SHLO_OP_DYNAMIC_SLICE, SHLO_OP_DYNAMIC_UPDATE_SLICE,
                                       SHLO_OP_PAD,           SHLO_OP_OPTIMIZATION_BARRIER,
                                       SHLO_OP_RESHAPE,       SHLO_OP_REVERSE,
                                       SHLO_OP_SELECT,        SHLO_OP_SLICE,
                                       SHLO_OP_TRANSPOSE};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == opcode)
            return true;
    return false;
}

/* Operations that do to each part what they do to a number. */
static bool is_by_part(shlo_opcode opcode) {
    return import_moves(opcode) || opcode == SHLO_OP_ADD || opcode == SHLO_OP_NEGATE ||
           opcode == SHLO_OP_SUBTRACT || opcode == SHLO_OP_CUSTOM_CALL;
}

bool import_in_rows(shlo_opcode opcode) {
    return opcode == SHLO_OP_CALL || opcode == SHLO_OP_COMPOSITE || opcode == SHLO_OP_CASE ||
           opcode == SHLO_OP_IF || opcode == SHLO_OP_WHILE || opcode == SHLO_OP_TUPLE ||
           opcode == SHLO_OP_REDUCE || opcode == SHLO_OP_REDUCE_WINDOW ||
           opcode == SHLO_OP_SCATTER || opcode == SHLO_OP_SORT;
}

static bool by_part(importer *im, const shlo_op *op, ir_value *results) {
    for (int part = 0; part < 2; part++) {
        im->part = part;
        if (!import_handled(im, op, results + part * (int)op->result_count))
            return false;
    }
    im->part = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!import_is_complex(&op->results[i]))
            results[op->result_count + i] = 0;
    return true;
}

/* Equal in both parts; and the order by the real one, then by the other. */
static ir_value compared(importer *im, const char *predicate, complex_value x, complex_value y) {
    ir_value re = import_is(im, "eq", x.re, y.re), both = import_is(im, "eq", x.im, y.im);
    if (strcmp(predicate, "eq") == 0 || strcmp(predicate, "ne") == 0) {
        ir_value same = import_binary(im, GRAPH_AND, re, both);
        return *predicate == 'e' ? same : build_unary(&im->b, GRAPH_NOT, same);
    }
    const char strict[] = {predicate[0], 't', 0};
    return build_select(&im->b, re, import_is(im, predicate, x.im, y.im),
                        import_is(im, strict, x.re, y.re));
}

static bool compare(importer *im, const shlo_op *op, ir_value *results) {
    const char *direction = shlo_op_string(op, "comparison_direction", "");
    char predicate[3] = {0};
    for (int i = 0; i < 2 && direction[i]; i++)
        predicate[i] = (char)(direction[i] | 0x20);
    results[0] = compared(im, predicate, operand(im, op, 0), operand(im, op, 1));
    return true;
}

static bool extreme(importer *im, const shlo_op *op, const char *predicate, ir_value *results) {
    complex_value x = operand(im, op, 0), y = operand(im, op, 1);
    ir_value first = compared(im, predicate, x, y);
    results[0] = build_select(&im->b, first, x.re, y.re);
    results[1] = build_select(&im->b, first, x.im, y.im);
    return true;
}

/* Sums of the products of parts, each in its own order; a number that is not complex has one part.
 */
static bool contraction(importer *im, const shlo_op *op, ir_value *results) {
    const complex_value x = operand(im, op, 0), y = operand(im, op, 1);
    const ir_value left[] = {x.re, x.im}, right[] = {y.re, y.im};
    ir_value (*of)(importer * im, const shlo_op *op, ir_value x, ir_value y) =
        op->info->opcode == SHLO_OP_CONVOLUTION ? import_convolution_of : import_dot_of;
    ir_value products[2][2] = {{0}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            if (left[a] && right[b] && !(products[a][b] = of(im, op, left[a], right[b])))
                return false;
    results[0] = products[1][1] ? import_sub(im, products[0][0], products[1][1]) : products[0][0];
    results[1] = !products[1][0]   ? products[0][1]
                 : !products[0][1] ? products[1][0]
                                   : import_add(im, products[0][1], products[1][0]);
    return true;
}

static bool convert(importer *im, const shlo_op *op, ir_value *results) {
    complex_value x = operand(im, op, 0);
    const dtype to = import_element(op->results[0].type->element);
    const bool from_complex = import_is_complex(op->operands[0]);
    if (to == DTYPE_NONE || !import_result_type(im, op, 0))
        return import_refuse(im, op, "its result is not supported");
    ir_value zero = import_like(im, x.re, 0);
    if (to == DTYPE_BOOL) {
        results[0] = import_is(im, "ne", x.re, zero); /* as any other type, of the real part */
        return true;
    }
    results[0] = build_convert(&im->b, x.re, to);
    if (import_is_complex(&op->results[0]))
        results[1] = build_convert(&im->b, from_complex ? x.im : zero, to);
    return true;
}

static bool function(importer *im, const shlo_op *op, ir_value *results) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].opcode != op->info->opcode)
            continue;
        complex_value x = operand(im, op, 0);
        if (functions[i].single && import_type_of(im, x.re)->element != DTYPE_F32)
            return import_refuse(im, op, "of complex<f64> is not supported");
        complex_value y = functions[i].of(im, x);
        results[0] = y.re;
        results[1] = y.im;
        return true;
    }
    return import_refuse(im, op, "of complex numbers is not supported");
}

static bool two(ir_value *results, complex_value x) {
    results[0] = x.re;
    results[1] = x.im;
    return true;
}

/* The parts of numbers that are not complex: themselves, and 0. */
bool import_parts(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 1))
        return false;
    ir_value x = import_operand(im, op, 0);
    results[0] = op->info->opcode == SHLO_OP_IMAG ? import_like(im, x, 0) : x;
    return true;
}

/* Operations of two numbers take two complex ones. */
static bool fits(const shlo_op *op) {
    switch (op->info->opcode) {
    case SHLO_OP_ADD:
    case SHLO_OP_SUBTRACT:
    case SHLO_OP_MULTIPLY:
    case SHLO_OP_DIVIDE:
    case SHLO_OP_MAXIMUM:
    case SHLO_OP_MINIMUM:
    case SHLO_OP_COMPARE:
    case SHLO_OP_COMPLEX:
    case SHLO_OP_POWER:
        return op->operand_count == 2 &&
               shlo_type_equal(op->operands[0]->type, op->operands[1]->type);
    default:
        return true;
    }
}

bool import_complex_op(importer *im, const shlo_op *op, ir_value *results) {
    const shlo_opcode opcode = op->info->opcode;
    if (!fits(op))
        return import_refuse(im, op, "takes two values of one type");
    if (is_by_part(opcode))
        return by_part(im, op, results);
    if (import_in_rows(opcode))
        return import_handled(im, op, results);
    const bool binary =
        opcode == SHLO_OP_MULTIPLY || opcode == SHLO_OP_DIVIDE || opcode == SHLO_OP_MAXIMUM ||
        opcode == SHLO_OP_MINIMUM || opcode == SHLO_OP_COMPARE || opcode == SHLO_OP_DOT_GENERAL ||
        opcode == SHLO_OP_CONVOLUTION || opcode == SHLO_OP_COMPLEX || opcode == SHLO_OP_POWER;
    if (opcode != SHLO_OP_IOTA && !import_takes(im, op, binary ? 2 : 1))
        return false;
    switch (opcode) {
    case SHLO_OP_COMPLEX:
        return two(results, (complex_value){import_operand(im, op, 0), import_operand(im, op, 1)});
    case SHLO_OP_REAL:
    case SHLO_OP_IMAG:
        results[0] = opcode == SHLO_OP_REAL ? operand(im, op, 0).re : operand(im, op, 0).im;
        return true;
    case SHLO_OP_ABS:
        results[0] = magnitude(im, operand(im, op, 0));
        return true;
    case SHLO_OP_IOTA:
        if (!import_iota(im, op, 0, results))
            return false;
        results[1] = import_like(im, results[0], 0);
        return true;
    case SHLO_OP_MULTIPLY:
        return two(results, product(im, operand(im, op, 0), operand(im, op, 1)));
    case SHLO_OP_DIVIDE:
        return two(results, divided(im, operand(im, op, 0), operand(im, op, 1)));
    case SHLO_OP_MAXIMUM:
        return extreme(im, op, "ge", results);
    case SHLO_OP_MINIMUM:
        return extreme(im, op, "le", results);
    case SHLO_OP_COMPARE:
        return compare(im, op, results);
    case SHLO_OP_CONVERT:
        return convert(im, op, results);
    case SHLO_OP_DOT_GENERAL:
    case SHLO_OP_CONVOLUTION:
        return contraction(im, op, results);
    case SHLO_OP_POWER:
        if (import_type_of(im, operand(im, op, 0).re)->element != DTYPE_F32)
            return import_refuse(im, op, "of complex<f64> is not supported");
        return two(results, power(im, operand(im, op, 0), operand(im, op, 1)));
    case SHLO_OP_FFT:
        return import_fft(im, op, 0, results);
    case SHLO_OP_BITCAST_CONVERT:
        if (!shlo_type_equal(op->operands[0]->type, op->results[0].type))
            return import_refuse(im, op, "of complex numbers is not supported");
        return two(results, operand(im, op, 0));
    default:
        return function(im, op, results);
    }
}
