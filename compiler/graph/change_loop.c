/* change_loop.c - see change_loop.h. */
#include "graph/change_loop.h"

#include <stdlib.h>

#include "ir/rename.h"
#include "ops/combiner.h"
#include "ops/control.h"

void loop_release(loop_draft *n) {
    vec_release(&n->operands);
    vec_release(&n->arguments);
    vec_release(&n->next);
    vec_release(&n->results);
}

void loop_takes(loop_draft *n, ir_value operand, ir_value argument) {
    vec_push(&n->operands, operand);
    vec_push(&n->arguments, argument);
}

static ir_op build_loop(ir_module *m, ir_op old, const loop_draft *n) {
    const ir_op_data *o = ir_op_get(m, old);
    const ir_dim count = loop_shape_of(m, old).count;
    ir_type *types = base_calloc(n->next.count + 1, sizeof *types);
    for (size_t i = 0; i < n->next.count; i++)
        types[i] = i < n->carried ? ir_value_get(m, n->next.items[i])->type
                                  : control_stack_type(m, n->next.items[i], count);
    ir_builder b = {.m = m, .block = o->block, .before = old, .location = o->location};
    ir_op loop =
        control_build_loop(&b, &(loop_request){.operands = n->operands.items,
                                               .operand_count = (uint32_t)n->operands.count,
                                               .results = types,
                                               .result_count = (uint32_t)n->next.count,
                                               .carried = n->carried,
                                               .sliced = n->sliced,
                                               .count = count});
    free(types);
    return loop;
}

ir_op loop_change(ir_module *m, ir_op old, loop_draft *n) {
    ir_op loop = build_loop(m, old, n);
    const ir_block block = ir_op_block(m, loop, 0), from = ir_op_block(m, old, 0);
    ir_renaming renamed = ir_renaming_new(m);
    const ir_value turn = ir_block_get(m, from)->arguments[0];
    ir_rename(&renamed, turn, ir_block_add_argument(m, block, ir_value_get(m, turn)->type, NULL));
    for (size_t i = 0; i < n->operands.count; i++) {
        const ir_value v = n->operands.items[i], before = n->arguments.items[i];
        const bool part = i >= n->carried && i < n->carried + n->sliced;
        const ir_value now = ir_block_add_argument(
            m, block, part ? control_part_type(m, v) : ir_value_get(m, v)->type, NULL);
        if (before)
            ir_rename(&renamed, before, now);
        n->arguments.items[i] = now;
    }
    ir_builder inside = {.m = m, .block = block};
    build_next(&inside, n->next.items, (uint32_t)n->next.count);
    const ir_op end = ir_block_get(m, block)->last;
    const ir_op last = ir_block_get(m, from)->last;
    for (ir_op op = ir_block_get(m, from)->first, next; op != last; op = next) {
        next = ir_op_get(m, op)->next;
        ir_op_move_before(m, op, end);
        ir_renaming_apply(&renamed, op);
    }
    ir_renaming_apply(&renamed, end);
    for (size_t i = 0; i < n->results.count; i++) {
        const ir_value now = ir_op_result(m, loop, (uint32_t)i);
        if (n->results.items[i])
            ir_rename(&renamed, n->results.items[i], now);
        n->results.items[i] = now;
    }
    ir_renaming_end(&renamed, ir_op_get(m, old)->next);
    ir_op_erase(m, old);
    return loop;
}
