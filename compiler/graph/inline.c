/* inline.c - the operations of functions in the place of calls.
 *
 * Each block is walked once, and what a call becomes is walked, too: a call in a function is a call
 * of the kernel then. */
#include <stdlib.h>

#include "graph/passes.h"
#include "ir/copy.h"
#include "ir/rename.h"
#include "ops/control.h"
#include "ops/functions.h"
#include "ops/graph.h"

enum { OPERATIONS_MAX = 200000 };

/* Copies the callee's operations before the call, and has their results for those of the call. */
static void inline_call(ir_module *m, ir_op call, ir_value *copies, ir_renaming *renamed) {
    const ir_op_data *d = ir_op_get(m, call);
    ir_op f = function_named(m, ir_op_string(m, call, "callee", ""));
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, f, 0));
    ir_builder b = {.m = m, .block = d->block, .before = call};
    for (uint32_t i = 0; i < body->argument_count; i++)
        copies[body->arguments[i]] = d->operands[i];
    for (ir_op op = body->first; op != body->last; op = ir_op_get(m, op)->next)
        ir_copy_op(&b, m, op, copies);
    const ir_op_data *end = ir_op_get(m, body->last);
    for (uint32_t i = 0; i < end->operand_count; i++)
        ir_rename(renamed, d->results[i], copies[end->operands[i]]);
}

typedef struct inline_state {
    ir_value *copies; /* of the functions' values */
    status *st;
} inline_state;

static bool inline_block(ir_module *m, ir_block block, inline_state *in) {
    ir_block_data *body = ir_block_get(m, block);
    ir_renaming renamed = ir_renaming_new(m);
    bool ok = true;
    for (ir_op op = body->first, next; op && ok; op = next) {
        ir_op before = ir_op_get(m, op)->previous;
        next = ir_op_get(m, op)->next;
        ir_renaming_apply(&renamed, op);
        if (ir_op_get(m, op)->opcode != GRAPH_CALL)
            continue;
        inline_call(m, op, in->copies, &renamed);
        ir_op_erase(m, op);
        next = before ? ir_op_get(m, before)->next : body->first;
        ok = ir_op_count(m) <= OPERATIONS_MAX ||
             status_set(in->st, STATUS_UNAVAILABLE,
                        "with its functions the kernel is more than %d operations", OPERATIONS_MAX);
    }
    ir_renaming_end(&renamed, 0);
    return ok;
}

/* Blocks of branches and loops come with what is inlined, so the list of them grows. */
static bool inline_calls(ir_module *m, status *st) {
    inline_state in = {base_calloc(ir_value_count(m) + 1, sizeof(ir_value)), st};
    control_block_list blocks = {0};
    bool ok = true;
    vec_push(&blocks, ir_op_block(m, ir_module_kernel(m), 0));
    for (size_t i = 0; i < blocks.count && ok; i++) {
        ok = inline_block(m, blocks.items[i], &in);
        control_blocks_of(m, blocks.items[i], &blocks);
    }
    vec_release(&blocks);
    free(in.copies);
    return ok;
}

bool graph_inline(ir_module *m, status *st) {
    const ir_op kernel = ir_module_kernel(m);
    if (ir_op_get(m, kernel)->next && !inline_calls(m, st))
        return false;
    while (ir_op_get(m, kernel)->next)
        ir_op_erase(m, ir_op_get(m, kernel)->next);
    return true;
}
