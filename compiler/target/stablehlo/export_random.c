/* export_random.c - words of Philox4x32-10, and the rounding that they decide (docs/numerics.md).
 */
#include "target/stablehlo/export.h"

/* ---- Philox4x32-10 ---- */

/* Last words of the counter. */
enum { ROUNDS = 10, DOMAIN_OF_ROUNDING = 1, DOMAIN_OF_DRAWS = 4 };

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

static shlo_value *as_words(shlo_writer *w, shlo_value *x) {
    return out_unary(w, "stablehlo.bitcast_convert", x, out_type_with(w, x->type, SHLO_U32));
}

/* The first word for a counter of four, which are changed. */
static shlo_value *philox(shlo_writer *w, uint64_t seed, shlo_value *c[4]) {
    uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int i = 0; i < ROUNDS; i++) {
        shlo_value *high[2], *low[2];
        product(w, c[0], 0xD2511F53, &high[0], &low[0]);
        product(w, c[2], 0xCD9E8D57, &high[1], &low[1]);
        c[0] = mixed(w, mixed(w, high[1], c[1]), word(w, c[0], key[0]));
        c[1] = low[1];
        c[2] = mixed(w, mixed(w, high[0], c[3]), word(w, c[0], key[1]));
        c[3] = low[0];
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return c[0];
}

bool out_random_bits(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    shlo_value *index = as_words(w, in[0]);
    shlo_value *counter[] = {index, as_words(w, in[1]),
                             word(w, index, (uint32_t)ir_op_int(w->m, op, "site", 0)),
                             word(w, index, DOMAIN_OF_DRAWS)};
    shlo_value *drawn = philox(w, (uint64_t)ir_op_int(w->m, op, "seed", 0), counter);
    results[0] = out_unary(w, "stablehlo.bitcast_convert", drawn, in[0]->type);
    return true;
}

/* ---- stochastic rounding ---- */

/* The distance between numbers of a format at x, as f64: 2^(exponent - digits), with the exponent
 * of a subnormal number for all that are below. */
static shlo_value *spacing_at(shlo_writer *w, shlo_value *magnitude, const dtype_format *f) {
    enum { BIAS = 127, WIDE_BIAS = 1023, MANTISSA = 23, WIDE_MANTISSA = 52 };
    const int least = BIAS + 2 - (1 << (f->exponent_bits - 1)); /* of a normal number */
    shlo_value *exponent =
        out_binary(w, "stablehlo.shift_right_logical", magnitude, word(w, magnitude, MANTISSA));
    exponent = out_binary(w, "stablehlo.maximum", exponent, word(w, exponent, (uint32_t)least));
    exponent = out_binary(w, "stablehlo.add", exponent,
                          word(w, exponent, (uint32_t)(WIDE_BIAS - BIAS - f->mantissa_bits)));
    exponent = out_convert(w, exponent, SHLO_U64);
    exponent = out_binary(w, "stablehlo.shift_left", exponent,
                          out_splat(w, exponent->type, WIDE_MANTISSA));
    return out_unary(w, "stablehlo.bitcast_convert", exponent,
                     out_type_with(w, exponent->type, SHLO_F64));
}

/* All steps are exact in f64. */
static shlo_value *rounded(shlo_writer *w, shlo_value *a, shlo_value *spacing, shlo_value *drawn) {
    shlo_value *places = out_binary(w, "stablehlo.divide", a, spacing);
    shlo_value *below = out_unary(w, "stablehlo.floor", places, places->type);
    shlo_value *rest = out_binary(w, "stablehlo.subtract", places, below);
    shlo_value *chance =
        out_binary(w, "stablehlo.multiply", rest, out_number(w, rest->type, 4294967296.0));
    chance = out_unary(w, "stablehlo.floor", chance, chance->type);
    shlo_value *up = out_compare(w, "LT", out_convert(w, drawn, SHLO_F64), chance);
    shlo_value *next = out_binary(w, "stablehlo.add", below, out_number(w, below->type, 1));
    return out_binary(w, "stablehlo.multiply", out_select(w, up, next, below), spacing);
}

bool out_stochastic_round(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const dtype to = ir_type_of(w->m, ir_op_result(w->m, op, 0))->element;
    shlo_value *x = in[0], *bits = as_words(w, x);
    shlo_value *counter[] = {as_words(w, in[1]), word(w, bits, 0),
                             word(w, bits, (uint32_t)ir_op_int(w->m, op, "stream", 0)),
                             word(w, bits, DOMAIN_OF_ROUNDING)};
    shlo_value *drawn = philox(w, (uint64_t)ir_op_int(w->m, op, "seed", 0), counter);
    shlo_value *magnitude = out_binary(w, "stablehlo.and", bits, word(w, bits, 0x7fffffff));
    shlo_value *wide = out_convert(w, x, SHLO_F64);
    shlo_value *a = out_unary(w, "stablehlo.abs", wide, wide->type);
    shlo_value *y = rounded(w, a, spacing_at(w, magnitude, dtype_format_of(to)), drawn);
    shlo_value *negative = out_compare(w, "NE", bits, magnitude);
    y = out_select(w, negative, out_unary(w, "stablehlo.negate", y, y->type), y);
    shlo_value *finite = out_compare(w, "LT", magnitude, word(w, bits, 0x7f800000));
    y = out_select(w, finite, y, wide);
    if (to == DTYPE_F8E4M3FN || ir_op_int(w->m, op, "saturate", 0))
        y = out_clamped(w, y, to);
    results[0] = out_convert(w, y, out_element(to));
    return true;
}
