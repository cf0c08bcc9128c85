/* lower_scan.c - running sums: one chain for each row or column, several side by side
 * (docs/numerics.md, order seq).
 *
 * A loop along the scanned axis carries the sums of one step before. Of rows it takes some elements
 * at a time, whose sums tile.scan makes; of columns one, which is added. */
#include <string.h>

#include "ops/reductions.h"
#include "tile/lowering.h"

typedef struct scan {
    frame f; /* the scanned index is its last */
    int64_t step;
} scan;

static const char *combines(const frame *f) {
    return reduction_combines(ir_op_string(f->l->s, f->op, "kind", "cumsum"));
}

ir_value lowering_running(frame *f, ir_builder *b, ir_value x) {
    x = tile_broadcast(b, x, f->rows, f->columns);
    if (f->column_axis != f->axes - 1) {
        ir_value operands[] = {f->running, x};
        return f->running = tile_op(b, reduction_opcode(combines(f)), operands, 2, DTYPE_NONE);
    }
    ir_value operands[] = {x, f->running};
    ir_type results[] = {ir_value_get(b->m, x)->type, ir_value_get(b->m, f->running)->type};
    const order_info *order = order_info_of(order_of(f->l->s, f->op, ORDER_ANY));
    ir_named_attr attrs[] = {
        {"kind", ir_attr_string(b->m, combines(f))},
        {"order", ir_attr_string(b->m, order->name)},
        {"reduction", ir_attr_int(b->m, ir_op_int(f->l->s, f->op, "reduction", -1))}};
    ir_op_spec spec = {.opcode = TILE_SCAN,
                       .operands = operands,
                       .operand_count = 2,
                       .results = results,
                       .result_count = 2,
                       .attrs = attrs,
                       .attr_count = 3};
    ir_op op = ir_build(b, &spec);
    f->running = ir_op_result(b->m, op, 1);
    return ir_op_result(b->m, op, 0);
}

/* Elements from `at` on along the axis, which go on from `before`; the sums with the last of them.
 * `left` (may be 0): no more than that are there. */
static ir_value scan_step(scan *n, ir_builder *b, ir_value at, int64_t count, ir_value left,
                          ir_value before) {
    ir_value yields[SCHEDULE_OUTPUTS];
    frame *f = &n->f;
    bool along_rows = f->column_axis == f->axes - 1;
    f->index[f->axes - 1] = at;
    f->running = before;
    if (along_rows) {
        f->columns = count;
        f->valid_columns = left;
    }
    frame_body(f, b, yields);
    int outputs = (int)ir_op_get(f->l->s, f->op)->operand_count - f->first_input - f->body_inputs;
    for (int i = 0; i < outputs; i++)
        frame_store(f, b, i, yields[i]);
    return f->running;
}

/* A loop over [low, high); `end` (may be 0): elements from there on are none. */
static ir_value scan_loop(scan *n, ir_builder *b, ir_value low, ir_value high, ir_value end,
                          ir_value before) {
    ir_op loop;
    ir_value at;
    ir_builder in = tile_for(b, low, high, n->step, &before, 1, &loop, &at);
    lowering_mark(n->f.l, loop, n->f.op);
    ir_value carried = ir_block_get(b->m, in.block)->arguments[1];
    ir_value left = end ? tile_index_sub(&in, end, at) : 0;
    ir_value next = scan_step(n, &in, at, n->step, left, carried);
    tile_yield(&in, &next, 1);
    return ir_op_result(b->m, loop, 0);
}

static void scan_numbers(scan *n, ir_builder *b, int64_t extent, ir_value sums) {
    int64_t full = extent / n->step * n->step;
    if (full)
        sums = scan_loop(n, b, tile_index(b, 0), tile_index(b, full), 0, sums);
    if (extent > full)
        scan_step(n, b, tile_index(b, full), extent - full, 0, sums);
}

static void scan_symbolic(scan *n, ir_builder *b, ir_dim extent, ir_value sums) {
    ir_value end = lowering_dim(n->f.l, b, extent), full = tile_index_floor(b, end, n->step);
    sums = scan_loop(n, b, tile_index(b, 0), full, 0, sums);
    if (n->step > 1)
        scan_loop(n, b, full, end, end, sums);
}

/* The last index, a run of columns, becomes one of rows. */
static void turn_rows(frame *f) {
    f->rows = f->columns;
    f->valid_rows = f->valid_columns;
    f->row_axis = f->rows > 1 ? f->axes - 1 : -1;
    f->columns = 1;
    f->valid_columns = 0;
}

static dtype summed_type(const lowering *l, ir_op op) {
    ir_op i = ir_block_get(l->s, ir_op_block(l->s, op, 0))->first;
    while (i && ir_op_get(l->s, i)->opcode != SCHED_RUNNING)
        i = ir_op_get(l->s, i)->next;
    return ir_type_of(l->s, ir_op_get(l->s, i)->results[0])->element;
}

void lower_scan(lowering *l, ir_builder *b, ir_op op) {
    scan n = {.f = frame_of(l, op), .step = schedule_step(l->s, op, "sub", 0)};
    ir_dim extent = ir_op_int(l->s, op, "extent", 0);
    dtype element = summed_type(l, op);
    if (n.step)
        turn_rows(&n.f);
    n.f.index[n.f.axes] = tile_index(b, 0);
    if (n.step)
        n.f.column_axis = n.f.axes;
    n.f.axes++;
    int64_t abreast = n.step ? n.f.rows : n.f.columns;
    n.step = n.step ? n.step : 1;
    /* -0 and x are x, also where x is -0; so are 1 * x, and the greater of x and -inf. */
    ir_value none = tile_constant(b, element, reduction_neutral(combines(&n.f), element));
    ir_value sums = tile_broadcast(b, none, 1, abreast);
    size_t ready = l->ready.count;
    if (n.f.column_axis == n.f.axes - 1) /* else what stands still in a tile moves with its step */
        frame_load_ahead(&n.f, b);
    if (ir_dim_is_static(extent))
        scan_numbers(&n, b, extent, sums);
    else
        scan_symbolic(&n, b, extent, sums);
    l->ready.count = ready;
}
