/* expand_math.c - the pass that writes out the specified functions (math/) as Tile IR. */
#include <stdlib.h>

#include "math/math.h"
#include "tile/tile.h"

static const int opcodes[MATH_OP_COUNT] = {
    [MATH_OP_ADD] = TILE_ADD,
    [MATH_OP_SUB] = TILE_SUB,
    [MATH_OP_MUL] = TILE_MUL,
    [MATH_OP_DIV] = TILE_DIV,
    [MATH_OP_SQRT] = TILE_SQRT,
    [MATH_OP_FMA] = TILE_FMA,
    [MATH_OP_LT] = TILE_COMPARE,
    [MATH_OP_LE] = TILE_COMPARE,
    [MATH_OP_EQ] = TILE_COMPARE,
    [MATH_OP_UNORDERED] = TILE_COMPARE,
    [MATH_OP_SELECT] = TILE_SELECT,
    [MATH_OP_LOGIC_AND] = TILE_AND,
    [MATH_OP_LOGIC_OR] = TILE_OR,
    [MATH_OP_IADD] = TILE_ADD,
    [MATH_OP_ISUB] = TILE_SUB,
    [MATH_OP_IMUL] = TILE_MUL,
    [MATH_OP_UMULH] = TILE_UMULH,
    [MATH_OP_AND] = TILE_AND,
    [MATH_OP_OR] = TILE_OR,
    [MATH_OP_XOR] = TILE_XOR,
    [MATH_OP_SHL] = TILE_SHL,
    [MATH_OP_SHR] = TILE_SHR,
    [MATH_OP_USHR] = TILE_USHR,
    [MATH_OP_ILT] = TILE_COMPARE,
    [MATH_OP_IEQ] = TILE_COMPARE,
    [MATH_OP_TO_BITS] = TILE_BITCAST,
    [MATH_OP_FROM_BITS] = TILE_BITCAST,
    [MATH_OP_TO_INT] = TILE_CONVERT,
    [MATH_OP_TO_FLOAT] = TILE_CONVERT,
};

static const char *predicate(math_op op) {
    switch (op) {
    case MATH_OP_LT:
    case MATH_OP_ILT:
        return "lt";
    case MATH_OP_LE:
        return "le";
    case MATH_OP_UNORDERED:
        return "uno";
    default:
        return "eq";
    }
}

static ir_value emit_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    ir_builder *builder = context;
    ir_value operands[] = {a, b, c};
    uint32_t n = c ? 3 : b ? 2 : 1;
    bool to_float = op == MATH_OP_FROM_BITS || op == MATH_OP_TO_FLOAT;
    if (opcodes[op] == TILE_COMPARE)
        return tile_compare(builder, predicate(op), a, b);
    return tile_op(builder, opcodes[op], operands, n, to_float ? DTYPE_F32 : DTYPE_I32);
}

static ir_value emit_f32(void *context, float value) {
    return tile_constant(context, DTYPE_F32, f32_bits(value));
}

static ir_value emit_i32(void *context, int32_t value) {
    return tile_constant(context, DTYPE_I32, (uint32_t)value);
}

static int function_of(int opcode) {
    switch (opcode) {
#define F(ENUM, name)                                                                              \
    case TILE_##ENUM:                                                                              \
        return MATH_##ENUM;
#include "math/functions.def"
    default:
        return -1;
    }
}

typedef struct expansion {
    ir_value *replaced; /* by value id */
    uint32_t count;
} expansion;

/* Operands are rewritten on the way, so that one walk over the module is enough. */
static void expand(ir_module *m, ir_op op, void *context) {
    expansion *e = context;
    ir_op_data *d = ir_op_get(m, op);
    int function = function_of(d->opcode);
    bool draws = d->opcode == TILE_STOCHASTIC_ROUND;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] < e->count && e->replaced[d->operands[i]])
            d->operands[i] = e->replaced[d->operands[i]];
    if (function < 0 && !draws)
        return;
    ir_builder b = {m, d->block, op, d->location};
    if (draws) {
        e->replaced[d->results[0]] = tile_expand_stochastic_round(&b, op);
        ir_op_erase(m, op);
        return;
    }
    math_emit emit = {&b, emit_op, emit_f32, emit_i32};
    e->replaced[d->results[0]] = math_build(&emit, (math_function)function, d->operands[0]);
    ir_op_erase(m, op);
}

bool tile_expand_math(ir_module *m, status *st) {
    (void)st;
    expansion e = {.count = ir_value_count(m) + 1};
    e.replaced = base_calloc(e.count, sizeof *e.replaced);
    ir_walk(m, ir_module_kernel(m), expand, &e);
    free(e.replaced);
    return true;
}
