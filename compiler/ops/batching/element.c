/* element.c - batches of element-wise operations. */
#include "ops/batching/batching.h"

bool batch_rule_element(const batch_query *q, ir_value *results) {
    ir_value operands[LIMIT_OPERANDS];
    batch_operands(q, operands);
    batch_build(q, operands, NULL, 0, results);
    return true;
}
