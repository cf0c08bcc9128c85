/* import_contract.c - contractions: dot_general, dot and convolution. */
#include <stdio.h>
#include <string.h>

#include "import/stablehlo/import.h"

/* In chunk512, accumulated as the elements' type has it; the result is rounded, or widened, to its
 * own type once. Integers wrap around to it. */
static ir_value contract(importer *im, const shlo_op *op, ir_value x, ir_value y,
                         const dot_axes *c) {
    const dtype out = import_element(op->results[0].type->element);
    dtype a = import_type_of(im, x)->element, b = import_type_of(im, y)->element;
    if (out == DTYPE_NONE) {
        import_refuse(im, op, "its result has elements of a type that is not supported");
        return 0;
    }
    const bool truth = out == DTYPE_BOOL;
    /* Different types, and integers, are multiplied in the type of the result. */
    const dtype common = truth ? DTYPE_I32 : a != b || dtype_is_integer(out) ? out : a;
    x = build_convert(&im->b, x, common);
    y = build_convert(&im->b, y, common);
    ir_named_attr attrs[DOT_AXES_ATTRS + 2] = {
        [DOT_AXES_ATTRS] = {"order", ir_attr_string(im->m, "chunk512")}};
    uint32_t count = DOT_AXES_ATTRS + 1;
    build_dot_axes(im->m, c, attrs);
    if (dtype_is_float(common) && common != out)
        attrs[count++] = (ir_named_attr){"out", ir_attr_type(im->m, ir_type_scalar(im->m, out))};
    ir_value made = import_build(im, op, GRAPH_DOT, (ir_value[]){x, y}, 2, attrs, count);
    if (made && truth)
        return import_is(im, "ne", made, import_like(im, made, 0));
    return made ? build_convert(&im->b, made, out) : 0;
}

static bool list(importer *im, const shlo_op *op, const char *name, int64_t *out, uint32_t *count) {
    *count = shlo_op_ints(op, name, out, IR_MAX_RANK);
    return *count <= IR_MAX_RANK || import_refuse(im, op, "'%s' is too long", name);
}

ir_value import_dot_of(importer *im, const shlo_op *op, ir_value x, ir_value y) {
    dot_axes c = {0};
    uint32_t contracted, batch;
    if (!list(im, op, "lhs_contracting_dimensions", c.x, &c.contracted) ||
        !list(im, op, "rhs_contracting_dimensions", c.y, &contracted) ||
        !list(im, op, "lhs_batching_dimensions", c.x_batch, &c.batch) ||
        !list(im, op, "rhs_batching_dimensions", c.y_batch, &batch))
        return 0;
    if (c.contracted != contracted || c.batch != batch) {
        import_refuse(im, op, "both sides need as many batch and contracted axes");
        return 0;
    }
    return contract(im, op, x, y, &c);
}

bool import_dot_general(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    return import_takes(im, op, 2) && (results[0] = import_dot_of(im, op, import_operand(im, op, 0),
                                                                  import_operand(im, op, 1)));
}

/* The last axis by the first one. */
bool import_dot(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0), y = import_operand(im, op, 1);
    dot_axes c = {.x = {import_type_of(im, x)->rank - 1}, .y = {0}, .contracted = 1};
    results[0] = contract(im, op, x, y, &c);
    return results[0] != 0;
}

/* ---- convolution ---- */

/* All numbers of the operation; `spatial` axes of input, kernel and output by number. */
typedef struct convolution {
    int spatial;
    int64_t input[IR_MAX_RANK], kernel[IR_MAX_RANK], output[IR_MAX_RANK]; /* b f 0 1 ..; i o 0 .. */
    int64_t stride[IR_MAX_RANK], low[IR_MAX_RANK], high[IR_MAX_RANK];
    int64_t dilation[IR_MAX_RANK], spread[IR_MAX_RANK];
    bool reversed[IR_MAX_RANK];
    int64_t groups, batch_groups;
} convolution;

