/* export_element.c - operations by element: those of one name, and those that are written out. */
#include <stdio.h>
#include <string.h>

#include "target/stablehlo/export.h"

bool out_elementwise(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const shlo_type *t = out_result_type(w, op, 0);
    results[0] = &out_build(w, &(out_spec){.name = out_name_of(d->opcode),
                                           .operands = in,
                                           .operand_count = d->operand_count,
                                           .results = &t,
                                           .result_count = 1})
                      ->results[0];
    return true;
}

bool out_same(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)w;
    (void)op;
    results[0] = in[0];
    return true;
}

bool out_comparison(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    char direction[3] = {0};
    const char *predicate = ir_op_string(w->m, op, "predicate", "eq");
    for (int i = 0; i < 2; i++)
        direction[i] = (char)(predicate[i] & ~0x20);
    results[0] = out_compare(w, direction, in[0], in[1]);
    return true;
}

/* ---- integers ---- */

/* StableHLO has no magnitude of what has no sign. */
bool out_magnitude(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    return dtype_is_unsigned(out_dtype(in[0])) ? out_same(w, op, in, results)
                                               : out_elementwise(w, op, in, results);
}

bool out_may_divide_by_zero(const shlo_writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    if (dtype_is_float(ir_type_of(w->m, d->operands[1])->element))
        return false;
    ir_op made = ir_value_get(w->m, d->operands[1])->op;
    if (made && ir_op_get(w->m, made)->opcode == GRAPH_BROADCAST)
        made = ir_value_get(w->m, ir_op_get(w->m, made)->operands[0])->op;
    return !made || ir_op_get(w->m, made)->opcode != GRAPH_CONSTANT ||
           ir_attr_get(w->m, ir_op_attr(w->m, made, "value"))->bits == 0;
}

/* x / 0 is 0. */
bool out_quotient(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    if (!out_may_divide_by_zero(w, op))
        return out_elementwise(w, op, in, results);
    shlo_value *zero = out_number(w, in[1]->type, 0), *one = out_number(w, in[1]->type, 1);
    shlo_value *none = out_compare(w, "EQ", in[1], zero);
    shlo_value *divisor = out_select(w, none, one, in[1]);
    results[0] = out_select(w, none, zero, out_binary(w, "stablehlo.divide", in[0], divisor));
    return true;
}

/* Integers of four bits shift as those of eight, whose low bits are kept. */
static shlo_value *shifted(shlo_writer *w, const char *name, shlo_value *const *in) {
    const shlo_element given = in[0]->type->element;
    const shlo_element wide = given == SHLO_I4 ? SHLO_I8 : given;
    shlo_value *x = out_convert(w, in[0], wide), *y = out_convert(w, in[1], wide);
    return out_convert(w, out_binary(w, name, x, y), given);
}

bool out_left_shift(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    results[0] = shifted(w, "stablehlo.shift_left", in);
    return true;
}

/* To the right a sign follows where there is one. */
bool out_right_shift(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    const bool plain = dtype_is_unsigned(out_dtype(in[0]));
    results[0] = shifted(
        w, plain ? "stablehlo.shift_right_logical" : "stablehlo.shift_right_arithmetic", in);
    return true;
}

/* ---- conversions ---- */

/* Digits of an integer type besides its sign. */
static int digits(dtype t) {
    return dtype_integer_bits(t) - !dtype_is_unsigned(t);
}

/* Integers between the ends of a type, as far as their own holds them. */
static shlo_value *clamped_integer(shlo_writer *w, shlo_value *x, dtype to) {
    const dtype from = out_dtype(x);
    const bool number = dtype_is_float(to);
    const int bits = number || digits(from) < digits(to) ? digits(from) : digits(to);
    uint64_t high = UINT64_MAX >> (64 - bits);
    const bool beyond = number && dtype_format_of(to)->largest < (double)high;
    if (beyond)
        high = (uint64_t)dtype_format_of(to)->largest;
    x = out_binary(w, "stablehlo.minimum", x, out_splat(w, x->type, high));
    if (dtype_is_unsigned(from))
        return x;
    const int64_t ends = beyond ? -(int64_t)high : -(int64_t)high - 1;
    const uint64_t low = dtype_wrap(from, dtype_is_unsigned(to) ? 0 : ends);
    return out_binary(w, "stablehlo.maximum", x, out_splat(w, x->type, low));
}

/* Beyond the greatest number it is the greatest; StableHLO leaves that open, or has infinity. A NaN
 * stays one, as maximum and minimum hand it on. */
shlo_value *out_clamped(shlo_writer *w, shlo_value *x, dtype to) {
    if (!dtype_is_float(out_dtype(x)))
        return clamped_integer(w, x, to);
    const double most = dtype_format_of(to)->largest;
    x = out_binary(w, "stablehlo.maximum", x, out_number(w, x->type, -most));
    return out_binary(w, "stablehlo.minimum", x, out_number(w, x->type, most));
}

bool out_converted(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const dtype to = ir_type_of(w->m, ir_op_result(w->m, op, 0))->element;
    const dtype from = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    shlo_value *x = in[0];
    if (out_is_clamped(w, op))
        x = out_clamped(w, dtype_is_narrow(from) ? out_convert(w, x, SHLO_F32) : x, to);
    results[0] = out_convert(w, x, out_element(to));
    return true;
}

bool out_is_clamped(const shlo_writer *w, ir_op op) {
    const dtype to = ir_type_of(w->m, ir_op_result(w->m, op, 0))->element;
    const dtype from = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    if (to == DTYPE_F8E4M3FN)
        return from != to && from != DTYPE_BOOL;
    return ir_op_int(w->m, op, "saturate", 0) && (dtype_is_float(to) || dtype_is_integer(from));
}

/* ---- written out ---- */

/* Two roundings in place of one; of narrow floats the product is exact in f32. */
bool out_fma(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    const shlo_element given = in[0]->type->element;
    const shlo_element wide = dtype_is_narrow(out_dtype(in[0])) ? SHLO_F32 : given;
    shlo_value *x = out_convert(w, in[0], wide), *y = out_convert(w, in[1], wide);
    shlo_value *sum = out_binary(w, "stablehlo.add", out_binary(w, "stablehlo.multiply", x, y),
                                 out_convert(w, in[2], wide));
    results[0] = out_convert(w, sum, given);
    return true;
}

bool out_exp2(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    results[0] = out_binary(w, "stablehlo.power", out_number(w, in[0]->type, 2), in[0]);
    return true;
}

bool out_log2(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    shlo_value *x = out_unary(w, "stablehlo.log", in[0], in[0]->type);
    results[0] = out_binary(w, "stablehlo.multiply", x, out_number(w, x->type, 1.4426950408889634));
    return true;
}

/* A zero keeps its sign in both. */
bool out_trunc(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    shlo_value *x = in[0];
    shlo_value *below = out_compare(w, "LT", x, out_number(w, x->type, 0));
    results[0] = out_select(w, below, out_unary(w, "stablehlo.ceil", x, x->type),
                            out_unary(w, "stablehlo.floor", x, x->type));
    return true;
}
