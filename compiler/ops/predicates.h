/* predicates.h - comparisons of elements (predicates.def). */
#ifndef TESSERA_OPS_PREDICATES_H
#define TESSERA_OPS_PREDICATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

typedef enum predicate {
#define PREDICATE(ENUM, name, sign, floats, integers, naturals) PREDICATE_##ENUM,
#include "ops/predicates.def"
    PREDICATE_COUNT
} predicate;

/* PREDICATE_COUNT: the name is none. */
predicate predicate_of(const char *name);
/* False of PREDICATE_COUNT. */
bool predicate_holds_i64(predicate p, int64_t x, int64_t y);
/* Takes integers of a type as dtype_integer() has them. */
bool predicate_holds_integer(predicate p, dtype type, int64_t x, int64_t y);
bool predicate_holds_f64(predicate p, double x, double y);

#endif
