/* import_values.c - constants and small steps that handlers share. */
#include <string.h>

#include "import/stablehlo/import.h"
#include "ir/blob.h"

ir_value import_number(importer *im, dtype type, double value) {
    uint64_t bits = 0;
    dtype_store(type, &bits, 0, value);
    return build_scalar(&im->b, type, bits);
}

/* A source may have a value with axes where its operation takes one without. */
ir_value import_spread(importer *im, ir_value x, int rank, const ir_dim *dims) {
    const ir_type_data *t = import_type_of(im, x);
    const bool fits = t->rank == 0 ||
                      (t->rank == rank && memcmp(t->dims, dims, sizeof *dims * (size_t)rank) == 0);
    if (!fits) {
        ir_fail(im->m, "takes a value without axes, not one with them");
        x = import_number(im, t->element, 0);
    }
    return build_broadcast(&im->b, x, rank, dims, NULL);
}

ir_value import_bits_like(importer *im, ir_value like, uint64_t bits) {
    const ir_type_data t = *import_type_of(im, like);
    return import_spread(im, build_scalar(&im->b, t.element, bits), t.rank, t.dims);
}

ir_value import_like(importer *im, ir_value like, double value) {
    const ir_type_data t = *import_type_of(im, like);
    return import_spread(im, import_number(im, t.element, value), t.rank, t.dims);
}

ir_value import_dense(importer *im, ir_type type, const void *data, size_t bytes) {
    ir_blob *blob = ir_blob_new(data, bytes);
    ir_named_attr attr = {"value", ir_attr_dense(im->m, type, blob)};
    ir_blob_drop(blob);
    return ir_op_result(im->m, graph_build(&im->b, GRAPH_DENSE, NULL, 0, &attr, 1), 0);
}

ir_value import_unary(importer *im, int opcode, ir_value x) {
    return build_unary(&im->b, opcode, x);
}

ir_value import_binary(importer *im, int opcode, ir_value x, ir_value y) {
    return build_binary(&im->b, opcode, x, y);
}

ir_value import_add(importer *im, ir_value x, ir_value y) {
    return import_binary(im, GRAPH_ADD, x, y);
}

ir_value import_sub(importer *im, ir_value x, ir_value y) {
    return import_binary(im, GRAPH_SUB, x, y);
}

ir_value import_mul(importer *im, ir_value x, ir_value y) {
    return import_binary(im, GRAPH_MUL, x, y);
}

ir_value import_div(importer *im, ir_value x, ir_value y) {
    return import_binary(im, GRAPH_DIV, x, y);
}

ir_value import_is(importer *im, const char *predicate, ir_value x, ir_value y) {
    return build_compare(&im->b, predicate, x, y);
}

ir_value import_shifted(importer *im, int opcode, ir_value x, int places) {
    return import_binary(im, opcode, x, import_like(im, x, places));
}

ir_value import_bitcast(importer *im, ir_value x, dtype to) {
    if (import_type_of(im, x)->element == to)
        return x;
    ir_named_attr attr = {"to", ir_attr_type(im->m, ir_type_scalar(im->m, to))};
    return ir_op_result(im->m, graph_build(&im->b, GRAPH_BITCAST, &x, 1, &attr, 1), 0);
}

