/* scalar.h - do the device's ordinary operations have the bits that IEEE 754 asks for, subnormals
 * kept? */
#ifndef MATRIX_UNITS_SCALAR_H
#define MATRIX_UNITS_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* Each operation on `count` operands, random and directed; prints one line each. True when all
 * agree; any NaN is as good as another. */
bool scalar_check(uint64_t count);

#endif
