/* forward_stores.c - what a row has left in the workgroup's memory is taken from registers where it
 * is still there: threads need not wait for it.
 *
 * Of columns of single elements alone, a value for each row: what is stored last at a place and
 * read there in the same block, or in loops inside of it. A store that nobody reads any more goes.
 * What follows a product is left alone: its tiles have their own threads. */
#include <string.h>

#include "base/vec.h"
#include "tile/simt/access.h"
#include "tile/simt/simt.h"

typedef VEC(access) access_list;

typedef struct forward_state {
    ir_module *m;
    access_list known; /* stores whose values are at hand */
    bool changed;
} forward_state;

/* The workgroup's own memory, at a place that is known, all of the tile. */
static bool is_near(const ir_module *m, ir_op op, access *a) {
    const ir_op_data *d = ir_op_get(m, op);
    bool whole = (d->opcode == TILE_LOAD && d->operand_count == 2) ||
                 (d->opcode == TILE_STORE && d->operand_count == 3);
    return access_of(m, op, a) && a->opcode == TILE_SCRATCH && whole && a->known &&
           a->offset.count >= 0 && !ir_op_int(m, op, "canonical", 0);
}

static bool same_place(const access *a, const access *b) {
    const linear *x = &a->offset, *y = &b->offset;
    bool same = access_same_memory(a, b) && x->constant == y->constant && x->count == y->count &&
                a->rows == b->rows && a->columns == b->columns && a->row_stride == b->row_stride;
    for (int i = 0; i < x->count && same; i++) {
        bool found = false;
        for (int k = 0; k < y->count; k++)
            found |= x->index[i] == y->index[k] && x->coefficient[i] == y->coefficient[k];
        same = found;
    }
    return same;
}

static void forget_memory(forward_state *f, const access *written) {
    size_t kept = 0;
    for (size_t i = 0; i < f->known.count; i++)
        if (!access_same_memory(&f->known.items[i], written))
            f->known.items[kept++] = f->known.items[i];
    f->known.count = kept;
}

static bool is_product(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == TILE_MMA || d->opcode == TILE_MMA_STAGE || d->opcode == TILE_SCAN)
        return true;
    if (d->opcode != TILE_FMA && d->opcode != TILE_MUL)
        return false;
    const ir_type_data *x = ir_type_of(m, d->operands[0]), *y = ir_type_of(m, d->operands[1]);
    return x->dims[1] == 1 && y->dims[0] == 1 && x->dims[0] > 1 && y->dims[1] > 1;
}

static void forget_written(forward_state *f, ir_op loop) {
    access a;
    for (ir_walk w = ir_walk_op(f->m, loop); ir_walk_next(&w);)
        if (access_of(f->m, w.op, &a) && a.writes)
            forget_memory(f, &a);
}

static void note_store(forward_state *f, ir_op op) {
    access a;
    if (!access_of(f->m, op, &a) || !a.writes)
        return;
    forget_memory(f, &a);
    if (is_near(f->m, op, &a) && a.columns == 1)
        vec_push(&f->known, a);
}

static void take_value(forward_state *f, ir_op load) {
    access a;
    if (!is_near(f->m, load, &a))
        return;
    for (size_t i = 0; i < f->known.count; i++) {
        ir_value value = ir_op_get(f->m, f->known.items[i].op)->operands[2],
                 loaded = ir_op_result(f->m, load, 0);
        if (!same_place(&f->known.items[i], &a) ||
            ir_value_get(f->m, value)->type != ir_value_get(f->m, loaded)->type)
            continue;
        ir_replace_uses(f->m, loaded, value);
        ir_op_erase(f->m, load);
        f->changed = true;
        return;
    }
}

static void go_through(forward_state *f, ir_block block) {
    ir_module *m = f->m;
    for (ir_op op = ir_block_get(m, block)->first, next; op; op = next) {
        int opcode = ir_op_get(m, op)->opcode;
        next = ir_op_get(m, op)->next;
        if (opcode == TILE_FOR) {
            forget_written(f, op);
            size_t before = f->known.count;
            go_through(f, ir_op_block(m, op, 0));
            f->known.count = f->known.count < before ? f->known.count : before;
        } else if (is_product(m, op)) {
            f->known.count = 0;
        } else if (opcode == TILE_LOAD) {
            take_value(f, op);
        } else {
            note_store(f, op);
        }
    }
}

/* ---- stores that nobody reads ---- */

typedef struct memory_reads {
    access_list stores;
    VEC(int64_t) read; /* offsets of memories */
} memory_reads;

static void note_use(const ir_module *m, ir_op op, memory_reads *r) {
    const ir_op_data *d = ir_op_get(m, op);
    access a;
    bool stores = d->opcode == TILE_STORE && access_of(m, op, &a) && a.opcode == TILE_SCRATCH;
    if (stores && a.columns == 1)
        vec_push(&r->stores, a);
    for (uint32_t i = stores; i < d->operand_count; i++) {
        ir_op memory = ir_value_get(m, d->operands[i])->op;
        if (memory && ir_op_get(m, memory)->opcode == TILE_SCRATCH)
            vec_push(&r->read, ir_op_int(m, memory, "offset", 0));
    }
}

static void drop_stores(ir_module *m, ir_op phase) {
    memory_reads r = {.stores = {0}};
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);)
        note_use(m, w.op, &r);
    for (size_t i = 0; i < r.stores.count; i++) {
        bool read = false;
        for (size_t k = 0; k < r.read.count; k++)
            read |= r.read.items[k] == r.stores.items[i].memory;
        if (!read)
            ir_op_erase(m, r.stores.items[i].op);
    }
    vec_release(&r.stores);
    vec_release(&r.read);
}

bool simt_forward_stores(ir_module *m, status *st) {
    (void)st;
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next) {
        forward_state f = {.m = m};
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        go_through(&f, ir_op_block(m, op, 0));
        if (f.changed)
            drop_stores(m, op);
        vec_release(&f.known);
    }
    return true;
}
