/* prologue.c - contractions that compute their left side block by block: the windows of a
 * convolution, which as a matrix are many times the image.
 *
 * Their left side is a reshape of what an element-wise nest makes, and it flattens the last axes
 * into the contracted one. */
#include <string.h>

#include "schedule/plan.h"

/* The contracted axis of x is its last, and it has no batch: rows and a long row of steps. */
static bool is_matrix(const plan *p, ir_op dot) {
    const ir_op_data *d = ir_op_get(p->g, dot);
    const ir_type_data *x = plan_type(p, d->operands[0]), *y = plan_type(p, d->operands[1]);
    int64_t list[IR_MAX_RANK];
    if (d->opcode != GRAPH_DOT || ir_op_ints(p->g, dot, "x_batch", list, IR_MAX_RANK) ||
        d->operand_count > 2)
        return false;
    ir_op_ints(p->g, dot, "x_contract", list, 1);
    return x->rank >= 2 && y->rank == 2 && list[0] == x->rank - 1;
}

static bool flattens_last(const ir_type_data *from, const ir_type_data *to) {
    return from->rank > to->rank &&
           memcmp(from->dims, to->dims, sizeof(int64_t) * (size_t)(to->rank - 1)) == 0;
}

/* Value that the left side of the dot is a view of, when nothing else needs it. */
static ir_value find_prologue(const plan *p, const plan_group *group) {
    const ir_op_data *d = ir_op_get(p->g, group->anchor);
    ir_value x = d->operands[0];
    if (group->ends_chain || group->inside || !is_matrix(p, group->anchor) ||
        plan_opcode(p, x) != GRAPH_RESHAPE || p->stored[x])
        return 0;
    ir_value v = ir_op_get(p->g, plan_def(p, x))->operands[0];
    if (!p->stored[v] || p->uses[v] != 1 || p->uses[x] != 1 || p->group_of[v] < 0 ||
        plan_is_output(p, v) || !flattens_last(plan_type(p, v), plan_type(p, x)))
        return 0;
    const plan_group *nest = &p->groups[p->group_of[v]];
    bool empty = ir_type_count(p->g, ir_value_get(p->g, v)->type) == 0 ||
                 ir_type_count(p->g, ir_value_get(p->g, d->results[0])->type) == 0;
    return nest->kind == GROUP_MAP && nest->roots.count == 1 && !empty &&
                   plan_opcode(p, v) != GRAPH_CONCAT
               ? v
               : 0;
}

void plan_find_prologues(plan *p) {
    for (int g = 0; g < p->group_count; g++) {
        plan_group *group = &p->groups[g];
        ir_value v = group->kind == GROUP_DOT ? find_prologue(p, group) : 0;
        if (!v)
            continue;
        plan_group *nest = &p->groups[p->group_of[v]];
        group->prologue = v;
        group_set depends = group_set_join(&p->memory, group->depends, nest->depends);
        group->depends = group_set_without(&p->memory, depends,
                                           (group_set){.items = &p->group_of[v], .count = 1});
        nest->inside = true;
        p->in_workgroup[v] = true;
    }
}
