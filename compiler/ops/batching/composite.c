/* composite.c - batches of composites: leading axes are rows to most. */
#include "ops/batching/batching.h"

static int rank_of(const batch_query *q, uint32_t i) {
    return build_type(q->b, ir_op_get(q->b->m, q->op)->operands[i])->rank;
}

static bool again(const batch_query *q, const ir_value *operands, ir_value *results) {
    batch_build(q, operands, NULL, 0, results);
    return true;
}

/* Leading axes that only one side has are repeated for the other: the batch is no such. */
bool batch_rule_matmul(const batch_query *q, ir_value *results) {
    const bool rows = !q->batched[1] && rank_of(q, 1) == 2,
               both = q->batched[0] && q->batched[1] && rank_of(q, 0) == rank_of(q, 1);
    return (rows || both) && again(q, q->x, results);
}

bool batch_rule_rows(const batch_query *q, ir_value *results) {
    return batch_is_alone(q, 0) && again(q, q->x, results);
}

bool batch_rule_linear(const batch_query *q, ir_value *results) {
    return rank_of(q, 1) == 2 && batch_rule_rows(q, results);
}

bool batch_rule_leading(const batch_query *q, ir_value *results) {
    ir_value operands[LIMIT_OPERANDS];
    batch_operands(q, operands);
    return again(q, operands, results);
}

/* The corrections c1 and c2 are numbers. */
bool batch_rule_adam(const batch_query *q, ir_value *results) {
    ir_value operands[] = {0, 0, 0, 0, q->x[4], q->x[5]};
    for (uint32_t i = 0; i < 4; i++)
        operands[i] = batch_operand(q, i);
    return !q->batched[4] && !q->batched[5] && again(q, operands, results);
}
