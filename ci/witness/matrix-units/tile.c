/* tile.c - what the matrix units are fed: tile.h. */
#include "tile.h"

#include <string.h>

#include "base/splitmix64.h"

uint64_t random_next(random_bits *r) {
    return splitmix64(&r->state);
}

static int between(random_bits *r, int least, int greatest) {
    return least + (int)((random_next(r) >> 32) * (uint64_t)(greatest - least + 1) >> 32);
}

static bool one_in(random_bits *r, int n) {
    return between(r, 1, n) == 1;
}

static uint64_t with_exponent(random_bits *r, const binary_format *f, int exponent) {
    uint64_t bits = random_next(r);
    return binary_code(f, bits >> 63, exponent, bits);
}

static uint64_t power(random_bits *r, const binary_format *f, int exponent) {
    return binary_code(f, random_next(r) >> 63, exponent, 0);
}

/* Any bits of the format's width. */
static uint64_t any_bits(random_bits *r, const binary_format *f) {
    return random_next(r) >> (64 - f->storage_bits);
}

static uint64_t zero(random_bits *r, const binary_format *f) {
    return (random_next(r) >> 63) << (f->storage_bits - 1);
}

/* Below the least exponent, the one bit that it takes to have that magnitude. */
static uint64_t at_exponent(random_bits *r, const binary_format *f, int exponent,
                            uint64_t fraction) {
    int below = binary_least_exponent(f) - exponent;
    if (below > 0)
        fraction = below > f->fraction_bits ? 1 : UINT64_C(1) << (f->fraction_bits - below);
    return binary_code(f, random_next(r) >> 63, exponent, fraction);
}

/* Exponents from the least subnormal's to the greatest, all alike. */
static uint64_t wide(random_bits *r, const binary_format *f) {
    int least = binary_least_exponent(f) - f->fraction_bits;
    return at_exponent(r, f, between(r, least, binary_greatest_exponent(f)), random_next(r));
}

static uint64_t near_one(random_bits *r, const binary_format *f) {
    return with_exponent(r, f, between(r, -2, 1));
}

/* Products as far apart as the widths of aligned sums: 13 to 25 bits, or an f64's. */
static uint64_t window(random_bits *r, const binary_format *f) {
    int reach = f == &binary_f64 ? 30 : 9;
    return with_exponent(r, f, between(r, -reach, reach));
}

static uint64_t tiny(random_bits *r, const binary_format *f) {
    int kind = between(r, 0, 7);
    int least = binary_least_exponent(f);
    if (kind < 4)
        return with_exponent(r, f, least - 1);
    if (kind == 4)
        return with_exponent(r, f, least);
    return kind == 5   ? zero(r, f)
           : kind == 6 ? near_one(r, f)
                       : with_exponent(r, f, binary_greatest_exponent(f));
}

static uint64_t with_infinities(random_bits *r, const binary_format *f) {
    if (one_in(r, 24))
        return binary_infinity(f, one_in(r, 2));
    return one_in(r, 24) ? zero(r, f) : wide(r, f);
}

static uint64_t with_nans(random_bits *r, const binary_format *f) {
    if (!one_in(r, 32))
        return one_in(r, 32) ? binary_infinity(f, one_in(r, 2)) : near_one(r, f);
    uint64_t payload =
        one_in(r, 2) ? random_next(r) : UINT64_C(1) << between(r, 0, f->storage_bits - 1);
    return binary_infinity(f, one_in(r, 2)) | (payload & binary_nan(f));
}

static uint64_t zeros_and_ones(random_bits *r, const binary_format *f) {
    int kind = between(r, 0, 15);
    if (kind == 0)
        return power(r, f, 0);
    return kind == 1 ? binary_code(f, random_next(r) >> 63, binary_least_exponent(f) - 1, 1)
                     : zero(r, f);
}

static uint64_t only_zeros(random_bits *r, const binary_format *f) {
    return zero(r, f);
}

static uint64_t large(random_bits *r, const binary_format *f) {
    int greatest = binary_greatest_exponent(f);
    return with_exponent(r, f, between(r, greatest - 2, greatest));
}

/* Products of these come close to the greatest float. */
static uint64_t root_of_large(random_bits *r, const binary_format *f) {
    int half = binary_greatest_exponent(f) / 2;
    return with_exponent(r, f, between(r, half - 2, half + 1));
}

static uint64_t above(random_bits *r, const binary_format *f) {
    return with_exponent(r, f, between(r, 8, 60));
}

static uint64_t below(random_bits *r, const binary_format *f) {
    return with_exponent(r, f, between(r, -60, -8));
}

