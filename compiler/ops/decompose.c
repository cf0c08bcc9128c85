/* decompose.c - the one meaning of every composite, as primitives (docs/numerics.md, "composites").
 *
 * Counts of a shape that is not known yet are extents, which are constants otherwise. Everything is
 * computed in f32. */
#include <string.h>

#include "ops/build.h"
#include "ops/control.h"
#include "ops/orders.h"

/* A composite under decomposition: its operands widened to f32. */
typedef struct composite {
    ir_builder *b;
    ir_op op;
    ir_value in[8];
    uint32_t in_count;
    ir_value *out;
} composite;

static ir_value add(composite *c, ir_value x, ir_value y) {
    return build_binary(c->b, GRAPH_ADD, x, y);
}

static ir_value sub(composite *c, ir_value x, ir_value y) {
    return build_binary(c->b, GRAPH_SUB, x, y);
}

static ir_value mul(composite *c, ir_value x, ir_value y) {
    return build_binary(c->b, GRAPH_MUL, x, y);
}

static ir_value divide(composite *c, ir_value x, ir_value y) {
    return build_binary(c->b, GRAPH_DIV, x, y);
}

static ir_value scaled(composite *c, float factor, ir_value x) {
    return mul(c, build_f32(c->b, factor, x), x);
}

static float number(const composite *c, const char *name) {
    ir_attr attr = ir_op_attr(c->b->m, c->op, name);
    return (float)f64_from_bits(ir_attr_get(c->b->m, attr)->bits);
}

static int axis_of(const composite *c) {
    return (int)ir_op_int(c->b->m, c->op, "axis", 0);
}

static int last_axis(const composite *c, ir_value x) {
    return build_type(c->b, x)->rank - 1;
}

/* sum / f32(n) along an axis, which is dropped. The sum is in the order of the operation, if that
 * has one. */
static ir_value mean_along(composite *c, ir_value x, int axis) {
    ir_dim n = build_type(c->b, x)->dims[axis];
    ir_value sum = build_reduce(c->b, "sum", x, axis);
    ir_attr order = ir_op_attr(c->b->m, c->op, "order");
    if (order)
        ir_op_set_attr(c->b->m, ir_value_get(c->b->m, sum)->op, "order", order);
    return divide(c, sum, build_extent(c->b, n, DTYPE_F32, sum));
}

/* ---- contractions ---- */

/* Contracts x's last axis with y's second last; leading axes are batch, broadcast to each other.
 * Parameters: the contraction's own attributes, as the two operations that are made of it have
 * them. */
static ir_value contract(composite *c, ir_value x, ir_value y, ir_value k_count, int y_axis,
                         dtype out, ir_attr order) {
    ir_builder *b = c->b;
    int rank = build_type(b, x)->rank, batch = build_type(b, y)->rank == 2 ? 0 : rank - 2;
    int64_t axes[IR_MAX_RANK], xc = rank - 1, yc = y_axis;
    for (int i = 0; i < batch; i++)
        axes[i] = i;
    ir_attr batch_attr = ir_attr_int_array(b->m, axes, (uint32_t)batch);
    ir_named_attr attrs[] = {{"x_batch", batch_attr},
                             {"y_batch", batch_attr},
                             {"x_contract", ir_attr_int_array(b->m, &xc, 1)},
                             {"y_contract", ir_attr_int_array(b->m, &yc, 1)},
                             {"out", ir_attr_type(b->m, ir_type_scalar(b->m, out))},
                             {"order", order},
                             {"accumulate", ir_op_attr(b->m, c->op, "accumulate")}};
    ir_value operands[] = {x, y, k_count};
    uint32_t attr_count = attrs[6].value ? 7 : 6;
    return ir_op_result(b->m,
                        graph_build(b, GRAPH_DOT, operands, k_count ? 3 : 2, attrs, attr_count), 0);
}

