/* lower_exact_words.c - the words of an exact sum: numbers are added, and all of it is rounded. */
#include "tile/lower_exact.h"

enum { DIGIT = 32, SIGNIFICAND = 52, BIAS = 1075, SPARE = 10 /* of 63 bits, beyond 53 */ };

#define DIGITS UINT64_C(0xffffffff)

static ir_value number(ir_builder *b, int64_t value) {
    return tile_constant(b, DTYPE_I64, (uint64_t)value);
}

static ir_value cast(ir_builder *b, ir_value x, dtype to) {
    return tile_op(b, TILE_CONVERT, &x, 1, to);
}

static ir_value bits_as(ir_builder *b, ir_value x, dtype to) {
    return tile_op(b, TILE_BITCAST, &x, 1, to);
}

/* The address of a word of all results. */
static ir_value place_of(const exact *x, ir_builder *b, ir_value word) {
    return tile_affine(b, 0, &word, &x->width, 1);
}

static ir_value load_word(const exact *x, ir_builder *b, ir_value word) {
    return tile_load(b, x->memory, place_of(x, b, word), 1, x->width, 0, 1);
}

static void store_word(const exact *x, ir_builder *b, ir_value word, ir_value v) {
    tile_store(b, x->memory, place_of(x, b, word), v, 0, 1, false);
}

/* Does `then` with all words of a row at once, or word by word with those of all columns, some in
 * each turn. */
static void for_words(const exact *x, ir_builder *b,
                      void (*then)(const exact *x, ir_builder *b, ir_value word, int64_t count,
                                   const void *of),
                      const void *of) {
    ir_value word;
    if (!x->columns) {
        then(x, b, tile_index(b, 0), exact_words(x), of);
        return;
    }
    ir_builder in = tile_for(b, tile_index(b, 0), tile_index(b, exact_words(x)), EXACT_COLUMN_WORDS,
                             NULL, 0, NULL, &word);
    for (int i = 0; i < EXACT_COLUMN_WORDS; i++)
        then(x, &in, tile_index_plus(&in, word, i), x->width, of);
    tile_yield(&in, NULL, 0);
}

static void clear(const exact *x, ir_builder *b, ir_value word, int64_t count, const void *of) {
    (void)of;
    tile_store(b, x->memory, place_of(x, b, word), tile_broadcast(b, number(b, 0), 1, count), 0, 1,
               false);
}

void exact_clear_words(const exact *x, ir_builder *b) {
    for_words(x, b, clear, NULL);
}

/* ---- numbers ---- */

/* sign: 0 or -1; value: significand * 2^(place + least). */
typedef struct split_number {
    ir_value sign, significand, place;
} split_number;

static split_number split(const exact *x, ir_builder *b, ir_value v) {
    const int64_t hidden = INT64_C(1) << SIGNIFICAND;
    ir_value bits = bits_as(b, v, DTYPE_I64), zero = number(b, 0), one = number(b, 1),
             field = tile_binary(b, TILE_USHR, bits, number(b, SIGNIFICAND));
    field = tile_binary(b, TILE_AND, field, number(b, 0x7ff));
    ir_value fraction = tile_binary(b, TILE_AND, bits, number(b, hidden - 1)),
             whole = tile_binary(b, TILE_OR, fraction, number(b, hidden)),
             small = tile_compare(b, "eq", field, zero);
    return (split_number){
        tile_binary(b, TILE_SHR, bits, number(b, 63)), tile_select(b, small, fraction, whole),
        tile_binary(b, TILE_SUB, tile_select(b, small, one, field), number(b, BIAS + x->least))};
}

/* Takes from bits that are shifted to their place those that stand in the word, with the sign. */
static void add(const exact *x, ir_builder *b, ir_value word, int64_t count, const void *of) {
    const split_number *n = of;
    ir_value numbers = x->columns ? tile_from_index(b, word) : tile_iota(b, word, false, count),
             begin = tile_binary(b, TILE_MUL, cast(b, numbers, DTYPE_I64), number(b, DIGIT)),
             up = tile_binary(b, TILE_SUB, n->place, begin),
             down = tile_binary(b, TILE_SUB, begin, n->place),
             digits = tile_binary(b, TILE_OR, tile_binary(b, TILE_SHL, n->significand, up),
                                  tile_binary(b, TILE_USHR, n->significand, down));
    digits = tile_binary(b, TILE_AND, digits, number(b, (int64_t)DIGITS));
    digits = tile_binary(b, TILE_SUB, tile_binary(b, TILE_XOR, digits, n->sign), n->sign);
    ir_value at = place_of(x, b, word), before = tile_load(b, x->memory, at, 1, count, 0, 1);
    tile_store(b, x->memory, at, tile_binary(b, TILE_ADD, before, digits), 0, 1, false);
}

