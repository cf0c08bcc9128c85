/* cost.c - floating-point operations and bytes of a static kernel.
 *
 * A composite counts by its decomposition, whatever a backend fuses. What depends on constants
 * alone is no work, and neither are steps that a k_count leaves out, nor what a mask hides: where
 * inputs decide how many are left, none are counted, as none need to be there. Only
 * elements that an output needs count: behind a slice or a look-up those are few, behind an empty
 * output none. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/vec.h"
#include "ops/build.h"
#include "ops/combine.h"
#include "ops/control.h"
#include "ops/graph.h"

static uint64_t elements(ir_module *m, ir_value v) {
    return (uint64_t)ir_type_count(m, ir_value_get(m, v)->type);
}

/* ---- floating-point operations ---- */

/* An i32 row made from constants, an iota, sums and bounds, as the counts of causal attention are:
 * its operations in order, and the present element of each value. */
typedef struct row_values {
    VEC(ir_op) order;
    int32_t *at; /* by value */
} row_values;

static ir_op first_op(ir_module *m);

static bool is_row_operation(ir_module *m, const ir_op_data *d) {
    switch (d->opcode) {
    case GRAPH_CONSTANT:
    case GRAPH_IOTA:
    case GRAPH_ADD:
    case GRAPH_MAXIMUM:
    case GRAPH_MINIMUM:
        return true;
    case GRAPH_BROADCAST:
        return ir_type_of(m, d->operands[0])->rank == 0;
    default:
        return false;
    }
}

/* The operations that a row is made from; false where it is made from anything else. */
static bool rows_open(ir_module *m, ir_value row, row_values *r) {
    bool *needed = base_calloc(ir_value_count(m) + 1, sizeof *needed), known = true;
    ir_op last = ir_value_get(m, row)->op;
    *r = (row_values){.at = base_calloc(ir_value_count(m) + 1, sizeof *r->at)};
    needed[row] = true;
    for (ir_op op = last; op; op = ir_op_get(m, op)->previous) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count != 1 || !needed[d->results[0]])
            continue;
        known &= is_row_operation(m, d);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            needed[d->operands[i]] = true;
            known &= ir_value_get(m, d->operands[i])->op != 0;
        }
    }
    for (ir_op op = first_op(m); op && last && known; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count == 1 && needed[d->results[0]])
            vec_push(&r->order, op);
        if (op == last)
            break;
    }
    free(needed);
    return last && known;
}

static void rows_release(row_values *r) {
    vec_release(&r->order);
    free(r->at);
}

static int32_t row_operation(ir_module *m, ir_op op, const row_values *r, int64_t i) {
    const ir_op_data *d = ir_op_get(m, op);
    int32_t a = d->operand_count ? r->at[d->operands[0]] : 0;
    int32_t b = d->operand_count > 1 ? r->at[d->operands[1]] : 0;
    switch (d->opcode) {
    case GRAPH_CONSTANT:
        return (int32_t)ir_attr_get(m, ir_op_attr(m, op, "value"))->bits;
    case GRAPH_IOTA:
        return (int32_t)i;
    case GRAPH_ADD:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case GRAPH_MAXIMUM:
        return a > b ? a : b;
    case GRAPH_MINIMUM:
        return a < b ? a : b;
    default: /* GRAPH_BROADCAST */
        return a;
    }
}

/* Element i of the row. */
static int64_t row_value(ir_module *m, ir_value row, row_values *r, int64_t i) {
    for (size_t k = 0; k < r->order.count; k++)
        r->at[ir_op_get(m, r->order.items[k])->results[0]] =
            row_operation(m, r->order.items[k], r, i);
    return r->at[row];
}

/* Steps of k summed over the rows that `counts` describes; 0 where inputs decide them. */
static uint64_t sum_of_counts(ir_module *m, ir_value counts, int64_t k) {
    uint64_t rows = elements(m, counts), sum = 0;
    row_values r;
    bool known = rows_open(m, counts, &r);
    for (uint64_t i = 0; i < rows && known; i++) {
        int64_t steps = row_value(m, counts, &r, (int64_t)i);
        sum = saturating_add(sum, (uint64_t)(steps < 0 ? 0 : steps > k ? k : steps));
    }
    rows_release(&r);
    return sum;
}

