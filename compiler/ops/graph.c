/* graph.c - Graph IR's table, its verifier and its builder, all from graph.def and the shape rules.
 */
#include "ops/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/effect.h"
#include "ops/control.h"
#include "ops/donated.h"
#include "ops/fold.h"
#include "ops/functions.h"
#include "ops/orders.h"
#include "ops/reductions.h"
#include "ops/sharding.h"
#include "ops/tiles.h"

#define REGIONS_KERNEL 1
#define REGIONS_RETURN 0
#define REGIONS_GENERATOR 0
#define REGIONS_STORED 0
#define REGIONS_ELEMENTWISE 0
#define REGIONS_MOVE 0
#define REGIONS_REDUCE 0
#define REGIONS_DOT 0
#define REGIONS_SCAN 0
#define REGIONS_COMPOSITE 0
#define REGIONS_FOLD 1
#define REGIONS_TILES 1
#define REGIONS_TILE 0
#define REGIONS_CONTRACT 0
#define REGIONS_FUNCTION 1
#define REGIONS_CALL 0
#define REGIONS_BRANCH 2
#define REGIONS_LOOP 1
#define REGIONS_COMBINE 1
#define REGIONS_TRANSFORM 1
#define REGIONS_RULED 2
#define REGIONS_COLLECTIVE 0

static const op_info graph_ops[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    {"tessera." #name, IR_LEVEL_GRAPH,  operands, attrs,                                           \
     results,          REGIONS_##class, summary,  GRAPH_CLASS_##class == GRAPH_CLASS_FUNCTION},
#include "ops/graph.def"
};

static const graph_class graph_classes[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    GRAPH_CLASS_##class,
#include "ops/graph.def"
};

static const graph_effects effects_of[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    GRAPH_EFFECTS_##effects,
#include "ops/graph.def"
};

static const int graph_flops[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    flops,
#include "ops/graph.def"
};

graph_class graph_op_class(int opcode) {
    assert(opcode >= 0 && opcode < GRAPH_OP_COUNT);
    return graph_classes[opcode];
}

bool graph_op_is_pure(int opcode) {
    return effects_of[opcode] == GRAPH_EFFECTS_PURE;
}

int graph_op_flops(int opcode) {
    return graph_flops[opcode];
}

dtype graph_accumulate_type(const ir_module *m, ir_op op) {
    ir_attr attr = ir_op_attr(m, op, "accumulate");
    return attr ? ir_type_get(m, ir_attr_get(m, attr)->type)->element : DTYPE_NONE;
}

bool graph_attr_is_argument(const char *name) {
    static const char *const own[] = {"accumulate", "chunks", "joins", "rest", "id"};
    bool is = true;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is &= strcmp(name, own[i]) != 0;
    return is;
}

/* Inferring again must give the types that the operation has. Composite and primitive operations
 * alike. */
static bool verify_inferred(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_type types[64];
    if (d->operand_count > 64)
        return status_set(st, STATUS_INTERNAL, "more than 64 operands");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        types[i] = ir_value_get(m, d->operands[i])->type;
        ir_type_kind kind = ir_type_get(m, types[i])->kind;
        if (kind != IR_TYPE_TENSOR)
            return status_set(st, STATUS_INTERNAL, "an operand is not a tensor");
    }
    graph_infer_query q = {.m = (ir_module *)m,
                           .opcode = d->opcode,
                           .operands = types,
                           .operand_count = d->operand_count,
                           .attrs = d->attrs,
                           .attr_count = d->attr_count};
    if (!graph_infer(&q))
        return status_set(st, STATUS_INTERNAL, "%s", q.error);
    for (uint32_t i = 0; i < d->result_count; i++)
        if (ir_value_get(m, d->results[i])->type != q.results[i])
            return status_set(st, STATUS_INTERNAL, "result %u is not of the inferred type", i);
    return true;
}

/* Empty, or an effect (base/effect.h). */
static bool is_effect(const ir_module *m, const ir_attr_data *one, ir_value of) {
    effect e;
    return one->kind == IR_ATTR_STRING &&
           (one->string[0] == '\0' ||
            (effect_read(one->string, &e) && effect_is_of(e.kind, ir_type_of(m, of)->element)));
}

