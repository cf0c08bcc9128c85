/* import_bits.c - operations on the bits of a number: counts, powers and remainders of integers,
 * floats of fewer bits; and remainders of floats, which are exact. */
#include <string.h>

#include "import/stablehlo/import.h"

/* ---- small steps on unsigned integers ---- */

static ir_value and_bits(importer *im, ir_value x, uint64_t bits) {
    return import_binary(im, GRAPH_AND, x, import_bits_like(im, x, bits));
}

/* A pattern of a byte in each byte of the type. */
static uint64_t repeated(dtype t, uint64_t byte) {
    return (byte * 0x0101010101010101u) & (UINT64_MAX >> (64 - 8 * dtype_size(t)));
}

static ir_value ones(importer *im, ir_value x) {
    const dtype t = import_type_of(im, x)->element;
    ir_value pairs = and_bits(im, import_shifted(im, GRAPH_RIGHT_SHIFT, x, 1), repeated(t, 0x55));
    x = import_sub(im, x, pairs);
    x = import_add(im, and_bits(im, x, repeated(t, 0x33)),
                   and_bits(im, import_shifted(im, GRAPH_RIGHT_SHIFT, x, 2), repeated(t, 0x33)));
    x = import_add(im, x, import_shifted(im, GRAPH_RIGHT_SHIFT, x, 4));
    x = and_bits(im, x, repeated(t, 0x0f));
    x = import_mul(im, x, import_bits_like(im, x, repeated(t, 0x01)));
    return import_shifted(im, GRAPH_RIGHT_SHIFT, x, 8 * (int)dtype_size(t) - 8);
}

/* The operand as an unsigned integer; 0 when refused. */
static ir_value unsigned_operand(importer *im, const shlo_op *op) {
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    const dtype t = x ? import_type_of(im, x)->element : DTYPE_NONE;
    if (x && (!dtype_is_integer(t) || dtype_integer_bits(t) < 8)) {
        import_refuse(im, op, "needs integers of 8 bits or more, not %s", dtype_name(t));
        return 0;
    }
    return x ? import_bitcast(im, x, import_unsigned(t)) : 0;
}

bool import_popcnt(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = unsigned_operand(im, op);
    if (!x)
        return false;
    results[0] =
        import_bitcast(im, ones(im, x), import_type_of(im, import_operand(im, op, 0))->element);
    return true;
}

/* All bits below the highest one are set, and the others counted. */
bool import_clz(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = unsigned_operand(im, op);
    if (!x)
        return false;
    const int bits = 8 * (int)dtype_size(import_type_of(im, x)->element);
    for (int places = 1; places < bits; places *= 2)
        x = import_binary(im, GRAPH_OR, x, import_shifted(im, GRAPH_RIGHT_SHIFT, x, places));
    x = ones(im, build_unary(&im->b, GRAPH_NOT, x));
    results[0] = import_bitcast(im, x, import_type_of(im, import_operand(im, op, 0))->element);
    return true;
}

/* ---- powers ---- */

/* Squares, from the lowest bit of the exponent on; of a negative one the whole part of 1/x^-y. */
static ir_value integer_power(importer *im, ir_value x, ir_value y) {
    const dtype t = import_type_of(im, x)->element;
    ir_value zero = import_like(im, x, 0), one = import_like(im, x, 1), base = x, power = one;
    ir_value odd = import_is(im, "ne", import_binary(im, GRAPH_AND, y, one), zero);
    for (int bit = 0; bit < dtype_integer_bits(t) - !dtype_is_unsigned(t); bit++) {
        ir_value set = import_is(
            im, "ne", import_binary(im, GRAPH_AND, y, import_bits_like(im, y, (uint64_t)1 << bit)),
            zero);
        power = build_select(&im->b, set, import_mul(im, power, base), power);
        base = import_mul(im, base, base);
    }
    if (dtype_is_unsigned(t))
        return power;
    ir_value minus = import_like(im, x, -1);
    ir_value inverse = build_select(&im->b, import_is(im, "eq", x, minus),
                                    build_select(&im->b, odd, minus, one), zero);
    inverse = build_select(&im->b, import_is(im, "eq", x, one), one, inverse);
    return build_select(&im->b, import_is(im, "lt", y, zero), inverse, power);
}

