/* walk.c - the walk over operations and those in their regions, without recursion: where it goes
 * next follows from where it is. */
#include "ir/ir.h"

ir_walk ir_walk_op(const ir_module *m, ir_op op) {
    return (ir_walk){.m = m, .next = op, .root = op};
}

ir_walk ir_walk_block(const ir_module *m, ir_block block) {
    return (ir_walk){.m = m, .next = ir_block_get(m, block)->first, .root_block = block};
}

static bool meet(ir_walk *w, ir_op op, bool leaving) {
    const ir_op_data *d = ir_op_get(w->m, op);
    w->op = op;
    w->leaving = leaving;
    w->skip = false;
    w->block = d->block;
    w->next = d->next;
    return true;
}

/* The first operation of the operation's regions from that number on; 0: they are empty. */
static ir_op first_in(const ir_module *m, ir_op op, uint32_t region) {
    ir_op first = 0;
    for (; region < ir_op_get(m, op)->region_count && !first; region++)
        first = ir_block_get(m, ir_op_block(m, op, region))->first;
    return first;
}

/* Behind the last operation of a region: in the parent's next one, or at the parent again. */
static bool end_region(ir_walk *w) {
    ir_region region = ir_block_get(w->m, w->block)->region;
    ir_op parent = ir_region_get(w->m, region)->parent;
    const ir_op_data *d = ir_op_get(w->m, parent);
    uint32_t number = 0;
    while (d->regions[number] != region)
        number++;
    ir_op first = first_in(w->m, parent, number + 1);
    if (first)
        return meet(w, first, false);
    w->depth--;
    return meet(w, parent, true);
}

bool ir_walk_step(ir_walk *w) {
    if (!w->op)
        return w->next && meet(w, w->next, false);
    if (!w->leaving && ir_op_get(w->m, w->op)->block == w->block) { /* it was not erased */
        ir_op inner = w->skip ? 0 : first_in(w->m, w->op, 0);
        w->depth += inner != 0;
        return meet(w, inner ? inner : w->op, !inner);
    }
    if (w->op == w->root)
        return false;
    if (w->next)
        return meet(w, w->next, false);
    return w->block != w->root_block && end_region(w);
}

bool ir_walk_next(ir_walk *w) {
    do
        if (!ir_walk_step(w))
            return false;
    while (w->leaving);
    return true;
}
