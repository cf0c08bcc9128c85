/* export_sum.c - reductions, products, convolutions, running sums and orders along an axis. */
#include <string.h>

#include "ops/orders.h"
#include "target/stablehlo/export.h"

/* ---- combining two elements ---- */

static const struct kind {
    const char *name, *operation;
} kinds[] = {{"sum", "stablehlo.add"},
             {"prod", "stablehlo.multiply"},
             {"max", "stablehlo.maximum"},
             {"min", "stablehlo.minimum"}};

static const char *operation_of(const char *kind) {
    size_t i = 0;
    while (i + 1 < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, kind) != 0)
        i++;
    return kinds[i].operation;
}

/* A body of `arguments` scalars of one element. */
static shlo_block *body_of(shlo_writer *w, uint32_t arguments, shlo_element element) {
    shlo_block *body = shlo_block_new(w->out, arguments);
    for (uint32_t i = 0; i < arguments; i++)
        body->arguments[i].type = out_tensor(w, element, 0, NULL);
    return body;
}

shlo_block *out_combiner(shlo_writer *w, const char *kind, shlo_element element) {
    shlo_block *body = body_of(w, 2, element), *around = w->block;
    w->block = body;
    shlo_value *made = out_binary(w, operation_of(kind), &body->arguments[0], &body->arguments[1]);
    out_return(w, &made, 1);
    w->block = around;
    return body;
}

shlo_value *out_neutral(shlo_writer *w, const char *kind, shlo_element element) {
    const shlo_type *t = out_tensor(w, element, 0, NULL);
    const dtype type = shlo_element_get(element)->type;
    const bool most = strcmp(kind, "max") == 0;
    if (strcmp(kind, "sum") == 0 || strcmp(kind, "prod") == 0)
        return out_number(w, t, *kind == 's' ? 0 : 1);
    if (dtype_is_float(type))
        return out_number(w, t, most ? -__builtin_inf() : __builtin_inf());
    return out_splat(w, t, dtype_wrap(type, most ? dtype_lowest(type) : dtype_highest(type)));
}

/* ---- reductions ---- */

static dtype type_attr(const shlo_writer *w, ir_op op, const char *name, dtype otherwise) {
    ir_attr attr = ir_op_attr(w->m, op, name);
    return attr ? ir_type_get(w->m, ir_attr_get(w->m, attr)->type)->element : otherwise;
}

/* Floats narrower than f32 accumulate in f32. */
static shlo_element accumulator(const shlo_writer *w, ir_op op, dtype element) {
    const dtype t = dtype_is_narrow(element) ? DTYPE_F32 : element;
    return out_element(type_attr(w, op, "accumulate", t));
}

bool out_is_ordered(const shlo_writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const char *order = ir_op_string(w->m, op, "order", NULL);
    const dtype t = ir_type_of(w->m, d->operands[0])->element;
    const bool product = d->opcode != GRAPH_REDUCE;
    if (d->opcode == GRAPH_DOT && d->operand_count > 2)
        return true;
    return order && dtype_is_float(t) &&
           strcmp(order, order_info_of(product ? ORDER_CHUNK512 : ORDER_LANES64)->name) != 0;
}

bool out_reduce(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(w->m, op, "axes", axes, IR_MAX_RANK);
    const char *kind = ir_op_string(w->m, op, "kind", "sum");
    const shlo_type *given = out_result_type(w, op, 0);
    const dtype element = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    const shlo_element wide = accumulator(w, op, element);
    const shlo_type *t = out_type_with(w, given, wide);
    shlo_value *both[] = {out_convert(w, in[0], wide), out_neutral(w, kind, wide)};
    shlo_block *body = out_combiner(w, kind, wide);
    const shlo_named_attr attr = {"dimensions", out_ints(w, count, axes)};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.reduce",
                                             .operands = both,
                                             .operand_count = 2,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = &attr,
                                             .attr_count = 1,
                                             .regions = &body,
                                             .region_count = 1});
    results[0] = out_convert(w, &made->results[0], given->element);
    return true;
}

/* ---- products ---- */

