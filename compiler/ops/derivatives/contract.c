/* contract.c - derivatives of contractions: contractions of the cotangent with the other side, in
 * the same order, of factors of the same type. */
#include <string.h>

#include "ops/derivatives/derivative.h"
#include "ops/orders.h"

typedef struct side {
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK], free[IR_MAX_RANK];
    int batches, contracts, frees;
} side;

static side side_of(const ir_builder *b, ir_op op, uint32_t i) {
    const ir_type_data *t = build_type(b, ir_op_get(b->m, op)->operands[i]);
    side s = {.frees = 0};
    s.batches = (int)ir_op_ints(b->m, op, i ? "y_batch" : "x_batch", s.batch, IR_MAX_RANK);
    s.contracts =
        (int)ir_op_ints(b->m, op, i ? "y_contract" : "x_contract", s.contract, IR_MAX_RANK);
    for (int axis = 0; axis < t->rank; axis++)
        if (!ir_ints_hold(s.batch, s.batches, axis) && !ir_ints_hold(s.contract, s.contracts, axis))
            s.free[s.frees++] = axis;
    return s;
}

/* A written tree is of one length; every other order is of any. */
static ir_attr order_for(const ir_builder *b, ir_op op) {
    order_id own = order_of(b->m, op, ORDER_CHUNK512);
    return own == ORDER_WRITTEN ? ir_attr_string(b->m, order_info_of(ORDER_CHUNK512)->name)
                                : ir_op_attr(b->m, op, "order");
}

/* One factor of a contraction: the value, its batch axes, and the axes that are contracted. */
typedef struct contracted {
    ir_value value;
    const int64_t *batch, *contract;
} contracted;

/* Parameters: both factors, and how many axes of each kind they share. */
static ir_value contract(ir_builder *b, ir_op op, const contracted *x, const contracted *y,
                         int batches, int contracts) {
    dtype element_type = build_type(b, x->value)->element;
    ir_attr order = order_for(b, op), accumulate = ir_op_attr(b->m, op, "accumulate");
    ir_named_attr attrs[7] = {
        {"x_batch", ir_attr_int_array(b->m, x->batch, (uint32_t)batches)},
        {"y_batch", ir_attr_int_array(b->m, y->batch, (uint32_t)batches)},
        {"x_contract", ir_attr_int_array(b->m, x->contract, (uint32_t)contracts)},
        {"y_contract", ir_attr_int_array(b->m, y->contract, (uint32_t)contracts)},
        {"out", ir_attr_type(b->m, ir_type_scalar(b->m, element_type))}};
    uint32_t count = 5;
    if (order)
        attrs[count++] = (ir_named_attr){"order", order};
    if (accumulate)
        attrs[count++] = (ir_named_attr){"accumulate", accumulate};
    ir_value factors[] = {x->value, y->value};
    return ir_op_result(b->m, graph_build(b, GRAPH_DOT, factors, 2, attrs, count), 0);
}

/* The axes of a product are batches, some free ones, and what of the other side was contracted
 * there; to the places that they have in the operand. */
static ir_value placed(ir_builder *b, ir_value v, const int64_t *axes) {
    int rank = build_type(b, v)->rank;
    int64_t back[IR_MAX_RANK];
    bool same = true;
    for (int i = 0; i < rank; i++) {
        back[axes[i]] = i;
        same &= axes[i] == i;
    }
    return same ? v : build_transpose(b, v, back);
}

static void count_up(int64_t *out, int from, int count) {
    for (int i = 0; i < count; i++)
        out[i] = from + i;
}

/* x's contracted axes in the order in which the other side's stand in it. */
static int by_other(const side *own, const side *other, int64_t *out) {
    int count = 0;
    for (int axis = 0; axis < IR_MAX_RANK; axis++)
        for (int i = 0; i < other->contracts; i++)
            if (other->contract[i] == axis)
                out[count++] = own->contract[i];
    return count;
}

/* Steps at or past a row's count do not happen. */
static ir_value before_count(ir_builder *b, ir_op op, const side *x, ir_value like) {
    const ir_type_data t = *build_type(b, like);
    ir_value step = build_iota(b, t.rank, t.dims, (int)x->contract[0]);
    ir_value counts = build_broadcast(b, ir_op_get(b->m, op)->operands[2], t.rank, t.dims,
                                      &x->free[x->frees - 1]);
    return build_compare(b, "lt", step, counts);
}

static ir_value masked(ir_builder *b, ir_op op, const side *x, ir_value v) {
    if (ir_op_get(b->m, op)->operand_count < 3)
        return v;
    return build_select(b, before_count(b, op, x, v), v, build_number(b, 0, v));
}

/* Cotangent of x: that of the result by y, over y's free axes. */
static ir_value of_left(ir_builder *b, ir_op op, const side *x, const side *y, ir_value cotangent) {
    int64_t batch[IR_MAX_RANK], free[IR_MAX_RANK], axes[2 * IR_MAX_RANK];
    count_up(batch, 0, x->batches);
    count_up(free, x->batches + x->frees, y->frees);
    const contracted left = {cotangent, batch, free},
                     right = {ir_op_get(b->m, op)->operands[1], y->batch, y->free};
    ir_value v = contract(b, op, &left, &right, x->batches, y->frees);
    memcpy(axes, x->batch, sizeof *axes * (size_t)x->batches);
    memcpy(axes + x->batches, x->free, sizeof *axes * (size_t)x->frees);
    by_other(x, y, axes + x->batches + x->frees);
    return masked(b, op, x, placed(b, v, axes));
}

/* Cotangent of y: x by that of the result, over x's free axes. */
static ir_value of_right(ir_builder *b, ir_op op, const side *x, const side *y,
                         ir_value cotangent) {
    int64_t batch[IR_MAX_RANK], free[IR_MAX_RANK], axes[2 * IR_MAX_RANK];
    count_up(batch, 0, x->batches);
    count_up(free, x->batches, x->frees);
    const contracted left = {masked(b, op, x, ir_op_get(b->m, op)->operands[0]), x->batch, x->free},
                     right = {cotangent, batch, free};
    ir_value v = contract(b, op, &left, &right, x->batches, x->frees);
    memcpy(axes, y->batch, sizeof *axes * (size_t)y->batches);
    int count = y->batches + by_other(y, x, axes + y->batches);
    memcpy(axes + count, y->free, sizeof *axes * (size_t)y->frees);
    return placed(b, v, axes);
}

static void transpose_dot(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                          ir_value *out) {
    const side x = side_of(b, op, 0), y = side_of(b, op, 1);
    dtype element_type = build_type(b, ir_op_get(b->m, op)->operands[0])->element;
    ir_value rounded = build_convert(b, cotangent, element_type);
    if (wanted[0])
        out[0] = of_left(b, op, &x, &y, rounded);
    if (wanted[1])
        out[1] = of_right(b, op, &x, &y, rounded);
}

const derivative derivative_dot = {.each = true, .transpose = transpose_dot};
