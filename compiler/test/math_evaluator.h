/* math_evaluator.h - an emitter that computes a sequence of compiler/math at once, operation by
 * operation, in plain C: for the tests that hold the sequences to the interpreter's transcriptions.
 */
#ifndef TESSERA_TEST_MATH_EVALUATOR_H
#define TESSERA_TEST_MATH_EVALUATOR_H

#include "runtime/test/test.h"

#include <math.h>

#include "base/dtype.h"
#include "math/math.h"

enum { VALUES = 512 };

/* ir_value i is values[i], as bits (masks are 0 or 1). */
typedef struct evaluator {
    uint64_t values[VALUES];
    uint32_t count;
    uint32_t used[MATH_OP_COUNT];
} evaluator;

static inline ir_value keep(evaluator *e, uint64_t bits) {
    assert_true(e->count + 1 < VALUES);
    e->values[++e->count] = bits;
    return e->count;
}

static inline ir_value keep_f32(void *context, float value) {
    return keep(context, f32_bits(value));
}

static inline ir_value keep_i32(void *context, int32_t value) {
    return keep(context, (uint32_t)value);
}

static inline ir_value keep_f64(void *context, double value) {
    return keep(context, f64_bits(value));
}

static inline ir_value keep_i64(void *context, uint64_t value) {
    return keep(context, value);
}

static inline uint32_t shift_right(uint32_t value, uint32_t by) {
    return (uint32_t)((int32_t)value >> by);
}

static inline uint32_t float_op(math_op op, float a, float b, float c) {
    switch (op) {
    case MATH_OP_ADD:
        return f32_bits(a + b);
    case MATH_OP_SUB:
        return f32_bits(a - b);
    case MATH_OP_MUL:
        return f32_bits(a * b);
    case MATH_OP_DIV:
        return f32_bits(a / b);
    case MATH_OP_SQRT:
        return f32_bits(sqrtf(a));
    case MATH_OP_FMA:
        return f32_bits(fmaf(a, b, c));
    case MATH_OP_LT:
        return a < b;
    case MATH_OP_LE:
        return a <= b;
    case MATH_OP_EQ:
        return a == b;
    default:
        return isnan(a) || isnan(b);
    }
}

static inline uint32_t integer_op(math_op op, uint32_t a, uint32_t b) {
    switch (op) {
    case MATH_OP_LOGIC_AND:
    case MATH_OP_AND:
        return a & b;
    case MATH_OP_LOGIC_OR:
    case MATH_OP_OR:
        return a | b;
    case MATH_OP_IADD:
        return a + b;
    case MATH_OP_ISUB:
        return a - b;
    case MATH_OP_IMUL:
        return a * b;
    case MATH_OP_UMULH:
        return (uint32_t)((uint64_t)a * b >> 32);
    case MATH_OP_XOR:
        return a ^ b;
    case MATH_OP_SHL:
        return b < 32 ? a << b : 0;
    case MATH_OP_SHR:
        return shift_right(a, b);
    case MATH_OP_USHR:
        return b < 32 ? a >> b : 0;
    case MATH_OP_ILT:
        return (int32_t)a < (int32_t)b;
    case MATH_OP_IEQ:
        return a == b;
    case MATH_OP_TO_INT:
        return (uint32_t)(int32_t)f32_from_bits(a);
    case MATH_OP_TO_FLOAT:
        return f32_bits((float)(int32_t)a);
    default:
        return a; /* TO_BITS, FROM_BITS */
    }
}

static inline uint64_t double_op(math_op op, double a, double b, double c) {
    switch (op) {
    case MATH_OP_DADD:
        return f64_bits(a + b);
    case MATH_OP_DSUB:
        return f64_bits(a - b);
    case MATH_OP_DMUL:
        return f64_bits(a * b);
    case MATH_OP_DDIV:
        return f64_bits(a / b);
    case MATH_OP_DSQRT:
        return f64_bits(sqrt(a));
    case MATH_OP_DFMA:
        return f64_bits(fma(a, b, c));
    case MATH_OP_DEQ:
        return a == b;
    case MATH_OP_DUNORDERED:
        return isnan(a) || isnan(b);
    default:
        return a < b; /* DLT */
    }
}

static inline uint64_t long_op(math_op op, uint64_t a, uint64_t b) {
    switch (op) {
    case MATH_OP_LADD:
        return a + b;
    case MATH_OP_LSUB:
        return a - b;
    case MATH_OP_LMUL:
        return a * b;
    case MATH_OP_LAND:
        return a & b;
    case MATH_OP_LOR:
        return a | b;
    case MATH_OP_LXOR:
        return a ^ b;
    case MATH_OP_LSHL:
        return a << b;
    case MATH_OP_LSHR:
        return (uint64_t)((int64_t)a >> b);
    case MATH_OP_LUSHR:
        return a >> b;
    case MATH_OP_LEQ:
        return a == b;
    case MATH_OP_WIDEN:
        return f64_bits((double)f32_from_bits((uint32_t)a));
    case MATH_OP_NARROW:
        return f32_bits((float)f64_from_bits(a));
    default:
        return a; /* DTO_BITS, DFROM_BITS */
    }
}

static inline ir_value evaluate(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    evaluator *e = context;
    uint64_t v = e->values[a], w = e->values[b], u = e->values[c];
    uint32_t x = (uint32_t)v, y = (uint32_t)w, z = (uint32_t)u;
    e->used[op]++;
    if (op == MATH_OP_SELECT)
        return keep(e, v ? w : u);
    if (op >= MATH_OP_LADD)
        return keep(e, long_op(op, v, w));
    if (op >= MATH_OP_DADD)
        return keep(e, double_op(op, f64_from_bits(v), f64_from_bits(w), f64_from_bits(u)));
    if (op <= MATH_OP_UNORDERED)
        return keep(e, float_op(op, f32_from_bits(x), f32_from_bits(y), f32_from_bits(z)));
    return keep(e, integer_op(op, x, y));
}

static inline math_emit emitter_of(evaluator *e) {
    return (math_emit){e, evaluate, keep_f32, keep_i32, keep_f64, keep_i64, NULL};
}

static inline uint32_t canonical(uint32_t bits) {
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
}

/* Spacing of f32 just below |exact|. */
static inline double spacing(double exact) {
    int exponent;
    double mantissa = frexp(fabs(exact), &exponent);
    exponent -= mantissa == 0.5 ? 25 : 24;
    return ldexp(1.0, exponent < -149 ? -149 : exponent);
}

#endif
