/* verify_orders.c - every computation that accumulates does so in the order that the graph gave it.
 *
 * A reduce, columns or the loop over a dot's steps names a reduction of the kernel's record and
 * repeats its order; kind and extent must be the record's. Loops of a dot's chunks, strips and
 * steps stand in each other, and walk all steps together; in an order with chunks a long dot has a
 * loop in steps of a chunk (ops/orders.def). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dim.h"
#include "ops/graph.h"
#include "ops/reductions.h"
#include "schedule/dot_shape.h"
#include "schedule/schedule.h"

typedef struct orders {
    const ir_module *m;
    reduction_list list;
    uint32_t *realised; /* by place in the list: how many computations name it */
    status *st;
} orders;

static uint32_t *realised_of(const orders *o, ir_op op) {
    return &o->realised[reduction_index(&o->list, ir_op_int(o->m, op, "reduction", -1))];
}

static bool fail_at(const orders *o, ir_op op, const char *what) {
    return status_set(o->st, STATUS_INTERNAL, "'%s': %s",
                      op_info_get(ir_op_get(o->m, op)->opcode)->name, what);
}

/* The running sum in a scan's body; 0 where there is none, or more than one. */
static ir_op running_sum(const orders *o, ir_op scan) {
    ir_op found = 0;
    for (ir_op op = ir_block_get(o->m, ir_op_block(o->m, scan, 0))->first; op;
         op = ir_op_get(o->m, op)->next)
        if (ir_op_get(o->m, op)->opcode == SCHED_RUNNING) {
            if (found)
                return 0;
            found = op;
        }
    return found;
}

static dtype accumulated_type(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    if (d->opcode == SCHED_SCAN)
        d = ir_op_get(o->m, running_sum(o, op));
    if (d->opcode == SCHED_RUNNING)
        return ir_type_of(o->m, d->results[0])->element;
    ir_value v = d->operands[ir_op_int(o->m, op, "axes", 0) + ir_op_int(o->m, op, "inputs", 0)];
    return ir_type_of(o->m, v)->element;
}

/* The totals of chunks are added one after the other: a loop around the dot walks them. */
static bool check_chunks(const orders *o, ir_op dot, const dot_shape *shape,
                         const reduction_record *r) {
    const order_info *order = order_info_of(r->order);
    if (shape->buffer[DOT_TOTALS] < 0) /* of `unit`, a part of a sum of integers that comes off */
        return !order->chunk || ir_op_attr(o->m, dot, "unit") || shape->index[AXIS_STAGE] >= 0 ||
               (ir_dim_is_static(r->extent) && r->extent <= order->chunk) ||
               fail_at(o, dot, "its order over more than a chunk accumulates by chunks");
    return order->chunk || fail_at(o, dot, "accumulates by chunks, and its order is another");
}

/* Does a loop walk `extent` steps, or of these what the index of the loop around it stands for? */
static bool walks(const orders *o, ir_op loop, ir_op around, ir_dim extent) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    if (ir_op_int(o->m, loop, "extent", -1) != extent || ir_op_attr(o->m, loop, "from") ||
        ir_op_attr(o->m, loop, "to") || d->operand_count != (around != 0))
        return false;
    if (!around)
        return !ir_op_attr(o->m, loop, "span");
    return d->operands[0] == ir_block_get(o->m, ir_op_block(o->m, around, 0))->arguments[0] &&
           schedule_step(o->m, loop, "span", 0) == schedule_step(o->m, around, "step", -1);
}

/* The steps in runs: each takes all of its own, and all are as many as the reduction has. */
static bool check_runs(const orders *o, ir_op dot, const dot_shape *shape,
                       const reduction_record *r) {
    ir_op runs = dot_loop(o->m, dot, shape, AXIS_RUN), steps = dot_loop(o->m, dot, shape, AXIS_K);
    return (schedule_step(o->m, runs, "step", 0) == 1 &&
            walks(o, runs, 0, ir_op_int(o->m, runs, "extent", 0)) &&
            walks(o, steps, 0, ir_op_int(o->m, steps, "extent", 0)) &&
            dot_extent((ir_module *)o->m, o->m, dot, shape) == r->extent) ||
           fail_at(o, steps, "its runs are not all of its steps");
}

