/* infer.c - the shape and type rules of Graph IR, one function a rule, named in graph.def. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/graph.h"

typedef graph_infer_query query;

static bool refuse(query *q, int a, int b, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool refuse(query *q, int a, int b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(q->error, sizeof q->error, format, args);
    va_end(args);
    q->blamed[0] = a;
    q->blamed[1] = b;
    return false;
}

static const ir_type_data *operand(const query *q, uint32_t i) {
    return ir_type_get(q->m, q->operands[i]);
}

/* "[M, 128] f32" in a small ring of buffers, for messages. */
static const char *shape_text(const query *q, uint32_t i) {
    static _Thread_local char buffers[4][160];
    static _Thread_local int turn;
    char *out = buffers[turn++ & 3];
    const ir_type_data *d = operand(q, i);
    size_t n = (size_t)snprintf(out, 160, "[");
    for (int k = 0; k < d->rank && n < 120; k++)
        n += (size_t)snprintf(out + n, 160 - n, "%s%.24s", k ? ", " : "",
                              ir_dim_text(q->m, d->dims[k]));
    snprintf(out + n, 160 - n, "] %s", dtype_name(d->element));
    return out;
}

static ir_attr attr_of(const query *q, const char *name) {
    for (uint32_t i = 0; i < q->attr_count; i++)
        if (strcmp(q->attrs[i].name, name) == 0)
            return q->attrs[i].value;
    return 0;
}

static int64_t int_attr(const query *q, const char *name, int64_t otherwise) {
    ir_attr attr = attr_of(q, name);
    return attr ? ir_attr_get(q->m, attr)->integer : otherwise;
}

static const char *string_attr(const query *q, const char *name, const char *otherwise) {
    ir_attr attr = attr_of(q, name);
    return attr && ir_attr_get(q->m, attr)->string ? ir_attr_get(q->m, attr)->string : otherwise;
}

/* Elements of an array of ints or dims; -1 when there are more than `limit`. */
static int ints_attr(const query *q, const char *name, int64_t *out, int limit) {
    ir_attr attr = attr_of(q, name);
    if (!attr)
        return 0;
    const ir_attr_data *d = ir_attr_get(q->m, attr);
    if ((int)d->count > limit)
        return -1;
    for (uint32_t i = 0; i < d->count; i++)
        out[i] = ir_attr_get(q->m, d->items[i])->integer;
    return (int)d->count;
}

static bool give(query *q, ir_type type) {
    q->results[q->result_count++] = type;
    return true;
}