void exact_add_digits(const exact *x, ir_builder *b, ir_value v) {
    const split_number n = split(x, b, v);
    for_words(x, b, add, &n);
}

/* ---- rounding ---- */

/* Each word becomes its digits, and the rest is carried on. Returns what is carried out: 0, or -1
 * where the sum is below 0. */
static ir_value carry_words(const exact *x, ir_builder *b) {
    ir_op loop;
    ir_value word, none = tile_broadcast(b, number(b, 0), 1, x->width);
    ir_builder in =
        tile_for(b, tile_index(b, 0), tile_index(b, x->digits), 1, &none, 1, &loop, &word);
    ir_value sum = tile_binary(&in, TILE_ADD, ir_block_get(b->m, in.block)->arguments[1],
                               load_word(x, &in, word)),
             carry = tile_binary(&in, TILE_SHR, sum, number(&in, DIGIT));
    store_word(x, &in, word, tile_binary(&in, TILE_AND, sum, number(&in, (int64_t)DIGITS)));
    tile_yield(&in, &carry, 1);
    return ir_op_result(b->m, loop, 0);
}

/* Parts of the magnitude: the highest word that is not 0, the two below it, its number, and bits of
 * the words below those; with the loop's own: what is carried, the last two words, bits below them.
 */
enum { TOP, NEXT, THIRD, PLACE, BELOW, CARRY, LAST, SECOND, REST, TRACKED };

static void find_highest(const exact *x, ir_builder *b, ir_value sign, ir_value *out) {
    ir_op loop;
    ir_value word, first[TRACKED], next[TRACKED];
    for (int i = 0; i < TRACKED; i++)
        first[i] = tile_broadcast(b, number(b, 0), 1, x->width);
    first[CARRY] = tile_binary(b, TILE_SUB, first[CARRY], sign);
    ir_value flip = tile_binary(b, TILE_AND, sign, number(b, (int64_t)DIGITS));
    ir_builder in =
        tile_for(b, tile_index(b, 0), tile_index(b, x->digits), 1, first, TRACKED, &loop, &word);
    const ir_value *was = &ir_block_get(b->m, in.block)->arguments[1];
    ir_value sum = tile_binary(&in, TILE_XOR, load_word(x, &in, word), flip);
    sum = tile_binary(&in, TILE_ADD, sum, was[CARRY]);
    ir_value digits = tile_binary(&in, TILE_AND, sum, number(&in, (int64_t)DIGITS)),
             there = tile_compare(&in, "ne", digits, number(&in, 0)),
             place = cast(&in, tile_from_index(&in, word), DTYPE_I64);
    const ir_value found[] = {digits, was[LAST], was[SECOND],
                              tile_broadcast(&in, place, 1, x->width), was[REST]};
    for (int i = TOP; i <= BELOW; i++)
        next[i] = tile_select(&in, there, found[i], was[i]);
    next[CARRY] = tile_binary(&in, TILE_USHR, sum, number(&in, DIGIT));
    next[LAST] = digits;
    next[SECOND] = was[LAST];
    next[REST] = tile_binary(&in, TILE_OR, was[REST], was[SECOND]);
    tile_yield(&in, next, TRACKED);
    for (int i = 0; i < TRACKED; i++)
        out[i] = ir_op_result(b->m, loop, (uint32_t)i);
}

/* 2^e as an f64. */
static ir_value power(ir_builder *b, ir_value e) {
    ir_value field = tile_binary(b, TILE_ADD, e, number(b, BIAS - SIGNIFICAND));
    return bits_as(b, tile_binary(b, TILE_SHL, field, number(b, SIGNIFICAND)), DTYPE_F64);
}

/* An inexact sum becomes the number beside it in the direction of what it lacks, unless its own
 * last bit is 1. */
