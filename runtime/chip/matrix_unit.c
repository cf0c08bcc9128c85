/* matrix_unit.c - the table of units, factors taken apart, and instructions one after the other. */
#include "chip/matrix_unit.h"

#include <math.h>
#include <string.h>

#include "chip/matrix_unit_rules.h"

#define binary_none (*(const binary_format *)NULL)

/* Columns that the table leaves out. CDNA3 takes a zero for a number near 2^-126, as its source
 * says; NVIDIA's take it for none. */
#define NO_WIDTHS 0, ALIGN_CUT, 0, 0, 0, BINARY_NEAREST_EVEN
#define WIDTHS_DOWN 24, ALIGN_CUT, -126, -1000, 23, BINARY_NEAREST_EVEN
#define WIDTHS_DOWN_HALVES WIDTHS_DOWN
#define WIDTHS_FMA NO_WIDTHS
#define WIDTHS_FMA_THEN_C NO_WIDTHS
#define WIDTHS_FMA_PAIRS NO_WIDTHS
#define WIDTHS_TREE NO_WIDTHS
#define WIDTHS_TREE_FLUSHED NO_WIDTHS
#define WIDTHS_ODD_FIRST NO_WIDTHS
#define WIDTHS_LANES NO_WIDTHS
#define WIDTHS_ROUND_TO_ODD NO_WIDTHS
#define WIDTHS_FUSED_PAIR NO_WIDTHS
#define WIDTHS_EXACT NO_WIDTHS

#define ROW(name, RULE, factor, other, accumulator, k, step, ...)                                  \
    {name, MATRIX_UNIT_##RULE, {&binary_##factor, &binary_##other}, &binary_##accumulator, k,      \
     step, __VA_ARGS__},

