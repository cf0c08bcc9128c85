/* composite.c - derivatives of composites that have one of their own, which then is the definition.
 *
 * They are in f32 like the composites: operands are widened, and each cotangent is rounded once.
 * What is as large as the operands is computed anew, so that nothing of its size is kept for it but
 * they themselves; of rows a number each is kept. */
#include <string.h>

#include "ops/derivatives/derivative.h"
#include "ops/orders.h"

typedef struct whole {
    ir_builder *b;
    ir_op op;
    ir_value x, y, ct; /* as f32 */
    int axis;
} whole;

static ir_value wide(ir_builder *b, ir_value v) {
    return build_convert(b, v, DTYPE_F32);
}

static whole whole_of(ir_builder *b, ir_op op, ir_value cotangent) {
    const ir_op_data *d = ir_op_get(b->m, op);
    whole w = {.b = b, .op = op, .x = wide(b, d->operands[0]), .y = wide(b, d->results[0])};
    w.ct = cotangent ? wide(b, cotangent) : 0;
    w.axis = (int)ir_op_int(b->m, op, "axis", build_type(b, w.x)->rank - 1);
    return w;
}

static ir_value add(const whole *w, ir_value x, ir_value y) {
    return build_binary(w->b, GRAPH_ADD, x, y);
}

static ir_value sub(const whole *w, ir_value x, ir_value y) {
    return build_binary(w->b, GRAPH_SUB, x, y);
}

static ir_value mul(const whole *w, ir_value x, ir_value y) {
    return build_binary(w->b, GRAPH_MUL, x, y);
}

static ir_value divide(const whole *w, ir_value x, ir_value y) {
    return build_binary(w->b, GRAPH_DIV, x, y);
}

static ir_value sum(const whole *w, ir_value x) {
    return build_reduce(w->b, "sum", x, w->axis);
}

static ir_value spread(const whole *w, ir_value x, ir_value like) {
    return build_spread(w->b, x, like, w->axis);
}

static ir_value mean(const whole *w, ir_value x) {
    ir_value s = sum(w, x);
    return divide(w, s, build_extent(w->b, build_type(w->b, x)->dims[w->axis], DTYPE_F32, s));
}

static ir_value rounded(const whole *w, ir_value v, uint32_t operand) {
    return build_convert(w->b, v,
                         build_type(w->b, ir_op_get(w->b->m, w->op)->operands[operand])->element);
}

/* ---- softmax, logsumexp ---- */

/* y * (ct - sum(ct * y)), forward as in reverse. */
static ir_value of_softmax(const whole *w, ir_value t) {
    ir_value s = spread(w, sum(w, mul(w, t, w->y)), w->y);
    return mul(w, w->y, sub(w, t, s));
}

static void transpose_softmax(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    (void)wanted;
    whole w = whole_of(b, op, cotangent);
    out[0] = rounded(&w, of_softmax(&w, w.ct), 0);
}

static ir_value forward_softmax(ir_builder *b, ir_op op, const ir_value *tangents) {
    whole w = whole_of(b, op, 0);
    return rounded(&w, of_softmax(&w, wide(b, tangents[0])), 0);
}

/* exp(x - y): the softmax. */
static ir_value weights(const whole *w) {
    return build_unary(w->b, GRAPH_EXP, sub(w, w->x, spread(w, w->y, w->x)));
}

static void transpose_logsumexp(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    (void)wanted;
    whole w = whole_of(b, op, cotangent);
    out[0] = rounded(&w, mul(&w, spread(&w, w.ct, w.x), weights(&w)), 0);
}

static ir_value forward_logsumexp(ir_builder *b, ir_op op, const ir_value *tangents) {
    whole w = whole_of(b, op, 0);
    return rounded(&w, sum(&w, mul(&w, wide(b, tangents[0]), weights(&w))), 0);
}

/* ---- norms ---- */

