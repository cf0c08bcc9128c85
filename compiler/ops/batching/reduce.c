/* reduce.c - batches of reductions, running sums, orders, and composites along an axis. */
#include "ops/batching/batching.h"

bool batch_rule_reduce(const batch_query *q, ir_value *results) {
    const ir_named_attr attr = batch_axes(q, "axes");
    batch_build(q, q->x, &attr, 1, results);
    return true;
}

bool batch_rule_axis(const batch_query *q, ir_value *results) {
    const ir_named_attr attr = batch_axis(q, "axis");
    if (!batch_is_alone(q, 0))
        return false;
    batch_build(q, q->x, &attr, 1, results);
    return true;
}