static bool verify_effects(const ir_module *m, ir_op op, const ir_op_data *end, status *st) {
    ir_attr effects = ir_op_attr(m, op, "effects");
    bool good = !effects || ir_attr_get(m, effects)->count == end->operand_count;
    for (uint32_t i = 0; effects && good && i < end->operand_count; i++)
        good = is_effect(m, ir_attr_get(m, ir_attr_get(m, effects)->items[i]), end->operands[i]);
    return good ||
           status_set(st, STATUS_INTERNAL,
                      "'effects' needs a string for each output: empty, \"print:12:words\", "
                      "of a bool \"check:12:words\", or of an i32 or a bool "
                      "\"turns:12.1:\"");
}

/* A kernel, or a function, names its inputs and outputs, and ends in its only return. */
static bool verify_kernel(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = body->last ? ir_op_get(m, body->last) : NULL;
    if (!end || end->opcode != GRAPH_RETURN)
        return status_set(st, STATUS_INTERNAL, "does not end in tessera.return");
    if (ir_attr_get(m, ir_op_attr(m, op, "inputs"))->count != body->argument_count)
        return status_set(st, STATUS_INTERNAL, "needs a name for each input");
    if (ir_attr_get(m, ir_op_attr(m, op, "outputs"))->count != end->operand_count)
        return status_set(st, STATUS_INTERNAL, "needs a name for each output");
    if (!verify_effects(m, op, end, st))
        return false;
    const char *math = ir_op_string(m, op, "math", NULL);
    if (math && strcmp(math, "correct") != 0)
        return status_set(st, STATUS_INTERNAL, "math '%s' is not defined", math);
    return donated_verify(m, op, st) && sharding_verify(m, op, st);
}

static bool sums_f64(const ir_module *m, ir_op op) {
    return ir_type_of(m, ir_op_get(m, op)->operands[0])->element == DTYPE_F64;
}

/* The order of an accumulation is fixed here: floats have one that is defined. */
static bool verify_order(const ir_module *m, ir_op op, status *st) {
    const char *word = ir_op_string(m, op, "order", NULL);
    int opcode = ir_op_get(m, op)->opcode;
    bool is_sum = opcode == GRAPH_REDUCE || opcode == GRAPH_CUMSUM || opcode == GRAPH_MEAN;
    order_id order = order_of(m, op, is_sum ? ORDER_ANY : ORDER_CHUNK512);
    ir_value result = ir_op_get(m, op)->results[0];
    bool sums_floats = reduction_rounds(ir_op_string(m, op, "kind", "sum")) &&
                       dtype_is_float(ir_type_of(m, result)->element);
    order_use use = !is_sum                  ? ORDER_OF_DOT
                    : !sums_floats           ? ORDER_OF_FREE
                    : opcode == GRAPH_CUMSUM ? ORDER_OF_SCAN
                                             : ORDER_OF_SUM;
    bool known = order_suits(order, use) && !(word && use == ORDER_OF_FREE) &&
                 (order != ORDER_EXACT_ODD || sums_f64(m, op));
    return known ||
           status_set(st, STATUS_INTERNAL, "order '%s' is not defined for it", word ? word : "");
}

/* In a body of Schedule IR: one element, so the rule for tensors of rank 0 holds. */
static bool verify_element(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    ir_module *types = (ir_module *)m;
    ir_type operands[4];
    if (class != GRAPH_CLASS_ELEMENTWISE && d->opcode != GRAPH_CONSTANT)
        return status_set(st, STATUS_INTERNAL, "stands in a body, and is not element-wise");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const ir_type_data *t = ir_type_of(m, d->operands[i]);
        if (t->kind != IR_TYPE_SCALAR)
            return status_set(st, STATUS_INTERNAL, "an operand is not a scalar");
        operands[i] = ir_type_tensor(types, t->element, 0, NULL);
    }
    graph_infer_query q = {.m = types,
                           .opcode = d->opcode,
                           .operands = operands,
                           .operand_count = d->operand_count,
                           .attrs = d->attrs,
                           .attr_count = d->attr_count};
    if (!graph_infer(&q))
        return status_set(st, STATUS_INTERNAL, "%s", q.error);
    return ir_value_get(m, d->results[0])->type ==
               ir_type_scalar(types, ir_type_get(m, q.results[0])->element) ||
           status_set(st, STATUS_INTERNAL, "the result is not of the inferred type");
}