/* Counts the windows along an axis that have their place `at` inside of the image. */
static uint64_t windows_inside(int64_t length, int64_t at, int64_t count, int64_t stride,
                               int64_t padding) {
    int64_t before = padding - at, end = length + before;
    int64_t first = before > 0 ? (before + stride - 1) / stride : 0,
            last = end > 0 ? (end + stride - 1) / stride : 0;
    last = last > count ? count : last;
    return last > first ? (uint64_t)(last - first) : 0;
}

/* Steps along an axis that all windows together have inside of the image. */
static uint64_t steps_inside(int64_t length, int64_t size, int64_t count, int64_t stride,
                             int64_t padding) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum = saturating_add(sum, windows_inside(length, i, count, stride, padding));
    return sum;
}

static uint64_t convolve_flops(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = ir_type_of(m, d->operands[0]), *y = ir_type_of(m, d->results[0]);
    int64_t window[2], stride = ir_op_int(m, op, "stride", 1),
                       padding = ir_op_int(m, op, "padding", 0);
    ir_op_ints(m, op, "window", window, 2);
    uint64_t flops = saturating_multiply(2 * (uint64_t)y->dims[0], (uint64_t)x->dims[3]);
    for (int i = 0; i < 2; i++)
        flops = saturating_multiply(
            flops, steps_inside(x->dims[1 + i], window[i], y->dims[1 + i], stride, padding));
    return saturating_multiply(flops, (uint64_t)y->dims[3]);
}

static uint64_t dot_flops(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == GRAPH_CONVOLVE)
        return convolve_flops(m, op);
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, op, "x_contract", axes, IR_MAX_RANK);
    uint64_t k = 1, out = elements(m, d->results[0]);
    for (uint32_t i = 0; i < count; i++)
        k = saturating_multiply(k, (uint64_t)ir_type_of(m, d->operands[0])->dims[axes[i]]);
    if (d->operand_count > 2 && elements(m, d->operands[2]))
        return saturating_multiply(2 * (out / elements(m, d->operands[2])),
                                   sum_of_counts(m, d->operands[2], (int64_t)k));
    return saturating_multiply(2 * out, k);
}

static uint64_t op_flops(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    bool floats = d->operand_count &&
                  dtype_is_float(ir_type_of(m, d->operands[d->operand_count - 1])->element);
    switch (graph_op_class(d->opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
        return floats ? (uint64_t)graph_op_flops(d->opcode) * elements(m, d->results[0]) : 0;
    case GRAPH_CLASS_REDUCE:
        return floats ? elements(m, d->operands[0]) : 0;
    case GRAPH_CLASS_SCAN:
        return floats ? (uint64_t)graph_op_flops(d->opcode) * elements(m, d->operands[0]) : 0;
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
    return ir_kernel_body(m)->first;
}

/* ---- how many elements of each value are needed ---- */

/* `part` of `whole` parts of `amount`, rounded up. */
static uint64_t share(uint64_t amount, uint64_t part, uint64_t whole) {
    unsigned __int128 all = (unsigned __int128)amount * part;
    return whole ? (uint64_t)(all / whole + (all % whole != 0)) : 0;
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
        return d->operand_count > 2 && i < 2 && dot_flops(m, op) == 0 ? 0 : whole;
    case GRAPH_CLASS_SCAN:
    case GRAPH_CLASS_CONTRACT: /* whatever it reads, all of it is there */
    case GRAPH_CLASS_BRANCH:
    case GRAPH_CLASS_LOOP:
    case GRAPH_CLASS_COMBINE:
        return whole;
    case GRAPH_CLASS_REDUCE:
        return share(whole, part, elements(m, d->results[0]));
    default:
        return d->opcode == GRAPH_GATHER && i == 1 ? whole : part < whole ? part : whole;
    }
}

/* Leaves out what a mask hides of a value. */
static void hide(ir_module *m, ir_value v, ir_value counts, uint64_t *needs) {
    const ir_type_data *t = ir_type_of(m, v);
    uint64_t rows = counts ? elements(m, counts) : 0;
    if (!rows || elements(m, v) == 0)
        return;
    uint64_t visible = saturating_multiply(elements(m, v) / (rows * (uint64_t)t->dims[t->rank - 1]),
                                           sum_of_counts(m, counts, t->dims[t->rank - 1]));
    needs[v] = needs[v] < visible ? needs[v] : visible;
}

/* Need of the result that is needed most. */
static uint64_t needed_of(const ir_op_data *d, const uint64_t *needs) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < d->result_count; i++)
        most = needs[d->results[i]] > most ? needs[d->results[i]] : most;
    return most;
}