/* Parameters: the operation, the names of its attributes, and where their numbers go. */
static bool axes(importer *im, const shlo_op *op, const char *prefix, const char *first,
                 const char *second, int64_t *out, int rank) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", prefix, first);
    out[0] = shlo_op_int(op, name, -1);
    snprintf(name, sizeof name, "%s_%s", prefix, second);
    out[1] = shlo_op_int(op, name, -1);
    snprintf(name, sizeof name, "%s_spatial_dimensions", prefix);
    const uint32_t n = shlo_op_ints(op, name, out + 2, IR_MAX_RANK - 2);
    uint32_t seen = 0;
    for (int i = 0; i < rank && n + 2 == (uint32_t)rank; i++)
        if (out[i] >= 0 && out[i] < rank)
            seen |= 1u << out[i];
    return seen == (1u << rank) - 1 ||
           import_refuse(im, op, "its axes of the %s are not those of the tensor", prefix);
}

static bool numbers(importer *im, const shlo_op *op, const char *name, int count, int64_t otherwise,
                    int64_t *out) {
    const uint32_t n = shlo_op_ints(op, name, out, IR_MAX_RANK);
    for (int i = 0; i < count && n == 0; i++)
        out[i] = otherwise;
    if (n != 0 && n != (uint32_t)count)
        return import_refuse(im, op, "'%s' does not have %d numbers", name, count);
    for (int i = 0; i < count; i++)
        if (out[i] < otherwise || out[i] >= (int64_t)1 << LIMIT_DIMENSION_BITS)
            return import_refuse(im, op, "'%s' has a number below %lld, or of 2^31 or more", name,
                                 (long long)otherwise);
    return true;
}

static bool read_convolution(importer *im, const shlo_op *op, convolution *c) {
    const int rank = import_type_of(im, import_operand(im, op, 0))->rank;
    int64_t pads[2 * IR_MAX_RANK], flags[IR_MAX_RANK];
    if (rank < 2 || rank != import_type_of(im, import_operand(im, op, 1))->rank)
        return import_refuse(im, op, "needs an input and a kernel of as many axes, two or more");
    if (2 * (rank - 2) + 2 > IR_MAX_RANK)
        return import_refuse(im, op, "of more than three spatial axes is not supported");
    c->spatial = rank - 2;
    if (!axes(im, op, "input", "batch_dimension", "feature_dimension", c->input, rank) ||
        !axes(im, op, "kernel", "input_feature_dimension", "output_feature_dimension", c->kernel,
              rank) ||
        !axes(im, op, "output", "batch_dimension", "feature_dimension", c->output, rank) ||
        !numbers(im, op, "window_strides", c->spatial, 1, c->stride) ||
        !numbers(im, op, "lhs_dilation", c->spatial, 1, c->dilation) ||
        !numbers(im, op, "rhs_dilation", c->spatial, 1, c->spread))
        return false;
    const uint32_t n = shlo_op_ints(op, "padding", pads, 2 * IR_MAX_RANK);
    const uint32_t turned = shlo_op_ints(op, "window_reversal", flags, IR_MAX_RANK);
    if ((n && n != 2 * (uint32_t)c->spatial) || (turned && turned != (uint32_t)c->spatial))
        return import_refuse(im, op, "its padding or reversal does not fit the axes");
    for (uint32_t i = 0; i < n && i < 2 * IR_MAX_RANK; i++)
        if (pads[i] >= (int64_t)1 << LIMIT_DIMENSION_BITS ||
            pads[i] <= -((int64_t)1 << LIMIT_DIMENSION_BITS))
            return import_refuse(im, op, "its padding has a number of 2^31 or more");
    for (int i = 0; i < c->spatial; i++) {
        c->low[i] = n ? pads[2 * i] : 0;
        c->high[i] = n ? pads[2 * i + 1] : 0;
        c->reversed[i] = turned && flags[i];
    }
    c->groups = shlo_op_int(op, "feature_group_count", 1);
    c->batch_groups = shlo_op_int(op, "batch_group_count", 1);
    return true;
}

/* A tensor with its axes in the order batch (or input features), spatial ones, features. */
static ir_value ordered(importer *im, ir_value x, const int64_t *which, int spatial) {
    int64_t order[IR_MAX_RANK];
    bool same = true;
    order[0] = which[0];
    for (int i = 0; i < spatial; i++)
        order[i + 1] = which[i + 2];
    order[spatial + 1] = which[1];
    for (int i = 0; i < spatial + 2; i++)
        same &= order[i] == i;
    return same ? x : build_transpose(&im->b, x, order);
}

