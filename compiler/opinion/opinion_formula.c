/* opinion_formula.c - a composite is what its formula says (docs/numerics.md, "composites"), here
 * in f64, element by element: nothing of it is shared with its decomposition. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opinion/opinion.h"

static const double allowed = 1e-9;
enum { OPERANDS = 8, RESULTS = 3 };

typedef struct formula {
    const ir_module *m;
    ir_op op;
    const tensor *in; /* shapes alone */
    const double *x[OPERANDS];
    uint32_t count;
    const tensor *shape[RESULTS]; /* of results */
    double *out[RESULTS];
} formula;

/* Constants are f32's. */
static float number(const formula *f, const char *name) {
    return (float)f64_from_bits(ir_attr_get(f->m, ir_op_attr(f->m, f->op, name))->bits);
}

static const char *word(const formula *f, const char *name) {
    return ir_op_string(f->m, f->op, name, "");
}

/* ---- along an axis ---- */

/* Element k of row r is at start(r) + k * stride. */
typedef struct rows {
    int64_t count, length, stride;
} rows;

static rows rows_of(const tensor *t, int64_t axis) {
    rows r = {1, 1, 1};
    const int64_t at = axis < 0 ? axis + t->rank : axis;
    for (int i = 0; i < t->rank; i++) {
        r.count *= i == at ? 1 : t->dims[i];
        r.stride *= i > at ? t->dims[i] : 1;
    }
    r.length = t->dims[at];
    return r;
}

static int64_t start(const rows *r, int64_t row) {
    return row / r->stride * r->stride * r->length + row % r->stride;
}

static int64_t axis_of(const formula *f) {
    return ir_op_int(f->m, f->op, "axis", -1);
}

static double greatest(const double *x, const rows *r, int64_t row) {
    double most = -HUGE_VAL;
    for (int64_t k = 0; k < r->length; k++)
        most = fmax(most, x[start(r, row) + k * r->stride]);
    return most;
}

static double sum_of_exp(const double *x, const rows *r, int64_t row, double most) {
    double sum = 0;
    for (int64_t k = 0; k < r->length; k++)
        sum += exp(x[start(r, row) + k * r->stride] - most);
    return sum;
}

static double log_sum_exp(const double *x, const rows *r, int64_t row) {
    const double most = greatest(x, r, row);
    return isinf(most) ? most : most + log(sum_of_exp(x, r, row, most));
}

/* Mean of the row's numbers less `less`, to a power of 1 or 2. */
static double mean_of(const double *x, const rows *r, int64_t row, double less, int power) {
    double sum = 0;
    for (int64_t k = 0; k < r->length; k++) {
        const double own = x[start(r, row) + k * r->stride] - less;
        sum += power == 2 ? own * own : own;
    }
    return sum / (double)r->length;
}

static void softmax(formula *f) {
    const rows r = rows_of(&f->in[0], axis_of(f));
    for (int64_t row = 0; row < r.count; row++) {
        const double most = greatest(f->x[0], &r, row), sum = sum_of_exp(f->x[0], &r, row, most);
        for (int64_t k = 0; k < r.length; k++) {
            const int64_t at = start(&r, row) + k * r.stride;
            f->out[0][at] = exp(f->x[0][at] - most) / sum;
        }
    }
}

static void logsumexp(formula *f) {
    const rows r = rows_of(&f->in[0], axis_of(f));
    for (int64_t row = 0; row < r.count; row++)
        f->out[0][row] = log_sum_exp(f->x[0], &r, row);
}

static void mean(formula *f) {
    const rows r = rows_of(&f->in[0], axis_of(f));
    for (int64_t row = 0; row < r.count; row++)
        f->out[0][row] = mean_of(f->x[0], &r, row, 0, 1);
}

static void norm(formula *f) {
    const rows r = rows_of(&f->in[0], -1);
    const bool layer = f->count > 2;
    for (int64_t row = 0; row < r.count; row++) {
        const double middle = layer ? mean_of(f->x[0], &r, row, 0, 1) : 0,
                     by = 1 / sqrt(mean_of(f->x[0], &r, row, middle, 2) + number(f, "eps"));
        for (int64_t k = 0; k < r.length; k++) {
            const int64_t at = start(&r, row) + k;
            const double y = (f->x[0][at] - middle) * by * f->x[1][k];
            f->out[0][at] = layer ? y + f->x[2][k] : y;
        }
    }
}