static const shlo_attr *precision(shlo_writer *w) {
    const shlo_attr **items = ARENA_NEW(&w->out->memory, const shlo_attr *, 2);
    items[0] = items[1] = out_word(w, SHLO_ATTR_ENUM, "HIGHEST");
    shlo_attr *a = ARENA_NEW(&w->out->memory, shlo_attr, 1);
    *a = (shlo_attr){.kind = SHLO_ATTR_ARRAY, .count = 2, .items = items};
    return a;
}

/* Type in which the products are summed. */
static shlo_element sum_element(const shlo_writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const dtype result = ir_type_of(w->m, d->results[0])->element;
    const dtype x = ir_type_of(w->m, d->operands[0])->element;
    if (!dtype_is_float(result))
        return out_element(type_attr(w, op, "accumulate", result));
    return type_attr(w, op, "accumulate", x) == DTYPE_F64 ? SHLO_F64 : SHLO_F32;
}

/* Zero where the step along the contracted axis is none of the row's. */
static shlo_value *counted(shlo_writer *w, shlo_value *x, shlo_value *counts, int64_t contracted,
                           int64_t rows) {
    const shlo_type *t = out_type_with(w, x->type, SHLO_I32);
    shlo_value *happens =
        out_compare(w, "LT", out_iota(w, t, contracted), out_broadcast(w, counts, t, &rows));
    return out_select(w, happens, x, out_number(w, x->type, 0));
}

/* The last axis that is neither contracted nor a batch. */
static int64_t last_free(uint32_t rank, const int64_t *contract, uint32_t contracts,
                         const int64_t *batch, uint32_t batches) {
    int64_t axis = (int64_t)rank - 1;
    while (axis > 0 &&
           (ir_ints_hold(contract, contracts, axis) || ir_ints_hold(batch, batches, axis)))
        axis--;
    return axis;
}

bool out_dot(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    static const char *const names[][2] = {{"x_contract", "lhs_contracting_dimensions"},
                                           {"y_contract", "rhs_contracting_dimensions"},
                                           {"x_batch", "lhs_batching_dimensions"},
                                           {"y_batch", "rhs_batching_dimensions"}};
    int64_t axes[4][IR_MAX_RANK];
    uint32_t counts[4];
    shlo_named_attr attrs[5];
    for (int i = 0; i < 4; i++) {
        counts[i] = ir_op_ints(w->m, op, names[i][0], axes[i], IR_MAX_RANK);
        attrs[i] = (shlo_named_attr){names[i][1], out_ints(w, counts[i], axes[i])};
    }
    attrs[4] = (shlo_named_attr){"precision_config", precision(w)};
    const shlo_type *given = out_result_type(w, op, 0);
    const shlo_element sum = sum_element(w, op);
    const shlo_type *t = out_type_with(w, given, sum);
    shlo_value *both[] = {in[0], in[1]};
    if (ir_op_get(w->m, op)->operand_count > 2)
        both[0] = counted(w, in[0], in[2], axes[0][0],
                          last_free(in[0]->type->rank, axes[0], counts[0], axes[2], counts[2]));
    for (int i = 0; i < 2 && sum == SHLO_F64; i++)
        both[i] = out_convert(w, both[i], sum);
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.dot_general",
                                             .operands = both,
                                             .operand_count = 2,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = attrs,
                                             .attr_count = 5});
    results[0] = out_convert(w, &made->results[0], given->element);
    return true;
}

/* An image [N, H, W, C] by a window [KH, KW, C, O]. */
bool out_convolve(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const int64_t stride = ir_op_int(w->m, op, "stride", 1);
    const int64_t pad = ir_op_int(w->m, op, "padding", 0);
    int64_t window[4];
    ir_op_ints(w->m, op, "window", window, 2);
    window[2] = in[0]->type->dims[3];
    window[3] = in[1]->type->dims[1];
    const shlo_type *given = out_result_type(w, op, 0);
    const shlo_type *t = out_type_with(w, given, sum_element(w, op));
    const int64_t strides[] = {stride, stride}, pads[] = {pad, pad, pad, pad};
    const int64_t image[] = {1, 2}, places[] = {0, 1};
    const shlo_named_attr attrs[] = {{"batch_group_count", out_int(w, 1)},
                                     {"feature_group_count", out_int(w, 1)},
                                     {"input_batch_dimension", out_int(w, 0)},
                                     {"input_feature_dimension", out_int(w, 3)},
                                     {"input_spatial_dimensions", out_ints(w, 2, image)},
                                     {"kernel_input_feature_dimension", out_int(w, 2)},
                                     {"kernel_output_feature_dimension", out_int(w, 3)},
                                     {"kernel_spatial_dimensions", out_ints(w, 2, places)},
                                     {"output_batch_dimension", out_int(w, 0)},
                                     {"output_feature_dimension", out_int(w, 3)},
                                     {"output_spatial_dimensions", out_ints(w, 2, image)},
                                     {"padding", out_pairs(w, 2, pads)},
                                     {"precision_config", precision(w)},
                                     {"window_strides", out_ints(w, 2, strides)}};
    shlo_value *both[] = {in[0], out_reshape(w, in[1], 4, window)};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.convolution",
                                             .operands = both,
                                             .operand_count = 2,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = attrs,
                                             .attr_count = sizeof attrs / sizeof *attrs});
    results[0] = out_convert(w, &made->results[0], given->element);
    return true;
}