/* Their products are whole powers of two around half a unit in the last place of an f32, or f16,
 * near one. */
static uint64_t powers(random_bits *r, const binary_format *f) {
    return power(r, f, one_in(r, 2) ? between(r, -14, -10) : between(r, -7, -4));
}

/* One of 1, 2^-12 and so on: sums of many that are below the last bit of the greatest. */
static uint64_t one_big(random_bits *r, const binary_format *f) {
    if (one_in(r, 12))
        return with_exponent(r, f, between(r, 0, 3));
    return binary_code(f, one_in(r, 16), between(r, -14, -5), random_next(r));
}

static uint64_t zero_or_huge(random_bits *r, const binary_format *f) {
    int kind = between(r, 0, 3);
    return kind == 0   ? with_exponent(r, f, binary_greatest_exponent(f))
           : kind == 1 ? tiny(r, f)
                       : zero(r, f);
}

/* Products around the last bit of the least subnormal f32, or f16, few bits each, so that whole
 * multiples of it are common and something far below them decides. */
static uint64_t low(random_bits *r, const binary_format *f) {
    int middle = f == &binary_f64 ? -537 : f->exponent_bits == 8 ? -75 : -12;
    int exponent =
        one_in(r, 4) ? between(r, middle - 12, middle - 7) : between(r, middle - 1, middle + 3);
    return at_exponent(r, f, exponent, random_next(r) << (f->fraction_bits - 2));
}

typedef uint64_t (*draw)(random_bits *, const binary_format *);

static const struct {
    const char *name;
    draw factor, c;
    bool cancels;
} recipes[] = {
    {"uniform-bits", any_bits, any_bits, false},
    {"near-one", near_one, near_one, false},
    {"near-one-cancelling", near_one, near_one, true},
    {"window", window, window, false},
    {"window-cancelling", window, below, true},
    {"wide", wide, wide, false},
    {"wide-cancelling", wide, wide, true},
    {"wide-c-zero", wide, only_zeros, false},
    {"subnormal", tiny, tiny, false},
    {"infinities", with_infinities, with_infinities, false},
    {"nan", with_nans, with_nans, false},
    {"halfway", powers, near_one, false},
    {"one-big", one_big, one_big, false},
    {"signed-zeros", zeros_and_ones, only_zeros, false},
    {"zeros-and-tiny", zeros_and_ones, tiny, false},
    {"zero-times-huge", zero_or_huge, below, false},
    {"low-c-zero", low, only_zeros, false},
    {"low", low, tiny, false},
    {"c-above", window, above, false},
    {"c-below", window, below, false},
    {"large", large, large, true},
    {"root-of-large", root_of_large, large, false},
};
_Static_assert(sizeof recipes / sizeof *recipes == TILE_RECIPES, "as many as tile.h says");

uint64_t random_number(random_bits *r, const binary_format *format, unsigned choice) {
    return recipes[choice % TILE_RECIPES].factor(r, format);
}

int tile_k(const instruction *i) {
    return i->k * i->chain;
}

/* Products k and k + 1 become opposite, or differ in the last bit of a factor. */
static void cancel_pairs(tile *t, const instruction *i, random_bits *r) {
    int k_count = tile_k(i);
    for (int k = 0; k + 1 < k_count; k += 2) {
        for (int row = 0; row < i->m; row++)
            t->a[row][k + 1] = t->a[row][k] ^ (uint64_t)one_in(r, 3) << i->a->ignored_bits;
        for (int column = 0; column < i->n; column++)
            t->b[column][k + 1] = t->b[column][k] ^ UINT64_C(1) << (i->b->storage_bits - 1);
    }
}

void tile_fill(tile *t, const instruction *i, uint64_t index) {
    random_bits r = {index};
    for (const char *name = i->name; *name; name++)
        r.state = random_next(&r) + (uint64_t)(unsigned char)*name;
    size_t recipe = index % TILE_RECIPES;
    t->recipe = recipes[recipe].name;
    for (int k = 0; k < tile_k(i); k++) {
        for (int row = 0; row < i->m; row++)
            t->a[row][k] = recipes[recipe].factor(&r, i->a);
        for (int column = 0; column < i->n; column++)
            t->b[column][k] = recipes[recipe].factor(&r, i->b);
    }
    if (recipes[recipe].cancels)
        cancel_pairs(t, i, &r);
    for (int row = 0; row < i->m; row++)
        for (int column = 0; column < i->n; column++)
            t->c[row][column] = i->without_c ? 0 : recipes[recipe].c(&r, i->c);
}