static bool give_shape(query *q, dtype element, int rank, const ir_dim *dims) {
    if (rank > IR_MAX_RANK)
        return refuse(q, 0, -1, "the result would have rank %d; at most %d is possible", rank,
                      IR_MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (dims[i] == IR_DIM_INVALID)
            return refuse(q, 0, -1, "a dimension of the result would be negative or too large");
    return give(q, ir_type_tensor(q->m, element, rank, dims));
}

static bool need_float(query *q, uint32_t i) {
    if (dtype_is_float(operand(q, i)->element))
        return true;
    return refuse(q, (int)i, -1, "needs floating-point elements, not %s", shape_text(q, i));
}

/* The specified functions are f32 sequences, and composites but matmul compute in f32: f64 would
 * lose bits in silence. */
static bool need_single(query *q, uint32_t i) {
    if (!need_float(q, i) || operand(q, i)->element != DTYPE_F64)
        return dtype_is_float(operand(q, i)->element);
    return refuse(q, (int)i, -1, "is computed in f32, which is narrower than %s; use cast(x, f32)",
                  shape_text(q, i));
}

static bool need_equal(query *q, uint32_t a, uint32_t b) {
    if (q->operands[a] == q->operands[b])
        return true;
    if (operand(q, a)->element != operand(q, b)->element)
        return refuse(q, (int)a, (int)b, "element types differ: %s and %s; convert one with cast()",
                      shape_text(q, a), shape_text(q, b));
    return refuse(q, (int)a, (int)b, "shapes differ: %s and %s", shape_text(q, a),
                  shape_text(q, b));
}

static bool axis_in(query *q, int64_t axis, int rank) {
    if (axis >= 0 && axis < rank)
        return true;
    return refuse(q, 0, -1, "axis %lld is outside of %s", (long long)axis, shape_text(q, 0));
}

/* ---- rules ---- */

static bool graph_infer_none(query *q) {
    return refuse(q, -1, -1, "has no shape rule");
}

static bool graph_infer_constant(query *q) {
    return give_shape(q, ir_attr_get(q->m, attr_of(q, "value"))->element, 0, NULL);
}

static bool graph_infer_iota(query *q) {
    ir_dim dims[IR_MAX_RANK];
    int rank = ints_attr(q, "shape", dims, IR_MAX_RANK);
    int64_t axis = int_attr(q, "axis", 0);
    if (rank < 0 || axis < 0 || axis >= rank)
        return refuse(q, -1, -1, "axis %lld is outside of a shape of rank %d", (long long)axis,
                      rank);
    return give_shape(q, DTYPE_I32, rank, dims);
}

static bool graph_infer_same(query *q) {
    return give(q, q->operands[0]);
}

static bool graph_infer_float(query *q) {
    int64_t axis = int_attr(q, "axis", 0);
    if (!need_float(q, 0) || (attr_of(q, "axis") && !axis_in(q, axis, operand(q, 0)->rank)))
        return false;
    return give(q, q->operands[0]);
}

static bool graph_infer_single(query *q) {
    return need_single(q, 0) && graph_infer_float(q);
}

static bool graph_infer_convert(query *q) {
    dtype to = ir_type_get(q->m, ir_attr_get(q->m, attr_of(q, "to"))->type)->element;
    if (to == DTYPE_NONE)
        return refuse(q, -1, -1, "'to' is not an element type");
    return give(q, ir_type_with_element(q->m, q->operands[0], to));
}

static bool graph_infer_binary(query *q) {
    if (!need_equal(q, 0, 1))
        return false;
    if (operand(q, 0)->element == DTYPE_BOOL)
        return refuse(q, 0, -1, "needs numbers, not %s; use &, | or ^ on bool", shape_text(q, 0));
    return give(q, q->operands[0]);
}

static bool graph_infer_bits(query *q) {
    if (!need_equal(q, 0, 1))
        return false;
    if (dtype_is_float(operand(q, 0)->element))
        return refuse(q, 0, -1, "needs bool or integer elements, not %s", shape_text(q, 0));
    return give(q, q->operands[0]);
}

static bool graph_infer_compare(query *q) {
    static const char *const known[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const char *predicate = string_attr(q, "predicate", "");
    bool found = false;
    for (int i = 0; i < 6; i++)
        found |= strcmp(known[i], predicate) == 0;
    if (!found)
        return refuse(q, -1, -1, "unknown predicate '%s'", predicate);
    return need_equal(q, 0, 1) && give(q, ir_type_with_element(q->m, q->operands[0], DTYPE_BOOL));
}

static bool graph_infer_select(query *q) {
    if (operand(q, 0)->element != DTYPE_BOOL)
        return refuse(q, 0, -1, "the condition must be bool, not %s", shape_text(q, 0));
    if (!need_equal(q, 1, 2))
        return false;
    if (ir_type_with_element(q->m, q->operands[1], DTYPE_BOOL) != q->operands[0])
        return refuse(q, 0, 1, "the condition's shape %s differs from %s", shape_text(q, 0),
                      shape_text(q, 1));
    return give(q, q->operands[1]);
}

static bool graph_infer_ternary(query *q) {
    return need_float(q, 0) && need_equal(q, 0, 1) && need_equal(q, 0, 2) &&
           give(q, q->operands[0]);
}

static bool graph_infer_broadcast(query *q) {
    ir_dim dims[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0);
    int rank = ints_attr(q, "shape", dims, IR_MAX_RANK),
        n = ints_attr(q, "axes", axes, IR_MAX_RANK);
    if (rank < 0 || n != x->rank)
        return refuse(q, 0, -1, "needs one result axis for each axis of %s", shape_text(q, 0));
    for (int i = 0; i < n; i++) {
        if (axes[i] < 0 || axes[i] >= rank || (i && axes[i] <= axes[i - 1]))
            return refuse(q, 0, -1, "result axes must ascend and lie inside the result");
        if (x->dims[i] != 1 && x->dims[i] != dims[axes[i]])
            return refuse(q, 0, -1, "dimension %s of %s does not broadcast to %s",
                          ir_dim_text(q->m, x->dims[i]), shape_text(q, 0),
                          ir_dim_text(q->m, dims[axes[i]]));
    }
    return give_shape(q, x->element, rank, dims);
}

static ir_dim product(query *q, int rank, const ir_dim *dims) {
    ir_dim n = 1;
    for (int i = 0; i < rank; i++)
        n = ir_dim_mul(q->m, n, dims[i]);
    return n;
}

static bool graph_infer_reshape(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0);
    int rank = ints_attr(q, "shape", dims, IR_MAX_RANK);
    if (rank < 0)
        return refuse(q, 0, -1, "at most %d dimensions", IR_MAX_RANK);
    ir_dim from = product(q, x->rank, x->dims), to = product(q, rank, dims);
    if (from != to)
        return refuse(q, 0, -1, "%s has %s elements, the new shape %s", shape_text(q, 0),
                      ir_dim_text(q->m, from), ir_dim_text(q->m, to));
    return give_shape(q, x->element, rank, dims);
}

static bool graph_infer_transpose(query *q) {
    int64_t p[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    bool seen[IR_MAX_RANK] = {false};
    const ir_type_data *x = operand(q, 0);
    if (ints_attr(q, "permutation", p, IR_MAX_RANK) != x->rank)
        return refuse(q, 0, -1, "needs a permutation of the axes of %s", shape_text(q, 0));
    for (int i = 0; i < x->rank; i++) {
        if (p[i] < 0 || p[i] >= x->rank || seen[p[i]])
            return refuse(q, 0, -1, "needs a permutation of the axes of %s", shape_text(q, 0));
        seen[p[i]] = true;
        dims[i] = x->dims[p[i]];
    }
    return give_shape(q, x->element, x->rank, dims);
}

static bool graph_infer_slice(query *q) {
    int64_t step[IR_MAX_RANK];
    ir_dim start[IR_MAX_RANK], stop[IR_MAX_RANK], dims[IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0);
    if (ints_attr(q, "start", start, IR_MAX_RANK) != x->rank ||
        ints_attr(q, "stop", stop, IR_MAX_RANK) != x->rank ||
        ints_attr(q, "step", step, IR_MAX_RANK) != x->rank)
        return refuse(q, 0, -1, "needs start, stop and step for each axis of %s", shape_text(q, 0));
    for (int i = 0; i < x->rank; i++) {
        if (step[i] < 1)
            return refuse(q, 0, -1, "a step must be at least 1");
        bool all = x->dims[i] >= 0 && stop[i] >= 0;
        if (all && stop[i] > x->dims[i])
            return refuse(q, 0, -1, "stop %lld lies beyond dimension %d of %s", (long long)stop[i],
                          i, shape_text(q, 0));
        ir_dim length = ir_dim_sub(q->m, stop[i], start[i]);
        if (length == IR_DIM_INVALID)
            return refuse(q, 0, -1, "slice %s:%s of %s is empty or negative",
                          ir_dim_text(q->m, start[i]), ir_dim_text(q->m, stop[i]),
                          shape_text(q, 0));
        dims[i] = ir_dim_floordiv(q->m, ir_dim_add(q->m, length, step[i] - 1), step[i]);
    }
    return give_shape(q, x->element, x->rank, dims);
}

static bool graph_infer_concat(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = q->operand_count ? operand(q, 0) : NULL;
    int64_t axis = int_attr(q, "axis", 0);
    if (!x)
        return refuse(q, -1, -1, "needs at least one tensor");
    if (!axis_in(q, axis, x->rank))
        return false;
    memcpy(dims, x->dims, sizeof dims);
    for (uint32_t i = 1; i < q->operand_count; i++) {
        const ir_type_data *y = operand(q, i);
        bool fits = y->rank == x->rank && y->element == x->element;
        for (int k = 0; fits && k < x->rank; k++)
            fits = k == axis || x->dims[k] == y->dims[k];
        if (!fits)
            return refuse(q, 0, (int)i, "cannot join %s and %s along axis %lld", shape_text(q, 0),
                          shape_text(q, i), (long long)axis);
        dims[axis] = ir_dim_add(q->m, dims[axis], y->dims[axis]);
    }
    return give_shape(q, x->element, x->rank, dims);
}

static bool graph_infer_gather(query *q) {
    ir_dim dims[3 * IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0), *indices = operand(q, 1);
    int64_t axis = int_attr(q, "axis", 0), batch = int_attr(q, "batch_dims", 0);
    int rank = 0;
    if (!axis_in(q, axis, x->rank))
        return false;
    if (indices->element != DTYPE_I32)
        return refuse(q, 1, -1, "indices must be i32, not %s", shape_text(q, 1));
    if (batch < 0 || batch > axis || batch > indices->rank)
        return refuse(q, 0, 1, "batch_dims %lld does not fit axis %lld of %s", (long long)batch,
                      (long long)axis, shape_text(q, 0));
    for (int i = 0; i < batch; i++)
        if (x->dims[i] != indices->dims[i])
            return refuse(q, 0, 1, "batch dimensions of %s and %s differ", shape_text(q, 0),
                          shape_text(q, 1));
    for (int i = 0; i < axis; i++)
        dims[rank++] = x->dims[i];
    for (int i = (int)batch; i < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (int i = (int)axis + 1; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    bool empty = x->dims[axis] == 0;
    for (int i = 0; i < rank && empty; i++)
        empty = dims[i] != 0;
    if (empty)
        return refuse(q, 0, 1, "nothing can be taken from axis %lld of %s", (long long)axis,
                      shape_text(q, 0));
    return give_shape(q, x->element, rank, dims);
}

static bool graph_infer_reduce(query *q) {
    int64_t axes[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0);
    const char *kind = string_attr(q, "kind", "");
    int n = ints_attr(q, "axes", axes, IR_MAX_RANK), rank = 0, next = 0;
    if (strcmp(kind, "sum") != 0 && strcmp(kind, "max") != 0 && strcmp(kind, "min") != 0)
        return refuse(q, -1, -1, "unknown kind '%s': sum, max or min", kind);
    if (x->element == DTYPE_BOOL)
        return refuse(q, 0, -1, "cannot reduce %s; cast() it to i32", shape_text(q, 0));
    for (int i = 0; i < (n < 0 ? 1 : n); i++)
        if (n < 0 || axes[i] < 0 || axes[i] >= x->rank || (i && axes[i] <= axes[i - 1]))
            return refuse(q, 0, -1, "axes must be different axes of %s, in ascending order",
                          shape_text(q, 0));
    for (int i = 0; i < x->rank; i++) {
        if (next < n && axes[next] == i)
            next++;
        else
            dims[rank++] = x->dims[i];
    }
    return give_shape(q, x->element, rank, dims);
}

static bool contains(const int64_t *list, int n, int64_t item) {
    for (int i = 0; i < n; i++)
        if (list[i] == item)
            return true;
    return false;
}

static dtype dot_element(const query *q) {
    ir_attr out = attr_of(q, "out");
    dtype x = operand(q, 0)->element;
    if (out)
        return ir_type_get(q->m, ir_attr_get(q->m, out)->type)->element;
    return x == DTYPE_I8 ? DTYPE_I32 : x;
}

static bool dot_types_fit(query *q) {
    dtype x = operand(q, 0)->element, out = dot_element(q);
    if (x != operand(q, 1)->element)
        return refuse(q, 0, 1, "element types differ: %s and %s; convert one with cast()",
                      shape_text(q, 0), shape_text(q, 1));
    if (x == DTYPE_BOOL || dtype_is_float(x) != dtype_is_float(out) || out == DTYPE_I8 ||
        out == DTYPE_BOOL)
        return refuse(q, 0, -1, "products of %s cannot be summed into %s", shape_text(q, 0),
                      dtype_name(out));
    return true;
}

/* A count for each row of x: i32, as many as its last free axis is long. */
static bool dot_counts_fit(query *q, const int64_t *batch, int batches, const int64_t *contract,
                           int contracts) {
    const ir_type_data *x = operand(q, 0), *counts;
    int free = x->rank - 1;
    if (q->operand_count < 3)
        return true;
    while (free >= 0 && (contains(batch, batches, free) || contains(contract, contracts, free)))
        free--;
    counts = operand(q, 2);
    return (free >= 0 && counts->rank == 1 && counts->element == DTYPE_I32 &&
            counts->dims[0] == x->dims[free]) ||
           refuse(q, 2, 0, "k_count needs one i32 for each row of %s, not %s", shape_text(q, 0),
                  shape_text(q, 2));
}

static bool repeats(const int64_t *batch, int batches, const int64_t *contract, int contracts) {
    for (int i = 0; i < contracts; i++)
        if (contains(contract, i, contract[i]) || contains(batch, batches, contract[i]))
            return true;
    for (int i = 0; i < batches; i++)
        if (contains(batch, i, batch[i]))
            return true;
    return false;
}

static bool graph_infer_dot(query *q) {
    int64_t xb[IR_MAX_RANK], yb[IR_MAX_RANK], xc[IR_MAX_RANK], yc[IR_MAX_RANK];
    ir_dim dims[3 * IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0), *y = operand(q, 1);
    int batch = ints_attr(q, "x_batch", xb, IR_MAX_RANK),
        contract = ints_attr(q, "x_contract", xc, IR_MAX_RANK);
    int rank = 0;
    if (batch < 0 || contract < 0 || batch != ints_attr(q, "y_batch", yb, IR_MAX_RANK) ||
        contract != ints_attr(q, "y_contract", yc, IR_MAX_RANK))
        return refuse(q, 0, 1, "both sides need as many batch and contracted axes");
    for (int i = 0; i < batch + contract; i++) {
        int64_t a = i < batch ? xb[i] : xc[i - batch], b = i < batch ? yb[i] : yc[i - batch];
        if (a < 0 || a >= x->rank || b < 0 || b >= y->rank)
            return refuse(q, 0, 1, "axis outside of %s or %s", shape_text(q, 0), shape_text(q, 1));
        if (x->dims[a] != y->dims[b])
            return refuse(q, 0, 1, "axis %lld of %s and axis %lld of %s differ", (long long)a,
                          shape_text(q, 0), (long long)b, shape_text(q, 1));
    }
    if (repeats(xb, batch, xc, contract) || repeats(yb, batch, yc, contract))
        return refuse(q, 0, 1, "an axis of %s or %s is given twice", shape_text(q, 0),
                      shape_text(q, 1));
    for (int i = 0; i < batch; i++)
        dims[rank++] = x->dims[xb[i]];
    for (int i = 0; i < x->rank; i++)
        if (!contains(xb, batch, i) && !contains(xc, contract, i))
            dims[rank++] = x->dims[i];
    for (int i = 0; i < y->rank; i++)
        if (!contains(yb, batch, i) && !contains(yc, contract, i))
            dims[rank++] = y->dims[i];
    return dot_types_fit(q) && dot_counts_fit(q, xb, batch, xc, contract) &&
           give_shape(q, dot_element(q), rank, dims);
}

static bool graph_infer_matmul(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = operand(q, 0), *y = operand(q, 1);
    if (x->rank < 2 || y->rank < 2)
        return refuse(q, 0, 1, "needs at least two axes on both sides: %s @ %s", shape_text(q, 0),
                      shape_text(q, 1));
    if (x->dims[x->rank - 1] != y->dims[y->rank - 2])
        return refuse(q, 0, 1, "inner dimensions differ: %s @ %s", shape_text(q, 0),
                      shape_text(q, 1));
    if (!dot_types_fit(q))
        return false;
    int rank = x->rank > y->rank ? x->rank : y->rank;
    for (int i = 0; i < rank - 2; i++) {
        int a = i - (rank - x->rank), b = i - (rank - y->rank);
        ir_dim da = a < 0 ? 1 : x->dims[a], db = b < 0 ? 1 : y->dims[b];
        if (da != db && da != 1 && db != 1)
            return refuse(q, 0, 1, "leading dimensions do not broadcast: %s @ %s", shape_text(q, 0),
                          shape_text(q, 1));
        dims[i] = da == 1 ? db : da;
    }
    dims[rank - 2] = x->dims[x->rank - 2];
    dims[rank - 1] = y->dims[y->rank - 1];
    return give_shape(q, dot_element(q), rank, dims);
}

static bool graph_infer_drop_axis(query *q) {
    const ir_type_data *x = operand(q, 0);
    ir_dim dims[IR_MAX_RANK];
    int64_t axis = int_attr(q, "axis", 0);
    int rank = 0;
    if (!need_single(q, 0) || !axis_in(q, axis, x->rank))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dims[rank++] = x->dims[i];
    return give_shape(q, x->element, rank, dims);
}

static bool graph_infer_norm(query *q) {
    const ir_type_data *x = operand(q, 0);
    if (!need_single(q, 0))
        return false;
    for (uint32_t i = 1; i < q->operand_count; i++) {
        const ir_type_data *g = operand(q, i);
        if (g->rank != 1 || x->rank < 1 || g->dims[0] != x->dims[x->rank - 1] ||
            g->element != x->element)
            return refuse(q, 0, (int)i,
                          "needs one value for each element of the last axis: %s with %s",
                          shape_text(q, 0), shape_text(q, i));
    }
    return give(q, q->operands[0]);
}

static bool graph_infer_linear(query *q) {
    static const char *const known[] = {"none", "relu", "gelu", "gelu_erf", "silu"};
    const char *activation = string_attr(q, "activation", "none");
    bool found = false;
    for (int i = 0; i < 5; i++)
        found |= strcmp(known[i], activation) == 0;
    if (!found)
        return refuse(q, -1, -1, "unknown activation '%s': none, relu, gelu, gelu_erf or silu",
                      activation);
    if (!need_single(q, 0) || !graph_infer_matmul(q))
        return false;
    if (q->operand_count < 3)
        return true;
    const ir_type_data *w = operand(q, 1), *bias = operand(q, 2);
    if (bias->rank != 1 || bias->dims[0] != w->dims[w->rank - 1] || bias->element != w->element)
        return refuse(q, 1, 2, "the bias needs one value for each column of %s, not %s",
                      shape_text(q, 1), shape_text(q, 2));
    return true;
}

static bool graph_infer_attention(query *q) {
    const ir_type_data *x = operand(q, 0), *k = operand(q, 1), *v = operand(q, 2);
    ir_dim dims[IR_MAX_RANK];
    int n = x->rank;
    if (!need_single(q, 0))
        return false;
    if (n < 2 || k->rank != n || v->rank != n || k->element != x->element ||
        v->element != x->element)
        return refuse(q, 0, 1, "q, k and v need the same rank and type: %s, %s, %s",
                      shape_text(q, 0), shape_text(q, 1), shape_text(q, 2));
    for (int i = 0; i < n - 2; i++)
        if (x->dims[i] != k->dims[i] || x->dims[i] != v->dims[i])
            return refuse(q, 0, 1, "leading dimensions differ: %s, %s, %s", shape_text(q, 0),
                          shape_text(q, 1), shape_text(q, 2));
    if (x->dims[n - 1] != k->dims[n - 1])
        return refuse(q, 0, 1, "q and k differ in their last axis: %s, %s", shape_text(q, 0),
                      shape_text(q, 1));
    if (k->dims[n - 2] != v->dims[n - 2])
        return refuse(q, 1, 2, "k and v differ in length: %s, %s", shape_text(q, 1),
                      shape_text(q, 2));
    memcpy(dims, x->dims, sizeof dims);
    dims[n - 1] = v->dims[n - 1];
    return give_shape(q, x->element, n, dims);
}

static bool graph_infer_cross_entropy(query *q) {
    const ir_type_data *x = operand(q, 0), *t = operand(q, 1);
    if (!need_single(q, 0))
        return false;
    if (x->rank != 2 || t->rank != 1 || t->dims[0] != x->dims[0] || t->element != DTYPE_I32)
        return refuse(q, 0, 1, "needs rows of scores and one i32 target for each row: %s with %s",
                      shape_text(q, 0), shape_text(q, 1));
    return give_shape(q, x->element, 0, NULL);
}

/* cos and sin broadcast against x's leading axes: their shape is x's last axes, with D/2 at the
 * end. */
static bool graph_infer_rope(query *q) {
    const ir_type_data *x = operand(q, 0), *c = operand(q, 1);
    if (!need_single(q, 0) || !need_equal(q, 1, 2))
        return false;
    bool fits = c->rank >= 1 && c->rank <= x->rank && c->element == x->element;
    for (int i = 0; fits && i < c->rank - 1; i++)
        fits = c->dims[i] == x->dims[x->rank - c->rank + i];
    fits = fits && (ir_dim_mul(q->m, 2, c->dims[c->rank - 1]) == x->dims[x->rank - 1]);
    if (!fits)
        return refuse(q, 0, 1,
                      "cos and sin need the last axes of x with half of the last one: %s with %s",
                      shape_text(q, 0), shape_text(q, 1));
    return give(q, q->operands[0]);
}

static bool graph_infer_adam(query *q) {
    if (!need_single(q, 0))
        return false;
    for (uint32_t i = 1; i < 4; i++)
        if (!need_equal(q, 0, i))
            return false;
    for (uint32_t i = 4; i < 6; i++)
        if (operand(q, i)->rank != 0 || operand(q, i)->element != operand(q, 0)->element)
            return refuse(q, 0, (int)i, "c1 and c2 must be scalars of the parameters' type, not %s",
                          shape_text(q, i));
    return give(q, q->operands[0]) && give(q, q->operands[0]) && give(q, q->operands[0]);
}

typedef bool (*infer_rule)(query *q);
static const infer_rule rules[] = {
#define G(ENUM, name, operands, attrs, results, class, shape, decompose, flops, summary)           \
    graph_infer_##shape,
#include "ops/graph.def"
};

bool graph_op_is_specified(int op) {
    return rules[op] == graph_infer_single && graph_op_class(op) == GRAPH_CLASS_ELEMENTWISE;
}

bool graph_infer(graph_infer_query *q) {
    q->result_count = 0;
    q->error[0] = 0;
    q->blamed[0] = q->blamed[1] = -1;
    return rules[q->opcode](q);
}
