/* rename.c - values that stand for others from some operation on: a pass that walks a block once
 * replaces them as it comes by, and not each in a walk of its own. */
#include "ir/rename.h"

#include <stdlib.h>

#include "base/vec.h"

ir_renaming ir_renaming_new(ir_module *m) {
    return (ir_renaming){.m = m};
}

void ir_rename(ir_renaming *r, ir_value from, ir_value to) {
    if (from >= r->count) {
        uint32_t count = ir_value_count(r->m) + 1;
        r->to = base_realloc(r->to, sizeof *r->to * count);
        for (uint32_t i = r->count; i < count; i++)
            r->to[i] = 0;
        r->count = count;
    }
    r->to[from] = to;
}

void ir_renaming_apply(const ir_renaming *r, ir_op op) {
    for (ir_walk w = ir_walk_op(r->m, op); r->count && ir_walk_next(&w);) {
        ir_op_data *d = ir_op_get(r->m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            while (d->operands[i] < r->count && r->to[d->operands[i]])
                d->operands[i] = r->to[d->operands[i]];
    }
}

void ir_renaming_end(ir_renaming *r, ir_op rest) {
    for (; rest; rest = ir_op_get(r->m, rest)->next)
        ir_renaming_apply(r, rest);
    free(r->to);
    *r = (ir_renaming){.m = r->m};
}
