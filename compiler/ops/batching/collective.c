/* collective.c - batches of collectives over another axis than the batch's. */
#include <stdio.h>
#include <string.h>

#include "ops/batching/batching.h"

bool batch_rule_collective(const batch_query *q, ir_value *results) {
    static const char *const names[] = {"dim", "split", "concat"};
    const ir_value x = batch_operand(q, 0);
    ir_named_attr attrs[3];
    uint32_t count = 0;
    for (int i = 0; i < 3; i++)
        if (ir_op_attr(q->b->m, q->op, names[i]))
            attrs[count++] = batch_axis(q, names[i]);
    batch_build(q, &x, attrs, count, results);
    return true;
}

/* Rows go behind the parts and back: each rank sends its parts together. */
bool batch_rule_exchange(const batch_query *q, ir_value *results) {
    const ir_value x = build_moved(q->b, batch_operand(q, 0), 0, 1);
    batch_build(q, &x, NULL, 0, results);
    results[0] = build_moved(q->b, results[0], 0, 1);
    return true;
}

bool batch_rule_placed(const batch_query *q, ir_value *results) {
    ir_module *m = q->b->m;
    const char *words = ir_op_string(m, q->op, "sharding", "");
    const size_t bytes = strlen(words) + 2;
    char *behind = ARENA_NEW(ir_module_arena(m), char, bytes);
    snprintf(behind, bytes, "%s%s", *words ? "," : "", words);
    const ir_named_attr attr = {"sharding", ir_attr_string(m, behind)};
    batch_build(q, q->x, &attr, 1, results);
    return true;
}
