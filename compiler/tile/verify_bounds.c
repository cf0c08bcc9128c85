/* verify_bounds.c - bounds of an index, counted from another one. */
#include "tile/orders.h"

static int64_t bounded(__int128 x) {
    return x > ORDERS_FAR ? ORDERS_FAR : x < -ORDERS_FAR ? -ORDERS_FAR : (int64_t)x;
}

/* x + factor * y. */
static order_bound plus(order_bound x, order_bound y, int64_t factor) {
    int64_t low = factor < 0 ? y.most : y.least, high = factor < 0 ? y.least : y.most;
    return (order_bound){bounded(x.factor + (__int128)y.factor * factor),
                         bounded(x.least + (__int128)low * factor),
                         bounded(x.most + (__int128)high * factor), x.counted || y.counted};
}

order_bound orders_relative(const order_base *base, order_bound x, int64_t factor) {
    const order_bound other = {-1, base->first, base->last, false}; /* 0, as bounds of -index */
    return plus(x, other, x.factor - factor);
}

static order_bound bound_at(const orders *o, const order_base *base, ir_value v, int depth);

static order_bound affine_bound(const orders *o, const order_base *base, ir_op op, int depth) {
    const ir_op_data *d = ir_op_get(o->m, op);
    int64_t factors[16] = {0}, constant = ir_op_int(o->m, op, "constant", 0);
    order_bound sum = {0, constant, constant, false};
    ir_op_ints(o->m, op, "coefficients", factors, 16);
    for (uint32_t i = 0; i < d->operand_count; i++)
        sum = plus(sum, bound_at(o, base, d->operands[i], depth + 1), factors[i]);
    return sum;
}

static int64_t picked(int64_t x, int64_t y, bool least) {
    return (x < y) == least ? x : y;
}

static order_bound bound_at(const orders *o, const order_base *base, ir_value v, int depth) {
    int64_t constant;
    if (v == base->index)
        return (order_bound){1, 0, 0, false};
    if (orders_constant(o, v, &constant))
        return (order_bound){0, constant, constant, false};
    ir_op op = ir_value_get(o->m, v)->op;
    const ir_op_data *d = op ? ir_op_get(o->m, op) : NULL;
    bool least = d && d->opcode == TILE_INDEX_MIN;
    if (d && d->opcode == TILE_AFFINE && d->operand_count <= 16 && depth < ORDERS_DEPTH)
        return affine_bound(o, base, op, depth);
    if (!d || depth == ORDERS_DEPTH || (!least && d->opcode != TILE_INDEX_MAX))
        return (order_bound){0, -ORDERS_FAR, ORDERS_FAR, d && d->opcode == TILE_TO_INDEX};
    order_bound x = bound_at(o, base, d->operands[0], depth + 1),
                y = bound_at(o, base, d->operands[1], depth + 1);
    int64_t factor = x.factor ? x.factor : y.factor;
    x = orders_relative(base, x, factor);
    y = orders_relative(base, y, factor);
    return (order_bound){factor, picked(x.least, y.least, least), picked(x.most, y.most, least),
                         x.counted || y.counted};
}

order_bound orders_bound_of(const orders *o, const order_base *base, ir_value v) {
    return bound_at(o, base, v, 0);
}