static void cross_entropy(formula *f) {
    const rows r = rows_of(&f->in[0], -1);
    double sum = 0;
    for (int64_t row = 0; row < r.count; row++) {
        const double most = (double)(r.length - 1), at = fmin(fmax(f->x[1][row], 0), most);
        sum += log_sum_exp(f->x[0], &r, row) - f->x[0][start(&r, row) + (int64_t)at];
    }
    f->out[0][0] = sum / (double)r.count;
}

static void rope(formula *f) {
    const rows r = rows_of(&f->in[0], -1);
    const int64_t half = r.length / 2, angles = tensor_count(&f->in[1]);
    for (int64_t row = 0; row < r.count; row++)
        for (int64_t k = 0; k < half; k++) {
            const double *x = f->x[0] + row * r.length, c = f->x[1][(row * half + k) % angles],
                         s = f->x[2][(row * half + k) % angles];
            f->out[0][row * r.length + k] = x[k] * c - x[k + half] * s;
            f->out[0][row * r.length + k + half] = x[k + half] * c + x[k] * s;
        }
}

/* ---- element by element ---- */

static double activated(const char *name, double x) {
    if (strcmp(name, "relu") == 0)
        return isnan(x) ? x : fmax(x, 0);
    if (strcmp(name, "silu") == 0)
        return x / (1 + exp(-x));
    if (strcmp(name, "gelu_erf") == 0)
        return x * (1 + erf(x * 0x1.6a09e6p-1)) / 2;
    if (strcmp(name, "gelu") == 0)
        return x * (1 + tanh(0x1.988454p-1 * (x + (double)0.044715f * x * x * x))) / 2;
    return x;
}

static void each(formula *f, const char *name) {
    for (int64_t i = 0; i < tensor_count(f->shape[0]); i++)
        f->out[0][i] = activated(name, f->x[0][i]);
}

static void relu(formula *f) {
    each(f, "relu");
}

static void silu(formula *f) {
    each(f, "silu");
}

static void gelu(formula *f) {
    each(f, strcmp(word(f, "approximate"), "none") == 0 ? "gelu_erf" : "gelu");
}

static void dequantize(formula *f) {
    const rows r = rows_of(&f->in[0], axis_of(f));
    for (int64_t row = 0; row < r.count; row++)
        for (int64_t k = 0; k < r.length; k++) {
            const int64_t at = start(&r, row) + k * r.stride;
            f->out[0][at] = f->x[0][at] * f->x[1][k];
        }
}

static void adam(formula *f) {
    const float lr = number(f, "lr"), b1 = number(f, "b1"), b2 = number(f, "b2");
    const double eps = number(f, "eps"), decay = lr * number(f, "wd"), own1 = 1 - b1, own2 = 1 - b2;
    const int64_t ones = tensor_count(&f->in[4]), twos = tensor_count(&f->in[5]);
    for (int64_t i = 0; i < tensor_count(f->shape[0]); i++) {
        const double g = f->x[1][i], m = b1 * f->x[2][i] + own1 * g,
                     v = b2 * f->x[3][i] + own2 * g * g,
                     step = m / f->x[4][i % ones] / (sqrt(v / f->x[5][i % twos]) + eps);
        f->out[0][i] = f->x[0][i] * (1 - decay) - lr * step;
        f->out[1][i] = m;
        f->out[2][i] = v;
    }
}

/* ---- products ---- */

/* Leading axes of y are those of the result, or single, or not there. */
static int64_t batch_of(const tensor *t, const tensor *result, int64_t batch) {
    int64_t at = 0, scale = 1;
    for (int i = result->rank - 3, k = t->rank - 3; i >= 0; i--, k--) {
        const int64_t own = batch % result->dims[i];
        batch /= result->dims[i];
        if (k >= 0) {
            at += t->dims[k] == 1 ? 0 : own * scale;
            scale *= t->dims[k];
        }
    }
    return at;
}

