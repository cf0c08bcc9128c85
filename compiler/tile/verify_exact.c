/* verify_exact.c - the loops and folds of a sum in the order exact.
 *
 * Its value is in no order, so that there is none to hold them to. What is left is that the sum is
 * there, and that a fold takes sums, or the greatest and least of what a block's exactness follows
 * from (lower_exact.c): those are integers. */
#include <string.h>

#include "tile/orders.h"

bool orders_check_exact(orders *o, ir_op op, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, op);
    orders_track(o, op)->realised++;
    if (d->opcode != TILE_FOLD)
        return true;
    const char *kind = ir_op_string(o->m, op, "kind", "");
    const bool sums = strcmp(kind, r->kind) == 0;
    return sums == orders_is_float(o, d->results[0]) ||
           orders_fail(o, op, "an exact sum folds sums of floats, and extremes of integers");
}
