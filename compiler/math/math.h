/* math.h - the specified functions (numerics version 1), each written once as a sequence of f32 and
 * i32 operations.
 *
 * The sequences know neither tiles nor targets: they ask a `math_emit` for one operation at a time,
 * and Tile IR's expansion pass supplies it. Every operation is IEEE binary32 with one rounding, or
 * 32-bit two's complement. The same sequences, transcribed by hand into plain scalar C, are the
 * interpreter's (target/interp/functions.c). */
#ifndef TESSERA_MATH_MATH_H
#define TESSERA_MATH_MATH_H

#include "ir/ir.h"

typedef enum math_function {
#define F(ENUM, name) MATH_##ENUM,
#include "math/functions.def"
    MATH_FUNCTION_COUNT
} math_function;

/* Those of two operands. */
typedef enum math_pair {
#define P(ENUM, name, first, second) MATH_##ENUM,
#include "math/pairs.def"
    MATH_PAIR_COUNT
} math_pair;

/* Two sets of sequences for the same functions: the specified ones, in f32, and those whose every
 * result is the f32 nearest to the exact value, which compute in f64 (math/correct). */
typedef enum math_set { MATH_SPECIFIED, MATH_CORRECT, MATH_SET_COUNT } math_set;

typedef enum math_op {
#define M(ENUM, tile, predicate, result) MATH_OP_##ENUM,
#include "math/operations.def"
    MATH_OP_COUNT
} math_op;

typedef struct math_emit {
    void *context;
    ir_value (*op)(void *context, math_op op, ir_value a, ir_value b,
                   ir_value c); /* unused operands are 0 */
    ir_value (*f32)(void *context, float value);
    ir_value (*i32)(void *context, int32_t value);
    ir_value (*f64)(void *context, double value);
    ir_value (*i64)(void *context, uint64_t value);
    /* x * 2^n in one rounding, t = 1.5 * 2^23 + 254 + n, -151 <= n <= 129, or NaN with x; NULL: it
     * is written out. */
    ir_value (*scale)(void *context, ir_value x, ir_value t);
} math_emit;

/* The value of the specified `function` at `x` (an f32 value of the emitter's kind). Those of the
 * other set: correct_build (math/correct/build.h). */
ir_value math_build(const math_emit *emit, math_function function, ir_value x);
/* Likewise of a function of two operands, of which there is only the specified one. */
ir_value math_build_pair(const math_emit *emit, math_pair pair, ir_value first, ir_value second);
/* The one that an operation of Graph IR is; the enum's COUNT: none. */
math_function math_function_of(int opcode);
math_pair math_pair_of(int opcode);
/* The set that a kernel's attribute `math` asks for; NULL or "" is MATH_SPECIFIED. False where no
 * set has this name. */
bool math_set_named(const char *name, math_set *set_out);

#endif