/* ---- along an axis ---- */

/* The window of an element ends in it. */
bool out_cumsum(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const uint32_t rank = in[0]->type->rank;
    const int64_t axis = out_axis(w, op, rank), extent = in[0]->type->dims[axis];
    const char *kind = ir_op_string(w->m, op, "kind", "sum");
    const dtype element = ir_type_of(w->m, ir_op_get(w->m, op)->operands[0])->element;
    const shlo_element wide = accumulator(w, op, element);
    int64_t window[IR_MAX_RANK], padding[2 * IR_MAX_RANK] = {0};
    results[0] = in[0];
    if (extent == 0)
        return true;
    for (uint32_t i = 0; i < rank; i++)
        window[i] = 1;
    window[axis] = extent;
    padding[2 * axis] = extent - 1;
    const shlo_type *t = out_type_with(w, in[0]->type, wide);
    shlo_value *both[] = {out_convert(w, in[0], wide), out_neutral(w, kind, wide)};
    shlo_block *body = out_combiner(w, kind, wide);
    const shlo_named_attr attrs[] = {{"padding", out_pairs(w, rank, padding)},
                                     {"window_dimensions", out_ints(w, rank, window)}};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.reduce_window",
                                             .operands = both,
                                             .operand_count = 2,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = attrs,
                                             .attr_count = 2,
                                             .regions = &body,
                                             .region_count = 1});
    results[0] = out_convert(w, &made->results[0], in[0]->type->element);
    return true;
}

/* x goes before y; a NaN is above all others. */
static shlo_value *before(shlo_writer *w, shlo_value *x, shlo_value *y, bool descending) {
    shlo_value *less = out_compare(w, descending ? "GT" : "LT", x, y);
    if (!dtype_is_float(out_dtype(x)))
        return less;
    shlo_value *lower = descending ? y : x, *upper = descending ? x : y;
    shlo_value *number = out_compare(w, "EQ", lower, lower);
    shlo_value *none = out_compare(w, "NE", upper, upper);
    return out_binary(w, "stablehlo.or", less, out_binary(w, "stablehlo.and", number, none));
}

bool out_argsort(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const shlo_type *places = out_result_type(w, op, 0);
    const int64_t axis = out_axis(w, op, places->rank);
    shlo_value *both[] = {in[0], out_iota(w, places, axis)};
    const shlo_type *types[] = {in[0]->type, places};
    shlo_block *body = body_of(w, 4, in[0]->type->element), *around = w->block;
    body->arguments[2].type = body->arguments[3].type = out_tensor(w, SHLO_I32, 0, NULL);
    w->block = body;
    shlo_value *first = before(w, &body->arguments[0], &body->arguments[1],
                               ir_op_int(w->m, op, "descending", 0) != 0);
    out_return(w, &first, 1);
    w->block = around;
    const shlo_named_attr attrs[] = {{"dimension", out_int(w, axis)},
                                     {"is_stable", out_bool(w, true)}};
    results[0] = &out_build(w, &(out_spec){.name = "stablehlo.sort",
                                           .operands = both,
                                           .operand_count = 2,
                                           .results = types,
                                           .result_count = 2,
                                           .attrs = attrs,
                                           .attr_count = 2,
                                           .regions = &body,
                                           .region_count = 1})
                      ->results[1];
    return true;
}
