/* infer_contract.c - the shape and type rules of contractions, and of what scales their integers.
 */
#include <stdio.h>
#include <string.h>

#include "ops/infer.h"
#include "ops/orders.h"
#include "ops/unit_order.h"

/* ---- accumulators ---- */

/* The default first. */
static const struct {
    dtype element, accumulators[2];
} accumulation[] = {
    {DTYPE_F64, {DTYPE_F64}},
    {DTYPE_F32, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_TF32, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_F16, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_BF16, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_F8E4M3FN, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_F8E5M2, {DTYPE_F32, DTYPE_F64}},
    {DTYPE_I64, {DTYPE_I64}},
    {DTYPE_I32, {DTYPE_I32}},
    {DTYPE_I16, {DTYPE_I32}},
    {DTYPE_I8, {DTYPE_I32}},
    {DTYPE_I4, {DTYPE_I32}},
    {DTYPE_U64, {DTYPE_U64}},
    {DTYPE_U32, {DTYPE_U32}},
    {DTYPE_U16, {DTYPE_I32, DTYPE_U32}},
    {DTYPE_U8, {DTYPE_I32, DTYPE_U32}},
};
enum { ACCUMULATIONS = sizeof accumulation / sizeof *accumulation };

bool graph_accumulates(dtype element, dtype accumulator) {
    for (int i = 0; i < ACCUMULATIONS; i++)
        if (accumulation[i].element == element)
            return accumulator != DTYPE_NONE && (accumulation[i].accumulators[0] == accumulator ||
                                                 accumulation[i].accumulators[1] == accumulator);
    return false;
}

const char *graph_accumulators(dtype element) {
    static _Thread_local char words[32];
    snprintf(words, sizeof words, "none");
    for (int i = 0; i < ACCUMULATIONS; i++)
        if (accumulation[i].element == element)
            snprintf(words, sizeof words, accumulation[i].accumulators[1] ? "%s and %s" : "%s",
                     dtype_name(accumulation[i].accumulators[0]),
                     dtype_name(accumulation[i].accumulators[1]));
    return words;
}

bool infer_accumulates(query *q) {
    ir_attr attr = infer_attr_of(q, "accumulate");
    dtype element = infer_operand(q, 0)->element;
    dtype to = attr ? ir_type_get(q->m, ir_attr_get(q->m, attr)->type)->element : DTYPE_NONE;
    return !attr || graph_accumulates(element, to) ||
           infer_refuse(q, MISFIT_ACCUMULATOR, 0, -1, "%s cannot accumulate in %s; possible: %s",
                        dtype_name(element), dtype_name(to), graph_accumulators(element));
}

/* ---- dot, matmul ---- */

/* A written tree is of products of floats, all of whose steps happen. */
static bool tree_fits(query *q, bool windows) {
    bool counts = q->opcode == GRAPH_DOT && q->operand_count > 2;
    return (!windows && !counts && dtype_is_float(infer_operand(q, 0)->element)) ||
           infer_refuse(q, MISFIT_ORDER, 0, 1,
                        "a written order is that of products of floats all of whose steps "
                        "happen, not of integers, of windows or with k_count");
}

static dtype accumulate_of(query *q, dtype otherwise) {
    ir_attr attr = infer_attr_of(q, "accumulate");
    return attr ? ir_type_get(q->m, ir_attr_get(q->m, attr)->type)->element : otherwise;
}

