/* checkpoint.c - what is left of transforms behind the derivatives: functions with rules of their
 * own and values without derivatives become plain, and what checkpoints do not keep is computed
 * again. */
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ops/control.h"
#include "transforms/engine.h"

/* ---- marks ---- */

uint32_t checkpoint_mark(const ir_module *m, ir_op op) {
    return checkpoint_number(m, checkpoint_keep_named(ir_op_string(m, op, "keep", "nothing")));
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

/* ---- what is computed again ---- */

/* Is it a part of a checkpoint that the derivative computes again? */
static bool is_dropped(const ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    const uint32_t mark = o->location.checkpoint;
    const checkpoint_keep keep = checkpoint_keep_of(mark);
    if (!mark || keep == CHECKPOINT_EVERYTHING || keep == CHECKPOINT_ANEW)
        return false;
    const bool dot = graph_op_class(o->opcode) == GRAPH_CLASS_DOT || o->opcode == GRAPH_MATMUL ||
                     o->opcode == GRAPH_LINEAR || o->opcode == GRAPH_CONV2D;
    return keep == CHECKPOINT_NOTHING || !dot;
}

/* Operations of one checkpoint that readers outside of it need, which are those of derivatives:
 * what else leaves a checkpoint is a result of it, and no part. */
typedef struct again {
    uint32_t mark, fresh; /* of the checkpoint; of what is computed again */
    ir_op before;         /* the first such reader */
} again;

typedef struct recomputing {
    ir_module *m;
    VEC(again) all;
    bool *needed;     /* by operation */
    ir_value *copies; /* by value */
} recomputing;

static again *again_of(recomputing *r, uint32_t mark) {
    for (size_t i = 0; i < r->all.count; i++)
        if (checkpoint_is_same(r->all.items[i].mark, mark))
            return &r->all.items[i];
    vec_push(&r->all, (again){.mark = mark});
    return &r->all.items[r->all.count - 1];
}

/* Readers are met before what they read: from the last operation to the first. */
static void find_needed(recomputing *r, ir_op reader) {
    const ir_op_data *o = ir_op_get(r->m, reader);
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const ir_op def = ir_value_get(r->m, o->operands[i])->op;
        if (!def || !is_dropped(r->m, def))
            continue;
        const uint32_t mark = ir_op_get(r->m, def)->location.checkpoint;
        const bool outside = !checkpoint_is_same(mark, o->location.checkpoint);
        r->needed[def] |= outside || r->needed[reader];
        if (outside)
            again_of(r, mark)->before = reader;
    }
}

static void compute_again(recomputing *r, ir_op op) {
    const uint32_t mark = ir_op_get(r->m, op)->location.checkpoint;
    again *a = again_of(r, mark);
    ir_builder b = {.m = r->m, .block = ir_op_get(r->m, op)->block, .before = a->before};
    if (!a->fresh)
        a->fresh = checkpoint_number(r->m, CHECKPOINT_ANEW);
    ir_op copy = ir_copy_op(&b, r->m, op, r->copies);
    ir_op_get(r->m, copy)->location.checkpoint = a->fresh;
}

/* Readers outside of the checkpoint take what is computed again. */
static void read_copies(recomputing *r, ir_op reader, uint32_t values) {
    ir_op_data *o = ir_op_get(r->m, reader);
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const ir_value v = o->operands[i];
        const ir_op def = ir_value_get(r->m, v)->op;
        if (v <= values && def && r->copies[v] &&
            !checkpoint_is_same(ir_op_get(r->m, def)->location.checkpoint, o->location.checkpoint))
            o->operands[i] = r->copies[v];
    }
}

static void recompute(ir_module *m) {
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    const uint32_t values = ir_value_count(m);
    recomputing r = {.m = m,
                     .needed = base_calloc(ir_op_count(m) + 1, sizeof *r.needed),
                     .copies = base_calloc(values + 1, sizeof *r.copies)};
    const ir_op last = ir_block_get(m, block)->last;
    for (ir_op op = last; op; op = ir_op_get(m, op)->previous)
        find_needed(&r, op);
    for (ir_op op = ir_block_get(m, block)->first, next; op && r.all.count; op = next) {
        next = ir_op_get(m, op)->next;
        if (is_dropped(m, op) && r.needed[op])
            compute_again(&r, op);
    }
    for (ir_op op = ir_block_get(m, block)->first; op && r.all.count; op = ir_op_get(m, op)->next)
        read_copies(&r, op, values);
    vec_release(&r.all);
    free(r.needed);
    free(r.copies);
}

bool graph_checkpoint(ir_module *m, status *st) {
    (void)st;
    bool ok = control_each_block(m, make_plain, NULL);
    recompute(m);
    return ok;
}
