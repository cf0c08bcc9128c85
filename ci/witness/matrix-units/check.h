/* check.h - one matrix instruction on many tiles, each element compared with the model. */
#ifndef MATRIX_UNITS_CHECK_H
#define MATRIX_UNITS_CHECK_H

#include <stdio.h>

#include "instruction.h"

typedef struct check_result {
    uint64_t tiles, elements, mismatches;
} check_result;

/* Runs `tiles` of them (rounded up to whole blocks) and prints the operands of the first mismatch.
 * Where `record` is open, elements of the first tiles are written into it as the hardware computed
 * them (record.h). */
check_result check_instruction(const instruction *i, uint64_t tiles, FILE *record);

#endif
