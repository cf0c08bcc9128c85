/* verify_symbolic.c - the orders of accumulation in code for any dimensions.
 *
 * Bounds are no numbers there, so that no element can be counted. What remains is the form: which
 * loops and folds belong to which reduction, that a loop adds one element in each step to each sum
 * or to each lane, or at most once a chunk's sum to the total before it, and nothing else, and that
 * no reduction is left out. */
#include <inttypes.h>
#include <string.h>

#include "tile/orders.h"

static bool adds_by_fma(const reduction_record *r) {
    return strcmp(r->kind, "dot") == 0;
}

/* Is the sum of a chunk that the loop carries added to what memory holds, once? */
static bool adds_to_total(const orders *o, ir_op loop, const reduction_record *r, uint32_t i) {
    ir_block block = ir_op_block(o->m, loop, 0);
    const ir_op_data *yield = ir_op_get(o->m, ir_block_get(o->m, block)->last);
    ir_op sum = orders_defined_by(o, yield->operands[i], TILE_ADD);
    if (!sum || !orders_chunk(r->order) ||
        ir_op_int(o->m, loop, "step", 0) % orders_chunk(r->order) != 0)
        return false;
    const ir_value *x = ir_op_get(o->m, sum)->operands;
    return orders_defined_by(o, x[0], TILE_LOAD) || orders_defined_by(o, x[1], TILE_LOAD);
}

/* Checks what a reduction's loop carries: sums of products, lanes, or results in memory. */
static bool check_carried(orders *o, ir_op loop, const reduction_record *r, uint32_t i) {
    int64_t step = ir_op_int(o->m, loop, "step", 0);
    int steps;
    carried_kind kind = orders_carried(o, loop, i, &steps);
    bool is_float = orders_is_float(o, ir_op_get(o->m, loop)->results[i]);
    if (!is_float || kind == CARRIED_NOT || kind == CARRIED_SAME || kind == CARRIED_FREE)
        return true;
    if (adds_by_fma(r))
        return orders_adds_products(o, r, loop, kind, steps) ||
               (kind == CARRIED_ADDED && steps == 1 && adds_to_total(o, loop, r, i)) ||
               orders_fail(o, loop, "is not one fma for each element, onto what it carries");
    carried_kind wanted = strcmp(r->kind, "prod") == 0 ? CARRIED_MULTIPLIED : CARRIED_ADDED;
    return (r->order == ORDER_LANES64 && kind == wanted && step == ORDER_LANES * steps) ||
           orders_fail(o, loop, "order 'lanes64' adds one element to each lane in 64");
}

bool orders_check_symbolic_loop(orders *o, ir_op loop, const reduction_record *r) {
    orders_track(o, loop)->realised++;
    for (uint32_t i = 0; i < ir_op_get(o->m, loop)->result_count; i++)
        if (!check_carried(o, loop, r, i))
            return false;
    return true;
}

bool orders_check_symbolic_fold(orders *o, ir_op fold, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, fold);
    int64_t lanes = 0;
    orders_track(o, fold)->realised++;
    if (strcmp(ir_op_string(o->m, fold, "kind", ""), r->kind) != 0)
        return orders_fail(o, fold, "is of another kind than the graph's reduction");
    for (uint32_t i = 0; i < d->operand_count; i++)
        lanes += ir_type_of(o->m, d->operands[i])->dims[1];
    return r->order != ORDER_LANES64 || lanes == ORDER_LANES ||
           orders_fail(o, fold, "order 'lanes64' has 64 lanes, not %" PRId64, lanes);
}

bool orders_check_symbolic_end(const orders *o, size_t at) {
    const reduction_record *r = &o->list.items.items[at];
    bool scans = reduction_scans(r->kind);
    bool nothing = r->results == 0 || ((adds_by_fma(r) || scans) && r->extent == 0);
    return o->tracks[at].realised > 0 || nothing ||
           status_set(o->st, STATUS_INTERNAL,
                      "reduction %" PRId64 " of the graph (%s, order '%s') is not accumulated",
                      r->id, r->kind, order_info_of(r->order)->name);
}
