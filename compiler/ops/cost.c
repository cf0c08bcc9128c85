/* cost.c - floating-point operations and bytes of a static kernel.
 *
 * A composite counts by its decomposition, whatever a backend fuses. What depends on constants
 * alone is no work, and neither are steps that a k_count leaves out, nor what a mask hides. Only
 * elements that an output needs count: behind a slice or a look-up those are few, behind an empty
 * output none. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/build.h"
#include "ops/graph.h"

static const ir_type_data *type_of(ir_module *m, ir_value v) {
    return ir_type_get(m, ir_value_get(m, v)->type);
}

static uint64_t elements(ir_module *m, ir_value v) {
    return (uint64_t)ir_type_count(m, ir_value_get(m, v)->type);
}

/* ---- floating-point operations ---- */

/* Element i of an i32 row made from constants, an iota, sums and bounds (the counts of causal
 * attention). */
static bool row_value(ir_module *m, ir_value v, int64_t i, int64_t *out) {
    ir_op op = ir_value_get(m, v)->op;
    if (!op)
        return false;
    const ir_op_data *d = ir_op_get(m, op);
    int64_t a = 0, b = 0;
    if (d->opcode == GRAPH_CONSTANT || d->opcode == GRAPH_IOTA) {
        bool constant = d->opcode == GRAPH_CONSTANT;
        *out = constant ? (int32_t)ir_attr_get(m, ir_op_attr(m, op, "value"))->bits : i;
        return true;
    }
    if (d->opcode == GRAPH_BROADCAST && type_of(m, d->operands[0])->rank == 0)
        return row_value(m, d->operands[0], 0, out);
    if (d->operand_count != 2 || !row_value(m, d->operands[0], i, &a) ||
        !row_value(m, d->operands[1], i, &b))
        return false;
    switch (d->opcode) {
    case GRAPH_ADD:
        *out = a + b;
        return true;
    case GRAPH_MAXIMUM:
        *out = a > b ? a : b;
        return true;
    case GRAPH_MINIMUM:
        *out = a < b ? a : b;
        return true;
    default:
        return false;
    }
}

/* Steps of k summed over the rows that `counts` describes; false where they are not known. */
static bool sum_of_counts(ir_module *m, ir_value counts, int64_t k, uint64_t *sum) {
    uint64_t rows = elements(m, counts);
    *sum = 0;
    for (uint64_t i = 0; i < rows; i++) {
        int64_t steps;
        if (!row_value(m, counts, (int64_t)i, &steps))
            return false;
        *sum += (uint64_t)(steps < 0 ? 0 : steps > k ? k : steps);
    }
    return true;
}

static uint64_t dot_flops(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, op, "x_contract", axes, IR_MAX_RANK);
    uint64_t k = 1, sum, out = elements(m, d->results[0]);
    for (uint32_t i = 0; i < count; i++)
        k *= (uint64_t)type_of(m, d->operands[0])->dims[axes[i]];
    if (d->operand_count > 2 && elements(m, d->operands[2]) &&
        sum_of_counts(m, d->operands[2], (int64_t)k, &sum))
        return 2 * (out / elements(m, d->operands[2])) * sum;
    return 2 * out * k;
}

static uint64_t op_flops(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    bool floats =
        d->operand_count && dtype_is_float(type_of(m, d->operands[d->operand_count - 1])->element);
    switch (graph_op_class(d->opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
        return floats ? (uint64_t)graph_op_flops(d->opcode) * elements(m, d->results[0]) : 0;
    case GRAPH_CLASS_REDUCE:
        return floats ? elements(m, d->operands[0]) : 0;
    case GRAPH_CLASS_DOT:
        return dot_flops(m, op);
    default:
        return 0;
    }
}

static bool is_constant(ir_module *m, const bool *constant, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!constant[d->operands[i]])
            return false;
    return true;
}

static ir_op first_op(ir_module *m) {
    return ir_block_get(m, ir_op_block(m, ir_module_kernel(m), 0))->first;
}

/* ---- how many elements of each value are needed ---- */

