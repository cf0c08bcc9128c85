/* search.h - which parameters of the model explain what hardware computed. */
#ifndef MATRIX_UNITS_SEARCH_H
#define MATRIX_UNITS_SEARCH_H

#include "instruction.h"

/* For each instruction that the file of records names: the parameters with the fewest mismatches,
 * least first. Returns the exit code. */
int search_records(const char *path, const instruction *list, size_t count);

#endif
