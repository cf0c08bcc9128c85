/* import_window.c - reductions of windows, and what is scattered to the place that a window
 * selects.
 */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"

/* Numbers of each axis; `otherwise` where there is no list. */
static bool of_axes(importer *im, const shlo_op *op, const char *name, int rank, int64_t otherwise,
                    int64_t *out) {
    const uint32_t n = shlo_op_ints(op, name, out, IR_MAX_RANK);
    for (int i = 0; i < rank && n == 0; i++)
        out[i] = otherwise;
    return n == 0 || n == (uint32_t)rank ||
           import_refuse(im, op, "'%s' does not have %d numbers", name, rank);
}

/* Each axis becomes that of the windows; the places in a window come last, as one axis. */
static ir_value windows_last(importer *im, ir_value x, const int64_t *size, const int64_t *stride,
                             const int64_t *dilation) {
    const int rank = import_type_of(im, x)->rank;
    ir_dim dims[IR_MAX_RANK + 1], all = 1;
    if (rank == 0) { /* one window of one element */
        dims[0] = 1;
        return build_reshape(&im->b, x, 1, dims);
    }
    /* An axis at a time: its windows stay, its places go to the end. */
    for (int axis = 0; axis < rank; axis++) {
        const ir_type_data t = *import_type_of(im, x);
        const window_axis w = {size[axis], stride[axis], dilation[axis], false};
        ir_value places = import_window_places(im, t.dims[axis], &w);
        if (axis == 0) { /* the places so far */
            memcpy(dims, t.dims, sizeof(ir_dim) * (size_t)rank);
            dims[rank] = 1;
            x = build_reshape(&im->b, x, rank + 1, dims);
        }
        x = build_gather(&im->b, x, places, axis, 0);
        x = build_moved(&im->b, x, axis + 1, rank + 1);
        all *= size[axis];
        const ir_type_data g = *import_type_of(im, x);
        memcpy(dims, g.dims, sizeof(ir_dim) * (size_t)rank);
        dims[rank] = all;
        x = build_reshape(&im->b, x, rank + 1, dims);
    }
    return x;
}

typedef struct windows {
    int64_t size[IR_MAX_RANK], stride[IR_MAX_RANK], base[IR_MAX_RANK], dilation[IR_MAX_RANK];
    int64_t low[IR_MAX_RANK], high[IR_MAX_RANK], gap[IR_MAX_RANK];
} windows;

static bool read_windows(importer *im, const shlo_op *op, int rank, windows *w) {
    int64_t pads[2 * IR_MAX_RANK];
    if (rank >= IR_MAX_RANK)
        return import_refuse(im, op, "windows of 8 axes are not supported");
    if (!of_axes(im, op, "window_dimensions", rank, 1, w->size) ||
        !of_axes(im, op, "window_strides", rank, 1, w->stride) ||
        !of_axes(im, op, "base_dilations", rank, 1, w->base) ||
        !of_axes(im, op, "window_dilations", rank, 1, w->dilation))
        return false;
    const uint32_t n = shlo_op_ints(op, "padding", pads, 2 * IR_MAX_RANK);
    if (n != 0 && n != 2 * (uint32_t)rank)
        return import_refuse(im, op, "its padding does not have two numbers an axis");
    for (int i = 0; i < rank; i++) {
        w->low[i] = n ? pads[2 * i] : 0;
        w->high[i] = n ? pads[2 * i + 1] : 0;
        w->gap[i] = w->base[i] - 1;
        const int64_t limit = (int64_t)1 << LIMIT_DIMENSION_BITS;
        if (w->size[i] >= limit || w->stride[i] >= limit || w->base[i] >= limit ||
            w->dilation[i] >= limit || w->low[i] >= limit || w->low[i] <= -limit ||
            w->high[i] >= limit || w->high[i] <= -limit)
            return import_refuse(im, op, "a window of axis %d has a number of 2^31 or more", i);
        if (w->size[i] < 1 || w->stride[i] < 1 || w->base[i] < 1 || w->dilation[i] < 1)
            return import_refuse(im, op, "a window of axis %d is not positive", i);
    }
    return true;
}

bool import_reduce_window(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    windows w;
    const uint32_t count = op->operand_count / 2;
    if (count == 0 || op->operand_count % 2 || op->result_count != count)
        return import_refuse(im, op, "needs tensors, and a value to begin with for each");
    const int rank = import_type_of(im, import_operand(im, op, 0))->rank;
    if (!import_alike(im, op, count, count) || !import_result_type(im, op, 0) ||
        !read_windows(im, op, rank, &w))
        return false;
    import_values tensors = {0}, inits = {0};
    for (uint32_t i = 0; i < count; i++) {
        import_push(im, op->operands[i], &tensors);
        import_push(im, op->operands[count + i], &inits);
    }
    for (size_t i = 0; i < tensors.count; i++) {
        ir_value x = import_padded(im, tensors.items[i], inits.items[i], w.low, w.high, w.gap);
        tensors.items[i] = windows_last(im, x, w.size, w.stride, w.dilation);
    }
    const char *kind = tensors.count == 1
                           ? import_reducible(im, import_kind_of(op->regions[0]), tensors.items[0])
                           : NULL;
    const bool free_order = kind && strcmp(kind, "sum") != 0 && strcmp(kind, "prod") != 0;
    const int64_t last = rank;
    bool good = true;
    if (free_order) { /* what is padded is what it begins with */
        results[0] = import_known_reduction(im, op, kind, tensors.items[0], &last, 1);
        good = results[0] != 0;
        if (good)
            results[0] = import_combined(im, kind, inits.items[0], results[0]);
    } else {
        good = import_reduce_last(im, op, op->regions[0], &tensors, &inits, results);
    }
    vec_release(&tensors);
    vec_release(&inits);
    return good;
}