/* The product of matrices over the last two axes; rows of x alone may have more. */
static void product(formula *f) {
    const tensor *a = &f->in[0], *b = &f->in[1], *y = f->shape[0];
    const int64_t n = b->dims[b->rank - 1], k = a->dims[a->rank - 1],
                  m = y->rank > 1 ? y->dims[y->rank - 2] : 1;
    for (int64_t i = 0; i < tensor_count(y); i++) {
        const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
        const double *left = f->x[0] + (batch_of(a, y, batch) * m + row) * k,
                     *right = f->x[1] + batch_of(b, y, batch) * k * n + column;
        f->out[0][i] = 0;
        for (int64_t s = 0; s < k; s++)
            f->out[0][i] += left[s] * right[s * n];
    }
}

static void linear(formula *f) {
    const int64_t n = f->in[1].dims[f->in[1].rank - 1];
    product(f);
    for (int64_t i = 0; i < tensor_count(f->shape[0]); i++)
        f->out[0][i] =
            activated(word(f, "activation"), f->out[0][i] + (f->count > 2 ? f->x[2][i % n] : 0));
}

static void scaled_matmul(formula *f) {
    const tensor *y = f->shape[0];
    const int64_t n = y->dims[y->rank - 1], m = y->dims[y->rank - 2],
                  lefts = tensor_count(&f->in[2]), rights = tensor_count(&f->in[3]);
    product(f);
    for (int64_t i = 0; i < tensor_count(y); i++) /* one scale is that of all */
        f->out[0][i] *= f->x[2][i / n % m % lefts] * f->x[3][i % n % rights];
}

static void conv2d(formula *f) {
    const int64_t *x = f->in[0].dims, *w = f->in[1].dims, *y = f->shape[0]->dims,
                  stride = ir_op_int(f->m, f->op, "stride", 1),
                  padding = ir_op_int(f->m, f->op, "padding", 0);
    for (int64_t i = 0; i < tensor_count(f->shape[0]); i++) {
        const int64_t o = i % y[3], across = i / y[3] % y[2], down = i / y[3] / y[2] % y[1],
                      image = i / y[3] / y[2] / y[1];
        double sum = f->count > 2 ? f->x[2][o] : 0;
        for (int64_t s = 0; s < w[0] * w[1] * w[2]; s++) {
            const int64_t c = s % w[2], column = across * stride + s / w[2] % w[1] - padding,
                          row = down * stride + s / w[2] / w[1] - padding;
            if (row >= 0 && row < x[1] && column >= 0 && column < x[2])
                sum += f->x[0][((image * x[1] + row) * x[2] + column) * x[3] + c] *
                       f->x[1][s * w[3] + o];
        }
        f->out[0][i] = activated(word(f, "activation"), sum);
    }
}

/* One query: it sees the first `seen` keys. */
static void attend(const formula *f, int64_t query, int64_t head, int64_t seen) {
    const tensor *q = &f->in[0], *k = &f->in[1], *v = &f->in[2];
    const int64_t depth = q->dims[q->rank - 1], keys = k->dims[k->rank - 2],
                  width = v->dims[v->rank - 1];
    double *out = f->out[0] + query * width, sum = 0, most = -HUGE_VAL;
    double *score = base_calloc((size_t)keys + 1, sizeof *score);
    for (int64_t j = 0; j < seen; j++) {
        for (int64_t d = 0; d < depth; d++)
            score[j] += f->x[0][query * depth + d] * f->x[1][(head * keys + j) * depth + d];
        score[j] /= sqrt((double)depth);
        most = fmax(most, score[j]);
    }
    for (int64_t j = 0; j < seen; j++)
        sum += exp(score[j] - most);
    for (int64_t d = 0; d < width; d++) {
        out[d] = 0;
        for (int64_t j = 0; j < seen; j++)
            out[d] += exp(score[j] - most) / sum * f->x[2][(head * keys + j) * width + d];
    }
    free(score);
}

static void attention(formula *f) {
    const tensor *q = &f->in[0], *k = &f->in[1];
    const int64_t queries = q->dims[q->rank - 2], keys = k->dims[k->rank - 2],
                  all = queries ? tensor_count(q) / q->dims[q->rank - 1] : 0;
    const bool causal = ir_op_int(f->m, f->op, "causal", 0) != 0;
    for (int64_t i = 0; i < all; i++) {
        const int64_t sees = i % queries + keys - queries + 1;
        attend(f, i, i / queries, !causal ? keys : sees < 0 ? 0 : sees < keys ? sees : keys);
    }
}