/* `part` of `whole` parts of `amount`, rounded up. */
static uint64_t share(uint64_t amount, uint64_t part, uint64_t whole) {
    return whole ? (uint64_t)(((unsigned __int128)amount * part + whole - 1) / whole) : 0;
}

/* Elements of operand i that are read for `part` elements of the result. Where uses overlap, each
 * counts for itself, up to the whole operand. */
static uint64_t operand_need(ir_module *m, ir_op op, uint32_t i, uint64_t part) {
    const ir_op_data *d = ir_op_get(m, op);
    uint64_t whole = elements(m, d->operands[i]);
    if (part == 0)
        return 0;
    switch (graph_op_class(d->opcode)) {
    case GRAPH_CLASS_DOT:
        return whole;
    case GRAPH_CLASS_REDUCE:
        return share(whole, part, elements(m, d->results[0]));
    default:
        return d->opcode == GRAPH_GATHER && i == 1 ? whole : part < whole ? part : whole;
    }
}

/* What a mask hides of a value is not needed. */
static void hide(ir_module *m, ir_value v, ir_value counts, uint64_t *needs) {
    const ir_type_data *t = type_of(m, v);
    uint64_t sum, rows = counts ? elements(m, counts) : 0;
    if (!rows || elements(m, v) == 0 || !sum_of_counts(m, counts, t->dims[t->rank - 1], &sum))
        return;
    uint64_t visible = elements(m, v) / (rows * (uint64_t)t->dims[t->rank - 1]) * sum;
    needs[v] = needs[v] < visible ? needs[v] : visible;
}

static uint64_t *count_needs(ir_module *m) {
    uint64_t *needs = base_calloc(ir_value_count(m) + 1, sizeof *needs);
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_op op = ir_block_get(m, body)->last; op; op = ir_op_get(m, op)->previous) {
        const ir_op_data *d = ir_op_get(m, op);
        bool end = d->result_count == 0;
        for (uint32_t i = 0; i < d->operand_count; i++) {
            uint64_t whole = elements(m, d->operands[i]), *need = &needs[d->operands[i]];
            *need += end ? whole : operand_need(m, op, i, needs[d->results[0]]);
            *need = *need < whole ? *need : whole;
        }
    }
    ir_value *hidden = graph_hidden_counts(m);
    for (ir_op op = ir_block_get(m, body)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->result_count == 1)
            hide(m, ir_op_get(m, op)->results[0], hidden[ir_op_get(m, op)->results[0]], needs);
    free(hidden);
    return needs;
}

/* ---- the kernel ---- */

static uint64_t count_flops(ir_module *m, const uint64_t *needs) {
    bool *constant = base_calloc(ir_value_count(m) + 1, sizeof *constant);
    uint64_t flops = 0;
    for (ir_op op = first_op(m); op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count == 0)
            continue;
        if (is_constant(m, constant, op))
            constant[d->results[0]] = true;
        else
            flops += share(op_flops(m, op), needs[d->results[0]], elements(m, d->results[0]));
    }
    free(constant);
    return flops;
}

static uint64_t size_bytes(ir_module *m, ir_value v, uint64_t count) {
    return count * dtype_size(type_of(m, v)->element);
}

static uint64_t count_bytes(ir_module *m, const uint64_t *needs) {
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, ir_module_kernel(m), 0));
    const ir_op_data *last = ir_op_get(m, block->last);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < block->argument_count; i++)
        bytes += size_bytes(m, block->arguments[i], needs[block->arguments[i]]);
    for (uint32_t i = 0; i < last->operand_count; i++)
        bytes += size_bytes(m, last->operands[i], elements(m, last->operands[i]));
    return bytes;
}

graph_cost graph_kernel_cost(ir_module *m) {
    ir_module *copy = ir_module_clone(m);
    graph_decompose_kernel(copy);
    uint64_t *needs = count_needs(copy);
    graph_cost cost = {.flops = count_flops(copy, needs), .bytes = count_bytes(copy, needs)};
    free(needs);
    ir_module_free(copy);
    return cost;
}
