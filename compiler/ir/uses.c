/* uses.c - lists of uses: one walk counts them, a second one notes them. */
#include "ir/uses.h"

#include <stdlib.h>

#include "base/arena.h"

ir_uses ir_uses_fill(const ir_module *m) {
    uint32_t values = ir_value_count(m), total = 0, *counts = ir_count_uses(m);
    ir_uses u = {base_calloc(values + 2, sizeof *u.first), NULL};
    for (uint32_t v = 1; v <= values; v++) {
        u.first[v] = total;
        total += counts[v];
    }
    u.readers = base_calloc(total + 1, sizeof *u.readers);
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            u.readers[u.first[d->operands[i]]++] = w.op;
    }
    for (uint32_t v = values + 1; v > 0;
         v--) /* each stands at its end now, where the next begins */
        u.first[v] = u.first[v - 1];
    free(counts);
    return u;
}

void ir_uses_release(ir_uses *u) {
    free(u->first);
    free(u->readers);
}
