/* move.c - batches of data movement. */
#include <string.h>

#include "ops/batching/batching.h"

bool batch_rule_broadcast(const batch_query *q, ir_value *results) {
    int64_t axes[IR_MAX_RANK + 1] = {0};
    const uint32_t rank = ir_op_ints(q->b->m, q->op, "axes", axes + 1, IR_MAX_RANK);
    for (uint32_t i = 1; i <= rank; i++)
        axes[i]++;
    const ir_named_attr attrs[] = {batch_list(q, "shape", q->count),
                                   {"axes", ir_attr_int_array(q->b->m, axes, rank + 1)}};
    batch_build(q, q->x, attrs, 2, results);
    return true;
}

bool batch_rule_reshape(const batch_query *q, ir_value *results) {
    const ir_named_attr attr = batch_list(q, "shape", q->count);
    batch_build(q, q->x, &attr, 1, results);
    return true;
}

bool batch_rule_transpose(const batch_query *q, ir_value *results) {
    int64_t order[IR_MAX_RANK + 1] = {0};
    const uint32_t rank = ir_op_ints(q->b->m, q->op, "permutation", order + 1, IR_MAX_RANK);
    for (uint32_t i = 1; i <= rank; i++)
        order[i]++;
    const ir_named_attr attr = {"permutation", ir_attr_int_array(q->b->m, order, rank + 1)};
    batch_build(q, q->x, &attr, 1, results);
    return true;
}

bool batch_rule_slice(const batch_query *q, ir_value *results) {
    const ir_named_attr attrs[] = {batch_list(q, "start", 0), batch_list(q, "stop", q->count),
                                   batch_list(q, "step", 1)};
    batch_build(q, q->x, attrs, 3, results);
    return true;
}

bool batch_rule_concat(const batch_query *q, ir_value *results) {
    ir_value operands[LIMIT_OPERANDS];
    const ir_named_attr attr = batch_axis(q, "axis");
    batch_operands(q, operands);
    batch_build(q, operands, &attr, 1, results);
    return true;
}

/* ---- gather ---- */

/* Indices of parts in what is the same for all: their batch is one more axis of places, which lies
 * behind the batches that there are, and so comes out at the axis. */
static ir_value take_from_same(const batch_query *q) {
    const int axis = (int)ir_op_int(q->b->m, q->op, "axis", 0),
              batches = (int)ir_op_int(q->b->m, q->op, "batch_dims", 0);
    ir_value indices = build_moved(q->b, q->x[1], 0, batches);
    return build_moved(q->b, build_gather(q->b, q->x[0], indices, axis, batches), axis, 0);
}

bool batch_rule_gather(const batch_query *q, ir_value *results) {
    const int64_t batches = ir_op_int(q->b->m, q->op, "batch_dims", 0);
    const bool same_places = !q->batched[1] && batches == 0;
    if (!q->batched[0]) {
        results[0] = take_from_same(q);
        return true;
    }
    const ir_value operands[] = {q->x[0], same_places ? q->x[1] : batch_operand(q, 1)};
    const ir_named_attr attrs[] = {
        batch_axis(q, "axis"), {"batch_dims", ir_attr_int(q->b->m, same_places ? 0 : batches + 1)}};
    batch_build(q, operands, attrs, 2, results);
    return true;
}
