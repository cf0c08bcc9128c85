/* interp_matrix_unit.h - contractions in the order of a matrix unit (ops/unit_order.h). */
#ifndef TESSERA_TARGET_INTERP_INTERP_MATRIX_UNIT_H
#define TESSERA_TARGET_INTERP_INTERP_MATRIX_UNIT_H

#include "chip/matrix_unit.h"
#include "target/interp/interp.h"

/* A contraction whose sides are permuted as the plan says, of floats that the unit takes. */
typedef struct interp_unit_job {
    const matrix_unit *unit;
    const dot_plan *plan;
    const tensor *x, *y;
    tensor *out;
} interp_unit_job;
void interp_unit_dot(const interp_unit_job *job);

#endif
