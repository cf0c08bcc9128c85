/* matrix_unit_aligned.c - sums of numbers that are cut at the greatest exponent among them: all of
 * them at once (NVIDIA), or the products first and then c (CDNA3).
 *
 * A product's exponent is the sum of its factors' stored exponents, not normalised: 1.5 * 1.5
 * counts as 2^0. Sources: matrix_units.def. */
#include "chip/matrix_unit_rules.h"

/* Sums of exponents below this one have a part that is MATRIX_UNIT_NOWHERE. */
enum { ANYWHERE = -2048 };

/* ---- infinities and NaN ---- */

/* Signs of the infinities among the terms, as two bits; 3 also for a NaN and for infinity times
 * zero. */
static unsigned infinities(const matrix_terms *t, const binary_number *c) {
    unsigned found = c->kind == BINARY_NAN        ? 3u
                     : c->kind == BINARY_INFINITE ? 1u << c->negative
                                                  : 0;
    for (size_t k = t->first; k < t->last; k++) {
        binary_number x = binary_decode(t->a->format, t->a->code[k]),
                      y = binary_decode(t->b->format, t->b->code[k]);
        binary_kind greater = x.kind > y.kind ? x.kind : y.kind,
                    less = x.kind > y.kind ? y.kind : x.kind;
        if (greater == BINARY_NAN || (greater == BINARY_INFINITE && less == BINARY_ZERO))
            found |= 3u;
        else if (greater == BINARY_INFINITE)
            found |= 1u << (x.negative != y.negative);
    }
    return found;
}

static unsigned specials(const matrix_terms *t, const binary_number *c) {
    bool any =
        t->a->special || t->b->special || c->kind == BINARY_INFINITE || c->kind == BINARY_NAN;
    return any ? infinities(t, c) : 0;
}

/* ---- aligned sums ---- */

/* significand * 2^-shift. Of a zero, the shift may be negative. */
static inline int64_t align(int64_t significand, int shift, matrix_alignment how) {
    int bits = shift < 0 ? 0 : shift > 62 ? 62 : shift;
    int64_t half = how == ALIGN_NEAREST ? (INT64_C(1) << bits) / 2 : 0;
    int64_t sign = how == ALIGN_CUT ? significand >> 63 : 0;
    return ((((significand + half) ^ sign) - sign) >> bits ^ sign) - sign;
}

/* Every `stride`th product from `first` on. */
typedef struct group {
    size_t first, stride;
} group;

/* The greatest exponent among the products, or MATRIX_UNIT_NOWHERE. */
static int greatest_product(const matrix_terms *t, group g) {
    int greatest = 2 * MATRIX_UNIT_NOWHERE;
    for (size_t k = g.first; k < t->last; k += g.stride) {
        int exponent = t->a->exponent[k] + t->b->exponent[k];
        greatest = exponent > greatest ? exponent : greatest;
    }
    return greatest < ANYWHERE ? MATRIX_UNIT_NOWHERE : greatest;
}

/* In units of the last kept bit below 2^greatest. */
static int64_t sum_of_products(const matrix_terms *t, group g, int greatest) {
    int excess = t->a->format->fraction_bits + t->b->format->fraction_bits - t->unit->fraction_bits;
    int up = excess < 0 ? -excess : 0, down = greatest + (excess < 0 ? 0 : excess);
    matrix_alignment how = t->unit->align;
    int64_t sum = 0;
    for (size_t k = g.first; k < t->last; k += g.stride) {
        int64_t product = t->a->significand[k] * t->b->significand[k] * (INT64_C(1) << up);
        sum += align(product, down - t->a->exponent[k] - t->b->exponent[k], how);
    }
    return sum;
}

/* A number in units of 2^(greatest - bits). */
static int64_t aligned(const binary_number *x, const binary_format *format, int greatest, int bits,
                       matrix_alignment how) {
    int excess = format->fraction_bits - bits;
    int64_t significand = x->negative ? -(int64_t)x->significand : (int64_t)x->significand;
    if (excess < 0)
        significand *= INT64_C(1) << -excess;
    return align(significand, greatest - x->exponent + (excess < 0 ? 0 : excess), how);
}

