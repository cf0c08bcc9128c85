/* infer_move.c - the shape rules of operations that move elements and compute nothing. */
#include <string.h>

#include "ops/infer.h"

bool graph_infer_broadcast(query *q) {
    ir_dim dims[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0);
    int rank = infer_ints_attr(q, "shape", dims, IR_MAX_RANK),
        n = infer_ints_attr(q, "axes", axes, IR_MAX_RANK);
    if (rank < 0 || n != x->rank)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "needs one result axis for each axis of %s",
                            infer_shape_text(q, 0));
    for (int i = 0; i < n; i++) {
        if (axes[i] < 0 || axes[i] >= rank || (i && axes[i] <= axes[i - 1]))
            return infer_refuse(q, MISFIT_SHAPE, 0, -1,
                                "result axes must ascend and lie inside the result");
        if (x->dims[i] != 1 && x->dims[i] != dims[axes[i]])
            return infer_refuse(q, MISFIT_SHAPE, 0, -1,
                                "dimension %s of %s does not broadcast to %s",
                                ir_dim_text(q->m, x->dims[i]), infer_shape_text(q, 0),
                                ir_dim_text(q->m, dims[axes[i]]));
    }
    return infer_give_shape(q, x->element, rank, dims);
}

static ir_dim product(query *q, int rank, const ir_dim *dims) {
    ir_dim n = 1;
    for (int i = 0; i < rank; i++)
        n = ir_dim_mul(q->m, n, dims[i]);
    return n;
}

bool graph_infer_reshape(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0);
    int rank = infer_ints_attr(q, "shape", dims, IR_MAX_RANK);
    if (rank < 0)
        return infer_refuse(q, MISFIT_RANK, 0, -1, "at most %d dimensions", IR_MAX_RANK);
    ir_dim from = product(q, x->rank, x->dims), to = product(q, rank, dims);
    if (from != to)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "%s has %s elements, the new shape %s",
                            infer_shape_text(q, 0), ir_dim_text(q->m, from), ir_dim_text(q->m, to));
    return infer_give_shape(q, x->element, rank, dims);
}

bool graph_infer_transpose(query *q) {
    int64_t p[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    bool seen[IR_MAX_RANK] = {false};
    const ir_type_data *x = infer_operand(q, 0);
    if (infer_ints_attr(q, "permutation", p, IR_MAX_RANK) != x->rank)
        return infer_refuse(q, MISFIT_ARGUMENT, 0, -1, "needs a permutation of the axes of %s",
                            infer_shape_text(q, 0));
    for (int i = 0; i < x->rank; i++) {
        if (p[i] < 0 || p[i] >= x->rank || seen[p[i]])
            return infer_refuse(q, MISFIT_ARGUMENT, 0, -1, "needs a permutation of the axes of %s",
                                infer_shape_text(q, 0));
        seen[p[i]] = true;
        dims[i] = x->dims[p[i]];
    }
    return infer_give_shape(q, x->element, x->rank, dims);
}

/* A step that is a dimension is held to its limits where that is bound. */
static bool slice_axis(query *q, int axis, ir_dim start, ir_dim stop, ir_dim step, ir_dim *out) {
    const ir_type_data *x = infer_operand(q, 0);
    if (ir_dim_is_static(step) && (step < 1 || step > limit_dimension))
        return infer_refuse(q, MISFIT_ARGUMENT, 0, -1, "a step must be at least 1 and at most %lld",
                            (long long)limit_dimension);
    if (x->dims[axis] >= 0 && stop >= 0 && stop > x->dims[axis])
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "stop %lld lies beyond dimension %d of %s",
                            (long long)stop, axis, infer_shape_text(q, 0));
    ir_dim length = ir_dim_sub(q->m, stop, start);
    if (length == IR_DIM_INVALID)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "slice %s:%s of %s is empty or negative",
                            ir_dim_text(q->m, start), ir_dim_text(q->m, stop),
                            infer_shape_text(q, 0));
    ir_dim most = ir_dim_add(q->m, length, ir_dim_sub(q->m, step, 1));
    *out = ir_dim_floordiv(q->m, most, step);
    return true;
}

