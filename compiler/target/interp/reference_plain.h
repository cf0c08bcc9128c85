/* reference_plain.h - arithmetic on numbers that are far from every limit. */
#ifndef TESSERA_COMPILER_TARGET_INTERP_REFERENCE_PLAIN_H
#define TESSERA_COMPILER_TARGET_INTERP_REFERENCE_PLAIN_H

#include "target/interp/reference_walk.h"

enum { REFERENCE_PLAIN = 64 };

/* Writes REFERENCE_PLAIN elements of the result from the first on, with the values and bounds that
 * reference_elementwise gives them one by one. False: one of them is no plain number, or the
 * operation is none of these; then nothing that was written may be used. `roundings`: of the
 * operation. */
bool reference_plain(const reference_step *s, double roundings, int64_t first);

#endif
