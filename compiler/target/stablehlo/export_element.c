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

/* To the right a sign follows where there is one. */
bool out_right_shift(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    const bool plain = dtype_is_unsigned(out_dtype(in[0]));
    results[0] =
        out_binary(w, plain ? "stablehlo.shift_right_logical" : "stablehlo.shift_right_arithmetic",
                   in[0], in[1]);
    return true;
}

/* ---- conversions ---- */

/* Beyond the greatest number it is the greatest; StableHLO leaves that open, or has infinity. A NaN
 * stays one, as maximum and minimum hand it on. */
static shlo_value *clamped(shlo_writer *w, shlo_value *x, dtype to) {
    const dtype_format *f = dtype_format_of(to);
    const double high = f ? f->largest : (double)dtype_highest(to);
    const double low = f ? -f->largest : (double)dtype_lowest(to);
    x = out_binary(w, "stablehlo.maximum", x, out_number(w, x->type, low));
    return out_binary(w, "stablehlo.minimum", x, out_number(w, x->type, high));
}

bool out_converted(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const dtype to = ir_type_of(w->m, ir_op_result(w->m, op, 0))->element;
    const dtype from = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    shlo_value *x = in[0];
    if (out_is_clamped(w, op))
        x = clamped(w, dtype_is_narrow(from) ? out_convert(w, x, SHLO_F32) : x, to);
    results[0] = out_convert(w, x, out_element(to));
    return true;
}

bool out_is_clamped(const shlo_writer *w, ir_op op) {
    const dtype to = ir_type_of(w->m, ir_op_result(w->m, op, 0))->element;
    const dtype from = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    if (ir_op_int(w->m, op, "saturate", 0))
        return true;
    return to == DTYPE_F8E4M3FN && from != to && dtype_is_float(from);
}

/* ---- written out ---- */

/* Two roundings in place of one. */
bool out_fma(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)op;
    results[0] =
        out_binary(w, "stablehlo.add", out_binary(w, "stablehlo.multiply", in[0], in[1]), in[2]);
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

/* ---- Philox4x32-10 ---- */

static shlo_value *word(shlo_writer *w, const shlo_value *like, uint32_t bits) {
    return out_splat(w, out_type_with(w, like->type, SHLO_U32), bits);
}

static shlo_value *mixed(shlo_writer *w, shlo_value *x, shlo_value *y) {
    return out_binary(w, "stablehlo.xor", x, y);
}

/* The halves of a product. */
static void product(shlo_writer *w, shlo_value *x, uint32_t factor, shlo_value **high,
                    shlo_value **low) {
    const shlo_type *wide = out_type_with(w, x->type, SHLO_U64);
    shlo_value *whole = out_binary(w, "stablehlo.multiply", out_convert(w, x, SHLO_U64),
                                   out_splat(w, wide, factor));
    *low = out_convert(w, whole, SHLO_U32);
    *high = out_convert(
        w, out_binary(w, "stablehlo.shift_right_logical", whole, out_splat(w, wide, 32)), SHLO_U32);
}

bool out_random_bits(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    enum { ROUNDS = 10, DOMAIN_OF_DRAWS = 4 };
    const uint64_t seed = (uint64_t)ir_op_int(w->m, op, "seed", 0);
    uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const shlo_type *words = out_type_with(w, in[0]->type, SHLO_U32);
    shlo_value *c[] = {out_unary(w, "stablehlo.bitcast_convert", in[0], words),
                       out_unary(w, "stablehlo.bitcast_convert", in[1], words),
                       word(w, in[0], (uint32_t)ir_op_int(w->m, op, "site", 0)),
                       word(w, in[0], DOMAIN_OF_DRAWS)};
    for (int i = 0; i < ROUNDS; i++) {
        shlo_value *high[2], *low[2];
        product(w, c[0], 0xD2511F53, &high[0], &low[0]);
        product(w, c[2], 0xCD9E8D57, &high[1], &low[1]);
        c[0] = mixed(w, mixed(w, high[1], c[1]), word(w, in[0], key[0]));
        c[1] = low[1];
        c[2] = mixed(w, mixed(w, high[0], c[3]), word(w, in[0], key[1]));
        c[3] = low[0];
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    results[0] = out_unary(w, "stablehlo.bitcast_convert", c[0], in[0]->type);
    return true;
}