/* Input [n, s.., f] with padding and dilation. */
static ir_value padded_input(importer *im, const convolution *c, ir_value x) {
    int64_t low[IR_MAX_RANK] = {0}, high[IR_MAX_RANK] = {0}, gap[IR_MAX_RANK] = {0};
    for (int i = 0; i < c->spatial; i++) {
        low[i + 1] = c->low[i];
        high[i + 1] = c->high[i];
        gap[i + 1] = c->dilation[i] - 1;
    }
    ir_value zero = import_number(im, import_type_of(im, x)->element, 0);
    return import_padded(im, x, zero, low, high, gap);
}

/* Each spatial axis of [n, s.., f] becomes two: windows, and places in a window. [n, w.., f, k..]
 */
static ir_value windows_of(importer *im, const convolution *c, ir_value x, const int64_t *size) {
    const int rank = c->spatial + 2;
    for (int i = 0; i < c->spatial; i++) {
        const int axis = i + 1;
        const window_axis w = {size[i], c->stride[i], c->spread[i], c->reversed[i]};
        ir_value places = import_window_places(im, import_type_of(im, x)->dims[axis], &w);
        x = build_gather(&im->b, x, places, axis, 0);
        x = build_moved(&im->b, x, axis + 1, rank + i);
    }
    return x;
}

/* An axis as two: [groups, the rest]. */
static ir_value split_axis(importer *im, ir_value x, int axis, int64_t groups) {
    const ir_type_data t = *import_type_of(im, x);
    ir_dim dims[IR_MAX_RANK + 1];
    for (int i = 0, k = 0; i < t.rank; i++) {
        if (i == axis) {
            dims[k++] = groups;
            dims[k++] = t.dims[i] / groups;
        } else {
            dims[k++] = t.dims[i];
        }
    }
    return build_reshape(&im->b, x, t.rank + 1, dims);
}

/* The result [n, w.., o] in the order that the operation says. */
static ir_value placed(importer *im, const convolution *c, ir_value x) {
    int64_t order[IR_MAX_RANK];
    order[c->output[0]] = 0;
    for (int i = 0; i < c->spatial; i++)
        order[c->output[i + 2]] = i + 1;
    order[c->output[1]] = c->spatial + 1;
    bool same = true;
    for (int i = 0; i < c->spatial + 2; i++)
        same &= order[i] == i;
    return same ? x : build_transpose(&im->b, x, order);
}

/* An image by a kernel with one stride and padding is an operation of ours. */
static bool is_image(const convolution *c, const int64_t *size, const ir_type_data *x) {
    bool plain = c->spatial == 2 && c->groups == 1 && c->batch_groups == 1 &&
                 dtype_is_float(x->element) && c->low[0] >= 0;
    for (int i = 0; i < c->spatial && plain; i++)
        plain = c->stride[i] == c->stride[0] && c->low[i] == c->low[0] && c->high[i] == c->low[0] &&
                c->dilation[i] == 1 && c->spread[i] == 1 && !c->reversed[i] && size[i] > 0;
    return plain;
}

static ir_value image(importer *im, const shlo_op *op, const convolution *c, ir_value x, ir_value w,
                      const int64_t *size) {
    const ir_type_data k = *import_type_of(im, w); /* [i, kh, kw, o] */
    const ir_dim flat[] = {k.dims[1] * k.dims[2] * k.dims[0], k.dims[3]};
    w = build_transpose(&im->b, w, (int64_t[]){1, 2, 0, 3});
    w = build_reshape(&im->b, w, 2, flat);
    ir_named_attr attrs[] = {{"window", ir_attr_dim_array(im->m, size, 2)},
                             {"stride", ir_attr_int(im->m, c->stride[0])},
                             {"padding", ir_attr_int(im->m, c->low[0])},
                             {"order", ir_attr_string(im->m, "chunk512")}};
    return import_build(im, op, GRAPH_CONVOLVE, (ir_value[]){x, w}, 2, attrs, 4);
}