static bool verify_graph(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    if (class == GRAPH_CLASS_KERNEL || class == GRAPH_CLASS_FUNCTION)
        return verify_kernel(m, op, st);
    ir_op parent = ir_block_parent(m, d->block);
    int around = ir_op_get(m, parent)->opcode;
    bool in_tiles = around == GRAPH_TILES || around == GRAPH_FOR;
    bool in_control = control_has_blocks(around);
    bool in_function = around == GRAPH_KERNEL || around == GRAPH_FUNCTION || in_control;
    if (!in_function && around != GRAPH_FOLD && !in_tiles)
        return verify_element(m, op, st);
    if (class == GRAPH_CLASS_CALL)
        return in_function ? functions_verify_call(m, op, st)
                           : status_set(st, STATUS_INTERNAL, "stands inside of a block");
    if (ir_op_attr(m, op, "id") && (around != GRAPH_KERNEL || reduction_id(m, op) < 0))
        return status_set(st, STATUS_INTERNAL,
                          "an id is a number from 0 on, of a sum in the kernel's own block");
    if (control_has_blocks(d->opcode))
        return in_function ? control_verify(m, op, st)
                           : status_set(st, STATUS_INTERNAL, "stands inside of a block");
    if (d->opcode == GRAPH_NEXT && in_control)
        return !d->next ||
               status_set(st, STATUS_INTERNAL, "is not the last operation of its block");
    if (class == GRAPH_CLASS_FOLD)
        return fold_verify(m, op, st);
    if (class == GRAPH_CLASS_TILES || d->opcode == GRAPH_NEXT || d->opcode == GRAPH_GIVE)
        return tiles_verify(m, op, around, st);
    if (d->opcode == GRAPH_LOAD && !in_tiles)
        return status_set(st, STATUS_INTERNAL, "stands outside of tessera.tiles");
    if (class == GRAPH_CLASS_RETURN)
        return (!d->next && !in_control) ||
               status_set(st, STATUS_INTERNAL, "is not the kernel's last operation");
    bool ordered =
        d->opcode == GRAPH_REDUCE || d->opcode == GRAPH_CUMSUM || ir_op_attr(m, op, "order");
    return verify_inferred(m, op, st) && (!ordered || verify_order(m, op, st));
}

static bool verify_module(const ir_module *m, status *st) {
    return functions_verify(m, st) && reductions_verify(m, st);
}

const op_table *graph_op_table(void) {
    static const op_table table = {IR_LEVEL_GRAPH, graph_ops, GRAPH_OP_COUNT, verify_graph,
                                   verify_module};
    return &table;
}

/* Stands for what cannot be: of the greatest rank, so that every axis is there. */
static void give_anything(graph_infer_query *q) {
    static const ir_dim ones[IR_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int count = op_info_get(q->opcode)->results;
    for (q->result_count = 0; (int)q->result_count < count; q->result_count++)
        q->results[q->result_count] = ir_type_tensor(q->m, DTYPE_F32, IR_MAX_RANK, ones);
}

ir_op graph_build(ir_builder *b, int opcode, const ir_value *operands, uint32_t operand_count,
                  const ir_named_attr *attrs, uint32_t attr_count) {
    ir_type types[LIMIT_OPERANDS];
    for (uint32_t i = 0; i < operand_count && i < LIMIT_OPERANDS; i++)
        types[i] = ir_value_get(b->m, operands[i])->type;
    graph_infer_query q = {.m = b->m,
                           .opcode = opcode,
                           .operands = types,
                           .operand_count = operand_count,
                           .attrs = attrs,
                           .attr_count = attr_count};
    if (operand_count > LIMIT_OPERANDS || !graph_infer(&q)) {
        char why[600];
        snprintf(why, sizeof why, "%s: %s", op_info_get(opcode)->name,
                 operand_count > LIMIT_OPERANDS ? "too many operands" : q.error);
        ir_fail(b->m, why);
        give_anything(&q);
    }
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands,
                       .operand_count = operand_count,
                       .results = q.results,
                       .result_count = q.result_count,
                       .attrs = attrs,
                       .attr_count = attr_count};
    return ir_build(b, &spec);
}
