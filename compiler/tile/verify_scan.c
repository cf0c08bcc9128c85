/* verify_scan.c - running sums: seq (docs/numerics.md).
 *
 * A loop from element 0 on carries the sums so far, from -0, and adds one element to each in every
 * step, or, by tile.scan, some of each row, ascending; what it leaves over is one tile.scan, or a
 * loop of one step where bounds are no numbers. What is carried must be what is handed on. */
#include <inttypes.h>
#include <string.h>

#include "tile/lowering.h"
#include "tile/orders.h"

static int64_t columns(const orders *o, ir_value v) {
    return ir_type_of(o->m, v)->dims[1];
}

/* Start of sums: x + -0 is x for every x, and so is x * 1. */
static bool is_none(const orders *o, const reduction_record *r, ir_value v) {
    return orders_is_splat(
        o, v, reduction_neutral(reduction_combines(r->kind), ir_type_of(o->m, v)->element));
}

/* The sums with which a loop or a step begins: -0 at the first element, else those of the loop
 * before it. */
static bool check_start(const orders *o, ir_op op, const reduction_record *r, ir_value before,
                        bool first) {
    if (is_none(o, r, before))
        return first || orders_fail(o, op, "begins anew behind the first element");
    ir_op loop = orders_defined_by(o, before, TILE_FOR);
    bool goes_on = loop && !first &&
                   ir_op_int(o->m, loop, "reduction", -1) == ir_op_int(o->m, op, "reduction", -2);
    return goes_on || orders_fail(o, op, "does not go on from the sums before, or from -0");
}

/* Elements [low, high) were added. */
static bool note_elements(orders *o, ir_op op, const reduction_record *r, int64_t low,
                          int64_t high) {
    order_track *t = orders_track(o, op);
    if (high > r->extent)
        return orders_fail(o, op, "takes %" PRId64 " elements, and there are %" PRId64, high,
                           r->extent);
    if (low != t->end)
        return orders_fail(o, op, "goes on at element %" PRId64 ", but the order at %" PRId64, low,
                           t->end);
    t->end = high == r->extent ? 0 : high;
    t->realised += high == r->extent;
    return true;
}

/* Is what the loop carries combined as its kind says, `steps` times? Extrema are not counted. */
static bool carries(orders *o, ir_op loop, const reduction_record *r, int *steps) {
    carried_kind kind = orders_carried(o, loop, 0, steps);
    if (kind == CARRIED_FREE && !reduction_rounds(r->kind))
        *steps = (int)ir_op_int(o->m, loop, "step", 0);
    return kind == (strcmp(r->kind, "cumprod") == 0 ? CARRIED_MULTIPLIED : CARRIED_ADDED) ||
           (kind == CARRIED_FREE && !reduction_rounds(r->kind));
}

bool orders_check_scan_loop(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t low, high, step = ir_op_int(o->m, loop, "step", 0);
    int steps;
    if (d->result_count != 1 || !carries(o, loop, r, &steps) || steps != step)
        return orders_fail(o, loop, "is not one addition for each element, onto what it carries");
    if (!o->symbolic) {
        if (!orders_bounds(o, loop, &low, &high) || (high - low) % step != 0)
            return orders_fail(o, loop, "does not run over whole steps");
        return check_start(o, loop, r, d->operands[2], low == 0) &&
               note_elements(o, loop, r, low, high);
    }
    bool first = orders_constant(o, d->operands[0], &low) && low == 0;
    ir_op before = first ? 0 : orders_defined_by(o, d->operands[2], TILE_FOR);
    if (before && ir_op_get(o->m, before)->operands[1] != d->operands[0])
        return orders_fail(o, loop, "does not go on where the loop before it ended");
    orders_track(o, loop)->realised++;
    return check_start(o, loop, r, d->operands[2], first);
}

/* Goes on where the loop before it ended, up to the end of an axis of so many elements. */
static bool is_rest(const orders *o, ir_op scan, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, scan);
    ir_op loop = orders_defined_by(o, d->operands[1], TILE_FOR);
    int64_t low;
    return loop && orders_constant(o, ir_op_get(o->m, loop)->operands[1], &low) &&
           low + columns(o, d->operands[0]) == r->extent;
}

bool orders_check_scan(orders *o, ir_op scan, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, scan);
    ir_op around = orders_loop_around(o, scan);
    if (!reduction_scans(r->kind) ||
        strcmp(ir_op_string(o->m, scan, "kind", ""), reduction_combines(r->kind)) != 0)
        return orders_fail(o, scan, "is of another kind than the graph's accumulation");
    if (around) /* what the loop carries has been looked at */
        return ir_block_get(o->m, ir_op_block(o->m, around, 0))->arguments[1] == d->operands[1] ||
               orders_fail(o, scan, "does not go on from the sums that its loop carries");
    int64_t low = orders_track(o, scan)->end;
    if (!o->symbolic)
        return check_start(o, scan, r, d->operands[1], low == 0) &&
               note_elements(o, scan, r, low, low + columns(o, d->operands[0]));
    /* A fixed axis may be scanned as a whole; or, behind a loop of whole steps, its rest. */
    if (is_rest(o, scan, r))
        return true;
    if (r->extent != columns(o, d->operands[0]) || !is_none(o, r, d->operands[1]))
        return orders_fail(o, scan, "stands in no loop, and is not the whole of its axis");
    orders_track(o, scan)->realised++;
    return true;
}