static dtype of_size(size_t bytes, bool is_signed) {
    for (dtype t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (dtype_is_integer(t) && dtype_size(t) == bytes &&
            dtype_integer_bits(t) == (int)(8 * bytes) && dtype_is_unsigned(t) != is_signed)
            return t;
    return DTYPE_NONE;
}

dtype import_unsigned(dtype t) {
    return of_size(dtype_size(t), false);
}

dtype import_signed(dtype t) {
    return of_size(dtype_size(t), true);
}

ir_value import_shaped(importer *im, ir_value x, int rank, const ir_dim *dims) {
    const ir_type_data *t = import_type_of(im, x);
    if (t->rank == rank && memcmp(t->dims, dims, sizeof *dims * (size_t)rank) == 0)
        return x;
    return build_reshape(&im->b, x, rank, dims);
}

ir_value import_places(importer *im, ir_dim count) {
    return build_iota(&im->b, 1, &count, 0);
}

ir_value import_flat(importer *im, ir_value x) {
    const ir_type_data t = *import_type_of(im, x);
    const ir_dim all = graph_elements(t.rank, t.dims);
    return import_shaped(im, x, 1, &all);
}

/* ---- indices of any integer type ---- */

/* Types whose numbers all are i32's. */
static bool fits_i32(dtype t) {
    return dtype_integer_bits(t) < 32 || t == DTYPE_I32;
}

ir_value import_index_from(importer *im, ir_value x, int64_t lowest, int64_t highest) {
    const dtype t = import_type_of(im, x)->element;
    if (fits_i32(t))
        x = build_convert(&im->b, x, DTYPE_I32);
    else if (dtype_is_unsigned(t))
        lowest = 0;
    x = import_binary(im, GRAPH_MAXIMUM, x, import_like(im, x, (double)lowest));
    x = import_binary(im, GRAPH_MINIMUM, x, import_like(im, x, (double)highest));
    return build_convert(&im->b, x, DTYPE_I32);
}

ir_value import_clamped(importer *im, ir_value x, int64_t highest) {
    return import_index_from(im, x, 0, highest);
}

ir_value import_index_or_none(importer *im, ir_value x, int64_t highest) {
    x = import_index_from(im, x, -1, highest + 1);
    ir_value inside = import_is(im, "le", x, import_like(im, x, (double)highest));
    return build_select(&im->b, inside, x, import_like(im, x, -1));
}

/* ---- windows ---- */

ir_value import_window_places(importer *im, ir_dim extent, const window_axis *w) {
    const int64_t reach = (w->size - 1) * w->dilation + 1;
    const ir_dim dims[] = {extent < reach ? 0 : (extent - reach) / w->stride + 1, w->size};
    ir_value begin = build_iota(&im->b, 2, dims, 0), step = build_iota(&im->b, 2, dims, 1);
    begin = import_mul(im, begin, import_like(im, begin, (double)w->stride));
    if (w->reversed)
        step = import_sub(im, import_like(im, step, (double)w->size - 1), step);
    step = import_mul(im, step, import_like(im, step, (double)w->dilation));
    return import_add(im, begin, step);
}

/* ---- padding ---- */

static ir_value fill(importer *im, ir_value x, ir_value value, int axis, int64_t count) {
    ir_type_data t = *import_type_of(im, x);
    t.dims[axis] = count;
    return import_spread(im, value, t.rank, t.dims);
}

/* `gap` places between the elements of an axis: [n] as [n, 1], beside [n, gap]. */
static ir_value spaced(importer *im, ir_value x, ir_value value, int axis, int64_t gap) {
    const ir_type_data t = *import_type_of(im, x);
    ir_dim merged[IR_MAX_RANK], outer = 1, inner = 1;
    for (int i = 0; i < t.rank; i++) {
        merged[i] = t.dims[i];
        if (i < axis)
            outer *= t.dims[i];
        if (i > axis)
            inner *= t.dims[i];
    }
    const ir_dim parts[] = {outer * t.dims[axis], 1, inner}, gaps[] = {parts[0], gap, inner};
    ir_value pair[] = {build_reshape(&im->b, x, 3, parts), import_spread(im, value, 3, gaps)};
    x = build_concat(&im->b, 1, pair, 2);
    merged[axis] = t.dims[axis] * (gap + 1);
    x = build_reshape(&im->b, x, t.rank, merged);
    return build_slice_axis(&im->b, x, axis, 0, merged[axis] - gap);
}

ir_value import_padded(importer *im, ir_value x, ir_value value, const int64_t *low,
                       const int64_t *high, const int64_t *interior) {
    const int rank = import_type_of(im, x)->rank;
    for (int axis = 0; axis < rank; axis++) {
        if (interior[axis] > 0 && import_type_of(im, x)->dims[axis] > 1)
            x = spaced(im, x, value, axis, interior[axis]);
        const int64_t length = import_type_of(im, x)->dims[axis];
        const int64_t from = low[axis] < 0 ? -low[axis] : 0;
        const int64_t to = high[axis] < 0 ? length + high[axis] : length;
        ir_value pieces[3];
        uint32_t count = 0;
        if (low[axis] > 0)
            pieces[count++] = fill(im, x, value, axis, low[axis]);
        if (from < to)
            pieces[count++] = from || to < length ? build_slice_axis(&im->b, x, axis, from, to) : x;
        if (high[axis] > 0)
            pieces[count++] = fill(im, x, value, axis, high[axis]);
        /* More may be cut off one side than there is: the rest is of what the other side adds. */
        const int64_t wanted = length + low[axis] + high[axis];
        if (from >= to)
            x = fill(im, x, value, axis, wanted < 0 ? 0 : wanted);
        else
            x = build_concat(&im->b, axis, pieces, count);
    }
    return x;
}
