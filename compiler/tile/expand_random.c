/* expand_random.c - random words, and stochastic rounding, written out: Philox4x32-10 for each
 * element, then integer operations on the bits of the f32 (docs/numerics.md, "Stochastic rounding",
 * "Dropout").
 *
 * What rounding makes is an f32 that the narrow type holds, or the first one beyond its range; an
 * ordinary conversion then has nothing to round, and settles overflow and NaN. */
#include "tile/tile.h"

#include "base/philox.h"

static ir_value number(ir_builder *b, uint32_t bits) {
    return tile_constant(b, DTYPE_I32, bits);
}

static ir_value bits_as(ir_builder *b, ir_value x, dtype to) {
    return tile_op(b, TILE_BITCAST, &x, 1, to);
}

/* ---- random bits ---- */

/* In a function that many call, what is compiled is half of the rounds, which run twice. */
enum { PHILOX_ROUNDS = 10, ROUNDS_OF_TRIP = 5 };

/* A word of the key, so many rounds behind that of the round `from` (0: the first). */
static ir_value key_of(ir_builder *b, ir_value from, int rounds, uint32_t first, uint32_t step) {
    ir_value key = number(b, first + (uint32_t)rounds * step);
    return from ? tile_binary(b, TILE_ADD, tile_binary(b, TILE_MUL, from, number(b, step)), key)
                : key;
}

/* Some rounds on the counter `c`, the first of which is `from`. */
static void mix(ir_builder *b, ir_value *c, ir_value from, int rounds, uint64_t seed) {
    ir_value m0 = number(b, 0xD2511F53u), m1 = number(b, 0xCD9E8D57u);
    for (int i = 0; i < rounds; i++) {
        ir_value key0 = key_of(b, from, i, (uint32_t)seed, 0x9E3779B9u),
                 key1 = key_of(b, from, i, (uint32_t)(seed >> 32), 0xBB67AE85u);
        ir_value high0 = tile_binary(b, TILE_UMULH, c[0], m0),
                 low0 = tile_binary(b, TILE_MUL, c[0], m0);
        ir_value high1 = tile_binary(b, TILE_UMULH, c[2], m1),
                 low1 = tile_binary(b, TILE_MUL, c[2], m1);
        c[0] = tile_binary(b, TILE_XOR, tile_binary(b, TILE_XOR, high1, c[1]), key0);
        c[1] = low1;
        c[2] = tile_binary(b, TILE_XOR, tile_binary(b, TILE_XOR, high0, c[3]), key1);
        c[3] = low0;
    }
}

static void mix_in_trips(ir_builder *b, ir_value *c, uint64_t seed) {
    int64_t rows = 1, columns = 1;
    for (int i = 0; i < 4; i++) {
        const ir_type_data *t = tile_type(b, c[i]);
        rows = t->dims[0] > rows ? t->dims[0] : rows;
        columns = t->dims[1] > columns ? t->dims[1] : columns;
    }
    ir_value low = tile_index(b, 0), high = tile_index(b, PHILOX_ROUNDS), at;
    ir_op loop;
    for (int i = 0; i < 4; i++)
        c[i] = tile_broadcast(b, c[i], rows, columns);
    ir_builder in = tile_for(b, low, high, ROUNDS_OF_TRIP, c, 4, &loop, &at);
    for (int i = 0; i < 4; i++)
        c[i] = ir_block_get(b->m, in.block)->arguments[1 + i];
    ir_type single = ir_type_tile(b->m, DTYPE_I32, 1, 1);
    ir_value round = ir_build1(&in, TILE_FROM_INDEX, &at, 1, single, NULL, 0);
    mix(&in, c, round, ROUNDS_OF_TRIP, seed);
    tile_yield(&in, c, 4);
    for (int i = 0; i < 4; i++)
        c[i] = ir_op_result(b->m, loop, (uint32_t)i);
}

/* The first word of Philox4x32-10 for the counter. */
static ir_value first_word(ir_builder *b, ir_value *c, uint64_t seed) {
    ir_op parent = ir_block_parent(b->m, b->block);
    if (ir_op_get(b->m, parent)->opcode == TILE_FUNCTION)
        mix_in_trips(b, c, seed);
    else
        mix(b, c, 0, PHILOX_ROUNDS, seed);
    return c[0];
}

/* ---- rounding ---- */

/* Unsigned: both with the sign bit turned over. */
static ir_value less_unsigned(ir_builder *b, ir_value x, ir_value y) {
    ir_value turn = number(b, 0x80000000u);
    return tile_compare(b, "lt", tile_binary(b, TILE_XOR, x, turn),
                        tile_binary(b, TILE_XOR, y, turn));
}

static ir_value within(ir_builder *b, ir_value x, int32_t low, int32_t high) {
    return tile_binary(b, TILE_MINIMUM, tile_binary(b, TILE_MAXIMUM, x, number(b, (uint32_t)low)),
                       number(b, (uint32_t)high));
}

