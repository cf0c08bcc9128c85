/* simplify.c - value numbering, dead code and trivial data movement.
 *
 * Nothing here is an algebraic rewrite of arithmetic: x + 0 and x * 1 stay, because they are
 * observable. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "graph/passes.h"
#include "ir/rename.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/dead.h"

void graph_op_key(const ir_module *m, ir_op op, const ir_value *same, text *key) {
    const ir_op_data *d = ir_op_get(m, op);
    text_clear(key);
    text_printf(key, "%d", d->opcode);
    for (uint32_t i = 0; i < d->operand_count; i++)
        text_printf(key, " %u", same ? same[d->operands[i]] : d->operands[i]);
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (strcmp(d->attrs[i].name, "id") != 0)
            text_printf(key, " %s=%u", d->attrs[i].name, d->attrs[i].value);
    text_printf(key, ":%u", ir_value_get(m, d->results[0])->type);
}

/* The operand that an operation merely repeats, or 0. */
static ir_value trivial(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t p[IR_MAX_RANK];
    if (d->operand_count == 0)
        return 0;
    bool same = ir_value_get(m, d->operands[0])->type == ir_value_get(m, d->results[0])->type;
    if (d->opcode == GRAPH_TRANSPOSE) {
        uint32_t n = ir_op_ints(m, op, "permutation", p, IR_MAX_RANK);
        for (uint32_t i = 0; i < n; i++)
            same &= p[i] == (int64_t)i;
        return same ? d->operands[0] : 0;
    }
    bool movement = d->opcode == GRAPH_RESHAPE || d->opcode == GRAPH_BROADCAST ||
                    d->opcode == GRAPH_SLICE || d->opcode == GRAPH_CONVERT ||
                    (d->opcode == GRAPH_CONCAT && d->operand_count == 1);
    return same && movement ? d->operands[0] : 0;
}

static void number_values(ir_module *m, ir_block body) {
    map seen;
    text key;
    map_init(&seen);
    text_init(&key);
    ir_op next;
    ir_renaming renamed = ir_renaming_new(m);
    for (ir_op op = ir_block_get(m, body)->first; op; op = next) {
        const ir_op_data *d = ir_op_get(m, op);
        intptr_t earlier = 0;
        next = d->next;
        ir_renaming_apply(&renamed, op);
        if (!graph_op_is_pure(d->opcode) || d->result_count != 1 || d->region_count)
            continue;
        ir_value same = trivial(m, op);
        graph_op_key(m, op, NULL, &key);
        text_printf(&key, " %u", d->location.checkpoint); /* computed anew on purpose */
        if (!same && map_get(&seen, key.data, &earlier))
            same = (ir_value)earlier;
        if (same) {
            ir_rename(&renamed, d->results[0], same);
            ir_op_erase(m, op);
        } else {
            map_put(&seen, key.data, (intptr_t)d->results[0]);
        }
    }
    ir_renaming_end(&renamed, 0);
    map_release(&seen);
    text_release(&key);
}

static bool simplify_block(ir_module *m, ir_block block, void *context) {
    (void)context;
    number_values(m, block);
    graph_remove_dead(m, block);
    return true;
}

bool graph_simplify(ir_module *m, status *st) {
    (void)st;
    return control_each_block(m, simplify_block, NULL);
}
