/* expand_math.c - the pass that writes out the specified functions (math/) as Tile IR. */
#include <stdlib.h>

#include "math/coefficients.h"
#include "math/correct/build.h"
#include "math/double/build.h"
#include "math/math.h"
#include "ops/graph.h"
#include "tile/tile.h"

typedef struct expansion_rule {
    int opcode;
    const char *predicate;
    dtype result;
} expansion_rule;

static const expansion_rule rules[MATH_OP_COUNT] = {
#define M(ENUM, tile, predicate, result)                                                           \
    [MATH_OP_##ENUM] = {TILE_##tile, predicate, DTYPE_##result},
#include "math/operations.def"
};

static ir_value emit_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    ir_builder *builder = context;
    ir_value operands[] = {a, b, c};
    uint32_t n = c ? 3 : b ? 2 : 1;
    const expansion_rule *rule = &rules[op];
    if (rule->opcode == TILE_COMPARE)
        return tile_compare(builder, rule->predicate, a, b);
    return tile_op(builder, rule->opcode, operands, n, rule->result);
}

static ir_value emit_f32(void *context, float value) {
    return tile_constant(context, DTYPE_F32, f32_bits(value));
}

static ir_value emit_i32(void *context, int32_t value) {
    return tile_constant(context, DTYPE_I32, (uint32_t)value);
}

static ir_value emit_f64(void *context, double value) {
    return tile_constant(context, DTYPE_F64, f64_bits(value));
}

static ir_value emit_i64(void *context, uint64_t value) {
    return tile_constant(context, DTYPE_I64, value);
}

static ir_value emit_scale(void *context, ir_value x, ir_value t) {
    return tile_op(context, TILE_SCALE, (ir_value[]){x, t}, 2, DTYPE_NONE);
}

typedef struct expansion {
    math_set set;
    bool hardware_exp2; /* stands for exp and exp2 */
    ir_value *replaced; /* by value id */
    uint32_t count;
    bool lacking; /* a function that the set does not have */
} expansion;

/* The bound of a result beyond strict counts the rounding of the product
 * (target/interp/reference_elementwise.c). */
static ir_value by_hardware(ir_builder *b, math_function function, ir_value x) {
    if (function == MATH_EXP) {
        ir_value log2_e = tile_constant(b, DTYPE_F32, f32_bits(MATH_LOG2_E));
        x = tile_op(b, TILE_MUL, (ir_value[]){x, log2_e}, 2, DTYPE_NONE);
    }
    return tile_op(b, TILE_HARDWARE_EXP2, &x, 1, DTYPE_NONE);
}

/* f64 has no correctly rounded functions, and of two operands there are none at all. */
static ir_value function_of(expansion *e, const math_emit *emit, math_function function, ir_value x,
                            bool wide) {
    e->lacking |= wide && e->set == MATH_CORRECT;
    if (wide)
        return double_build(emit, function, x);
    return (e->set == MATH_CORRECT ? correct_build : math_build)(emit, function, x);
}

/* Writes out the operation before which `b` stands; 0: it stays. */
static ir_value written_out(expansion *e, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    int meaning = d->opcode - TILE_NEG + GRAPH_NEG; /* the same order: tile.def */
    math_function function = math_function_of(meaning);
    math_pair pair = math_pair_of(meaning);
    math_emit emit = {b, emit_op, emit_f32, emit_i32, emit_f64, emit_i64, emit_scale};
    if (d->opcode == TILE_STOCHASTIC_ROUND)
        return tile_expand_stochastic_round(b, op);
    if (d->opcode == TILE_RANDOM_BITS)
        return tile_expand_random_bits(b, op);
    bool wide = d->result_count == 1 && ir_type_of(b->m, d->results[0])->element == DTYPE_F64;
    if (e->hardware_exp2 && !wide && (function == MATH_EXP || function == MATH_EXP2))
        return by_hardware(b, function, d->operands[0]);
    if (function != MATH_FUNCTION_COUNT)
        return function_of(e, &emit, function, d->operands[0], wide);
    if (pair == MATH_PAIR_COUNT)
        return 0;
    e->lacking |= e->set == MATH_CORRECT;
    return (wide ? double_build_pair : math_build_pair)(&emit, pair, d->operands[0],
                                                        d->operands[1]);
}

/* Operands are rewritten on the way, so that one walk over the module is enough. */
static void expand(ir_module *m, ir_op op, expansion *e) {
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] < e->count && e->replaced[d->operands[i]])
            d->operands[i] = e->replaced[d->operands[i]];
    ir_builder b = {m, d->block, op, d->location};
    ir_value result = d->result_count == 1 ? d->results[0] : 0, value = written_out(e, &b, op);
    if (!value)
        return;
    e->replaced[result] = value;
    ir_op_erase(m, op);
}

bool tile_expand_math(ir_module *m, bool hardware_exp2, status *st) {
    const char *set = ir_op_string(m, ir_module_kernel(m), "math", NULL);
    expansion e = {.count = ir_value_count(m) + 1};
    if (!math_set_named(set, &e.set))
        return status_set(st, STATUS_INVALID, "there are no functions called '%s'", set);
    e.hardware_exp2 = hardware_exp2 && e.set == MATH_SPECIFIED && !tile_is_strict(m);
    e.replaced = base_calloc(e.count, sizeof *e.replaced);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        expand(m, w.op, &e);
    free(e.replaced);
    return !e.lacking ||
           status_set(st, STATUS_INVALID,
                      "pow, atan2 and functions of f64 have no correctly rounded version");
}