/* A matrix unit takes factors of its own, all of whose steps happen, and has one accumulator. */
static bool unit_fits(query *q, const matrix_unit *unit, bool windows) {
    bool counts = q->opcode == GRAPH_DOT && q->operand_count > 2;
    dtype x = infer_operand(q, 0)->element, y = infer_operand(q, 1)->element,
          wide = unit_order_accumulator(unit);
    if (windows || counts)
        return infer_refuse(q, MISFIT_UNIT, 0, 1,
                            "the matrix unit %s takes products all of whose steps happen, not "
                            "windows or k_count",
                            unit->name);
    if (!dtype_is_float(x))
        return infer_refuse(q, MISFIT_UNIT, 0, 1,
                            "products of %s have no order, whatever unit adds them: their sum is "
                            "exact",
                            infer_shape_text(q, 0));
    if (!unit_order_takes(unit, x) || !unit_order_takes(unit, y))
        return infer_refuse(q, MISFIT_UNIT, 0, 1, "the matrix unit %s multiplies %s%s%s, not %s",
                            unit->name, unit->factors[0]->name, unit->factors[1] ? " and " : "",
                            unit->factors[1] ? unit->factors[1]->name : "", infer_shape_text(q, 0));
    return accumulate_of(q, wide) == wide ||
           infer_refuse(q, MISFIT_UNIT, 0, 1, "the matrix unit %s accumulates in %s", unit->name,
                        dtype_name(wide));
}

/* `pairs512` is that of products of bf16, all of whose steps happen, in f32. */
static bool order_fits(query *q) {
    order_id order = order_find(infer_string_attr(q, "order", ""));
    bool pairs = order == ORDER_PAIRS512;
    bool windows = q->opcode == GRAPH_CONVOLVE || q->opcode == GRAPH_CONV2D;
    bool bf16 =
        infer_operand(q, 0)->element == DTYPE_BF16 && infer_operand(q, 1)->element == DTYPE_BF16;
    bool wide = accumulate_of(q, DTYPE_F32) != DTYPE_F32;
    if (order == ORDER_WRITTEN)
        return tree_fits(q, windows);
    if (order == ORDER_UNIT)
        return unit_fits(q, matrix_unit_find(infer_string_attr(q, "order", "")), windows);
    if (!pairs)
        return true;
    if (windows || (q->opcode == GRAPH_DOT && q->operand_count > 2))
        return infer_refuse(q, MISFIT_ORDER, 0, 1,
                            "the order pairs512 is that of products all of whose steps happen, "
                            "not of windows or with k_count");
    return (bf16 && !wide) ||
           infer_refuse(q, MISFIT_ORDER, 0, 1,
                        "the order pairs512 is that of bf16 by bf16 in f32, "
                        "not of %s by %s%s",
                        infer_shape_text(q, 0), infer_shape_text(q, 1), wide ? " in f64" : "");
}

static bool is_small_integer(dtype t) {
    return dtype_is_integer(t) && dtype_integer_bits(t) < dtype_integer_bits(DTYPE_I32);
}

static bool is_float8(dtype t) {
    return t == DTYPE_F8E4M3FN || t == DTYPE_F8E5M2;
}

static dtype dot_element(const query *q) {
    ir_attr out = infer_attr_of(q, "out");
    dtype x = infer_operand(q, 0)->element;
    if (out)
        return ir_type_get(q->m, ir_attr_get(q->m, out)->type)->element;
    return is_small_integer(x) ? DTYPE_I32 : x;
}

