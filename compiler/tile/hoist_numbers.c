/* hoist_numbers.c - single numbers that no turn of an innermost loop changes are computed once,
 * before it.
 *
 * Loops with others inside of them keep theirs: they would be in registers throughout a product. */
#include "base/vec.h"
#include "tile/tile.h"

typedef VEC(ir_op) op_list;

static bool is_number(const ir_module *m, ir_value v) {
    const ir_type_data *t = ir_type_of(m, v);
    return t->kind == IR_TYPE_TILE && t->dims[0] == 1 && t->dims[1] == 1;
}

/* The constant in the loop's block that makes the value; 0: it is something else. */
static ir_op inner_constant(const ir_module *m, ir_block loop, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    bool inner = op && ir_op_get(m, op)->block == loop;
    return inner && ir_op_get(m, op)->opcode == TILE_CONSTANT ? op : 0;
}

static bool is_inner(const ir_module *m, ir_block loop, ir_value v) {
    const ir_value_data *d = ir_value_get(m, v);
    return (d->op ? ir_op_get(m, d->op)->block : d->block) == loop;
}

static bool can_hoist(const ir_module *m, ir_block loop, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    bool can = tile_is_elementwise(d->opcode) && d->operand_count > 0 && d->result_count == 1 &&
               is_number(m, d->results[0]);
    for (uint32_t i = 0; i < d->operand_count && can; i++)
        can = !is_inner(m, loop, d->operands[i]) || inner_constant(m, loop, d->operands[i]);
    return can;
}

static void hoist(ir_module *m, ir_block loop, ir_op op) {
    const ir_op before = ir_block_parent(m, loop);
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++) {
        ir_op constant = inner_constant(m, loop, ir_op_get(m, op)->operands[i]);
        if (constant)
            ir_op_move_before(m, constant, before);
    }
    ir_op_move_before(m, op, before);
}

static bool is_innermost(const ir_module *m, ir_block block) {
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->region_count)
            return false;
    return true;
}

bool tile_hoist_numbers(ir_module *m, status *st) {
    (void)st;
    op_list loops = {0};
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == TILE_FOR && is_innermost(m, ir_op_block(m, w.op, 0)))
            vec_push(&loops, w.op);
    for (size_t i = 0; i < loops.count; i++) {
        const ir_block block = ir_op_block(m, loops.items[i], 0);
        ir_op next;
        for (ir_op op = ir_block_get(m, block)->first; op; op = next) {
            next = ir_op_get(m, op)->next;
            if (can_hoist(m, block, op))
                hoist(m, block, op);
        }
    }
    vec_release(&loops);
    return true;
}
