/* record.h - one element with all its operands as a line of text: instruction, recipe, result, c,
 * row of A, column of B, all as hexadecimal codes. What hardware computed can so be looked at where
 * there is none. */
#ifndef MATRIX_UNITS_RECORD_H
#define MATRIX_UNITS_RECORD_H

#include <stdio.h>

#include "tile.h"

enum { RECORD_LINE = 4096 };

typedef struct record {
    const instruction *instruction;
    char recipe[32];
    uint64_t result, c, a[MATRIX_UNIT_MAX_K], b[MATRIX_UNIT_MAX_K];
} record;

void record_write(FILE *file, const record *r);
/* False where the line is none, or names an instruction that is not in the list. */
bool record_read(const char *line, const instruction *list, size_t count, record *r);
/* Returns the result that the model computes. */
uint64_t record_model(const record *r, const matrix_unit *model);

#endif
