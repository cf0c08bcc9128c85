/* export_move.c - constants, and operations that move elements. */
#include <string.h>

#include "ir/blob.h"
#include "target/stablehlo/export.h"

/* ---- made from nothing ---- */

bool out_constant(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)in;
    const uint64_t bits = ir_attr_get(w->m, ir_op_attr(w->m, op, "value"))->bits;
    results[0] = out_splat(w, out_result_type(w, op, 0), bits);
    return true;
}

bool out_dense(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)in;
    const ir_attr_data *a = ir_attr_get(w->m, ir_op_attr(w->m, op, "value"));
    const shlo_type *t = out_result_type(w, op, 0);
    results[0] =
        out_with(w, "stablehlo.constant", NULL, t,
                 &(shlo_named_attr){"value", out_bytes(w, t, a->blob->bytes, a->blob->size_bytes)});
    return true;
}

bool out_extent(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)in;
    int64_t extent = 0;
    ir_op_ints(w->m, op, "of", &extent, 1);
    results[0] = out_splat(w, out_result_type(w, op, 0), (uint64_t)extent);
    return true;
}

bool out_index(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    (void)in;
    results[0] = out_iota(w, out_result_type(w, op, 0), ir_op_int(w->m, op, "axis", 0));
    return true;
}

/* ---- shapes ---- */

bool out_broadcast_of(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    int64_t axes[IR_MAX_RANK];
    ir_op_ints(w->m, op, "axes", axes, IR_MAX_RANK);
    results[0] = out_broadcast(w, in[0], out_result_type(w, op, 0), axes);
    return true;
}

bool out_reshape_of(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const shlo_type *t = out_result_type(w, op, 0);
    results[0] = out_reshape(w, in[0], t->rank, t->dims);
    return true;
}

bool out_transpose_of(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    int64_t order[IR_MAX_RANK];
    ir_op_ints(w->m, op, "permutation", order, IR_MAX_RANK);
    results[0] = out_transpose(w, in[0], order);
    return true;
}

bool out_slice_of(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    static const char *const names[][2] = {
        {"start", "start_indices"}, {"stop", "limit_indices"}, {"step", "strides"}};
    const shlo_type *t = out_result_type(w, op, 0);
    shlo_named_attr attrs[3];
    int64_t values[IR_MAX_RANK];
    for (int i = 0; i < 3; i++) {
        const uint32_t count = ir_op_ints(w->m, op, names[i][0], values, IR_MAX_RANK);
        attrs[i] = (shlo_named_attr){names[i][1], out_ints(w, count, values)};
    }
    results[0] = &out_build(w, &(out_spec){.name = "stablehlo.slice",
                                           .operands = in,
                                           .operand_count = 1,
                                           .results = &t,
                                           .result_count = 1,
                                           .attrs = attrs,
                                           .attr_count = 3})
                      ->results[0];
    return true;
}

bool out_concat(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const shlo_type *t = out_result_type(w, op, 0);
    const shlo_named_attr attr = {"dimension", out_int(w, out_axis(w, op, t->rank))};
    results[0] = &out_build(w, &(out_spec){.name = "stablehlo.concatenate",
                                           .operands = in,
                                           .operand_count = ir_op_get(w->m, op)->operand_count,
                                           .results = &t,
                                           .result_count = 1,
                                           .attrs = &attr,
                                           .attr_count = 1})
                      ->results[0];
    return true;
}

/* ---- gather ---- */

typedef struct taking {
    int64_t axis, batch;
    const shlo_type *result;
} taking;

/* Single elements along one axis, whole ones along the others; an index is a number by itself. */
static shlo_value *gathered(shlo_writer *w, shlo_value *x, shlo_value *indices, const taking *t) {
    const int64_t rank = x->type->rank, numbers = (int64_t)indices->type->rank - t->batch;
    int64_t sizes[IR_MAX_RANK], offset[IR_MAX_RANK], batch[IR_MAX_RANK];
    uint32_t offsets = 0;
    for (int64_t i = 0; i < rank; i++) {
        const bool one = i < t->batch || i == t->axis;
        sizes[i] = one ? 1 : x->type->dims[i];
        if (!one)
            offset[offsets++] = i < t->axis ? i : i - 1 + numbers;
    }
    for (int64_t i = 0; i < t->batch; i++)
        batch[i] = i;
    const shlo_named_attr attrs[] = {
        {"collapsed_slice_dims", out_ints(w, 1, &t->axis)},
        {"index_vector_dim", out_int(w, indices->type->rank)},
        {"offset_dims", out_ints(w, offsets, offset)},
        {"operand_batching_dims", out_ints(w, (uint32_t)t->batch, batch)},
        {"slice_sizes", out_ints(w, (uint32_t)rank, sizes)},
        {"start_index_map", out_ints(w, 1, &t->axis)},
        {"start_indices_batching_dims", out_ints(w, (uint32_t)t->batch, batch)}};
    shlo_value *both[] = {x, indices};
    return &out_build(w, &(out_spec){.name = "stablehlo.gather",
                                     .operands = both,
                                     .operand_count = 2,
                                     .results = &t->result,
                                     .result_count = 1,
                                     .attrs = attrs,
                                     .attr_count = 7})
                ->results[0];
}

bool out_gather(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const taking t = {out_axis(w, op, in[0]->type->rank), ir_op_int(w->m, op, "batch_dims", 0),
                      out_result_type(w, op, 0)};
    /* A slice has one element, also of an axis that has none. */
    results[0] =
        shlo_type_count(t.result) == 0 ? out_splat(w, t.result, 0) : gathered(w, in[0], in[1], &t);
    return true;
}

/* Element j of window i is at i * stride + j. */
bool out_window(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const shlo_type *t = out_result_type(w, op, 0);
    const int64_t axis = out_axis(w, op, in[0]->type->rank), last = (int64_t)t->rank - 1;
    const int64_t dims[] = {t->dims[axis], t->dims[last]};
    const shlo_type *places = out_tensor(w, SHLO_I32, 2, dims);
    int64_t taken[IR_MAX_RANK], order[IR_MAX_RANK];
    if (shlo_type_count(t) == 0) {
        results[0] = out_splat(w, t, 0);
        return true;
    }
    shlo_value *stride = out_number(w, places, (double)ir_op_int(w->m, op, "stride", 1));
    shlo_value *begin = out_binary(w, "stablehlo.multiply", out_iota(w, places, 0), stride);
    shlo_value *indices = out_binary(w, "stablehlo.add", begin, out_iota(w, places, 1));
    for (int64_t i = 0; i <= last; i++) {
        taken[i] = i <= axis ? t->dims[i] : i == axis + 1 ? t->dims[last] : t->dims[i - 1];
        order[i] = i <= axis ? i : i == last ? axis + 1 : i + 1;
    }
    const taking of = {axis, 0, out_tensor(w, t->element, t->rank, taken)};
    results[0] = out_transpose(w, gathered(w, in[0], indices, &of), order);
    return true;
}