/* Windows as a matrix of groups: [n, w.., f, k..] as [groups, n w.., f, k..] of a batch that is
 * cut, and else as [n w.., groups, f, k..]. */
static ir_value grouped_windows(importer *im, const convolution *c, ir_value x) {
    const ir_type_data t = *import_type_of(im, x);
    const int n = c->spatial;
    ir_dim dims[IR_MAX_RANK], places = t.dims[0] / c->batch_groups;
    int rank = 0;
    for (int i = 0; i < n; i++)
        places *= t.dims[i + 1];
    dims[rank++] = c->batch_groups > 1 ? c->batch_groups : places;
    dims[rank++] = c->batch_groups > 1 ? places : c->groups;
    dims[rank++] = t.dims[n + 1] / c->groups;
    for (int i = 0; i < n; i++)
        dims[rank++] = t.dims[n + 2 + i];
    return build_reshape(&im->b, x, rank, dims);
}

/* Windows by kernels: contracted over places of the window, then features; groups are a batch. */
static ir_value general(importer *im, const shlo_op *op, const convolution *c, ir_value x,
                        ir_value w, const int64_t *size) {
    const int n = c->spatial;
    const bool grouped = c->groups > 1 || c->batch_groups > 1;
    x = windows_of(im, c, padded_input(im, c, x), size); /* [n, w.., f, k..] */
    ir_type_data t = *import_type_of(im, x);
    const ir_dim features = import_type_of(im, w)->dims[n + 1];
    dot_axes k = {.contracted = (uint32_t)n + 1, .batch = grouped};
    const int x_features = grouped ? 2 : n + 1;
    for (int i = 0; i < n; i++) {
        k.x[i] = x_features + 1 + i;
        k.y[i] = 1 + i;
    }
    k.x[n] = x_features;
    k.y[n] = 0;
    if (grouped) { /* w: [i, k.., g, o] */
        x = grouped_windows(im, c, x);
        w = split_axis(im, w, n + 1, c->groups * c->batch_groups);
        k.x_batch[0] = c->batch_groups > 1 ? 0 : 1;
        k.y_batch[0] = n + 1;
    }
    x = contract(im, op, x, w, &k); /* [n, w.., o], or [g, n w.., o] */
    if (!x || !grouped)
        return x;
    /* Features of the result are those of the groups, one after the other. */
    x = build_moved(&im->b, x, 0, 1);
    t.dims[0] /= c->batch_groups;
    t.dims[n + 1] = features;
    return build_reshape(&im->b, x, n + 2, t.dims);
}

ir_value import_convolution_of(importer *im, const shlo_op *op, ir_value x, ir_value w) {
    convolution c = {0};
    int64_t size[IR_MAX_RANK];
    if (!import_result_type(im, op, 0) || !read_convolution(im, op, &c))
        return 0;
    x = ordered(im, x, c.input, c.spatial);
    w = ordered(im, w, c.kernel, c.spatial);
    const ir_type_data in = *import_type_of(im, x), k = *import_type_of(im, w);
    for (int i = 0; i < c.spatial; i++)
        size[i] = k.dims[i + 1];
    const int64_t features = in.dims[c.spatial + 1];
    if (c.groups < 1 || c.batch_groups < 1 || (c.groups > 1 && c.batch_groups > 1) ||
        features % c.groups || features / c.groups != k.dims[0] || in.dims[0] % c.batch_groups ||
        k.dims[c.spatial + 1] % (c.groups * c.batch_groups)) {
        import_refuse(im, op, "its groups do not divide the features");
        return 0;
    }
    const dtype out = import_element(op->results[0].type->element);
    const bool plain = is_image(&c, size, &in) && in.element == k.element && out == in.element;
    ir_value made = plain ? image(im, op, &c, x, w, size) : general(im, op, &c, x, w, size);
    return made ? placed(im, &c, made) : 0;
}

bool import_convolution(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    results[0] =
        import_convolution_of(im, op, import_operand(im, op, 0), import_operand(im, op, 1));
    return results[0] != 0;
}