bool import_power(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    ir_value both[] = {import_operand(im, op, 0), import_operand(im, op, 1)};
    if (dtype_is_integer(import_type_of(im, both[0])->element))
        return (results[0] = integer_power(im, both[0], both[1]));
    return (results[0] = import_build(im, op, GRAPH_POW, both, 2, NULL, 0));
}

/* ---- remainders ---- */

/* r - q y for q = trunc(r / y): r may have been one y too far, since the quotient is rounded. */
static ir_value remainder_step(importer *im, ir_value r, ir_value y) {
    ir_value q = build_unary(&im->b, GRAPH_TRUNC, import_div(im, r, y));
    ir_value minus = build_unary(&im->b, GRAPH_NEG, q);
    ir_value next = ir_op_result(
        im->m, graph_build(&im->b, GRAPH_FMA, (ir_value[]){minus, y, r}, 3, NULL, 0), 0);
    ir_value under = import_is(im, "lt", next, import_like(im, next, 0));
    return build_select(&im->b, under, import_add(im, next, y), next);
}

/* y times 2^shift, which is at most 2^2100, in steps that are numbers. */
static ir_value shifted_up(importer *im, ir_value y, int shift) {
    while (shift > 0) {
        double scale = 1;
        for (int i = 0; i < 1000 && shift > 0; i++, shift--)
            scale *= 2;
        y = import_mul(im, y, import_like(im, y, scale));
    }
    return y;
}

/* All steps are exact in f64, in which narrower numbers are taken; one takes 48 binary digits of
 * the quotient. Exponents of f32 are at most 277 apart, those of f64 2098, and a multiple that is
 * no number is greater than any. */
static ir_value float_remainder(importer *im, ir_value x, ir_value y) {
    enum { DIGITS = 48, APART = 288, APART_F64 = 2112 };
    const dtype t = import_type_of(im, x)->element;
    const bool far = t == DTYPE_F64;
    ir_value wide_x = build_convert(&im->b, x, DTYPE_F64),
             wide_y = build_convert(&im->b, y, DTYPE_F64);
    ir_value r = build_unary(&im->b, GRAPH_ABS, wide_x);
    ir_value d = build_unary(&im->b, GRAPH_ABS, wide_y);
    ir_value infinity = import_like(im, d, __builtin_inf());
    for (int shift = (far ? APART_F64 : APART) - DIGITS; shift >= 0; shift -= DIGITS) {
        ir_value scaled = shifted_up(im, d, shift), next = remainder_step(im, r, scaled);
        ir_value is_number = far ? import_is(im, "lt", scaled, infinity) : 0;
        r = far && shift > 0 ? build_select(&im->b, is_number, next, r) : next;
    }
    ir_value infinite = import_is(im, "eq", d, infinity);
    ir_value finite_x = import_is(im, "lt", build_unary(&im->b, GRAPH_ABS, wide_x), infinity);
    ir_value whole = import_binary(im, GRAPH_AND, infinite, finite_x);
    ir_value negative = import_is(im, "lt", wide_x, import_like(im, wide_x, 0));
    r = build_select(&im->b, negative, build_unary(&im->b, GRAPH_NEG, r), r);
    r = build_select(&im->b, whole, wide_x, r);
    r = build_convert(&im->b, r, t);
    /* A remainder of zero has the sign of x: x * 0 has it. */
    ir_value zero = import_is(im, "eq", r, import_like(im, r, 0));
    return build_select(&im->b, zero, import_mul(im, x, import_like(im, x, 0)), r);
}

bool import_remainder(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0), y = import_operand(im, op, 1);
    const dtype t = import_type_of(im, x)->element;
    if (t == DTYPE_BOOL)
        return import_refuse(im, op, "of %s is not supported", dtype_name(t));
    if (dtype_is_float(t)) {
        results[0] = float_remainder(im, x, y);
        return true;
    }
    ir_value q = import_build(im, op, GRAPH_DIV, (ir_value[]){x, y}, 2, NULL, 0);
    if (q)
        results[0] = import_sub(im, x, import_mul(im, q, y));
    return q != 0;
}

/* ---- floats of fewer bits ---- */