/* Sums over all rows: the gain's and the bias' shape. */
static ir_value over_rows(const whole *w, ir_value x) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t rows = (uint32_t)build_type(w->b, x)->rank - 1;
    for (uint32_t i = 0; i < rows; i++)
        axes[i] = i;
    return build_sums(w->b, x, axes, rows);
}

static ir_value inverse_root(const whole *w, ir_value variance) {
    ir_attr eps = ir_op_attr(w->b->m, w->op, "eps");
    const float value = (float)f64_from_bits(ir_attr_get(w->b->m, eps)->bits);
    return build_unary(w->b, GRAPH_RSQRT, add(w, variance, build_f32(w->b, value, variance)));
}

/* x without its mean, if it is taken off, and 1 / sqrt(variance + eps), as the decomposition has
 * them. */
typedef struct normed {
    ir_value x, root;
    bool centred;
} normed;

static normed normed_rows(const whole *w, bool centred) {
    normed n = {.x = w->x, .centred = centred};
    ir_value m = centred ? mean(w, w->x) : 0;
    if (centred)
        n.x = sub(w, w->x, spread(w, m, w->x));
    n.root = inverse_root(w, mean(w, mul(w, n.x, n.x)));
    build_anew(w->b);
    if (centred)
        n.x = sub(w, w->x, spread(w, m, w->x));
    n.x = mul(w, n.x, spread(w, n.root, w->x));
    return n;
}

/* g = ct * gain; (g - mean(g) - h * mean(g * h)) * root, of the normed rows h; without mean(g)
 * where none was taken off. */
static ir_value of_rows(const whole *w, const normed *n, ir_value g) {
    ir_value along = mul(w, n->x, spread(w, mean(w, mul(w, g, n->x)), g));
    if (n->centred)
        g = sub(w, g, spread(w, mean(w, g), g));
    return mul(w, sub(w, g, along), spread(w, n->root, g));
}

static void transpose_norm(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                           ir_value *out, bool centred) {
    whole w = whole_of(b, op, cotangent);
    const normed n = normed_rows(&w, centred);
    const ir_op_data *d = ir_op_get(b->m, op);
    if (wanted[0]) {
        ir_value gain = build_align(b, wide(b, d->operands[1]), w.x);
        out[0] = rounded(&w, of_rows(&w, &n, mul(&w, w.ct, gain)), 0);
    }
    if (wanted[1])
        out[1] = rounded(&w, over_rows(&w, mul(&w, w.ct, n.x)), 1);
    if (d->operand_count > 2 && wanted[2])
        out[2] = rounded(&w, over_rows(&w, w.ct), 2);
}

static void transpose_layernorm(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    transpose_norm(b, op, cotangent, wanted, out, true);
}

static void transpose_rmsnorm(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    transpose_norm(b, op, cotangent, wanted, out, false);
}

/* ---- cross entropy ---- */

/* (exp(x - logsumexp(x)), less 1 at the target) * (ct / rows). */
static void transpose_cross_entropy(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                    ir_value *out) {
    (void)wanted;
    whole w = whole_of(b, op, cotangent);
    const ir_op_data *d = ir_op_get(b->m, op);
    const ir_type_data x = *build_type(b, w.x);
    ir_dim flat[] = {1, x.dims[x.rank - 1]};
    for (int i = 0; i < x.rank - 1; i++)
        flat[0] = ir_dim_mul(b->m, flat[0], x.dims[i]);
    ir_value rows = x.rank == 2 ? w.x : build_reshape(b, w.x, 2, flat),
             target = x.rank == 2 ? d->operands[1] : build_reshape(b, d->operands[1], 1, flat);
    const ir_named_attr axis = {"axis", ir_attr_int(b->m, 1)};
    ir_value lse = ir_op_result(b->m, graph_build(b, GRAPH_LOGSUMEXP, &rows, 1, &axis, 1), 0);
    build_anew(b);
    w.axis = 1;
    ir_value p = build_unary(b, GRAPH_EXP, sub(&w, rows, spread(&w, lse, rows)));
    ir_value hit = build_compare(b, "eq", build_iota(b, 2, flat, 1), spread(&w, target, rows));
    p = sub(&w, p, build_select(b, hit, build_number(b, 1, p), build_number(b, 0, p)));
    ir_value share = divide(&w, w.ct, build_extent(b, flat[0], DTYPE_F32, w.ct));
    p = mul(&w, p, build_broadcast(b, share, 2, flat, NULL));
    out[0] = rounded(&w, x.rank == 2 ? p : build_reshape(b, p, x.rank, x.dims), 0);
}