/* ---- select and scatter ---- */

/* The place in memory of each element of a tensor; where padding is, -1. */
static ir_value padded_places(importer *im, const ir_type_data *t, const windows *w) {
    ir_dim all = graph_elements(t->rank, t->dims);
    ir_value places = import_shaped(im, import_places(im, all), t->rank, t->dims);
    return import_padded(im, places, import_number(im, DTYPE_I32, -1), w->low, w->high, w->gap);
}

/* The one of two places of a window that stays: the second, where the first is padding, or `select`
 * does not choose it. */
static bool selection(importer *im, const shlo_op *op, ir_block block, const shlo_block *select) {
    const ir_builder around = im->b;
    ir_value v[4];
    ir_type element = import_type(im, op, select->arguments[0].type);
    if (!element)
        return false;
    im->b.block = block;
    im->b.before = 0;
    for (int i = 0; i < 4; i++)
        v[i] = ir_block_add_argument(
            im->m, block, i % 2 ? ir_type_tensor(im->m, DTYPE_I32, 0, NULL) : element, NULL);
    im->made[select->arguments[0].number] = v[0];
    im->made[select->arguments[1].number] = v[2];
    value_refs outside = {0};
    import_values outer = {0};
    import_captures(op, &outside);
    const bool good = import_repeat_constants(im, op, &outside, &outer) && import_block(im, select);
    const ir_value *from = outer.items;
    if (good) {
        ir_value zero = import_number(im, DTYPE_I32, 0);
        ir_value first = import_is(im, "ge", v[1], zero), second = import_is(im, "ge", v[3], zero);
        ir_value chosen = import_binary(im, GRAPH_AND, first, import_operand(im, select->last, 0));
        ir_value stays =
            import_binary(im, GRAPH_OR, chosen, build_unary(&im->b, GRAPH_NOT, second));
        ir_value ends[] = {build_select(&im->b, stays, v[0], v[2]),
                           build_select(&im->b, stays, v[1], v[3])};
        build_next(&im->b, ends, 2);
    }
    for (size_t i = 0; i < outside.count && from < outer.items + outer.count; i++)
        import_pull(im, outside.items[i], &from);
    vec_release(&outside);
    vec_release(&outer);
    im->b = around;
    return good;
}

/* The place that each window selects: [windows..] */
static ir_value selected(importer *im, const shlo_op *op, ir_value x, const windows *w) {
    const ir_type_data t = *import_type_of(im, x);
    ir_value zero = import_number(im, t.element, 0);
    ir_value values = windows_last(im, import_padded(im, x, zero, w->low, w->high, w->gap), w->size,
                                   w->stride, w->dilation);
    ir_value places = windows_last(im, padded_places(im, &t, w), w->size, w->stride, w->dilation);
    const ir_type_data r = *import_type_of(im, values);
    ir_type types[] = {ir_type_tensor(im->m, r.element, r.rank - 1, r.dims),
                       ir_type_tensor(im->m, DTYPE_I32, r.rank - 1, r.dims)};
    ir_value operands[] = {values, places, zero, import_number(im, DTYPE_I32, -1)};
    ir_op reduce = build_along(&im->b, GRAPH_REDUCE_WITH, r.rank - 1, operands, 4, types, 2);
    return selection(im, op, ir_op_block(im->m, reduce, 0), op->regions[0])
               ? ir_op_result(im->m, reduce, 1)
               : 0;
}

bool import_select_and_scatter(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    windows w;
    if (!import_takes(im, op, 3) || op->regions[0]->argument_count != 2 || !op->regions[0]->last ||
        op->regions[0]->last->operand_count != 1 ||
        op->regions[0]->last->operands[0]->type->element != SHLO_BOOL ||
        !shlo_type_equal(op->regions[0]->arguments[0].type, op->regions[0]->arguments[1].type) ||
        op->regions[0]->arguments[0].type->element != op->operands[0]->type->element)
        return import_refuse(im, op, "needs a tensor, a source, a value to begin with, and bodies");
    ir_value x = import_operand(im, op, 0), source = import_operand(im, op, 1);
    const ir_type_data t = *import_type_of(im, x), s = *import_type_of(im, source);
    if (!read_windows(im, op, t.rank, &w))
        return false;
    ir_value places = selected(im, op, x, &w);
    if (!places)
        return false;
    const ir_type_data p = *import_type_of(im, places);
    if (p.rank != s.rank || memcmp(p.dims, s.dims, sizeof(ir_dim) * (size_t)s.rank) != 0)
        return import_refuse(im, op, "the source does not have an element for each window");
    ir_value begin = import_spread(im, import_operand(im, op, 2), t.rank, t.dims);
    ir_value operands[] = {import_flat(im, begin), import_flat(im, places),
                           import_flat(im, source)};
    ir_type type = ir_value_get(im->m, operands[0])->type;
    ir_op scatter = build_along(&im->b, GRAPH_SCATTER, 0, operands, 3, &type, 1);
    if (!import_combiner_block(im, op, ir_op_block(im->m, scatter, 0), op->regions[1], 1, false))
        return false;
    results[0] = import_shaped(im, ir_op_result(im->m, scatter, 0), t.rank, t.dims);
    return true;
}