static bool dot_types_fit(query *q) {
    dtype x = infer_operand(q, 0)->element, y = infer_operand(q, 1)->element, out = dot_element(q);
    bool both_float8 = is_float8(x) && is_float8(y) && q->opcode == GRAPH_SCALED_MATMUL;
    if (x != y && !(is_small_integer(x) && is_small_integer(y)) && !both_float8)
        return infer_refuse(q, MISFIT_TYPES, 0, 1,
                            "element types differ: %s and %s; convert one with cast()",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (x == DTYPE_BOOL || dtype_is_float(x) != dtype_is_float(out) || is_small_integer(out) ||
        out == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "products of %s cannot be summed into %s",
                            infer_shape_text(q, 0), dtype_name(out));
    return true;
}

/* A count for each row of x: i32, as many as its last free axis is long. */
static bool dot_counts_fit(query *q, const int64_t *batch, int batches, const int64_t *contract,
                           int contracts) {
    const ir_type_data *x = infer_operand(q, 0), *counts;
    int free = x->rank - 1;
    if (q->operand_count < 3)
        return true;
    while (free >= 0 &&
           (ir_ints_hold(batch, batches, free) || ir_ints_hold(contract, contracts, free)))
        free--;
    counts = infer_operand(q, 2);
    return (free >= 0 && counts->rank == 1 && counts->element == DTYPE_I32 &&
            counts->dims[0] == x->dims[free]) ||
           infer_refuse(q, MISFIT_SHAPE, 2, 0, "k_count needs one i32 for each row of %s, not %s",
                        infer_shape_text(q, 0), infer_shape_text(q, 2));
}

static bool repeats(const int64_t *batch, int batches, const int64_t *contract, int contracts) {
    for (int i = 0; i < contracts; i++)
        if (ir_ints_hold(contract, i, contract[i]) || ir_ints_hold(batch, batches, contract[i]))
            return true;
    for (int i = 0; i < batches; i++)
        if (ir_ints_hold(batch, i, batch[i]))
            return true;
    return false;
}

bool graph_infer_dot(query *q) {
    int64_t xb[IR_MAX_RANK], yb[IR_MAX_RANK], xc[IR_MAX_RANK], yc[IR_MAX_RANK];
    ir_dim dims[3 * IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0), *y = infer_operand(q, 1);
    int batch = infer_ints_attr(q, "x_batch", xb, IR_MAX_RANK),
        contract = infer_ints_attr(q, "x_contract", xc, IR_MAX_RANK);
    int rank = 0;
    if (batch < 0 || contract < 0 || batch != infer_ints_attr(q, "y_batch", yb, IR_MAX_RANK) ||
        contract != infer_ints_attr(q, "y_contract", yc, IR_MAX_RANK))
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "both sides need as many batch and contracted axes");
    for (int i = 0; i < batch + contract; i++) {
        int64_t a = i < batch ? xb[i] : xc[i - batch], b = i < batch ? yb[i] : yc[i - batch];
        if (a < 0 || a >= x->rank || b < 0 || b >= y->rank)
            return infer_refuse(q, MISFIT_AXIS, 0, 1, "axis outside of %s or %s",
                                infer_shape_text(q, 0), infer_shape_text(q, 1));
        if (x->dims[a] != y->dims[b])
            return infer_refuse(q, MISFIT_SHAPE, 0, 1, "axis %lld of %s and axis %lld of %s differ",
                                (long long)a, infer_shape_text(q, 0), (long long)b,
                                infer_shape_text(q, 1));
    }
    if (repeats(xb, batch, xc, contract) || repeats(yb, batch, yc, contract))
        return infer_refuse(q, MISFIT_ARGUMENT, 0, 1, "an axis of %s or %s is given twice",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    for (int i = 0; i < batch; i++)
        dims[rank++] = x->dims[xb[i]];
    for (int i = 0; i < x->rank; i++)
        if (!ir_ints_hold(xb, batch, i) && !ir_ints_hold(xc, contract, i))
            dims[rank++] = x->dims[i];
    for (int i = 0; i < y->rank; i++)
        if (!ir_ints_hold(yb, batch, i) && !ir_ints_hold(yc, contract, i))
            dims[rank++] = y->dims[i];
    return dot_types_fit(q) && infer_accumulates(q) && order_fits(q) &&
           dot_counts_fit(q, xb, batch, xc, contract) &&
           infer_give_shape(q, dot_element(q), rank, dims);
}

bool graph_infer_matmul(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0), *y = infer_operand(q, 1);
    if (x->rank < 2 || y->rank < 2)
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "needs at least two axes on both sides: %s @ %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (x->dims[x->rank - 1] != y->dims[y->rank - 2])
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "inner dimensions differ: %s @ %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (!dot_types_fit(q) || !infer_accumulates(q) || !order_fits(q))
        return false;
    int rank = x->rank > y->rank ? x->rank : y->rank;
    for (int i = 0; i < rank - 2; i++) {
        int a = i - (rank - x->rank), b = i - (rank - y->rank);
        ir_dim da = a < 0 ? 1 : x->dims[a], db = b < 0 ? 1 : y->dims[b];
        if (da != db && da != 1 && db != 1)
            return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                                "leading dimensions do not broadcast: %s @ %s",
                                infer_shape_text(q, 0), infer_shape_text(q, 1));
        dims[i] = da == 1 ? db : da;
    }
    dims[rank - 2] = x->dims[x->rank - 2];
    dims[rank - 1] = y->dims[y->rank - 1];
    return infer_give_shape(q, dot_element(q), rank, dims);
}