/* The significand with its leading one, where there is one. */
static ir_value significand_of(ir_builder *b, ir_value magnitude, ir_value exponent) {
    ir_value fraction = tile_binary(b, TILE_AND, magnitude, number(b, 0x7fffffu));
    ir_value normal = tile_compare(b, "gt", exponent, number(b, 0));
    return tile_select(b, normal, tile_binary(b, TILE_OR, fraction, number(b, 0x800000u)),
                       fraction);
}

/* Number of low bits of the significand that the type has no room for, at most 63. */
static ir_value dropped_bits(ir_builder *b, const dtype_format *f, ir_value exponent) {
    int32_t least = 129 - (1 << (f->exponent_bits - 1)), always = 23 - f->mantissa_bits;
    ir_value normal = tile_binary(b, TILE_MAXIMUM, exponent, number(b, 1));
    ir_value below = tile_binary(b, TILE_SUB, number(b, (uint32_t)least), normal);
    ir_value dropped = tile_binary(b, TILE_ADD, tile_binary(b, TILE_MAXIMUM, below, number(b, 0)),
                                   number(b, (uint32_t)always));
    return tile_binary(b, TILE_MINIMUM, dropped, number(b, 63));
}

/* The dropped bits as a fraction of 2^32. A shift stays below the width; the one that does not
 * apply is cut. */
static ir_value distance_of(ir_builder *b, ir_value significand, ir_value dropped) {
    ir_value width = number(b, 32);
    ir_value left = within(b, tile_binary(b, TILE_SUB, width, dropped), 0, 31),
             right = within(b, tile_binary(b, TILE_SUB, dropped, width), 0, 31);
    ir_value up = tile_binary(b, TILE_SHL, significand, left),
             down = tile_binary(b, TILE_USHR, significand, right);
    return tile_select(b, tile_compare(b, "le", dropped, width), up, down);
}

ir_value tile_expand_stochastic_round(ir_builder *b, ir_op op) {
    const ir_op_data d = *ir_op_get(b->m, op);
    dtype to = ir_type_of(b->m, d.results[0])->element;
    const dtype_format *f = dtype_format_of(to);
    ir_value bits = bits_as(b, d.operands[0], DTYPE_I32);
    uint32_t stream = (uint32_t)ir_op_int(b->m, op, "stream", 0);
    ir_value counter[4] = {d.operands[1], number(b, 0), number(b, stream),
                           number(b, PHILOX_DOMAIN_ROUNDING)};
    ir_value random = first_word(b, counter, (uint64_t)ir_op_int(b->m, op, "seed", 0));
    ir_value magnitude = tile_binary(b, TILE_AND, bits, number(b, 0x7fffffffu));
    ir_value exponent = tile_binary(b, TILE_USHR, magnitude, number(b, 23));
    ir_value dropped = dropped_bits(b, f, exponent);
    ir_value distance = distance_of(b, significand_of(b, magnitude, exponent), dropped);
    ir_value away = less_unsigned(b, random, distance);
    /* Up to 23 bits go: the next number is one step in what is left of the f32's bits. More: only
     * zero and the least number of the type are near. */
    ir_value step = tile_binary(b, TILE_SHL, number(b, 1),
                                tile_binary(b, TILE_MINIMUM, dropped, number(b, 23)));
    ir_value kept =
        tile_binary(b, TILE_AND, magnitude, tile_binary(b, TILE_SUB, number(b, 0), step));
    ir_value next = tile_binary(b, TILE_ADD, kept, step);
    ir_value tiny = tile_compare(b, "gt", dropped, number(b, 23));
    kept = tile_select(b, tiny, number(b, 0), kept);
    next = tile_select(b, tiny, number(b, f32_bits((float)f->spacing)), next);
    ir_value rounded = tile_select(b, away, next, kept);
    rounded = tile_select(b, tile_compare(b, "gt", magnitude, number(b, 0x7f800000u)), magnitude,
                          rounded);
    ir_value sign = tile_binary(b, TILE_AND, bits, number(b, 0x80000000u));
    ir_value exact = bits_as(b, tile_binary(b, TILE_OR, rounded, sign), DTYPE_F32);
    ir_value result = tile_op(b, TILE_CONVERT, &exact, 1, to);
    if (ir_op_int(b->m, op, "saturate", 0))
        ir_op_set_attr(b->m, ir_value_get(b->m, result)->op, "saturate", ir_attr_bool(b->m, true));
    return result;
}

ir_value tile_expand_random_bits(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    ir_value index = d->operands[0], step = d->operands[1];
    uint32_t site = (uint32_t)ir_op_int(b->m, op, "site", 0);
    ir_value counter[4] = {index, step, number(b, site), number(b, PHILOX_DOMAIN_RANDOM_BITS)};
    return first_word(b, counter, (uint64_t)ir_op_int(b->m, op, "seed", 0));
}
