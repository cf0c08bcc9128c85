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

typedef enum math_op {
    MATH_OP_ADD, /* f32 */
    MATH_OP_SUB,
    MATH_OP_MUL,
    MATH_OP_DIV,
    MATH_OP_SQRT,
    MATH_OP_FMA,
    MATH_OP_LT, /* ordered f32 comparisons: false with a NaN; the result is a mask for SELECT and
                   LOGIC_* */
    MATH_OP_LE,
    MATH_OP_EQ,
    MATH_OP_UNORDERED, /* either is a NaN */
    MATH_OP_SELECT,    /* mask, then, else; both f32 or both i32 */
    MATH_OP_LOGIC_AND, /* of masks */
    MATH_OP_LOGIC_OR,
    MATH_OP_IADD, /* i32, wrapping */
    MATH_OP_ISUB,
    MATH_OP_IMUL,
    MATH_OP_UMULH, /* the high half of the unsigned product of 64 bits */
    MATH_OP_AND,
    MATH_OP_OR,
    MATH_OP_XOR,
    MATH_OP_SHL,  /* by 32 or more, unsigned: 0 */
    MATH_OP_SHR,  /* arithmetic, by a constant below 32 */
    MATH_OP_USHR, /* logical, else like SHL */
    MATH_OP_ILT,  /* signed i32 comparisons */
    MATH_OP_IEQ,
    MATH_OP_TO_BITS,   /* f32 -> its bits as i32 */
    MATH_OP_FROM_BITS, /* i32 -> f32 with these bits */
    MATH_OP_TO_INT,    /* truncates; the value is in range */
    MATH_OP_TO_FLOAT,  /* i32 -> f32, nearest even */
    MATH_OP_COUNT
} math_op;

typedef struct math_emit {
    void *context;
    ir_value (*op)(void *context, math_op op, ir_value a, ir_value b,
                   ir_value c); /* unused operands are 0 */
    ir_value (*f32)(void *context, float value);
    ir_value (*i32)(void *context, int32_t value);
} math_emit;

/* The value of `function` at `x` (an f32 value of the emitter's kind). */
ir_value math_build(const math_emit *emit, math_function function, ir_value x);

#endif
