/* limits.h - limits.def as constants. */
#ifndef TESSERA_IR_LIMITS_H
#define TESSERA_IR_LIMITS_H

#include <stdint.h>

enum {
#define LIMIT(NAME, value, shown, what) LIMIT_##NAME = (value),
#include "ir/limits.def"
};

/* The greatest of each. */
static const int64_t limit_dimension = INT64_C(1) << LIMIT_DIMENSION_BITS,
                     limit_elements = INT64_C(1) << LIMIT_ELEMENT_BITS;

#endif
