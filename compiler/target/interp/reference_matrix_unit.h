/* reference_matrix_unit.h - bounds of contractions in the order of a matrix unit. docs/numerics.md,
 * "Derived bounds", has them in words. */
#ifndef TESSERA_TARGET_INTERP_REFERENCE_MATRIX_UNIT_H
#define TESSERA_TARGET_INTERP_REFERENCE_MATRIX_UNIT_H

#include "chip/matrix_unit.h"
#include "target/interp/reference.h"

/* At least 2^e of the exponent that the unit takes a factor for, which is at most `x` in magnitude
 * (`exact`: is x). The least one it is, the smaller what is cut off. */
double reference_unit_weight(const matrix_unit *unit, const binary_format *format, double x,
                             bool exact);
/* Distance at most of what the unit reads of a factor from it. */
double reference_unit_misread(const matrix_unit *unit, const binary_format *format, double x);

/* Facts known of one result. */
typedef struct unit_sum {
    double value, weight, carried; /* of the products; what they bring with them */
    int64_t steps;
} unit_sum;
bounded reference_unit_sum(const matrix_unit *unit, const unit_sum *sum, dtype result);

#endif
