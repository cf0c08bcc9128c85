/* index_range.c - see index_range.h. */
#include "tile/simt/index_range.h"

#include "tile/simt/access.h"

static const int64_t far = INT64_C(1) << 46;

int64_t index_range_limited(int64_t x) {
    return x > far ? far : x < -far ? -far : x;
}

static int64_t times(int64_t x, int64_t y) {
    int64_t product;
    if (__builtin_mul_overflow(x, y, &product))
        return (x < 0) == (y < 0) ? far : -far;
    return index_range_limited(product);
}

index_range index_range_scaled(index_range r, int64_t by) {
    int64_t a = times(r.low, by), b = times(r.high, by);
    return a < b ? (index_range){a, b} : (index_range){b, a};
}

index_range index_range_plus(index_range x, index_range y) {
    return (index_range){index_range_limited(x.low + y.low), index_range_limited(x.high + y.high)};
}

const index_range index_range_anything = {-(INT64_C(1) << 46), INT64_C(1) << 46};

static index_range range_at(const ir_module *m, ir_value index, int depth);

/* Range of a block's argument: a loop's index, or a workgroup's number. */
static index_range range_of_argument(const ir_module *m, const ir_value_data *v, int depth) {
    ir_op parent = ir_block_parent(m, v->block);
    const ir_op_data *d = ir_op_get(m, parent);
    if (d->opcode == TILE_PHASE)
        return (index_range){0, ir_op_int(m, parent, "grid", 1) - 1};
    if (d->opcode != TILE_FOR || v->index != 0)
        return index_range_anything;
    index_range low = range_at(m, d->operands[0], depth), high = range_at(m, d->operands[1], depth);
    int64_t step = ir_op_int(m, parent, "step", 1);
    bool even = access_index_divisor(m, d->operands[0]) % step == 0 && high.high % step == 0;
    return (index_range){low.low, high.high - (even ? step : 1)};
}

static index_range range_of_affine(const ir_module *m, ir_op op, int depth) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t factors[32], constant = ir_op_int(m, op, "constant", 0);
    index_range sum = {constant, constant};
    ir_op_ints(m, op, "coefficients", factors, 32);
    for (uint32_t i = 0; i < d->operand_count; i++)
        sum = index_range_plus(sum,
                               index_range_scaled(range_at(m, d->operands[i], depth), factors[i]));
    return sum;
}

/* Between what the i32 of a tile of one element is: a constant, or one kept between two. */
static index_range range_of_number(const ir_module *m, ir_value number, int depth) {
    ir_op op = ir_value_get(m, number)->op;
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    if (!d || depth <= 0 || ir_type_of(m, number)->element != DTYPE_I32)
        return index_range_anything;
    if (d->opcode == TILE_CONSTANT) {
        int64_t value = (int32_t)ir_attr_get(m, ir_op_attr(m, op, "value"))->bits;
        return (index_range){value, value};
    }
    if (d->opcode != TILE_MINIMUM && d->opcode != TILE_MAXIMUM && d->opcode != TILE_SELECT)
        return index_range_anything;
    const uint32_t first = d->opcode == TILE_SELECT;
    index_range x = range_of_number(m, d->operands[first], depth - 1),
                y = range_of_number(m, d->operands[first + 1], depth - 1);
    const bool least = d->opcode != TILE_MAXIMUM, most = d->opcode != TILE_MINIMUM;
    return (index_range){(x.low < y.low) == least ? x.low : y.low,
                         (x.high > y.high) == most ? x.high : y.high};
}

static index_range range_at(const ir_module *m, ir_value index, int depth) {
    enum { DEEPEST = 24 };
    const ir_value_data *v = ir_value_get(m, index);
    if (depth > DEEPEST)
        return index_range_anything;
    if (!v->op)
        return range_of_argument(m, v, depth + 1);
    const ir_op_data *d = ir_op_get(m, v->op);
    if (d->opcode == TILE_TO_INDEX)
        return range_of_number(m, d->operands[0], DEEPEST - depth);
    index_range x =
        d->operand_count ? range_at(m, d->operands[0], depth + 1) : index_range_anything;
    int64_t by = ir_op_int(m, v->op, "by", 1), value = ir_op_int(m, v->op, "value", 0);
    switch (d->opcode) {
    case TILE_INDEX:
        return (index_range){value, value};
    case TILE_AFFINE:
        return range_of_affine(m, v->op, depth + 1);
    case TILE_INDEX_DIV:
        return (index_range){x.low / by, x.high / by};
    case TILE_INDEX_REM:
        return x.high < by ? x : (index_range){0, by - 1};
    case TILE_INDEX_MIN:
    case TILE_INDEX_MAX: {
        index_range y = range_at(m, d->operands[1], depth + 1);
        bool least = d->opcode == TILE_INDEX_MIN;
        return (index_range){(x.low < y.low) == least ? x.low : y.low,
                             (x.high < y.high) == least ? x.high : y.high};
    }
    default:
        return index_range_anything;
    }
}

index_range index_range_of(const ir_module *m, ir_value index) {
    return range_at(m, index, 0);
}
