/* uses.h - who reads each value: lists that are filled once for a pass. They are right until the
 * module changes. */
#ifndef TESSERA_IR_USES_H
#define TESSERA_IR_USES_H

#include "ir/ir.h"

typedef struct ir_uses {
    uint32_t
        *first; /* by value: its first reader in `readers`; its last is before that of the next */
    ir_op *readers; /* in the order of a walk; an operation stands once for each operand */
} ir_uses;

ir_uses ir_uses_fill(const ir_module *m);
void ir_uses_release(ir_uses *u);
static inline uint32_t ir_uses_count(const ir_uses *u, ir_value v) {
    return u->first[v + 1] - u->first[v];
}
static inline ir_op ir_uses_reader(const ir_uses *u, ir_value v, uint32_t i) {
    return u->readers[u->first[v] + i];
}

#endif