static const struct {
    int opcode;
    void (*compute)(formula *f);
} formulas[] = {{GRAPH_MATMUL, product},
                {GRAPH_SOFTMAX, softmax},
                {GRAPH_LOGSUMEXP, logsumexp},
                {GRAPH_MEAN, mean},
                {GRAPH_LAYERNORM, norm},
                {GRAPH_RMSNORM, norm},
                {GRAPH_RELU, relu},
                {GRAPH_GELU, gelu},
                {GRAPH_SILU, silu},
                {GRAPH_LINEAR, linear},
                {GRAPH_CONV2D, conv2d},
                {GRAPH_SCALED_MATMUL, scaled_matmul},
                {GRAPH_DEQUANTIZE, dequantize},
                {GRAPH_ATTENTION, attention},
                {GRAPH_CROSS_ENTROPY, cross_entropy},
                {GRAPH_ROPE, rope},
                {GRAPH_ADAM, adam}};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

/* ---- one operation ---- */

/* Measured by what is lost beside the greatest of the tensor; a NaN is no number, and 0 has a sign.
 */
static bool is_off(double own, double by_formula, double scale) {
    if (isnan(own) || isnan(by_formula))
        return isnan(own) != isnan(by_formula);
    if (isinf(own) || isinf(by_formula))
        return own != by_formula;
    if (own == 0 && by_formula == 0)
        return signbit(own) != signbit(by_formula);
    return fabs(own - by_formula) > allowed * (fabs(by_formula) + scale);
}

static bool differs(const opinion_case *c, const tensor *reference, const double *by_formula,
                    uint32_t result) {
    const double *own = reference->data;
    const int64_t count = tensor_count(reference);
    double scale = 0;
    for (int64_t i = 0; i < count; i++)
        scale = isfinite(by_formula[i]) ? fmax(scale, fabs(by_formula[i])) : scale;
    for (int64_t i = 0; i < count; i++) {
        if (!is_off(own[i], by_formula[i], scale))
            continue;
        snprintf(c->o->out->why, sizeof c->o->out->why,
                 "element %lld of result %u is %.9g as primitives, and %.9g by its formula",
                 (long long)i, result, own[i], by_formula[i]);
        return true;
    }
    return false;
}

static opinion_verdict judge(const opinion_case *c, void (*compute)(formula *f)) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    compiler_instance *instance = opinion_operation(c->m, c->op, false);
    tensor *out = tensors_new(d->result_count);
    formula f = {.m = c->m, .op = c->op, .in = c->operands, .count = d->operand_count};
    opinion_verdict v = OPINION_NONE;
    double *in[OPERANDS] = {NULL};
    if (opinion_reference(c->o, instance, c->operands, out)) {
        v = OPINION_RIGHT;
        for (uint32_t i = 0; i < d->operand_count; i++)
            f.x[i] = in[i] = opinion_numbers(&c->operands[i]);
        for (uint32_t i = 0; i < d->result_count; i++) {
            f.shape[i] = &out[i];
            f.out[i] = base_calloc((size_t)tensor_count(&out[i]) + 1, sizeof(double));
        }
        compute(&f);
        for (uint32_t i = 0; i < d->result_count && v == OPINION_RIGHT; i++)
            v = differs(c, &out[i], f.out[i], i) ? OPINION_WRONG : v;
    }
    for (int i = 0; i < OPERANDS; i++)
        free(in[i]);
    for (int i = 0; i < RESULTS; i++)
        free(f.out[i]);
    tensors_free(out);
    compiler_instance_free(instance);
    return v;
}

opinion_verdict opinion_of_composite(const opinion_case *c) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    for (size_t i = 0; i < FORMULAS; i++)
        if (formulas[i].opcode == d->opcode && d->operand_count <= OPERANDS &&
            d->result_count <= RESULTS)
            return judge(c, formulas[i].compute);
    return OPINION_NONE;
}