const matrix_unit matrix_units[] = {
#define SUM(name, RULE, factor, other, accumulator, k, step, fraction, least, result, ROUND, on,   \
            source)                                                                                \
    ROW(name, RULE, factor, other, accumulator, k, step, fraction, ALIGN_CUT, MATRIX_UNIT_NOWHERE, \
        least, result, BINARY_##ROUND, on, source)
#define UNIT(name, RULE, factor, other, accumulator, k, step, on, source)                          \
    ROW(name, RULE, factor, other, accumulator, k, step, WIDTHS_##RULE, on, source)
#include "chip/matrix_units.def"
};
const size_t matrix_unit_count = sizeof matrix_units / sizeof *matrix_units;

const matrix_unit *matrix_unit_find(const char *name) {
    for (size_t i = 0; i < matrix_unit_count; i++)
        if (strcmp(matrix_units[i].name, name) == 0)
            return &matrix_units[i];
    return NULL;
}

bool matrix_unit_takes(const matrix_unit *unit, const binary_format *format) {
    return format && (unit->factors[0] == format || unit->factors[1] == format);
}

int matrix_unit_whole_bits(const matrix_unit *unit) {
    bool narrow = unit->rule == MATRIX_UNIT_ALIGNED || unit->rule == MATRIX_UNIT_ALIGNED_AS_F16;
    int bits = unit->accumulator->fraction_bits;
    bits = narrow && unit->fraction_bits < bits ? unit->fraction_bits : bits;
    bits = narrow && unit->result_fraction_bits < bits ? unit->result_fraction_bits : bits;
    return bits + (binary_is_integer(unit->accumulator) ? 0 : 1);
}

/* ---- factors ---- */

/* Returns the k that comes in place `at`. */
static size_t taken(const matrix_unit *unit, size_t at, size_t count) {
    size_t half = count / 2;
    return unit->rule != MATRIX_UNIT_ALIGNED_AS_F16
               ? at
               : at % half / 2 * 4 + at % half % 2 + at / half * 2;
}

static bool is_aligned(const matrix_unit *unit) {
    return unit->rule == MATRIX_UNIT_ALIGNED || unit->rule == MATRIX_UNIT_ALIGNED_AS_F16 ||
           unit->rule == MATRIX_UNIT_DOWN || unit->rule == MATRIX_UNIT_DOWN_HALVES ||
           unit->rule == MATRIX_UNIT_EXACT;
}

bool matrix_unit_flushes(const matrix_unit *unit) {
    return unit->rule == MATRIX_UNIT_TREE_FLUSHED || unit->rule == MATRIX_UNIT_ODD_FIRST ||
           unit->rule == MATRIX_UNIT_LANES || unit->rule == MATRIX_UNIT_ROUND_TO_ODD;
}

/* As the unit reads it: without what it takes for zero. */
static double value_read(const matrix_unit *unit, const binary_format *format, uint64_t code) {
    double x = binary_value(format, code), least = ldexp(1, binary_least_exponent(format));
    bool small = fabs(x) < least;
    if (unit->rule == MATRIX_UNIT_TREE_FLUSHED)
        return small ? 0 : x; /* the sign, too */
    return matrix_unit_flushes(unit) && small ? copysign(0, x) : x;
}

static void decode_parts(matrix_factors *row, const matrix_unit *unit, size_t k) {
    binary_number x = binary_decode(row->format, row->code[k]);
    row->exponent[k] = x.kind == BINARY_ZERO ? unit->zero_exponent : x.exponent;
    row->significand[k] = x.negative ? -(int64_t)x.significand : (int64_t)x.significand;
    row->special |= x.kind == BINARY_INFINITE || x.kind == BINARY_NAN;
}

size_t matrix_unit_span(const matrix_unit *unit) {
    return unit->rule == MATRIX_UNIT_ALIGNED_AS_F16 ? (size_t)unit->k : MATRIX_UNIT_MAX_K;
}

void matrix_factors_decode(matrix_factors *row, const matrix_unit *unit,
                           const binary_format *format, const uint64_t *codes, size_t count) {
    bool as_f16 = unit->rule == MATRIX_UNIT_ALIGNED_AS_F16, aligned = is_aligned(unit);
    row->count = count;
    row->special = false;
    row->format = as_f16 ? &binary_f16 : format;
    for (size_t k = 0; k < count; k++) {
        uint64_t code = codes[taken(unit, k, count)];
        row->code[k] = as_f16 ? binary_round(&binary_f16, binary_value(format, code)) : code;
        if (aligned)
            decode_parts(row, unit, k);
        else
            row->value[k] = value_read(unit, format, code);
    }
}

/* ---- instructions ---- */

typedef uint64_t (*piece_fn)(const matrix_terms *t, uint64_t c);

static uint64_t in_pieces(piece_fn piece, matrix_terms t, size_t length, uint64_t c) {
    size_t end = t.last;
    for (; t.first < end; t.first += length) {
        t.last = t.first + length < end ? t.first + length : end;
        c = piece(&t, c);
    }
    return c;
}

static uint64_t aligned_as_f16(const matrix_terms *t, uint64_t c) {
    const binary_format *format = t->unit->accumulator;
    uint64_t sum = in_pieces(matrix_step_aligned, *t, t->a->count / 2, 0);
    return binary_round(format, binary_value(format, c) + binary_value(format, sum));
}

static uint64_t exact(const matrix_terms *t, uint64_t c) {
    for (size_t k = t->first; k < t->last; k++)
        c += (uint64_t)t->a->significand[k] * (uint64_t)t->b->significand[k];
    return c & UINT32_MAX;
}

/* Functions of the rules: each does a step at once, or an instruction. */
static const struct {
    piece_fn piece;
    bool instruction;
} pieces[] = {
    [MATRIX_UNIT_ALIGNED] = {matrix_step_aligned, false},
    [MATRIX_UNIT_ALIGNED_AS_F16] = {aligned_as_f16, true},
    [MATRIX_UNIT_FMA] = {matrix_fma, true},
    [MATRIX_UNIT_FMA_THEN_C] = {matrix_fma_then_c, true},
    [MATRIX_UNIT_FMA_PAIRS] = {matrix_fma_pairs, true},
    [MATRIX_UNIT_TREE] = {matrix_tree, true},
    [MATRIX_UNIT_TREE_FLUSHED] = {matrix_tree, true},
    [MATRIX_UNIT_DOWN] = {matrix_step_down, false},
    [MATRIX_UNIT_DOWN_HALVES] = {matrix_step_down, false},
    [MATRIX_UNIT_ODD_FIRST] = {matrix_odd_first, true},
    [MATRIX_UNIT_LANES] = {matrix_lanes, true},
    [MATRIX_UNIT_ROUND_TO_ODD] = {matrix_round_to_odd, true},
    [MATRIX_UNIT_FUSED_PAIR] = {matrix_fused_pair, true},
    [MATRIX_UNIT_EXACT] = {exact, true},
};

uint64_t matrix_unit_dot(const matrix_unit *unit, const matrix_factors *a, const matrix_factors *b,
                         uint64_t c) {
    const matrix_terms all = {unit, a, b, 0, a->count};
    int length = pieces[unit->rule].instruction ? unit->k : unit->step;
    return in_pieces(pieces[unit->rule].piece, all, (size_t)length, c);
}