/* The mantissa is rounded to nearest even as an integer; a carry goes into the exponent. */
static ir_value round_mantissa(importer *im, ir_value x, int drop) {
    ir_value last = and_bits(im, import_shifted(im, GRAPH_RIGHT_SHIFT, x, drop), 1);
    ir_value bias = import_add(im, last, import_bits_like(im, x, ((uint64_t)1 << (drop - 1)) - 1));
    const dtype t = import_type_of(im, x)->element;
    const uint64_t all = UINT64_MAX >> (64 - 8 * dtype_size(t));
    return and_bits(im, import_add(im, x, bias), all & ~(((uint64_t)1 << drop) - 1));
}

/* Exponents above those of the format become infinity, below zero. */
static ir_value cut_exponent(importer *im, ir_value x, const dtype_format *f, int bits) {
    const dtype t = import_type_of(im, x)->element;
    const uint64_t mask = (((uint64_t)1 << f->exponent_bits) - 1) << f->mantissa_bits;
    const uint64_t sign = (uint64_t)1 << (8 * dtype_size(t) - 1);
    const uint64_t bias = ((uint64_t)1 << (f->exponent_bits - 1)) - 1,
                   reduced = ((uint64_t)1 << (bits - 1)) - 1;
    ir_value exponent = and_bits(im, x, mask), zero = and_bits(im, x, sign);
    ir_value above = import_is(im, "gt", exponent,
                               import_bits_like(im, x, (bias + reduced) << f->mantissa_bits));
    ir_value below = import_is(im, "le", exponent,
                               import_bits_like(im, x, (bias - reduced) << f->mantissa_bits));
    ir_value infinity = import_binary(im, GRAPH_OR, zero, import_bits_like(im, x, mask));
    return build_select(&im->b, below, zero, build_select(&im->b, above, infinity, x));
}

bool import_reduce_precision(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    if (!x)
        return false;
    const dtype t = import_type_of(im, x)->element;
    const dtype_format *f = dtype_format_of(t);
    const int64_t exponent = shlo_op_int(op, "exponent_bits", 0),
                  mantissa = shlo_op_int(op, "mantissa_bits", -1);
    if (!f || !f->infinity || import_unsigned(t) == DTYPE_NONE)
        return import_refuse(im, op, "of %s is not supported", dtype_name(t));
    if (exponent < 1 || mantissa < 0)
        return import_refuse(im, op, "has no format");
    ir_value bits = import_bitcast(im, x, import_unsigned(t));
    if (mantissa < f->mantissa_bits)
        bits = round_mantissa(im, bits, f->mantissa_bits - (int)mantissa);
    if (exponent < f->exponent_bits)
        bits = cut_exponent(im, bits, f, (int)exponent);
    /* A format without a mantissa has no NaN: it is infinite there. */
    ir_value number = import_is(im, "eq", x, x),
             none = mantissa > 0 ? x : import_like(im, x, __builtin_inf());
    results[0] = build_select(&im->b, number, import_bitcast(im, bits, t), none);
    return true;
}

/* The number beside x in the direction of y: as integers, magnitudes follow each other. */
bool import_next_after(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0), y = import_operand(im, op, 1);
    const dtype t = import_type_of(im, x)->element;
    const dtype_format *f = dtype_format_of(t);
    const dtype as = import_unsigned(t);
    if (!f || !f->infinity || as == DTYPE_NONE)
        return import_refuse(im, op, "of %s is not supported", dtype_name(t));
    ir_value bits = import_bitcast(im, x, as), one = import_bits_like(im, bits, 1);
    ir_value zero = import_like(im, x, 0);
    ir_value up = import_is(im, "lt", x, y), positive = import_is(im, "gt", x, zero);
    ir_value down = build_unary(&im->b, GRAPH_NOT, up);
    ir_value grows = build_select(&im->b, positive, up, down);
    ir_value next =
        build_select(&im->b, grows, import_add(im, bits, one), import_sub(im, bits, one));
    const uint64_t sign = (uint64_t)1 << (8 * dtype_size(as) - 1);
    ir_value least = build_select(&im->b, up, one, import_bits_like(im, bits, sign | 1));
    next = build_select(&im->b, import_is(im, "eq", x, zero), least, next);
    ir_value number =
        import_binary(im, GRAPH_AND, import_is(im, "eq", x, x), import_is(im, "eq", y, y));
    ir_value sum = import_add(im, x, y); /* NaN where one of them is */
    ir_value made = build_select(&im->b, import_is(im, "eq", x, y), y, import_bitcast(im, next, t));
    results[0] = build_select(&im->b, number, made, sum);
    return true;
}
