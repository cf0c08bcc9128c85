/* from_tiles_uses.c - what is to be known of the values of a kernel of tiles before any is lowered:
 * which are read from memory and which from registers, and which of one axis are columns. */
#include "tile/simt/from_tiles.h"

/* A narrow float as f32: a product reads the float itself. */
bool tiles_widens(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = op ? ir_op_get(t->g, op) : NULL;
    return d && d->opcode == GRAPH_CONVERT &&
           dtype_is_narrow(ir_type_of(t->g, d->operands[0])->element) &&
           ir_type_of(t->g, d->results[0])->element == DTYPE_F32;
}

ir_value tiles_factor(const tiles_lowering *t, ir_value v) {
    ir_op op = ir_value_get(t->g, v)->op;
    return tiles_widens(t, op) ? ir_op_get(t->g, op)->operands[0] : v;
}

typedef struct factor_use {
    bool left, staged; /* a unit reads it by itself */
    dtype wide;
} factor_use;

/* A factor of a product, and what it is the transposition of. */
static void note_factor(const tiles_lowering *t, ir_value v, factor_use use) {
    bool left = use.left;
    for (bool turned = true; turned; left = false) {
        v = tiles_factor(t, v);
        ir_op op = ir_value_get(t->g, v)->op;
        turned = op && ir_op_get(t->g, op)->opcode == GRAPH_TRANSPOSE;
        t->is_left[v] = left && (t->is_left[v] || !t->is_factor[v]);
        t->wide[v] = !t->is_factor[v] || t->wide[v] == use.wide ? use.wide : DTYPE_NONE;
        t->is_factor[v] = true;
        t->is_plain[v] |= !use.staged;
        v = turned ? ir_op_get(t->g, op)->operands[0] : v;
    }
}

static void note_operands(tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    factor_use use = {0};
    if (d->opcode == GRAPH_MATMUL)
        use = (factor_use){.staged = tiles_stage_unit(t, op), .wide = tiles_read_as(t, op)};
    t->whole_rows |= use.staged || d->opcode == GRAPH_REDUCE;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->opcode == GRAPH_MATMUL)
            note_factor(t, d->operands[i], (factor_use){i == 0, use.staged, use.wide});
        else if (d->opcode != GRAPH_TRANSPOSE && !tiles_widens(t, op))
            t->is_read[d->operands[i]] = true;
}

/* A float that is widened is read where its wider form is. */
static bool read_widened(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    bool more = tiles_widens(t, op) && t->is_read[d->results[0]] && !t->is_read[d->operands[0]];
    if (more)
        t->is_read[d->operands[0]] = true;
    return more;
}

static bool is_line(const tiles_lowering *t, ir_value v) {
    return ir_type_of(t->g, v)->rank == 1;
}

/* Are two tensors of one axis both columns, or both rows? */
static bool join(const tiles_lowering *t, ir_value x, ir_value y) {
    if (!is_line(t, x) || !is_line(t, y) || t->is_column[x] == t->is_column[y])
        return false;
    t->is_column[x] = t->is_column[y] = true;
    return true;
}

static bool set_column(const tiles_lowering *t, ir_value v) {
    bool changes = is_line(t, v) && !t->is_column[v];
    t->is_column[v] |= changes;
    return changes;
}

static bool join_loop(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const ir_block_data *b = ir_block_get(t->g, ir_op_block(t->g, op, 0));
    const ir_op_data *end = ir_op_get(t->g, b->last);
    bool changed = false;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        changed |= join(t, d->operands[i], b->arguments[i]);
        changed |= join(t, end->operands[i], b->arguments[i]);
        changed |= join(t, d->results[i], b->arguments[i]);
    }
    return changed;
}

/* Parameters: a value of one axis, and the axis of another tensor that it becomes, or was. */
static bool set_along(const tiles_lowering *t, ir_value line, ir_value other, int axis) {
    return ir_type_of(t->g, other)->rank == 2 && axis == 0 && set_column(t, line);
}

/* Does the operation make more columns known? */
static bool find_columns(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const bool moves = d->opcode == GRAPH_BROADCAST || d->opcode == GRAPH_RESHAPE;
    int64_t axis = -1;
    bool changed = false;
    if (d->opcode == GRAPH_FOR)
        return join_loop(t, op);
    if (d->opcode == GRAPH_REDUCE)
        return set_column(t, d->results[0]);
    if (d->opcode == GRAPH_BROADCAST && ir_op_ints(t->g, op, "axes", &axis, 1) == 1)
        return set_along(t, d->operands[0], d->results[0], (int)axis);
    if (d->opcode == GRAPH_RESHAPE) {
        ir_value x = d->operands[0], y = d->results[0];
        return set_along(t, x, y, ir_type_of(t->g, y)->dims[1] == 1 ? 0 : 1) ||
               set_along(t, y, x, ir_type_of(t->g, x)->dims[1] == 1 ? 0 : 1);
    }
    for (uint32_t i = 0; i < d->operand_count && d->result_count == 1 && !moves; i++)
        changed |= join(t, d->operands[i], d->results[0]);
    return changed;
}

/* ---- the order of loads ---- */

/* The first operation of the block that uses a value, itself or inside of it; 0: none does. */
static ir_op first_user(const tiles_lowering *t, ir_op behind, ir_value v) {
    for (ir_op op = ir_op_get(t->g, behind)->next; op; op = ir_op_get(t->g, op)->next)
        for (ir_walk w = ir_walk_op(t->g, op); ir_walk_next(&w);) {
            const ir_op_data *d = ir_op_get(t->g, w.op);
            for (uint32_t i = 0; i < d->operand_count; i++)
                if (d->operands[i] == v)
                    return op;
        }
    return 0;
}

/* A tile that registers hold, and what is no more than another form of it. */
static bool may_wait(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    bool form = d->opcode == GRAPH_LOAD || d->opcode == GRAPH_CONVERT ||
                d->opcode == GRAPH_BROADCAST || d->opcode == GRAPH_RESHAPE;
    return form && t->is_read[d->results[0]] && !t->is_factor[d->results[0]];
}

/* A tile takes registers from its load on, so that it is loaded where it is first used: behind the
 * sums over a row that come before. */
static void delay_loads(const tiles_lowering *t, ir_block block) {
    ir_op before;
    for (ir_op op = ir_block_get(t->g, block)->last; op; op = before) {
        before = ir_op_get(t->g, op)->previous;
        ir_op user = may_wait(t, op) ? first_user(t, op, ir_op_get(t->g, op)->results[0]) : 0;
        if (user)
            ir_op_move_before(t->g, op, user);
    }
}

bool tiles_find_uses(tiles_lowering *t, ir_block block) {
    bool changed = true;
    for (ir_walk w = ir_walk_block(t->g, block); ir_walk_next(&w);)
        note_operands(t, w.op);
    while (changed) {
        changed = false;
        for (ir_walk w = ir_walk_block(t->g, block); ir_walk_next(&w);)
            changed |= find_columns(t, w.op) | read_widened(t, w.op);
    }
    delay_loads(t, block);
    return true;
}