/* ---- attention ---- */

/* Products over one axis of each, whose leading axes but the last two are batches. */
static ir_value contract(ir_builder *b, ir_value x, ir_value y, int64_t x_axis, int64_t y_axis) {
    int64_t batch[IR_MAX_RANK];
    const uint32_t batches = (uint32_t)build_type(b, x)->rank - 2;
    for (uint32_t i = 0; i < batches; i++)
        batch[i] = i;
    ir_attr batch_attr = ir_attr_int_array(b->m, batch, batches);
    const ir_named_attr attrs[] = {
        {"x_batch", batch_attr},
        {"y_batch", batch_attr},
        {"x_contract", ir_attr_int_array(b->m, &x_axis, 1)},
        {"y_contract", ir_attr_int_array(b->m, &y_axis, 1)},
        {"out", ir_attr_type(b->m, ir_type_scalar(b->m, DTYPE_F32))},
        {"order", ir_attr_string(b->m, order_info_of(ORDER_CHUNK512)->name)}};
    ir_value factors[] = {x, y};
    return ir_op_result(b->m, graph_build(b, GRAPH_DOT, factors, 2, attrs, 6), 0);
}

/* p = exp(s - greatest) / sum, computed anew of the scores s; dv = pT ct; ds = p * (ct vT - the sum
 * of ct * o over a row) * scale; dq = ds k, dk = dsT q. */
static void transpose_attention(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                                ir_value *out) {
    whole w = whole_of(b, op, cotangent);
    const ir_op_data *d = ir_op_get(b->m, op);
    const int last = build_type(b, w.x)->rank - 1, row = last - 1;
    ir_value k = wide(b, d->operands[1]), v = wide(b, d->operands[2]);
    attention_parts rows, seen;
    graph_attention_rows(b, op, &rows);
    w.axis = last;
    ir_value along = sum(&w, mul(&w, w.ct, w.y));
    build_anew(b);
    ir_value s = graph_attention_scores(b, op, &seen);
    ir_value p = build_unary(b, GRAPH_EXP, sub(&w, s, spread(&w, rows.greatest, s)));
    p = divide(&w, p, spread(&w, rows.sum, p));
    if (seen.mask)
        p = build_select(b, seen.mask, p, build_number(b, 0, p));
    if (wanted[2])
        out[2] = rounded(&w, contract(b, p, w.ct, row, row), 2);
    if (!wanted[0] && !wanted[1])
        return;
    ir_value ds = sub(&w, contract(b, w.ct, v, last, last), spread(&w, along, p));
    ds = mul(&w, mul(&w, p, ds), graph_attention_scale(b, op, p));
    if (wanted[0])
        out[0] = rounded(&w, contract(b, ds, k, last, row), 0);
    if (wanted[1])
        out[1] = rounded(&w, contract(b, ds, w.x, row, row), 1);
}

const derivative derivative_softmax = {.forward = forward_softmax, .transpose = transpose_softmax};
const derivative derivative_logsumexp = {.forward = forward_logsumexp,
                                         .transpose = transpose_logsumexp};
const derivative derivative_layernorm = {.transpose = transpose_layernorm};
const derivative derivative_rmsnorm = {.transpose = transpose_rmsnorm};
const derivative derivative_cross_entropy = {.transpose = transpose_cross_entropy};
const derivative derivative_attention = {.transpose = transpose_attention};