/* One f32 for everything, or as many as a dimension of operand `i` is long. */
static bool scale_fits(query *q, uint32_t scale, uint32_t i, int axis, const char *what) {
    const ir_type_data *s = infer_operand(q, scale), *x = infer_operand(q, i);
    if (s->element == DTYPE_F32 && (s->rank == 0 || (s->rank == 1 && s->dims[0] == x->dims[axis])))
        return true;
    return infer_refuse(q, MISFIT_SHAPE, (int)i, (int)scale,
                        "needs one f32 scale, or one for each %s of %s: %s, not %s", what,
                        infer_shape_text(q, i), ir_dim_text(q->m, x->dims[axis]),
                        infer_shape_text(q, scale));
}

bool graph_infer_scaled_matmul(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *y = infer_operand(q, 1);
    for (uint32_t i = 0; i < 2; i++)
        if (!is_small_integer(infer_operand(q, i)->element) &&
            !is_float8(infer_operand(q, i)->element))
            return infer_refuse(q, MISFIT_ELEMENT, (int)i, -1,
                                "multiplies i8 and i4, or 8-bit floats, not %s; matmul takes "
                                "every type",
                                infer_shape_text(q, i));
    if (!graph_infer_matmul(q) || !scale_fits(q, 2, 0, x->rank - 2, "row") ||
        !scale_fits(q, 3, 1, y->rank - 1, "column"))
        return false;
    q->results[0] = ir_type_with_element(q->m, q->results[0], DTYPE_F32);
    return true;
}

bool graph_infer_dequantize(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    int64_t axis = infer_int_attr(q, "axis", 0);
    if (!is_small_integer(x->element))
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "needs i8 or i4 elements, not %s",
                            infer_shape_text(q, 0));
    return infer_axis_in(q, axis, x->rank) &&
           scale_fits(q, 1, 0, (int)axis, "position along the axis") &&
           infer_give(q, ir_type_with_element(q->m, q->operands[0], DTYPE_F32));
}

static bool known_activation(query *q) {
    static const char *const known[] = {"none", "relu", "gelu", "gelu_erf", "silu"};
    const char *activation = infer_string_attr(q, "activation", "none");
    bool found = false;
    for (int i = 0; i < 5; i++)
        found |= strcmp(known[i], activation) == 0;
    return found ||
           infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                        "unknown activation '%s': none, relu, gelu, gelu_erf or silu", activation);
}

/* Counts the places of a window along an axis that is padded on both sides. */
static bool window_count(query *q, ir_dim length, ir_dim size, ir_dim *count) {
    int64_t stride, padding;
    if (!infer_distance_attr(q, "stride", 1, 1, &stride) ||
        !infer_distance_attr(q, "padding", 0, 0, &padding))
        return false;
    ir_dim room = ir_dim_sub(q->m, ir_dim_add(q->m, length, 2 * padding + stride), size);
    if (room == IR_DIM_INVALID)
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "a window of %s does not fit in %s with a padding of %lld",
                            ir_dim_text(q->m, size), ir_dim_text(q->m, length), (long long)padding);
    *count = ir_dim_floordiv(q->m, room, stride);
    return true;
}