/* The loops of a contraction's chunks, strips and steps: each names it, and walks what the one
 * around it stands for. Strips are whole parts of that. */
static bool check_loops(const orders *o, ir_op dot, const dot_shape *shape,
                        const reduction_record *r) {
    static const contraction_axis loops[] = {AXIS_CHUNK, AXIS_STRIP, AXIS_STAGE, AXIS_K};
    ir_op around = 0;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        ir_op loop = dot_loop(o->m, dot, shape, loops[i]);
        if (shape->index[loops[i]] < 0)
            continue;
        if (!loop || ir_op_int(o->m, loop, "reduction", -1) != r->id)
            return fail_at(o, dot, "no loop of its reduction walks its chunks or strips");
        if (loops[i] == AXIS_K && shape->index[AXIS_RUN] >= 0)
            return check_runs(o, dot, shape, r);
        if (!walks(o, loop, around, r->extent))
            return fail_at(o, loop, "does not walk all steps that there are around it");
        int64_t step = schedule_step(o->m, loop, "step", 0),
                of = around ? schedule_step(o->m, around, "step", 0) : r->extent;
        if (loops[i] == AXIS_CHUNK && step != order_info_of(r->order)->chunk)
            return fail_at(o, loop, "walks in other steps than the chunks of its order");
        if (loops[i] == AXIS_STRIP && (of % step != 0 || r->extent % step != 0))
            return fail_at(o, loop, "strips are whole parts of a chunk, and of all steps");
        around = loop;
    }
    return true;
}

/* A reduction that goes on from piece to piece, by whole lanes and whole pieces of a block: the
 * loop over them walks all of its elements, and it is the last thing there. */
static bool check_pieces(const orders *o, ir_op reduce) {
    const ir_op_data *d = ir_op_get(o->m, reduce);
    int64_t at = ir_op_int(o->m, reduce, "piece", -1);
    ir_op loop = ir_block_parent(o->m, d->block);
    if (ir_op_get(o->m, loop)->opcode != SCHED_FOR || d->next)
        return fail_at(o, reduce, "goes by pieces, and is not the end of a loop over them");
    ir_value index = ir_block_get(o->m, d->block)->arguments[0];
    if (at < 0 || at >= ir_op_int(o->m, reduce, "axes", 0) || d->operands[at] != index)
        return fail_at(o, reduce, "its piece is not the one of the loop around it");
    int64_t step = schedule_step(o->m, loop, "step", 0);
    if (!walks(o, loop, 0, ir_op_int(o->m, reduce, "extent", -2)) ||
        ir_op_int(o->m, loop, "reduction", -1) != ir_op_int(o->m, reduce, "reduction", -2) ||
        step % ORDER_LANES64_LANES != 0 || ORDER_LANES64_CHUNK % step != 0)
        return fail_at(o, loop, "pieces are whole lanes of a block, and all elements have one");
    return true;
}

/* A contraction, which the loop over its steps names. */
static bool check_dot(orders *o, ir_op dot) {
    dot_shape shape;
    status why = STATUS_INIT;
    dot_shape_read(o->m, dot, &shape);
    ir_op loop = dot_loop(o->m, dot, &shape, AXIS_K);
    const reduction_record *r = reduction_named(o->m, loop, &o->list, &why);
    if (!r)
        return fail_at(o, loop, why.message);
    ++*realised_of(o, loop);
    if (strcmp(r->kind, "dot") != 0)
        return fail_at(o, dot, "is of another kind than the graph's reduction");
    if (!order_suits(r->order, ORDER_OF_DOT))
        return fail_at(o, dot, "its order is not one that is defined for it");
    return check_chunks(o, dot, &shape, r) && check_loops(o, dot, &shape, r);
}

