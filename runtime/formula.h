/* formula.h - whole numbers as formulas of named dimensions: "2*D + 1", "floordiv(N + 511, 512)".
 *
 *   sum = [-] product { (+ | -) product };  product = atom { * atom }
 *   atom = number | name | ( sum ) | floordiv( sum , sum )
 *
 * floordiv rounds down. Everything is 64 bits; what overflows, and a division by zero, has no
 * value. */
#ifndef TESSERA_RUNTIME_FORMULA_H
#define TESSERA_RUNTIME_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct formula_names {
    const char *const *names;
    const int64_t *values; /* one a name */
    uint32_t count;
} formula_names;

typedef enum formula_result {
    FORMULA_OK,
    FORMULA_NO_VALUE, /* overflow, division by zero */
    FORMULA_WRONG     /* not of this grammar, or an unknown name, or nested too deeply */
} formula_result;

/* *out is 0 where there is no value. */
formula_result formula_evaluate(const char *formula, const formula_names *names, int64_t *out);

#endif
