/* emit_run.c - element-wise operations that follow each other, an element after the other. A thread
 * that holds many elements then keeps what is between two operations of one element, and not of
 * all. */
#include <string.h>

#include "target/llvm/emit.h"

enum { MANY = 16, LONGEST = 256 };

static bool is_pending(const emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (e->of[d->operands[i]].pending)
            return true;
    return false;
}

/* The tile that an element-wise operation of threads makes; NULL: it is none. */
static const ir_type_data *tile_of(const emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    if (!tile_is_elementwise(d->opcode) || (d->opcode == TILE_FMA && simt_pairs(e, op)))
        return NULL;
    const ir_type_data *t = ir_type_of(e->m, d->results[0]);
    return t->kind == IR_TYPE_TILE && t->layout.row_threads ? t : NULL;
}

static bool is_alike(const ir_type_data *x, const ir_type_data *y) {
    return y && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1] &&
           memcmp(&x->layout, &y->layout, sizeof x->layout) == 0;
}

/* Can it be emitted before those that are pending? */
static bool goes_before(const emitter *e, ir_op op) {
    int opcode = ir_op_get(e->m, op)->opcode;
    bool moves = opcode == TILE_CONSTANT || opcode == TILE_BROADCAST || tile_is_elementwise(opcode);
    return moves && !is_pending(e, op);
}

bool simt_run(emitter *e, ir_op *at) {
    ir_op run[LONGEST], op = *at;
    int count = 0;
    const ir_type_data *tile = tile_of(e, op);
    emitted t = {.rows = 1, .parts = 1};
    if (tile)
        simt_shape(&t, tile);
    if (t.rows * t.parts < MANY)
        return false;
    for (; op && count < LONGEST; op = ir_op_get(e->m, op)->next) {
        if (is_alike(tile, tile_of(e, op))) {
            ir_value result = ir_op_get(e->m, op)->results[0];
            code_new(e, result);
            e->of[result].pending = true;
            run[count++] = op;
        } else if (goes_before(e, op)) {
            code_op(e, op);
        } else {
            break;
        }
    }
    for (int64_t r = 0; r < t.rows; r++)
        for (int p = 0; p < t.parts; p++)
            for (int k = 0; k < count; k++) {
                e->simt.op = run[k];
                code_elementwise_part(e, run[k], r, p);
            }
    for (int k = 0; k < count; k++)
        e->of[ir_op_get(e->m, run[k])->results[0]].pending = false;
    *at = op;
    return true;
}