bool graph_infer_conv2d(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *w = infer_operand(q, 1);
    ir_dim dims[4];
    if (!infer_need_single(q, 0))
        return false;
    for (uint32_t i = 1; i < q->operand_count; i++)
        if (infer_operand(q, i)->element != x->element)
            return infer_refuse(q, MISFIT_TYPES, 0, (int)i, "%s and %s are of different types",
                                infer_shape_text(q, 0), infer_shape_text(q, i));
    if (x->rank != 4 || w->rank != 4 || x->dims[3] != w->dims[2])
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "needs x [N, H, W, C] and w [KH, KW, C, O], not %s and %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (w->dims[0] == 0 || w->dims[1] == 0)
        return infer_refuse(q, MISFIT_SHAPE, 1, -1, "a window of %s is empty",
                            infer_shape_text(q, 1));
    if (q->operand_count > 2 &&
        (infer_operand(q, 2)->rank != 1 || infer_operand(q, 2)->dims[0] != w->dims[3]))
        return infer_refuse(q, MISFIT_SHAPE, 1, 2,
                            "the bias is %s, not one number for each channel of %s",
                            infer_shape_text(q, 2), infer_shape_text(q, 1));
    dims[0] = x->dims[0];
    dims[3] = w->dims[3];
    return known_activation(q) && order_fits(q) &&
           window_count(q, x->dims[1], w->dims[0], &dims[1]) &&
           window_count(q, x->dims[2], w->dims[1], &dims[2]) &&
           infer_give_shape(q, x->element, 4, dims);
}

/* Infers what a decomposition makes: the windows of an image, contracted with w as a matrix. */
bool graph_infer_convolve(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *w = infer_operand(q, 1);
    ir_dim window[2], dims[4];
    if (x->rank != 4 || w->rank != 2 || infer_ints_attr(q, "window", window, 2) != 2)
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "needs an image, a matrix and the two sizes of a window, not %s and %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (w->dims[0] != ir_dim_mul(q->m, ir_dim_mul(q->m, window[0], window[1]), x->dims[3]))
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "windows of %s by %s in %s do not fit %s",
                            ir_dim_text(q->m, window[0]), ir_dim_text(q->m, window[1]),
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    dims[0] = x->dims[0];
    dims[3] = w->dims[1];
    return dot_types_fit(q) && order_fits(q) && window_count(q, x->dims[1], window[0], &dims[1]) &&
           window_count(q, x->dims[2], window[1], &dims[2]) &&
           infer_give_shape(q, dot_element(q), 4, dims);
}

bool graph_infer_linear(query *q) {
    if (!known_activation(q))
        return false;
    if (!infer_need_single(q, 0) || !graph_infer_matmul(q))
        return false;
    if (q->operand_count < 3)
        return true;
    const ir_type_data *w = infer_operand(q, 1), *bias = infer_operand(q, 2);
    if (bias->rank != 1 || bias->dims[0] != w->dims[w->rank - 1] || bias->element != w->element)
        return infer_refuse(q, MISFIT_SHAPE, 1, 2,
                            "the bias needs one value for each column of %s, not %s",
                            infer_shape_text(q, 1), infer_shape_text(q, 2));
    return true;
}

bool graph_infer_attention(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *k = infer_operand(q, 1), *v = infer_operand(q, 2);
    ir_dim dims[IR_MAX_RANK];
    int n = x->rank;
    if (!infer_need_single(q, 0))
        return false;
    if (n < 2 || k->rank != n || v->rank != n || k->element != x->element ||
        v->element != x->element)
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "q, k and v need the same rank and type: %s, %s, %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1), infer_shape_text(q, 2));
    for (int i = 0; i < n - 2; i++)
        if (x->dims[i] != k->dims[i] || x->dims[i] != v->dims[i])
            return infer_refuse(q, MISFIT_SHAPE, 0, 1, "leading dimensions differ: %s, %s, %s",
                                infer_shape_text(q, 0), infer_shape_text(q, 1),
                                infer_shape_text(q, 2));
    if (x->dims[n - 1] != k->dims[n - 1])
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "q and k differ in their last axis: %s, %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (k->dims[n - 2] != v->dims[n - 2])
        return infer_refuse(q, MISFIT_SHAPE, 1, 2, "k and v differ in length: %s, %s",
                            infer_shape_text(q, 1), infer_shape_text(q, 2));
    memcpy(dims, x->dims, sizeof dims);
    dims[n - 1] = v->dims[n - 1];
    return infer_give_shape(q, x->element, n, dims);
}
