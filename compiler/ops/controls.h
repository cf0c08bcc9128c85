/* controls.h - negative controls: whether a wrong computation can show in a kernel (controls.def).
 */
#ifndef TESSERA_OPS_CONTROLS_H
#define TESSERA_OPS_CONTROLS_H

#include "base/text.h"
#include "ir/ir.h"

typedef enum graph_control {
    CONTROL_SWAP,
    CONTROL_DROP,
    CONTROL_ROUND,
    CONTROL_COUNT
} graph_control;

/* CONTROL_COUNT for a fault that the operations have no say in. */
graph_control graph_control_of(const char *fault);
/* Why the control cannot change the result of a primitive; NULL where it can. Static storage. */
const char *graph_control_obstacle(const ir_module *m, ir_op op, graph_control control);
/* Can it show anywhere in a kernel of primitives? If not, `why` receives each reason, once. */
bool graph_control_applies(const ir_module *m, graph_control control, text *why);
/* The two operands that CONTROL_SWAP exchanges. False where they are of different types or the same
 * value. */
bool graph_control_pair(const ir_module *m, ir_op op, uint32_t *first, uint32_t *second);

#endif