ir_value exact_to_odd(ir_builder *b, ir_value sum, const ir_value terms[2]) {
    ir_value part = tile_binary(b, TILE_SUB, sum, terms[0]),
             first = tile_binary(b, TILE_SUB, terms[0], tile_binary(b, TILE_SUB, sum, part)),
             lacks = tile_binary(b, TILE_ADD, first, tile_binary(b, TILE_SUB, terms[1], part)),
             one = number(b, 1), bits = bits_as(b, sum, DTYPE_I64),
             signs = tile_binary(b, TILE_XOR, bits, bits_as(b, lacks, DTYPE_I64)),
             beyond = tile_binary(b, TILE_USHR, signs, number(b, 63)),
             odd = tile_binary(b, TILE_OR, tile_binary(b, TILE_SUB, bits, beyond), one),
             none = tile_compare(b, "eq", lacks, tile_constant(b, DTYPE_F64, 0));
    return tile_select(b, none, sum, bits_as(b, odd, DTYPE_F64));
}

/* The highest 63 bits as an integer, the last of them 1 where anything below is: one rounding, and
 * powers of two. A result below the normal numbers has all of its bits, so that those are exact. */
static ir_value magnitude(const exact *x, ir_builder *b, const ir_value *w) {
    ir_value one = number(b, 1), zero = number(b, 0),
             top_bit = bits_as(b, cast(b, w[TOP], DTYPE_F64), DTYPE_I64);
    top_bit = tile_binary(b, TILE_USHR, top_bit, number(b, SIGNIFICAND));
    ir_value up = tile_binary(b, TILE_SUB, number(b, BIAS - SIGNIFICAND + DIGIT - 1), top_bit),
             down = tile_binary(b, TILE_SUB, number(b, DIGIT), up),
             high = tile_binary(b, TILE_OR, tile_binary(b, TILE_SHL, w[TOP], number(b, DIGIT)),
                                w[NEXT]),
             bits = tile_binary(b, TILE_OR, tile_binary(b, TILE_SHL, high, up),
                                tile_binary(b, TILE_USHR, w[THIRD], down)),
             mask = tile_binary(b, TILE_SUB, tile_binary(b, TILE_SHL, one, down), one),
             rest = tile_binary(b, TILE_OR, tile_binary(b, TILE_AND, w[THIRD], mask), w[BELOW]);
    rest = tile_binary(b, TILE_OR, rest, tile_binary(b, TILE_AND, bits, one));
    ir_value some = tile_select(b, tile_compare(b, "ne", rest, zero), one, zero);
    bits = tile_binary(b, TILE_OR, tile_binary(b, TILE_USHR, bits, one), some);
    if (x->odd) { /* 53 of them, the last of which is 1 where anything is below */
        ir_value low = tile_binary(b, TILE_AND, bits, number(b, (1 << SPARE) - 1));
        some = tile_select(b, tile_compare(b, "ne", low, zero), number(b, 1 << SPARE), zero);
        bits = tile_binary(b, TILE_OR, tile_binary(b, TILE_XOR, bits, low), some);
    }
    ir_value y = cast(b, cast(b, bits, x->element), DTYPE_F64),
             e = tile_binary(b, TILE_MUL, w[PLACE], number(b, DIGIT));
    e = tile_binary(b, TILE_SUB, tile_binary(b, TILE_ADD, e, number(b, x->least + 1 - DIGIT)), up);
    ir_value half = tile_binary(b, TILE_SHR, e, one), other = tile_binary(b, TILE_SUB, e, half);
    y = tile_binary(b, TILE_MUL, tile_binary(b, TILE_MUL, y, power(b, half)), power(b, other));
    if (x->odd)
        y = tile_binary(b, TILE_MINIMUM, y, tile_constant(b, DTYPE_F64, EXACT_INFINITY - 1));
    return cast(b, y, x->element);
}

ir_value exact_round_words(const exact *x, ir_builder *b, ir_value plain) {
    ir_value w[TRACKED], sign = carry_words(x, b), zero = number(b, 0);
    find_highest(x, b, sign, w);
    ir_value y = magnitude(x, b, w), minus = tile_op(b, TILE_NEG, &y, 1, DTYPE_NONE);
    y = tile_select(b, tile_compare(b, "ne", sign, zero), minus, y);
    ir_value only_minus =
        tile_compare(b, "eq", bits_as(b, plain, DTYPE_I64), number(b, (int64_t)EXACT_MINUS));
    ir_value none = tile_select(b, only_minus, tile_constant(b, x->element, x->minus),
                                tile_constant(b, x->element, 0));
    y = tile_select(b, tile_compare(b, "eq", w[TOP], zero), none, y);
    ir_value size = tile_op(b, TILE_ABS, &plain, 1, DTYPE_NONE),
             finite = tile_compare(b, "lt", size, tile_constant(b, DTYPE_F64, EXACT_INFINITY));
    return tile_select(b, finite, y, cast(b, plain, x->element));
}
