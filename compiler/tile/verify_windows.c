/* verify_windows.c - the loops of a convolution: rows of a window, in them runs of steps.
 *
 * The outer loop walks rows of a window that are inside of the image, the loops in it runs of that
 * row's steps, ascending, each onto the sums that the run before it left. So every step happens at
 * most once, in its order, in its chunk. Which of them are inside is not seen here. */
#include <inttypes.h>
#include <string.h>

#include "tile/orders.h"

/* A bound counted from the index of a loop, whose own bounds are not known. */
static order_bound bound_from(const orders *o, ir_value bound, ir_op loop) {
    ir_value index = ir_block_get(o->m, ir_op_block(o->m, loop, 0))->arguments[0];
    const order_base base = {index, -ORDERS_FAR, ORDERS_FAR};
    return orders_bound_of(o, &base, bound);
}

/* ---- the form ---- */

static bool is_run(const orders *o, ir_op op, int64_t number) {
    return ir_op_get(o->m, op)->opcode == TILE_FOR &&
           ir_op_int(o->m, op, "reduction", -1) == number;
}

bool orders_is_window_loop(const orders *o, ir_op loop) {
    int64_t number = ir_op_int(o->m, loop, "reduction", -1);
    if (ir_op_get(o->m, loop)->result_count == 0)
        return false;
    const ir_block_data *body = ir_block_get(o->m, ir_op_block(o->m, loop, 0));
    if (orders_defined_by(o, ir_op_get(o->m, body->last)->operands[0], TILE_ADD))
        return false; /* sums of chunks onto a total */
    for (ir_op op = body->first; op; op = ir_op_get(o->m, op)->next)
        if (is_run(o, op, number))
            return true;
    return false;
}

/* The run whose result a value is, and what it carried on; 0 where it is the row's own. */
static ir_op run_of(const orders *o, ir_value v, ir_value *before) {
    ir_op op = orders_defined_by(o, v, TILE_FOR);
    const ir_op_data *d = op ? ir_op_get(o->m, op) : NULL;
    for (uint32_t i = 0; d && i < d->result_count; i++)
        if (d->results[i] == v)
            *before = d->operands[2 + i];
    return op;
}

/* A sum goes from run to run, which ascend; `symbolic`: as far as that can be seen. */
static bool check_sum(const orders *o, ir_op loop, uint32_t i, int64_t number) {
    const ir_block_data *b = ir_block_get(o->m, ir_op_block(o->m, loop, 0));
    ir_value v = ir_op_get(o->m, b->last)->operands[i];
    int64_t next = ORDERS_FAR;
    if (!orders_is_zero(o, ir_op_get(o->m, loop)->operands[2 + i]))
        return orders_fail(o, loop, "does not start with +0");
    for (ir_op run; v != b->arguments[1 + i];) {
        run = run_of(o, v, &v);
        if (!run || !is_run(o, run, number) ||
            ir_op_get(o->m, run)->block != ir_op_block(o->m, loop, 0))
            return orders_fail(o, loop, "is not run after run, onto what it carries");
        order_bound low = bound_from(o, ir_op_get(o->m, run)->operands[0], loop),
                    high = bound_from(o, ir_op_get(o->m, run)->operands[1], loop);
        if (!o->symbolic && high.most > next)
            return orders_fail(o, run, "does not end before the next run begins");
        next = low.least;
    }
    return true;
}

/* ---- bounds ---- */

/* The steps of a row, of which all rows make all steps. */
static bool check_row(const orders *o, ir_op loop, ir_op run, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, run), *rows = ir_op_get(o->m, loop);
    order_bound low = bound_from(o, d->operands[0], loop),
                high = bound_from(o, d->operands[1], loop),
                first = bound_from(o, rows->operands[0], loop),
                last = bound_from(o, rows->operands[1], loop);
    bool inside = low.factor == high.factor && low.least >= 0 && high.most <= high.factor &&
                  first.least >= 0 && (__int128)last.most * high.factor <= r->extent;
    return inside || orders_fail(o, run, "passes the steps of its row");
}

/* A run of several steps a trip begins and ends where whole trips do. */
static bool has_whole_trips(const orders *o, ir_op run) {
    int64_t step = ir_op_int(o->m, run, "step", 1);
    const ir_value *bounds = ir_op_get(o->m, run)->operands;
    return access_index_divisor(o->m, bounds[0]) % step == 0 &&
           access_index_divisor(o->m, bounds[1]) % step == 0;
}

static bool check_run(orders *o, ir_op loop, ir_op run, const reduction_record *r) {
    int64_t length = orders_chunk(r->order), start = 0, end = r->extent;
    bool chunked = r->order != ORDER_PAIRS512 && length && r->extent > length;
    if (!check_row(o, loop, run, r))
        return false;
    if (!has_whole_trips(o, run))
        return orders_fail(o, run, "its last trip passes its end");
    if (chunked && !orders_find_run(o, loop, run, r, &start, &end))
        return orders_fail(o, run, "passes the end of its chunk, or ends inside of it");
    return orders_note_elements(o, run, r, start, end);
}

bool orders_check_window_loop(orders *o, ir_op loop, const reduction_record *r) {
    int64_t number = ir_op_int(o->m, loop, "reduction", -1);
    orders_track(o, loop)->realised += o->symbolic;
    if (ir_op_int(o->m, loop, "step", 0) != 1)
        return orders_fail(o, loop, "walks in other steps than rows");
    for (uint32_t i = 0; i < ir_op_get(o->m, loop)->result_count; i++)
        if (!check_sum(o, loop, i, number))
            return false;
    for (ir_op op = ir_block_get(o->m, ir_op_block(o->m, loop, 0))->first; op && !o->symbolic;
         op = ir_op_get(o->m, op)->next)
        if (is_run(o, op, number) && !check_run(o, loop, op, r))
            return false;
    return true;
}