/* Repeats x along missing or single leading axes so that it has the batch axes of `result`. */
static ir_value spread_batch(composite *c, ir_value x, const ir_type_data *result) {
    const ir_type_data *d = build_type(c->b, x);
    ir_dim shape[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    int rank = result->rank;
    for (int i = 0; i < rank - 2; i++)
        shape[i] = result->dims[i];
    shape[rank - 2] = d->dims[d->rank - 2];
    shape[rank - 1] = d->dims[d->rank - 1];
    for (int i = 0; i < d->rank; i++)
        axes[i] = rank - d->rank + i;
    return build_broadcast(c->b, x, rank, shape, axes);
}

static ir_attr order_named(composite *c, order_id order) {
    return ir_attr_string(c->b->m, order_info_of(order)->name);
}

static ir_value product(composite *c, ir_value x, ir_value y, dtype out) {
    ir_attr given = ir_op_attr(c->b->m, c->op, "order"),
            order = given ? given : order_named(c, ORDER_CHUNK512);
    ir_type result = ir_value_get(c->b->m, ir_op_result(c->b->m, c->op, 0))->type;
    if (build_type(c->b, y)->rank > 2) {
        x = spread_batch(c, x, ir_type_get(c->b->m, result));
        y = spread_batch(c, y, ir_type_get(c->b->m, result));
    }
    return contract(c, x, y, 0, build_type(c->b, y)->rank - 2, out, order);
}

static void decompose_matmul(composite *c) {
    ir_type result = ir_value_get(c->b->m, ir_op_result(c->b->m, c->op, 0))->type;
    c->out[0] = product(c, c->in[0], c->in[1], ir_type_get(c->b->m, result)->element);
}

/* A scale, or none, for each position along `axis` of `like`. */
static ir_value spread_scale(composite *c, ir_value scale, ir_value like, int axis) {
    const ir_type_data *d = build_type(c->b, like);
    int64_t axes[] = {axis};
    return build_broadcast(c->b, scale, d->rank, d->dims, axes);
}

/* The product is exact, of integers; that of floats, which are f32 by now, is a sum in f32. Each
 * scale rounds once, x's first. */
static void decompose_scaled_matmul(composite *c) {
    bool floats = dtype_is_float(build_type(c->b, c->in[0])->element);
    ir_value y = product(c, c->in[0], c->in[1], floats ? DTYPE_F32 : DTYPE_I32);
    if (!floats)
        y = build_convert(c->b, y, DTYPE_F32);
    int last = last_axis(c, y);
    y = mul(c, y, spread_scale(c, c->in[2], y, last - 1));
    c->out[0] = mul(c, y, spread_scale(c, c->in[3], y, last));
}

static void decompose_dequantize(composite *c) {
    ir_value x = build_convert(c->b, c->in[0], DTYPE_F32);
    c->out[0] = mul(c, x, spread_scale(c, c->in[1], x, axis_of(c)));
}

/* ---- activations ---- */

static ir_value relu(composite *c, ir_value x) {
    return build_binary(c->b, GRAPH_MAXIMUM, x, build_f32(c->b, 0.0f, x));
}

static ir_value silu(composite *c, ir_value x) {
    return mul(c, x, build_unary(c->b, GRAPH_LOGISTIC, x));
}

static ir_value gelu_tanh(composite *c, ir_value x) {
    ir_value cube = mul(c, mul(c, x, x), x);
    ir_value inner = add(c, x, scaled(c, 0.044715f, cube));
    ir_value t = build_unary(c->b, GRAPH_TANH, scaled(c, 0x1.988454p-1f, inner));
    return mul(c, scaled(c, 0.5f, x), add(c, build_f32(c->b, 1.0f, x), t));
}

static ir_value gelu_erf(composite *c, ir_value x) {
    ir_value e = build_unary(c->b, GRAPH_ERF, mul(c, x, build_f32(c->b, 0x1.6a09e6p-1f, x)));
    return mul(c, scaled(c, 0.5f, x), add(c, build_f32(c->b, 1.0f, x), e));
}

static ir_value activate(composite *c, const char *name, ir_value x) {
    if (strcmp(name, "relu") == 0)
        return relu(c, x);
    if (strcmp(name, "gelu") == 0)
        return gelu_tanh(c, x);
    if (strcmp(name, "gelu_erf") == 0)
        return gelu_erf(c, x);
    return strcmp(name, "silu") == 0 ? silu(c, x) : x;
}

static void decompose_relu(composite *c) {
    c->out[0] = relu(c, c->in[0]);
}

static void decompose_silu(composite *c) {
    c->out[0] = silu(c, c->in[0]);
}

static void decompose_gelu(composite *c) {
    bool tanh_form = strcmp(ir_op_string(c->b->m, c->op, "approximate", "tanh"), "tanh") == 0;
    c->out[0] = tanh_form ? gelu_tanh(c, c->in[0]) : gelu_erf(c, c->in[0]);
}

static void decompose_linear(composite *c) {
    ir_value y = product(c, c->in[0], c->in[1], DTYPE_F32);
    if (c->in_count > 2)
        y = add(c, y, build_align(c->b, c->in[2], y));
    c->out[0] = activate(c, ir_op_string(c->b->m, c->op, "activation", "none"), y);
}

/* ---- convolution ---- */

/* The contracted axes kh, kw, c are one, the first of w as a matrix. */
static void decompose_conv2d(composite *c) {
    ir_builder *b = c->b;
    ir_module *m = b->m;
    ir_dim w[4];
    memcpy(w, build_type(b, c->in[1])->dims, sizeof w);
    ir_dim steps = ir_dim_mul(m, ir_dim_mul(m, w[0], w[1]), w[2]);
    order_id order = order_of(m, c->op, ORDER_CHUNK512);
    ir_named_attr attrs[] = {{"window", ir_attr_dim_array(m, w, 2)},
                             {"stride", ir_attr_int(m, ir_op_int(m, c->op, "stride", 1))},
                             {"padding", ir_attr_int(m, ir_op_int(m, c->op, "padding", 0))},
                             {"out", ir_attr_type(m, ir_type_scalar(m, DTYPE_F32))},
                             {"order", ir_attr_string(m, order_info_of(order)->name)}};
    ir_value operands[] = {c->in[0], build_reshape(c->b, c->in[1], 2, (ir_dim[]){steps, w[3]})};
    ir_value y = ir_op_result(m, graph_build(b, GRAPH_CONVOLVE, operands, 2, attrs, 5), 0);
    if (c->in_count > 2)
        y = add(c, y, build_align(b, c->in[2], y));
    c->out[0] = activate(c, ir_op_string(m, c->op, "activation", "none"), y);
}

/* ---- normalisations ---- */

static void decompose_softmax(composite *c) {
    ir_value x = c->in[0];
    int axis = axis_of(c);
    ir_value m = build_reduce(c->b, "max", x, axis);
    ir_value e = build_unary(c->b, GRAPH_EXP, sub(c, x, build_spread(c->b, m, x, axis)));
    ir_value l = build_reduce(c->b, "sum", e, axis);
    c->out[0] = divide(c, e, build_spread(c->b, l, e, axis));
}

static ir_value logsumexp_along(composite *c, ir_value x, int axis) {
    ir_value m = build_reduce(c->b, "max", x, axis);
    ir_value e = build_unary(c->b, GRAPH_EXP, sub(c, x, build_spread(c->b, m, x, axis)));
    ir_value l = build_reduce(c->b, "sum", e, axis);
    ir_value whole = build_compare(c->b, "eq", build_unary(c->b, GRAPH_ABS, m),
                                   build_f32(c->b, __builtin_inff(), m));
    return build_select(c->b, whole, m, add(c, m, build_unary(c->b, GRAPH_LOG, l)));
}

static void decompose_logsumexp(composite *c) {
    c->out[0] = logsumexp_along(c, c->in[0], axis_of(c));
}

static void decompose_mean(composite *c) {
    c->out[0] = mean_along(c, c->in[0], axis_of(c));
}

static ir_value inverse_root(composite *c, ir_value variance) {
    ir_value shifted = add(c, variance, build_f32(c->b, number(c, "eps"), variance));
    return build_unary(c->b, GRAPH_RSQRT, shifted);
}

static void decompose_layernorm(composite *c) {
    ir_value x = c->in[0];
    int axis = last_axis(c, x);
    ir_value centred = sub(c, x, build_spread(c->b, mean_along(c, x, axis), x, axis));
    ir_value r = inverse_root(c, mean_along(c, mul(c, centred, centred), axis));
    ir_value y = mul(c, centred, build_spread(c->b, r, x, axis));
    c->out[0] = add(c, mul(c, y, build_align(c->b, c->in[1], x)), build_align(c->b, c->in[2], x));
}

static void decompose_rmsnorm(composite *c) {
    ir_value x = c->in[0];
    int axis = last_axis(c, x);
    ir_value r = inverse_root(c, mean_along(c, mul(c, x, x), axis));
    ir_value y = mul(c, x, build_spread(c->b, r, x, axis));
    c->out[0] = mul(c, y, build_align(c->b, c->in[1], x));
}

/* ---- attention ---- */

/* i32 [Sq]: how many keys query i sees, j <= i + Sk - Sq, as a count in [0, Sk]. */
static ir_value causal_counts(composite *c, ir_dim sq, ir_dim sk) {
    ir_value i = build_iota(c->b, 1, &sq, 0), n;
    if (ir_dim_is_static(sq) && ir_dim_is_static(sk)) {
        n = add(c, i, build_i32(c->b, (int32_t)(sk - sq + 1), i));
    } else {
        n = sub(c, build_extent(c->b, sk, DTYPE_I32, i), build_extent(c->b, sq, DTYPE_I32, i));
        n = add(c, i, add(c, n, build_i32(c->b, 1, i)));
    }
    n = build_binary(c->b, GRAPH_MAXIMUM, n, build_i32(c->b, 0, n));
    return build_binary(c->b, GRAPH_MINIMUM, n, build_extent(c->b, sk, DTYPE_I32, n));
}

/* counts[i] as a tensor of the shape of `like`, whose axis `axis` is i. */
static ir_value spread_counts(composite *c, ir_value counts, ir_value like, int axis) {
    const ir_type_data *d = build_type(c->b, like);
    int64_t axes[] = {axis};
    return build_broadcast(c->b, counts, d->rank, d->dims, axes);
}

static ir_value attention_scale(composite *c, ir_dim depth, ir_value like) {
    ir_builder *b = c->b;
    ir_value d = build_extent(b, depth, DTYPE_F32, like);
    return divide(c, build_f32(b, 1.0f, like), build_unary(b, GRAPH_SQRT, d));
}

/* The scores of a row of keys for each query, and what masks those that it does not see. */
static ir_value attention_scores(composite *c, attention_parts *a) {
    ir_builder *b = c->b;
    const ir_type_data *q = build_type(b, c->in[0]), *k = build_type(b, c->in[1]);
    const int n = q->rank;
    ir_value s =
        contract(c, c->in[0], c->in[1], 0, n - 1, DTYPE_F32, order_named(c, ORDER_CHUNK512));
    s = mul(c, s, attention_scale(c, q->dims[n - 1], s));
    if (ir_op_int(b->m, c->op, "causal", 0) == 0)
        return s;
    a->counts = causal_counts(c, q->dims[n - 2], k->dims[n - 2]);
    const ir_type_data *d = build_type(b, s);
    a->mask = build_compare(b, "lt", build_iota(b, n, d->dims, n - 1),
                            spread_counts(c, a->counts, s, n - 2));
    return s;
}

static ir_value attention_weights(composite *c, attention_parts *a) {
    ir_builder *b = c->b;
    const int last = build_type(b, c->in[0])->rank - 1;
    ir_value s = attention_scores(c, a), visible = s;
    if (a->mask)
        visible = build_select(b, a->mask, s, build_f32(b, -__builtin_inff(), s));
    a->greatest = build_reduce(b, "max", visible, last);
    ir_value e = build_unary(b, GRAPH_EXP, sub(c, s, build_spread(b, a->greatest, s, last)));
    if (a->mask)
        e = build_select(b, a->mask, e, build_f32(b, 0.0f, e));
    a->sum = build_reduce(b, "sum", e, last);
    return e;
}

static void decompose_attention(composite *c) {
    ir_builder *b = c->b;
    attention_parts a = {.mask = 0};
    const int n = build_type(b, c->in[0])->rank;
    ir_value e = attention_weights(c, &a);
    ir_value o =
        contract(c, e, c->in[2], a.counts, n - 2, DTYPE_F32, order_named(c, ORDER_CHUNK512));
    o = divide(c, o, build_spread(b, a.sum, o, n - 1));
    if (a.mask) {
        ir_value of_row = spread_counts(c, a.counts, o, n - 2);
        ir_value none = build_compare(b, "eq", of_row, build_i32(b, 0, of_row));
        o = build_select(b, none, build_f32(b, 0.0f, o), o);
    }
    c->out[0] = o;
}

static void widen_operands(composite *c) {
    for (uint32_t i = 0; i < c->in_count; i++)
        c->in[i] = build_convert(c->b, ir_op_get(c->b->m, c->op)->operands[i], DTYPE_F32);
}

void graph_attention_rows(ir_builder *b, ir_op op, attention_parts *out) {
    composite c = {.b = b, .op = op, .in_count = 3};
    *out = (attention_parts){.mask = 0};
    widen_operands(&c);
    attention_weights(&c, out);
}

ir_value graph_attention_scores(ir_builder *b, ir_op op, attention_parts *out) {
    composite c = {.b = b, .op = op, .in_count = 3};
    *out = (attention_parts){.mask = 0};
    widen_operands(&c);
    return attention_scores(&c, out);
}

ir_value graph_attention_scale(ir_builder *b, ir_op op, ir_value like) {
    composite c = {.b = b, .op = op};
    const ir_type_data *q = build_type(b, ir_op_get(b->m, op)->operands[0]);
    return attention_scale(&c, q->dims[q->rank - 1], like);
}

/* ---- losses, positions, optimisers ---- */

/* All leading axes are rows. */
static void decompose_cross_entropy(composite *c) {
    ir_builder *b = c->b;
    const ir_type_data *type = build_type(b, c->in[0]);
    ir_dim flat[] = {1, type->dims[type->rank - 1]};
    for (int i = 0; i < type->rank - 1; i++)
        flat[0] = ir_dim_mul(b->m, flat[0], type->dims[i]);
    bool matrix = type->rank == 2;
    ir_value x = matrix ? c->in[0] : build_reshape(c->b, c->in[0], 2, flat);
    ir_value target = matrix ? c->in[1] : build_reshape(c->b, c->in[1], 1, flat);
    ir_value losses = logsumexp_along(c, x, 1), hit = build_gather(b, x, target, 1, 1);
    c->out[0] = mean_along(c, sub(c, losses, hit), 0);
}

static void decompose_rope(composite *c) {
    ir_builder *b = c->b;
    ir_value x = c->in[0];
    int last = last_axis(c, x);
    ir_dim depth = build_type(b, x)->dims[last];
    ir_dim half = ir_dim_floordiv(b->m, depth, 2);
    ir_value low = build_slice_axis(b, x, last, 0, half);
    ir_value high = build_slice_axis(b, x, last, half, depth);
    ir_value cosine = build_align(b, c->in[1], low), sine = build_align(b, c->in[2], low);
    ir_value parts[] = {sub(c, mul(c, low, cosine), mul(c, high, sine)),
                        add(c, mul(c, high, cosine), mul(c, low, sine))};
    c->out[0] = build_concat(b, last, parts, 2);
}

static void decompose_adam(composite *c) {
    float lr = number(c, "lr"), b1 = number(c, "b1"), b2 = number(c, "b2"), wd = number(c, "wd");
    ir_value p = c->in[0], g = c->in[1];
    ir_value m = add(c, scaled(c, b1, c->in[2]), scaled(c, 1.0f - b1, g));
    ir_value v = add(c, scaled(c, b2, c->in[3]), mul(c, scaled(c, 1.0f - b2, g), g));
    ir_value c1 = build_align(c->b, c->in[4], p), c2 = build_align(c->b, c->in[5], p);
    ir_value root = build_unary(c->b, GRAPH_SQRT, divide(c, v, c2));
    ir_value step =
        divide(c, divide(c, m, c1), add(c, root, build_f32(c->b, number(c, "eps"), root)));
    if (wd > 0)
        p = sub(c, p, scaled(c, lr * wd, p));
    c->out[0] = sub(c, p, scaled(c, lr, step));
    c->out[1] = m;
    c->out[2] = v;
}

static void decompose_none(composite *c) {
    (void)c;
}

typedef void (*decompose_fn)(composite *c);
static const decompose_fn decompositions[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    decompose_##decompose,
#include "ops/graph.def"
};

void graph_decompose(ir_builder *b, ir_op op, ir_value *results) {
    const ir_op_data *d = ir_op_get(b->m, op);
    composite c = {.b = b, .op = op, .in_count = d->operand_count, .out = results};
    /* A matmul rounds to its own result type inside the dot; everything else works in f32. But the
     * factors of pairs512 are bf16, and those of a matrix unit its own. */
    order_id order = order_of(b->m, op, ORDER_CHUNK512);
    bool widen = d->opcode != GRAPH_MATMUL, keeps = order == ORDER_PAIRS512 || order == ORDER_UNIT;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        bool is_float = dtype_is_float(build_type(b, d->operands[i])->element);
        bool factor = keeps && i < 2;
        c.in[i] = widen && is_float && !factor ? build_convert(b, d->operands[i], DTYPE_F32)
                                               : d->operands[i];
    }
    decompositions[d->opcode](&c);
    for (uint32_t i = 0; i < d->result_count; i++) {
        dtype element = build_type(b, d->results[i])->element;
        results[i] = build_convert(b, results[i], element);
    }
}

typedef struct decomposition {
    uint32_t count, limit; /* operations */
    const graph_kept *kept;
} decomposition;

static control_rewritten decompose(ir_builder *b, ir_op op, ir_value *results, void *context) {
    decomposition *all = context;
    uint32_t before = ir_op_count(b->m);
    if (all->count > all->limit || ir_failure(b->m))
        return CONTROL_STOPPED;
    bool replaced = graph_op_class(ir_op_get(b->m, op)->opcode) == GRAPH_CLASS_COMPOSITE &&
                    !(all->kept && all->kept->keeps(b->m, op, all->kept->context));
    if (replaced)
        graph_decompose(b, op, results);
    all->count += replaced ? ir_op_count(b->m) - before : 1;
    return replaced ? CONTROL_REPLACED : CONTROL_KEPT;
}

bool graph_decompose_kernel(ir_module *m, uint32_t limit, const graph_kept *kept) {
    decomposition all = {0, limit, kept};
    control_rewrite(m, decompose, &all);
    return all.count <= limit;
}
