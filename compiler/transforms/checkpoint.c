/* checkpoint.c - what is left of transforms behind the derivatives: functions with rules of their
 * own and values without derivatives become plain, and what checkpoints do not keep is computed
 * again. */
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ops/control.h"
#include "transforms/engine.h"

/* ---- marks ---- */

enum { KEEP_NOTHING, KEEP_DOTS, KEEP_EVERYTHING, KEEP_COUNT };
static const char *const keeps[KEEP_COUNT] = {"nothing", "dots", "everything"};

/* The number of a checkpoint, with what it keeps. */
uint32_t checkpoint_mark(const ir_module *m, ir_op op) {
    const char *keep = ir_op_string(m, op, "keep", keeps[KEEP_NOTHING]);
    uint32_t own = 0;
    while (own + 1 < KEEP_COUNT && strcmp(keeps[own], keep) != 0)
        own++;
    return (ir_op_count(m) + 1) * KEEP_COUNT + own;
}

/* ---- plain operations ---- */

/* The first block's operations in the place of the operation; 0: it is none of these. */
static void open_block(ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = ir_op_get(m, b->last);
    for (uint32_t i = 0; i < b->argument_count; i++)
        ir_replace_uses(m, b->arguments[i], o->operands[i]);
    for (uint32_t i = 0; i < o->result_count; i++)
        ir_replace_uses(m, o->results[i], end->operands[i]);
    for (ir_op one = b->first, next; one != b->last; one = next) {
        next = ir_op_get(m, one)->next;
        ir_op_move_before(m, one, op);
    }
    ir_op_erase(m, op);
}

static bool make_plain(ir_module *m, ir_block block, void *context) {
    (void)context;
    for (ir_op op = ir_block_get(m, block)->first, next; op; op = next) {
        const ir_op_data *o = ir_op_get(m, op);
        const ir_op before = o->previous;
        next = o->next;
        if (o->opcode == GRAPH_STOP_GRADIENT) {
            ir_replace_uses(m, o->results[0], o->operands[0]);
            ir_op_erase(m, op);
        } else if (transform_is_one(o->opcode)) {
            open_block(m, op);
            next = before ? ir_op_get(m, before)->next : ir_block_get(m, block)->first;
        }
    }
    return true;
}

bool graph_checkpoint(ir_module *m, status *st) {
    (void)st;
    return control_each_block(m, make_plain, NULL);
}
