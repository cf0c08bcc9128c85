/* derive_control.c - derivatives of loops, branches and combiners. */
#include <string.h>

#include "graph/transforms.h"

static bool refuse(derivation *d, ir_op op) {
    return transform_refuse(d->t, TRANSFORM_FAULT_RULE, op, "'%s' has no derivative",
                            op_info_get(ir_op_get(d->m, op)->opcode)->name + strlen("tessera."));
}

bool derive_control_forward(derivation *d, ir_op copy) {
    return refuse(d, copy);
}

bool derive_control_record(derivation *d, ir_op copy, tape_entry *entry) {
    (void)entry;
    return refuse(d, copy);
}

bool derive_control_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                              ir_value *out) {
    (void)cotangents, (void)out;
    return refuse(d, entry->op);
}
