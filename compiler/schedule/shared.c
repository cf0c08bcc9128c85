/* shared.c - results of row reductions that other groups read: they get memory. */
#include <stdlib.h>

#include "schedule/plan.h"

typedef VEC(ir_value) value_list;

/* Results of row reductions that another group reads get memory; the first operand's first. */
static void store_shared_rows(plan *p, ir_value root, int group, int *seen) {
    value_list waiting = {0};
    vec_push(&waiting, root);
    while (waiting.count) {
        ir_value v = waiting.items[--waiting.count];
        ir_op op = seen[v] == group + 1 ? 0 : plan_def(p, v);
        bool others = op && p->group_of[v] >= 0 && p->group_of[v] != group;
        seen[v] = group + 1;
        if (others && !p->stored[v]) {
            p->stored[v] = true;
            vec_push(&p->groups[p->group_of[v]].roots, v);
        }
        const ir_op_data *d = op && !others ? ir_op_get(p->g, op) : NULL;
        for (uint32_t i = d ? d->operand_count : 0; i-- > 0;)
            vec_push(&waiting, d->operands[i]);
    }
    vec_release(&waiting);
}

/* ... and those that a fold and its block take. */
static void store_shared_turns(plan *p, ir_op fold, int group, int *seen) {
    for (uint32_t i = 0; i < ir_op_get(p->g, fold)->operand_count; i++)
        store_shared_rows(p, ir_op_get(p->g, fold)->operands[i], group, seen);
    for (ir_op op = ir_block_get(p->g, ir_op_block(p->g, fold, 0))->first; op;
         op = ir_op_get(p->g, op)->next)
        for (uint32_t i = 0; i < ir_op_get(p->g, op)->operand_count; i++)
            store_shared_rows(p, ir_op_get(p->g, op)->operands[i], group, seen);
}

void plan_store_shared(plan *p) {
    /* by value: one more than the last group that met it */
    int *seen = base_calloc(ir_value_count(p->g) + 1, sizeof *seen);
    for (int g = 0; g < p->group_count; g++) {
        plan_group *group = &p->groups[g];
        for (size_t i = 0; i < group->reduces.count; i++)
            store_shared_rows(p, ir_op_get(p->g, group->reduces.items[i])->results[0], g, seen);
        for (size_t i = 0; i < group->roots.count; i++)
            store_shared_rows(p, group->roots.items[i], g, seen);
        if (group->kind == GROUP_FOLD)
            store_shared_turns(p, group->anchor, g, seen);
    }
    free(seen);
}