bool graph_infer_slice(query *q) {
    ir_dim start[IR_MAX_RANK], stop[IR_MAX_RANK], step[IR_MAX_RANK], dims[IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0);
    if (infer_ints_attr(q, "start", start, IR_MAX_RANK) != x->rank ||
        infer_ints_attr(q, "stop", stop, IR_MAX_RANK) != x->rank ||
        infer_ints_attr(q, "step", step, IR_MAX_RANK) != x->rank)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1,
                            "needs start, stop and step for each axis of %s",
                            infer_shape_text(q, 0));
    for (int i = 0; i < x->rank; i++)
        if (!slice_axis(q, i, start[i], stop[i], step[i], &dims[i]))
            return false;
    return infer_give_shape(q, x->element, x->rank, dims);
}

bool graph_infer_window(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    int64_t axis = infer_int_attr(q, "axis", 0), stride;
    ir_dim size, dims[IR_MAX_RANK];
    if (x->rank == IR_MAX_RANK || !infer_axis_in(q, axis, x->rank) ||
        infer_ints_attr(q, "size", &size, 1) != 1)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1,
                            "needs an axis of %s, one size, and room for another axis",
                            infer_shape_text(q, 0));
    if (!infer_distance_attr(q, "stride", 1, 1, &stride))
        return false;
    if (size == 0)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "a window of no elements is empty");
    memcpy(dims, x->dims, sizeof(ir_dim) * (size_t)x->rank);
    ir_dim room = ir_dim_sub(q->m, ir_dim_add(q->m, x->dims[axis], stride), size);
    if (room == IR_DIM_INVALID)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1,
                            "a window of %s does not fit in dimension %d of %s",
                            ir_dim_text(q->m, size), (int)axis, infer_shape_text(q, 0));
    dims[axis] = ir_dim_floordiv(q->m, room, stride);
    dims[x->rank] = size;
    return infer_give_shape(q, x->element, x->rank + 1, dims);
}

bool graph_infer_concat(query *q) {
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = q->operand_count ? infer_operand(q, 0) : NULL;
    int64_t axis = infer_int_attr(q, "axis", 0);
    if (!x)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "needs at least one tensor");
    if (q->operand_count > LIMIT_OPERANDS)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                            "joins at most %d tensors, not %u; join them in groups", LIMIT_OPERANDS,
                            q->operand_count);
    if (!infer_axis_in(q, axis, x->rank))
        return false;
    memcpy(dims, x->dims, sizeof dims);
    for (uint32_t i = 1; i < q->operand_count; i++) {
        const ir_type_data *y = infer_operand(q, i);
        bool fits = y->rank == x->rank && y->element == x->element;
        for (int k = 0; fits && k < x->rank; k++)
            fits = k == axis || x->dims[k] == y->dims[k];
        if (!fits)
            return infer_refuse(q, MISFIT_SHAPE, 0, (int)i, "cannot join %s and %s along axis %lld",
                                infer_shape_text(q, 0), infer_shape_text(q, i), (long long)axis);
        dims[axis] = ir_dim_add(q->m, dims[axis], y->dims[axis]);
    }
    return infer_give_shape(q, x->element, x->rank, dims);
}

bool graph_infer_gather(query *q) {
    ir_dim dims[3 * IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0), *indices = infer_operand(q, 1);
    int64_t axis = infer_int_attr(q, "axis", 0), batch = infer_int_attr(q, "batch_dims", 0);
    int rank = 0;
    if (!infer_axis_in(q, axis, x->rank))
        return false;
    if (indices->element != DTYPE_I32)
        return infer_refuse(q, MISFIT_ELEMENT, 1, -1, "indices must be i32, not %s",
                            infer_shape_text(q, 1));
    if (batch < 0 || batch > axis || batch > indices->rank)
        return infer_refuse(q, MISFIT_ARGUMENT, 0, 1,
                            "batch_dims %lld does not fit axis %lld of %s", (long long)batch,
                            (long long)axis, infer_shape_text(q, 0));
    for (int i = 0; i < batch; i++)
        if (x->dims[i] != indices->dims[i])
            return infer_refuse(q, MISFIT_SHAPE, 0, 1, "batch dimensions of %s and %s differ",
                                infer_shape_text(q, 0), infer_shape_text(q, 1));
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
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "nothing can be taken from axis %lld of %s",
                            (long long)axis, infer_shape_text(q, 0));
    return infer_give_shape(q, x->element, rank, dims);
}
