/* contract.c - batches of contractions. The axes that are contracted, and their order, stay. */
#include <string.h>

#include "ops/batching/batching.h"

static const char *const lists[2][2] = {{"x_batch", "x_contract"}, {"y_batch", "y_contract"}};

/* The axes of one side, as they are where it is batched. */
typedef struct side {
    int64_t batch[IR_MAX_RANK + 1], contract[IR_MAX_RANK];
    uint32_t batches, contracts;
    int frees; /* axes of one part that are neither */
} side;

static side side_of(const batch_query *q, uint32_t i) {
    ir_module *m = q->b->m;
    side s = {.frees = build_type(q->b, ir_op_get(m, q->op)->operands[i])->rank};
    s.batches = ir_op_ints(m, q->op, lists[i][0], s.batch, IR_MAX_RANK);
    s.contracts = ir_op_ints(m, q->op, lists[i][1], s.contract, IR_MAX_RANK);
    s.frees -= (int)(s.batches + s.contracts);
    for (uint32_t k = 0; k < s.batches; k++)
        s.batch[k] += q->batched[i];
    for (uint32_t k = 0; k < s.contracts; k++)
        s.contract[k] += q->batched[i];
    return s;
}

static void add_batch(side *s) {
    memmove(s->batch + 1, s->batch, sizeof *s->batch * s->batches);
    s->batch[0] = 0;
    s->batches++;
}

static ir_value contract_sides(const batch_query *q, const ir_value *operands, const side *x,
                               const side *y) {
    ir_module *m = q->b->m;
    const ir_named_attr own[] = {
        {lists[0][0], ir_attr_int_array(m, x->batch, x->batches)},
        {lists[1][0], ir_attr_int_array(m, y->batch, y->batches)},
        {lists[0][1], ir_attr_int_array(m, x->contract, x->contracts)},
        {lists[1][1], ir_attr_int_array(m, y->contract, y->contracts)},
    };
    ir_value result;
    batch_build(q, operands, own, 4, &result);
    return result;
}

/* One side is batched: the parts are its first free axis, so the other side is read once for all.
 * A vector of each part is a row of the left side; x y and y x are the same numbers. */
static ir_value build_rows(const batch_query *q, const side *x, const side *y) {
    const ir_op_data *d = ir_op_get(q->b->m, q->op);
    const bool turned = q->batched[1] && y->frees == 0 && d->operand_count == 2 &&
                        build_type(q->b, q->x[0])->element == build_type(q->b, q->x[1])->element;
    const ir_value back[] = {q->x[1], q->x[0]};
    ir_value all = turned ? contract_sides(q, back, y, x) : contract_sides(q, q->x, x, y);
    const int before = (int)x->batches + (q->batched[0] || turned ? 0 : x->frees);
    return build_moved(q->b, all, before, 0);
}

bool batch_rule_dot(const batch_query *q, ir_value *results) {
    side x = side_of(q, 0), y = side_of(q, 1);
    if (ir_op_get(q->b->m, q->op)->operand_count > 2 && q->batched[2])
        return false;
    if (q->batched[0] && q->batched[1]) {
        add_batch(&x);
        add_batch(&y);
        results[0] = contract_sides(q, q->x, &x, &y);
    } else {
        results[0] = build_rows(q, &x, &y);
    }
    return true;
}

/* ---- convolutions ---- */

static ir_value of_more_images(const batch_query *q) {
    ir_builder *b = q->b;
    ir_module *m = b->m;
    ir_type_data t = *build_type(b, q->x[0]);
    ir_value x[3], y;
    ir_dim dims[IR_MAX_RANK + 1];
    memcpy(x, q->x, sizeof *x * ir_op_get(m, q->op)->operand_count);
    t.dims[1] = ir_dim_mul(m, q->count, t.dims[1]);
    x[0] = build_reshape(b, x[0], t.rank - 1, t.dims + 1);
    batch_build(q, x, NULL, 0, &y);
    return build_reshape(b, y, batch_shape(q, ir_op_result(m, q->op, 0), dims), dims);
}

/* Filters of all parts side by side, [steps, parts, channels], are those of one convolution. */
static ir_value of_more_channels(const batch_query *q) {
    ir_builder *b = q->b;
    ir_module *m = b->m;
    const ir_type_data w = *build_type(b, q->x[1]);
    const ir_value side_by_side[] = {
        q->x[0], build_reshape(b, build_moved(b, q->x[1], 0, 1), 2,
                               (ir_dim[]){w.dims[1], ir_dim_mul(m, w.dims[0], w.dims[2])})};
    ir_value y;
    batch_build(q, side_by_side, NULL, 0, &y);
    const ir_type_data t = *build_type(b, y);
    const ir_dim apart[] = {t.dims[0], t.dims[1], t.dims[2], q->count, w.dims[2]};
    return build_moved(b, build_reshape(b, y, 5, apart), 3, 0);
}

bool batch_rule_convolve(const batch_query *q, ir_value *results) {
    if (q->batched[0] && q->batched[1])
        return false;
    results[0] = q->batched[0] ? of_more_images(q) : of_more_channels(q);
    return true;
}

bool batch_rule_conv2d(const batch_query *q, ir_value *results) {
    if (!batch_is_alone(q, 0))
        return false;
    results[0] = of_more_images(q);
    return true;
}
