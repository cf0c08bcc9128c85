/* predicates.c - comparisons by name, and what they are of two numbers. */
#include "ops/predicates.h"

#include <string.h>

predicate predicate_of(const char *name) {
    static const char *const names[] = {
#define PREDICATE(ENUM, name, sign, floats, integers, naturals) name,
#include "ops/predicates.def"
    };
    int p = 0;
    while (p < PREDICATE_COUNT && strcmp(names[p], name) != 0)
        p++;
    return (predicate)p;
}

bool predicate_holds_i64(predicate p, int64_t x, int64_t y) {
    switch (p) {
#define PREDICATE(ENUM, name, sign, floats, integers, naturals)                                    \
    case PREDICATE_##ENUM:                                                                         \
        return x sign y;
#include "ops/predicates.def"
    default:
        return false;
    }
}

bool predicate_holds_integer(predicate p, dtype type, int64_t x, int64_t y) {
    return predicate_holds_i64(p, dtype_integer_less(type, y, x), dtype_integer_less(type, x, y));
}

bool predicate_holds_f64(predicate p, double x, double y) {
    switch (p) {
#define PREDICATE(ENUM, name, sign, floats, integers, naturals)                                    \
    case PREDICATE_##ENUM:                                                                         \
        return x sign y;
#include "ops/predicates.def"
    default:
        return false;
    }
}