static uint64_t finite_aligned(const matrix_terms *t, const binary_number *c) {
    const matrix_unit *unit = t->unit;
    const binary_format *format = unit->accumulator;
    const group all = {t->first, 1};
    int greatest = greatest_product(t, all),
        of_c = c->kind == BINARY_ZERO ? unit->zero_exponent : c->exponent;
    greatest = of_c > greatest ? of_c : greatest;
    greatest = unit->least_exponent > greatest ? unit->least_exponent : greatest;
    int64_t sum = sum_of_products(t, all, greatest) +
                  aligned(c, format, greatest, unit->fraction_bits, unit->align);
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    uint64_t code = binary_encode(format, unit->result_fraction_bits, unit->round, sum < 0,
                                  magnitude, greatest - unit->fraction_bits);
    return code & binary_nan(format) ? code : 0; /* zero is +0 */
}

uint64_t matrix_step_aligned(const matrix_terms *t, uint64_t code) {
    const binary_format *format = t->unit->accumulator;
    binary_number c = binary_decode(format, code);
    unsigned found = specials(t, &c);
    if (found)
        return found == 3 ? binary_nan(format) : binary_infinity(format, found == 2);
    return finite_aligned(t, &c);
}

/* ---- rounded down ---- */

enum { SUM_BITS = 31, C_BITS = 24, C_REACH = 25, GREATEST_F32 = 127 };

/* A sum of products in units of 2^(exponent - fraction_bits). */
typedef struct partial {
    int64_t sum;
    int exponent;
} partial;

static partial products(const matrix_terms *t, size_t first, size_t stride) {
    const group g = {first, stride};
    int greatest = greatest_product(t, g);
    return (partial){sum_of_products(t, g, greatest), greatest};
}

/* Even and odd products apart; both sums rounded down to the bits at the greater exponent. */
static partial joined_halves(const matrix_terms *t) {
    partial even = products(t, t->first, 2), odd = products(t, t->first + 1, 2);
    int greatest = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    return (partial){align(even.sum, greatest - even.exponent, ALIGN_DOWN) +
                         align(odd.sum, greatest - odd.exponent, ALIGN_DOWN),
                     greatest};
}

/* Products that no f32 holds are infinities, which their sum cannot take back: their signs, as two
 * bits. */
static unsigned overflows(const matrix_terms *t) {
    int bits = t->a->format->fraction_bits + t->b->format->fraction_bits;
    unsigned found = 0;
    for (size_t k = t->first; k < t->last; k++) {
        int exponent = t->a->exponent[k] + t->b->exponent[k];
        int64_t product = t->a->significand[k] * t->b->significand[k];
        int64_t whole = (product < 0 ? -product : product) >> bits;
        if (exponent >= GREATEST_F32 && whole >= (exponent > GREATEST_F32 ? 1 : 2))
            found |= 1u << (product < 0);
    }
    return found;
}

static uint64_t finite_down(const matrix_terms *t, const binary_number *c) {
    const matrix_unit *unit = t->unit;
    bool halves = unit->rule == MATRIX_UNIT_DOWN_HALVES;
    partial p = halves ? joined_halves(t) : products(t, t->first, 1);
    int of_c = c->kind == BINARY_ZERO ? unit->zero_exponent : c->exponent;
    int greatest = p.exponent > of_c ? p.exponent : of_c;
    int64_t sum = align(p.sum * (INT64_C(1) << (SUM_BITS - unit->fraction_bits)),
                        greatest - p.exponent, ALIGN_DOWN);
    if (!halves || of_c >= greatest - C_REACH)
        sum += aligned(c, unit->accumulator, greatest, C_BITS, ALIGN_DOWN) *
               (INT64_C(1) << (SUM_BITS - C_BITS));
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    return binary_encode(unit->accumulator, unit->result_fraction_bits, unit->round, sum < 0,
                         magnitude, greatest - SUM_BITS);
}

uint64_t matrix_step_down(const matrix_terms *t, uint64_t code) {
    const binary_format *format = t->unit->accumulator;
    binary_number c = binary_decode(format, code);
    unsigned found = specials(t, &c);
    found = found ? found : overflows(t);
    if (found)
        return found == 3 ? binary_quiet_nan(format) : binary_infinity(format, found == 2);
    return finite_down(t, &c);
}