static uint64_t *count_needs(ir_module *m, ir_block body) {
    uint64_t *needs = base_calloc(ir_value_count(m) + 1, sizeof *needs);
    ir_value *hidden = graph_hidden_counts(m);
    for (ir_op op = ir_block_get(m, body)->last; op; op = ir_op_get(m, op)->previous) {
        const ir_op_data *d = ir_op_get(m, op);
        bool end = d->result_count == 0;
        if (d->result_count == 1)
            hide(m, d->results[0], hidden[d->results[0]], needs);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            uint64_t whole = elements(m, d->operands[i]), *need = &needs[d->operands[i]];
            *need += end ? whole : operand_need(m, op, i, needed_of(d, needs));
            *need = *need < whole ? *need : whole;
        }
    }
    free(hidden);
    return needs;
}

/* ---- the kernel ---- */

static uint64_t block_flops(ir_module *m, ir_block block);

/* Runs of a combiner's block: for each element of a reduction and of a scatter's updates, for each
 * pair of places that a sort compares. */
static uint64_t combinations(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const combine_shape s = combine_shape_of(m, op);
    if (d->opcode != GRAPH_SORT)
        return elements(m, d->operands[d->opcode == GRAPH_SCATTER ? s.count + 1 : 0]);
    uint64_t length = (uint64_t)s.dims[s.axis], pairs = sort_pairs(s.dims[s.axis]);
    return length ? saturating_multiply(elements(m, d->operands[0]) / length, pairs) : 0;
}

/* A loop's turns; of a branch the dearer side; of a loop that depends on values one turn. */
static uint64_t control_flops(ir_module *m, ir_op op) {
    uint64_t first = block_flops(m, ir_op_block(m, op, 0));
    if (graph_op_class(ir_op_get(m, op)->opcode) == GRAPH_CLASS_COMBINE)
        return saturating_multiply(first, combinations(m, op));
    if (ir_op_get(m, op)->opcode == GRAPH_LOOP)
        return saturating_multiply(first, (uint64_t)loop_shape_of(m, op).count);
    uint64_t second = block_flops(m, ir_op_block(m, op, 1));
    bool both = ir_op_get(m, op)->opcode == GRAPH_WHILE;
    return both ? saturating_add(first, second) : first > second ? first : second;
}

static uint64_t count_flops(ir_module *m, ir_block block, const uint64_t *needs) {
    bool *constant = base_calloc(ir_value_count(m) + 1, sizeof *constant);
    uint64_t flops = 0;
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count == 0)
            continue;
        if (control_has_blocks(d->opcode))
            flops = saturating_add(flops, needed_of(d, needs) ? control_flops(m, op) : 0);
        else if (is_constant(m, constant, op))
            constant[d->results[0]] = true;
        else
            flops = saturating_add(
                flops, share(op_flops(m, op), needs[d->results[0]], elements(m, d->results[0])));
    }
    free(constant);
    return flops;
}

static uint64_t block_flops(ir_module *m, ir_block block) {
    uint64_t *needs = count_needs(m, block), flops = count_flops(m, block, needs);
    free(needs);
    return flops;
}

static uint64_t size_bytes(ir_module *m, ir_value v, uint64_t count) {
    return count * dtype_size(ir_type_of(m, v)->element);
}

static uint64_t count_bytes(ir_module *m, const uint64_t *needs) {
    const ir_block_data *block = ir_kernel_body(m);
    const ir_op_data *last = ir_op_get(m, block->last);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < block->argument_count; i++)
        bytes += size_bytes(m, block->arguments[i], needs[block->arguments[i]]);
    for (uint32_t i = 0; i < last->operand_count; i++)
        bytes += size_bytes(m, last->operands[i], elements(m, last->operands[i]));
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_DENSE)
            bytes += size_bytes(m, ir_op_result(m, w.op, 0), elements(m, ir_op_result(m, w.op, 0)));
    return bytes;
}

graph_cost graph_primitives_cost(ir_module *m) {
    const ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    uint64_t *needs = count_needs(m, body);
    graph_cost cost = {.flops = count_flops(m, body, needs), .bytes = count_bytes(m, needs)};
    free(needs);
    return cost;
}
