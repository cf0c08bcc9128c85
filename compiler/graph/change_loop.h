/* change_loop.h - a loop of Graph IR that takes and makes other values than it did. */
#ifndef TESSERA_GRAPH_CHANGE_LOOP_H
#define TESSERA_GRAPH_CHANGE_LOOP_H

#include "base/vec.h"
#include "ir/ir.h"

typedef VEC(ir_value) loop_values;

/* Values that the loop is to take: carried, sliced and whole operands in this order, each with the
 * argument of the old block that it stands for (0: none); what a turn makes, carried ones first, of
 * values in the old block; and the old results that these stand for (0: none). */
typedef struct loop_draft {
    loop_values operands, arguments, next, results;
    uint32_t carried, sliced;
} loop_draft;

void loop_takes(loop_draft *n, ir_value operand, ir_value argument);
/* Builds it in the place of the old one, whose operations move into its block. `arguments` and
 * `results` are the new loop's behind it. */
ir_op loop_change(ir_module *m, ir_op old, loop_draft *n);
void loop_release(loop_draft *n);

#endif