static bool check_computation(orders *o, ir_op op) {
    const char *kind = ir_op_string(o->m, op, "kind", "");
    status why = STATUS_INIT;
    const reduction_record *r = reduction_named(o->m, op, &o->list, &why);
    if (!r)
        return fail_at(o, op, why.message);
    ++*realised_of(o, op);
    if (strcmp(kind, r->kind) != 0)
        return fail_at(o, op, "is of another kind than the graph's reduction");
    if (ir_op_int(o->m, op, "extent", -1) != r->extent)
        return fail_at(o, op, "accumulates another number of elements than the graph's reduction");
    bool is_scan = ir_op_get(o->m, op)->opcode == SCHED_SCAN;
    if (is_scan && !running_sum(o, op))
        return fail_at(o, op, "has one running sum");
    bool sums_floats = reduction_rounds(kind) && dtype_is_float(accumulated_type(o, op));
    if (sums_floats && !order_suits(r->order, is_scan ? ORDER_OF_SCAN : ORDER_OF_SUM))
        return fail_at(o, op, "its order is not one that is defined for it");
    return !ir_op_attr(o->m, op, "piece") || check_pieces(o, op);
}

/* The record of a fold whose turns a loop takes; NULL: it is another loop. */
static const reduction_record *turns_of(const orders *o, ir_op loop) {
    const reduction_record *r =
        reduction_find(&o->list, ir_op_int(o->m, loop, "reduction", REDUCTION_NO_ID));
    return r && strcmp(r->kind, "fold") == 0 ? r : NULL;
}

static bool check_turns(orders *o, ir_op loop, const reduction_record *r) {
    ++*realised_of(o, loop);
    return (walks(o, loop, 0, r->extent) && schedule_step(o->m, loop, "step", 0) == 1) ||
           fail_at(o, loop, "a loop over turns takes each of them, from the first to the last");
}

static bool check_loop(orders *o, ir_op loop) {
    const reduction_record *turns = turns_of(o, loop);
    status why = STATUS_INIT;
    if (turns && !check_turns(o, loop, turns))
        return false;
    bool marked = ir_op_attr(o->m, loop, "order") || ir_op_attr(o->m, loop, "reduction");
    return !marked || reduction_named(o->m, loop, &o->list, &why) || fail_at(o, loop, why.message);
}

static bool check_op(orders *o, ir_op op) {
    switch (ir_op_get(o->m, op)->opcode) {
    case SCHED_REDUCE:
    case SCHED_COLUMNS:
    case SCHED_SCAN:
        return check_computation(o, op);
    case SCHED_DOT:
        return check_dot(o, op);
    case SCHED_FOR:
        return check_loop(o, op);
    default:
        return true;
    }
}

static bool check_all(orders *o) {
    ir_walk w = ir_walk_op(o->m, ir_module_kernel(o->m));
    bool ok = true;
    while (ok && ir_walk_next(&w))
        ok = check_op(o, w.op);
    return ok;
}

/* Running sums of no elements have no results; other sums have. */
static bool is_nothing(const reduction_record *r) {
    return r->results == 0 || (reduction_scans(r->kind) && r->extent == 0);
}

bool schedule_verify_orders(const ir_module *m, status *st) {
    orders o = {.m = m, .st = st};
    reductions_of(m, &o.list);
    o.realised = base_calloc(o.list.items.count + 1, sizeof *o.realised);
    bool ok = reductions_sound(&o.list, st) && check_all(&o);
    char extent[REDUCTION_EXTENT_TEXT];
    for (size_t i = 0; i < o.list.items.count && ok; i++) {
        const reduction_record *r = &o.list.items.items[i];
        if (!o.realised[i] && !is_nothing(r))
            ok = status_set(st, STATUS_INTERNAL,
                            "reduction %" PRId64
                            " of the graph (%s over %s elements) is not computed",
                            r->id, r->kind, reduction_extent_text(r, extent));
    }
    free(o.realised);
    reductions_release(&o.list);
    return ok;
}
