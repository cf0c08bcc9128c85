/* interp_move.c - data movement: bytes are copied, never looked at. */
#include <stdlib.h>
#include <string.h>

#include "target/interp/interp.h"

/* ---- strided copies ---- */

static void copy_row(unsigned char *out, const unsigned char *in, size_t size, int64_t count,
                     int64_t stride) {
#define COPY(TYPE)                                                                                 \
    for (int64_t i = 0; i < count; i++)                                                            \
        ((TYPE *)(void *)out)[i] = ((const TYPE *)(const void *)in)[i * stride];                   \
    break
    switch (size) {
    case 1:
        COPY(uint8_t);
    case 2:
        COPY(uint16_t);
    case 4:
        COPY(uint32_t);
    default:
        COPY(uint64_t);
    }
#undef COPY
}

static void copy_axis(unsigned char **out, const unsigned char *in, size_t size, const strided *v,
                      int axis) {
    int64_t count = v->dims[axis], step = v->strides[axis];
    if (axis == v->rank - 1) {
        copy_row(*out, in, size, count, step);
        *out += (size_t)count * size;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        copy_axis(out, in + i * step * (int64_t)size, size, v, axis + 1);
}

void interp_copy_strided(void *out, const void *in, size_t size, const strided *view) {
    unsigned char *cursor = out;
    const unsigned char *from = (const unsigned char *)in + view->start * (int64_t)size;
    for (int i = 0; i < view->rank; i++)
        if (view->dims[i] == 0)
            return;
    if (view->rank == 0)
        memcpy(out, from, size);
    else
        copy_axis(&cursor, from, size, view, 0);
}

static void row_major(const tensor *t, int64_t *strides) {
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= t->dims[i];
    }
}

/* The axes `axes` of `in`, in that order. */
static strided permuted(const tensor *in, const int64_t *axes) {
    int64_t strides[IR_MAX_RANK];
    strided v = {.rank = in->rank};
    row_major(in, strides);
    for (int i = 0; i < in->rank; i++) {
        v.dims[i] = in->dims[axes[i]];
        v.strides[i] = strides[axes[i]];
    }
    return v;
}

bool interp_permute(const tensor *in, const int64_t *axes, tensor *out, status *st) {
    strided v = permuted(in, axes);
    if (!tensor_init(out, in->type, v.rank, v.dims, st))
        return false;
    interp_copy_strided(out->data, in->data, dtype_size(in->type), &v);
    return true;
}

static strided broadcast_view(const interp_step *s) {
    const tensor *in = s->in[0], *out = s->out;
    int64_t axes[IR_MAX_RANK], strides[IR_MAX_RANK];
    strided v = {.rank = out->rank};
    ir_op_ints(s->m, s->op, "axes", axes, IR_MAX_RANK);
    row_major(in, strides);
    memcpy(v.dims, out->dims, sizeof v.dims);
    for (int i = 0; i < in->rank; i++)
        v.strides[axes[i]] = in->dims[i] == 1 ? 0 : strides[i];
    return v;
}

static strided slice_view(const interp_step *s) {
    int64_t start[IR_MAX_RANK], step[IR_MAX_RANK], strides[IR_MAX_RANK];
    strided v = {.rank = s->out->rank};
    ir_op_ints(s->m, s->op, "start", start, IR_MAX_RANK);
    ir_op_ints(s->m, s->op, "step", step, IR_MAX_RANK);
    row_major(s->in[0], strides);
    memcpy(v.dims, s->out->dims, sizeof v.dims);
    for (int i = 0; i < v.rank; i++) {
        v.strides[i] = s->out->dims[i] > 1 ? strides[i] * step[i] : 0;
        v.start += strides[i] * start[i];
    }
    return v;
}

/* A step along the new last axis is one along the old one. */
static strided window_view(const interp_step *s) {
    int axis = (int)ir_op_int(s->m, s->op, "axis", 0);
    strided v = {.rank = s->out->rank};
    memcpy(v.dims, s->out->dims, sizeof v.dims);
    row_major(s->in[0], v.strides);
    v.strides[v.rank - 1] = v.strides[axis];
    v.strides[axis] *= s->out->dims[axis] > 1 ? ir_op_int(s->m, s->op, "stride", 1) : 0;
    return v;
}

static strided transpose_view(const interp_step *s) {
    int64_t axes[IR_MAX_RANK];
    ir_op_ints(s->m, s->op, "permutation", axes, IR_MAX_RANK);
    return permuted(s->in[0], axes);
}

/* ---- joins and look-ups: blocks of whole inner rows ---- */

static int64_t product(const tensor *t, int from, int to) {
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= t->dims[i];
    return n;
}

static void concat(const interp_step *s) {
    int axis = (int)ir_op_int(s->m, s->op, "axis", 0);
    size_t size = dtype_size(s->out->type);
    size_t out_row = (size_t)product(s->out, axis, s->out->rank) * size, place = 0;
    int64_t rows = product(s->out, 0, axis);
    for (uint32_t i = 0; i < s->in_count; i++) {
        size_t bytes = (size_t)product(s->in[i], axis, s->in[i]->rank) * size;
        for (int64_t r = 0; r < rows; r++)
            memcpy((char *)s->out->data + (size_t)r * out_row + place,
                   (const char *)s->in[i]->data + (size_t)r * bytes, bytes);
        place += bytes;
    }
}

static int64_t clamped(int64_t index, int64_t count) {
    return index < 0 ? 0 : index >= count ? count - 1 : index;
}

/* x: batch, between, axis, inner; indices: batch, listed; out: batch, between, listed, inner. */
static void gather(const interp_step *s) {
    const tensor *x = s->in[0], *indices = s->in[1];
    int axis = (int)ir_op_int(s->m, s->op, "axis", 0),
        dims = (int)ir_op_int(s->m, s->op, "batch_dims", 0);
    int64_t batch = product(x, 0, dims), between = product(x, dims, axis), length = x->dims[axis];
    int64_t listed = product(indices, dims, indices->rank);
    size_t bytes = (size_t)product(x, axis + 1, x->rank) * dtype_size(x->type);
    char *out = s->out->data;
    if (tensor_count(s->out) == 0)
        return;
    for (int64_t row = 0; row < batch * between; row++)
        for (int64_t i = 0; i < listed; i++, out += bytes) {
            int32_t index = ((const int32_t *)indices->data)[row / between * listed + i];
            memcpy(out,
                   (const char *)x->data + (size_t)(row * length + clamped(index, length)) * bytes,
                   bytes);
        }
}

bool interp_move(const interp_step *s, status *st) {
    strided v;
    switch (s->opcode) {
    case GRAPH_RESHAPE:
        memcpy(s->out->data, s->in[0]->data, tensor_bytes(s->out));
        return true;
    case GRAPH_CONCAT:
        concat(s);
        return true;
    case GRAPH_GATHER:
        gather(s);
        return true;
    case GRAPH_BROADCAST:
        v = broadcast_view(s);
        break;
    case GRAPH_TRANSPOSE:
        v = transpose_view(s);
        break;
    case GRAPH_SLICE:
        v = slice_view(s);
        break;
    case GRAPH_WINDOW:
        v = window_view(s);
        break;
    default:
        return status_set(st, STATUS_INTERNAL, "the interpreter has no data movement '%s'",
                          op_info_get(s->opcode)->name);
    }
    interp_copy_strided(s->out->data, s->in[0]->data, dtype_size(s->out->type), &v);
    return true;
}
