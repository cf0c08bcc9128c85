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
            transform_open(m, op);
            next = before ? ir_op_get(m, before)->next : ir_block_get(m, block)->first;
        }
    }
    return true;
}

/* ---- what is computed again ---- */

/* Readers outside of a checkpoint are those of derivatives: what else leaves it is a result of it,
 * and no part. What one of them reads is computed again right before the first, with what it is
 * made of as far as it is not kept. */
typedef struct recomputing {
    ir_module *m;
    uint32_t *places;     /* by operation: its place in the block */
    bool *listed;         /* by operation */
    ir_value *copies;     /* by value: computed again; 0: not yet */
    VEC(ir_op) needed;    /* for the present reader */
    uint32_t mark, fresh; /* of the checkpoint that was met last; of what is computed again */
} recomputing;

static _Thread_local const uint32_t *places_of_comparison;

static int by_place(const void *a, const void *b) {
    const uint32_t x = places_of_comparison[*(const ir_op *)a],
                   y = places_of_comparison[*(const ir_op *)b];
    return (x > y) - (x < y);
}

/* The operation that makes a value again; 0: it is kept, or there is one. */
static ir_op dropped_maker(const recomputing *r, ir_value v) {
    const ir_op def = ir_value_get(r->m, v)->op;
    return def && checkpoint_drops(r->m, def) && !r->copies[v] ? def : 0;
}

static void need(recomputing *r, ir_op op) {
    if (op && !r->listed[op]) {
        r->listed[op] = true;
        vec_push(&r->needed, op);
    }
}

/* All that is computed again of one checkpoint has one mark, so that equal operations in it are
 * one. */
static uint32_t fresh_mark(recomputing *r, ir_op op) {
    const uint32_t mark = ir_op_get(r->m, op)->location.checkpoint;
    if (!r->fresh || !checkpoint_is_same(mark, r->mark))
        r->fresh = checkpoint_number(r->m, CHECKPOINT_ANEW);
    r->mark = mark;
    return r->fresh;
}

static void compute_again(recomputing *r, ir_op first, ir_op reader) {
    r->needed.count = 0;
    need(r, first);
    for (size_t i = 0; i < r->needed.count; i++) {
        const ir_op_data *o = ir_op_get(r->m, r->needed.items[i]);
        for (uint32_t k = 0; k < o->operand_count; k++)
            need(r, dropped_maker(r, o->operands[k]));
    }
    places_of_comparison = r->places;
    qsort(r->needed.items, r->needed.count, sizeof *r->needed.items, by_place);
    for (size_t i = 0; i < r->needed.count; i++) {
        const ir_op op = r->needed.items[i];
        ir_builder b = {.m = r->m, .block = ir_op_get(r->m, reader)->block, .before = reader};
        const uint32_t mark = fresh_mark(r, op);
        const ir_op copy = ir_copy_op(&b, r->m, op, r->copies);
        ir_op_get(r->m, copy)->location.checkpoint = mark;
        r->listed[op] = false;
    }
}

static void read_again(recomputing *r, ir_op reader) {
    ir_op_data *o = ir_op_get(r->m, reader);
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const ir_value v = o->operands[i];
        const ir_op def = ir_value_get(r->m, v)->op;
        if (!def || !checkpoint_drops(r->m, def) ||
            checkpoint_is_same(ir_op_get(r->m, def)->location.checkpoint, o->location.checkpoint))
            continue;
        if (!r->copies[v])
            compute_again(r, def, reader);
        o->operands[i] = r->copies[v];
    }
}

static void recompute(ir_module *m) {
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    const uint32_t operations = ir_op_count(m);
    recomputing r = {.m = m,
                     .places = base_calloc(operations + 1, sizeof *r.places),
                     .listed = base_calloc(operations + 1, sizeof *r.listed),
                     .copies = base_calloc(ir_value_count(m) + 1, sizeof *r.copies)};
    uint32_t place = 0;
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        r.places[op] = place++;
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        read_again(&r, op);
    vec_release(&r.needed);
    free(r.places);
    free(r.listed);
    free(r.copies);
}

bool graph_checkpoint(ir_module *m, status *st) {
    (void)st;
    bool ok = control_each_block(m, make_plain, NULL);
    recompute(m);
    return ok;
}
