/* lower_dot.c - a register tile of a contraction: which of its forms the schedule asks for. */
#include "tile/lower_dot.h"
#include "tile/mma.h"

/* The sum of all steps, or of those of the chunk or the strip. */
static void whole(dot *t, ir_builder *b) {
    ir_value low, high;
    if (!t->extent) /* its operands are not even packed */
        dot_finish(t, b, dot_zero(t, b));
    else if (t->strip)
        dot_strip(t, b);
    else if (t->mma && !t->as_threads)
        dot_finish(t, b, lower_mma(t, b));
    else if (t->stage)
        dot_finish(t, b, dot_with_zero(t, b, (t->mma ? lower_mma : lower_staged)(t, b)));
    else {
        dot_chunk_bounds(t, b, &low, &high);
        if (t->packed)
            dot_share_panel(t, b, low);
        dot_end_chunk(t, b, dot_chunk(t, b, low, high));
    }
}

/* A tile all of whose columns are at or past the counts of its rows is not computed. */
static void where_needed(dot *t, ir_builder *b) {
    ir_op loop;
    ir_value index;
    dot_load_counts(t, b, DOT_LIMITS);
    ir_builder in = tile_for(b, t->f.index[t->f.column_axis], t->most, INT64_C(1) << 30, NULL, 0,
                             &loop, &index);
    whole(t, &in);
    tile_yield(&in, NULL, 0);
}

/* Are these the few columns that whole tiles leave over? Turning them in registers would be as much
 * code as for a whole tile. */
static bool is_small_rest(const dot *t) {
    enum { SHARE = 8 };
    const frame *f = &t->f;
    const ir_module *m = f->l->s;
    ir_op loop = dot_loop(m, f->op, &f->shape, AXIS_N);
    if (!loop)
        return false;
    int64_t step = schedule_step(m, loop, "step", 1), extent = ir_op_int(m, loop, "extent", 0);
    return ir_dim_is_static(extent) && extent > step && f->columns * SHARE <= step;
}

void lower_dot(lowering *l, ir_builder *b, ir_op op) {
    dot t = {.f = frame_of(l, op), .b = b, .packed = ir_op_int(l->s, op, "packed", 0) != 0};
    t.loop = dot_loop(l->s, op, &t.f.shape, AXIS_K);
    t.extent = dot_extent(l->m, l->s, op, &t.f.shape);
    order_id order = order_of(l->s, t.loop, ORDER_CHUNK512);
    t.chunk = order_info_of(order)->chunk;
    t.pairs = order == ORDER_PAIRS512;
    t.unroll = schedule_step(l->s, t.loop, "step", 1);
    t.group = ir_op_int(l->s, op, "group", 0);
    t.of = t.group == 4 ? DTYPE_I8 : DTYPE_BF16;
    t.known = ir_dim_is_static(t.extent);
    t.unit = ir_op_attr(l->s, op, "unit") != 0;
    t.prefetch = schedule_step(l->s, t.loop, "prefetch", 0);
    ir_op stages = dot_loop(l->s, op, &t.f.shape, AXIS_STAGE);
    t.stage = stages ? schedule_step(l->s, stages, "step", 1) : 0;
    t.mma =
        mma_unit_find(ir_op_string(l->s, op, "mma", ""), ir_op_attr(l->s, op, "mma_in_memory") != 0,
                      ir_type_of(b->m, frame_memory(&t.f, 0))->element);
    t.as_threads =
        t.mma && dtype_is_float(t.mma->sum) && mma_unit_is_chain(t.mma) && order != ORDER_UNIT;
    t.depth = stages ? schedule_step(l->s, stages, "depth", t.mma ? 2 : 0) : 0;
    t.loader = stages && schedule_step(l->s, stages, "loader", 0) != 0;
    if (t.f.shape.index[AXIS_STRIP] >= 0)
        t.strip = l->size_of[ir_op_get(l->s, op)->operands[t.f.shape.index[AXIS_STRIP]]];
    t.k = t.f.shape.index[AXIS_K];
    ir_value first = tile_index(b, 0);
    for (int i = t.f.shape.index[AXIS_N] + 1; i <= t.k; i++)
        t.f.index[i] = first;
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, op, 0));
    t.element = ir_type_of(l->s, block->arguments[0])->element;
    frame_access(&t.f, 0, t.lhs);
    frame_access(&t.f, 1, t.rhs);
    t.turned = ir_op_attr(l->s, op, "turned") != 0 && (t.group || !t.pairs);
    t.in_first = ir_op_attr(l->s, t.loop, "near") != 0;
    if (t.turned && !t.group && is_small_rest(&t)) {
        t.turned = false;
        t.unroll = 1;
        t.prefetch = 0;
    }
    if (t.f.shape.index[AXIS_RUN] >= 0)
        lower_runs(&t, b);
    else if (t.f.shape.buffer[DOT_LIMITS] >= 0)
        where_needed(&t, b);
    else
        whole(&t, b);
}
