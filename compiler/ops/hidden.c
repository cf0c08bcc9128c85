/* hidden.c - what a mask of counts hides: elements of a value that nothing can see.
 *
 * select(column < count of the row, x, y) over the last two axes, as causal attention has it: x at
 * or past the count is computed for nothing. */
#include <stdlib.h>
#include <string.h>

#include "ops/graph.h"

static int opcode_of(const ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    return op ? ir_op_get(m, op)->opcode : -1;
}

/* The condition of rows and columns that one of more axes repeats. */
static ir_value of_rows(const ir_module *m, ir_value condition) {
    int64_t axes[IR_MAX_RANK] = {-1};
    int rank = ir_type_of(m, condition)->rank;
    ir_op op = ir_value_get(m, condition)->op;
    bool repeats = opcode_of(m, condition) == GRAPH_BROADCAST &&
                   ir_op_ints(m, op, "axes", axes, IR_MAX_RANK) == 2 && axes[0] == rank - 2 &&
                   axes[1] == rank - 1;
    return repeats ? ir_op_get(m, op)->operands[0] : condition;
}

/* The counts of a condition `column < count of the row`; 0 for any other. */
static ir_value counts_of(const ir_module *m, ir_value condition) {
    condition = of_rows(m, condition);
    ir_op op = ir_value_get(m, condition)->op;
    if (opcode_of(m, condition) != GRAPH_COMPARE ||
        strcmp(ir_op_string(m, op, "predicate", ""), "lt") != 0)
        return 0;
    const ir_op_data *d = ir_op_get(m, op);
    int rank = ir_type_of(m, condition)->rank;
    int64_t axes[IR_MAX_RANK] = {-1};
    if (opcode_of(m, d->operands[0]) != GRAPH_IOTA ||
        opcode_of(m, d->operands[1]) != GRAPH_BROADCAST)
        return 0;
    ir_op columns = ir_value_get(m, d->operands[0])->op, rows = ir_value_get(m, d->operands[1])->op;
    bool placed = ir_op_int(m, columns, "axis", 0) == rank - 1 &&
                  ir_op_ints(m, rows, "axes", axes, IR_MAX_RANK) == 1 && axes[0] == rank - 2;
    return placed ? ir_op_get(m, rows)->operands[0] : 0;
}

/* Part of a value that one use sees: everything (0), or what is before these counts. */
static ir_value counts_of_use(const ir_module *m, const ir_op_data *d, uint32_t i,
                              const ir_value *hidden) {
    if (d->opcode == GRAPH_SELECT && i == 1 && counts_of(m, d->operands[0]))
        return counts_of(m, d->operands[0]);
    bool element_by_element =
        d->result_count == 1 && graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE;
    return element_by_element ? hidden[d->results[0]] : 0;
}

/* From the end: what uses a value is known before it. */
ir_value *graph_hidden_counts(const ir_module *m) {
    uint32_t n = ir_value_count(m) + 1;
    ir_value *hidden = base_calloc(n, sizeof *hidden);
    bool *used = base_calloc(n, sizeof *used);
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_op op = ir_block_get(m, body)->last; op; op = ir_op_get(m, op)->previous) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            ir_value v = d->operands[i], counts = counts_of_use(m, d, i, hidden);
            hidden[v] = !used[v] || hidden[v] == counts ? counts : 0;
            used[v] = true;
        }
    }
    free(used);
    return hidden;
}
