/* inputs.h - what conversions are tried on: all of a type of at most 16 bits; of a wider one every
 * number of the narrow floats, every midpoint between two, what lies next to those, and a sample.
 */
#ifndef TESSERA_TEST_CONVERSIONS_INPUTS_H
#define TESSERA_TEST_CONVERSIONS_INPUTS_H

#include "base/dtype.h"
#include "base/vec.h"

typedef VEC(uint64_t) bit_list;

/* Appends bits of elements. */
void conversion_inputs(dtype from, bit_list *out);

#endif
