/* reference_matrix_unit.c - how far a matrix unit's sum can be from the exact one.
 *
 * Each rule rounds some number of times. Of all its roundings together, the part that is relative
 * to the sum of the weights, r, and the one that is not, a, give the bound (r W + a) / (1 - r): an
 * accumulator is at most W and the error so far, and each step is relative to what it finds. */
#include "target/interp/reference_matrix_unit.h"

#include <math.h>

#include "ops/unit_order.h"

static const double U = 0x1p-24;          /* half a unit in the last place of f32 */
static const double LEAST = 0x1p-126;     /* the least normal f32 */
static const double SUBNORMAL = 0x1p-149; /* the least f32 */

static bool flushes_factors(const matrix_unit *unit) {
    return unit->rule == MATRIX_UNIT_TREE_FLUSHED || unit->rule == MATRIX_UNIT_ODD_FIRST ||
           unit->rule == MATRIX_UNIT_LANES || unit->rule == MATRIX_UNIT_ROUND_TO_ODD;
}

static bool is_aligned(const matrix_unit *unit) {
    return unit->rule == MATRIX_UNIT_ALIGNED || unit->rule == MATRIX_UNIT_ALIGNED_AS_F16 ||
           unit->rule == MATRIX_UNIT_DOWN || unit->rule == MATRIX_UNIT_DOWN_HALVES;
}

double reference_unit_weight(const matrix_unit *unit, const binary_format *format, double x,
                             bool exact) {
    double magnitude = fabs(x);
    if (!is_aligned(unit))
        return magnitude;
    if (exact && magnitude == 0)
        return unit->zero_exponent == MATRIX_UNIT_NOWHERE ? 0 : ldexp(1, unit->zero_exponent);
    return fmax(magnitude, ldexp(1, binary_least_exponent(format)));
}

double reference_unit_misread(const matrix_unit *unit, const binary_format *format, double x) {
    double magnitude = fabs(x);
    if (flushes_factors(unit) && magnitude < ldexp(1, binary_least_exponent(format)))
        return magnitude;
    if (format->ignored_bits == 0)
        return 0;
    return fmin(magnitude, fmax(ldexp(magnitude, -format->fraction_bits),
                                ldexp(1, binary_least_exponent(format) - format->fraction_bits)));
}

/* ---- roundings ---- */

typedef struct roundings {
    double relative, absolute;
} roundings;

/* One aligned sum of `terms`, c among them: each loses less than the last kept bit, and so does the
 * result. */
static roundings of_aligned(const matrix_unit *unit, double terms) {
    int least = binary_least_exponent(unit->accumulator);
    double cut = terms * ldexp(1, -unit->fraction_bits),
           last = ldexp(1, -unit->result_fraction_bits - (unit->round == BINARY_CUT ? 0 : 1));
    return (roundings){cut + last, ldexp(cut + ldexp(1, -unit->result_fraction_bits), least)};
}

/* CDNA3: the products are cut, their halves, their sum and c rounded down, the result rounded. */
static roundings of_down(const matrix_unit *unit, double terms) {
    double bits = ldexp(1, -unit->fraction_bits);
    double relative = (terms + 4) * bits;
    return (roundings){relative, relative * LEAST + SUBNORMAL};
}

static roundings times(roundings r, double n) {
    return (roundings){n * r.relative, n * r.absolute};
}

/* `n` products, a multiple of the unit's k. */
static roundings of_all(const matrix_unit *unit, double n) {
    double k = unit->k, step = unit->step, instructions = n / k, steps = n / step;
    bool f64 = unit->accumulator == &binary_f64;
    switch (unit->rule) {
    case MATRIX_UNIT_ALIGNED:
        return times(of_aligned(unit, step + 1), steps);
    case MATRIX_UNIT_ALIGNED_AS_F16: {
        roundings one = times(of_aligned(unit, step + 1), steps);
        double last = ldexp(1, -1 - unit->accumulator->fraction_bits);
        return (roundings){one.relative + instructions * last, one.absolute};
    }
    case MATRIX_UNIT_DOWN:
    case MATRIX_UNIT_DOWN_HALVES:
        return times(of_down(unit, step), steps);
    case MATRIX_UNIT_FMA:
        return times((roundings){f64 ? 0x1p-53 : U, f64 ? 0x1p-1074 : SUBNORMAL}, n);
    case MATRIX_UNIT_FMA_THEN_C:
        return times((roundings){U, SUBNORMAL}, n + instructions);
    case MATRIX_UNIT_FMA_PAIRS:
        return times((roundings){(k + 2) * U + 0x1p-11, (k + 2) * SUBNORMAL + 0x1p-25},
                     instructions);
    case MATRIX_UNIT_TREE:
        return (roundings){(1 + log2(step) + steps) * U, 3 * n * SUBNORMAL};
    case MATRIX_UNIT_TREE_FLUSHED:
        return (roundings){(1 + log2(step) + steps) * U, 3 * n * LEAST};
    case MATRIX_UNIT_ODD_FIRST:
        return times((roundings){U, LEAST}, n);
    case MATRIX_UNIT_LANES:
        return times((roundings){(k / 2 + 2) * U, (k + 2) * LEAST}, instructions);
    case MATRIX_UNIT_ROUND_TO_ODD: /* up to a whole unit in the last place */
        return (roundings){(1 + n / 2) * 2 * U, 2 * n * LEAST};
    case MATRIX_UNIT_FUSED_PAIR:
        return (roundings){(1 + n / 2) * U, n * SUBNORMAL};
    case MATRIX_UNIT_EXACT:
        break;
    }
    return (roundings){0, 0};
}

bounded reference_unit_sum(const matrix_unit *unit, const unit_sum *sum, dtype result) {
    dtype wide = unit_order_accumulator(unit);
    double n = ceil((double)sum->steps / unit->k) * unit->k, weight = sum->weight + sum->carried;
    if (sum->value == 0 && weight == 0)
        return (bounded){sum->value, 0};
    roundings all = of_all(unit, n);
    all.relative += n * 0x1p-52; /* of the reference itself */
    double own =
        all.relative < 0.5 ? (all.relative * weight + all.absolute) / (1 - all.relative) : HUGE_VAL;
    bounded total = {sum->value, sum->carried + own};
    if (!(weight + total.bound <= dtype_format_of(wide)->largest))
        total.bound = HUGE_VAL;
    return reference_rounded(total, result, result == wide ? 0 : 1);
}
