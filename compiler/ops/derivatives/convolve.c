/* convolve.c - derivatives of convolutions: of the image a convolution of the cotangent with the
 * weights turned around; of the weights a product of the image's windows with the cotangent. Places
 * outside of an image are zeros here, which take part. */
#include <string.h>

#include "ops/derivatives/derivative.h"

typedef struct convolution {
    ir_builder *b;
    ir_op op;
    ir_type_data x, w, y;
    ir_dim window[2], stride, padding;
} convolution;

static convolution convolution_of(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    convolution c = {.b = b,
                     .op = op,
                     .x = *build_type(b, d->operands[0]),
                     .w = *build_type(b, d->operands[1]),
                     .y = *build_type(b, d->results[0]),
                     .stride = ir_op_int(b->m, op, "stride", 1),
                     .padding = ir_op_int(b->m, op, "padding", 0)};
    const ir_attr_data *window = ir_attr_get(b->m, ir_op_attr(b->m, op, "window"));
    for (int i = 0; i < 2; i++)
        c.window[i] = ir_attr_get(b->m, window->items[i])->integer;
    return c;
}

/* Zeros before and behind an axis; fewer than none: so many places less. */
static ir_value with_edges(ir_builder *b, ir_value x, int axis, ir_dim before, ir_dim behind) {
    const ir_dim length = build_type(b, x)->dims[axis];
    ir_dim start = before < 0 ? -before : 0, stop = behind < 0 ? length + behind : length;
    if (start || stop != length)
        x = build_slice_axis(b, x, axis, start, stop);
    return build_pad(b, x, axis, before > 0 ? before : 0, behind > 0 ? behind : 0);
}

static ir_value convolved(const convolution *c, ir_value x, ir_value w) {
    ir_builder *b = c->b;
    const dtype own = c->x.element;
    ir_attr order = ir_op_attr(b->m, c->op, "order");
    const ir_named_attr attrs[] = {{"window", ir_attr_dim_array(b->m, c->window, 2)},
                                   {"stride", ir_attr_int(b->m, 1)},
                                   {"padding", ir_attr_int(b->m, 0)},
                                   {"out", ir_attr_type(b->m, ir_type_scalar(b->m, own))},
                                   {"order", order}};
    ir_value operands[] = {x, w};
    return ir_op_result(b->m, graph_build(b, GRAPH_CONVOLVE, operands, 2, attrs, order ? 5 : 4), 0);
}

/* [KH, KW, C, O] from the last place of a window to its first, as a matrix of O by C. */
static ir_value turned_weights(const convolution *c, ir_value w) {
    ir_builder *b = c->b;
    const ir_dim kh = c->window[0], kw = c->window[1], in = c->x.dims[3], out = c->y.dims[3];
    w = build_reshape(b, w, 4, (ir_dim[]){kh, kw, in, out});
    w = build_turned(b, build_turned(b, w, 0), 1);
    w = build_transpose(b, w, (int64_t[]){0, 1, 3, 2});
    return build_reshape(b, w, 2, (ir_dim[]){ir_dim_mul(b->m, ir_dim_mul(b->m, kh, kw), out), in});
}

static ir_value of_image(const convolution *c, ir_value w, ir_value cotangent) {
    ir_builder *b = c->b;
    for (int i = 0; i < 2; i++) {
        const ir_dim before = c->window[i] - 1 - c->padding;
        cotangent = build_spread_out(b, cotangent, i + 1, c->stride);
        const ir_dim length = build_type(b, cotangent)->dims[i + 1];
        cotangent = with_edges(b, cotangent, i + 1, before,
                               c->x.dims[i + 1] + c->window[i] - 1 - length - before);
    }
    return convolved(c, cotangent, turned_weights(c, w));
}

static ir_value windows(const convolution *c, ir_value x, int axis) {
    ir_builder *b = c->b;
    const ir_named_attr attrs[] = {{"axis", ir_attr_int(b->m, axis)},
                                   {"size", ir_attr_dim_array(b->m, &c->window[axis - 1], 1)},
                                   {"stride", ir_attr_int(b->m, c->stride)}};
    return ir_op_result(b->m, graph_build(b, GRAPH_WINDOW, &x, 1, attrs, 3), 0);
}

/* [KH * KW * C, O]: windows by the cotangent, over all places of all images. */
static ir_value of_weights(const convolution *c, ir_value x, ir_value cotangent) {
    ir_builder *b = c->b;
    ir_module *m = b->m;
    for (int i = 1; i < 3; i++)
        x = build_pad(b, x, i, c->padding, c->padding);
    x = windows(c, windows(c, x, 1), 2);
    x = build_transpose(b, x, (int64_t[]){0, 1, 2, 4, 5, 3});
    const ir_dim places = ir_dim_mul(m, ir_dim_mul(m, c->y.dims[0], c->y.dims[1]), c->y.dims[2]);
    x = build_reshape(b, x, 2, (ir_dim[]){places, c->w.dims[0]});
    ir_value factors[] = {x, build_reshape(b, cotangent, 2, (ir_dim[]){places, c->w.dims[1]})};
    const int64_t first = 0;
    ir_attr order = ir_op_attr(m, c->op, "order");
    const ir_named_attr attrs[] = {{"x_contract", ir_attr_int_array(m, &first, 1)},
                                   {"y_contract", ir_attr_int_array(m, &first, 1)},
                                   {"x_batch", ir_attr_int_array(m, NULL, 0)},
                                   {"y_batch", ir_attr_int_array(m, NULL, 0)},
                                   {"out", ir_attr_type(m, ir_type_scalar(m, c->w.element))},
                                   {"order", order}};
    return ir_op_result(m, graph_build(b, GRAPH_DOT, factors, 2, attrs, order ? 6 : 5), 0);
}

static void transpose_convolve(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                               ir_value *out) {
    const convolution c = convolution_of(b, op);
    const ir_value *operands = ir_op_get(b->m, op)->operands;
    ir_value rounded = build_convert(b, cotangent, c.x.element);
    if (wanted[0])
        out[0] = of_image(&c, operands[1], rounded);
    if (wanted[1])
        out[1] = of_weights(&c, operands[0], rounded);
}

const derivative derivative_convolve = {
    .each = true, .transpose = transpose_convolve, .sized = true};
