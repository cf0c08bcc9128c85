/* reference_sum.c - reductions and contractions with bounds that hold for every order of
 * accumulation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "ops/unit_order.h"
#include "target/interp/reference.h"
#include "target/interp/reference_matrix_unit.h"

/* Narrow types accumulate in f32, where nothing else was said. */
static dtype accumulator(const reference_step *s) {
    interp_step step = {.m = s->m, .op = s->op};
    return s->in_type == DTYPE_F64 || interp_accumulates_f64(&step) ? DTYPE_F64 : DTYPE_F32;
}

/* What is in a sum that is no number, and the magnitude of the numbers beside it. */
typedef struct oddities {
    bool nan, up, down, unknown;
    double magnitude, carried;
} oddities;

static void note(oddities *o, bounded x) {
    o->nan |= reference_is_nan(x);
    o->unknown |= isinf(x.bound);
    o->up |= x.value == HUGE_VAL;
    o->down |= x.value == -HUGE_VAL;
    bool number = !isnan(x.value) && !isinf(x.value) && !isinf(x.bound);
    o->magnitude += number ? fabs(x.value) : 0;
    o->carried += number ? x.bound : 0;
}

/* A sum with infinities and NaNs in it. A NaN is certain in any order, likewise infinities of both
 * signs; one of one sign only if the numbers cannot overflow to the other on their way. */
static bounded odd_sum(const oddities *o, double sum, dtype wide, dtype result) {
    double limit = dtype_format_of(wide)->largest;
    bool both = o->up && o->down;
    if (o->nan || (both && !o->unknown))
        return (bounded){NAN, 0};
    if (o->unknown || !(2 * (o->magnitude + o->carried) <= limit))
        return (bounded){sum, HUGE_VAL};
    return reference_rounded((bounded){sum, 0}, result, 1);
}

/* The least normal number of f32 and of bf16: what is below may be flushed beyond strict. */
static const double LEAST_NORMAL = 0x1p-126;

/* `n` roundings of partial sums that are at most `magnitude`; `carried` comes from the operands. */
static bounded accumulated(double sum, double magnitude, double carried, double n, dtype wide,
                           dtype result, bool flushes) {
    double own =
        reference_product(reference_gamma(n, reference_roundoff(wide)), magnitude + carried);
    double limit = dtype_format_of(wide)->largest;
    bounded total = {sum, carried + own};
    if (!(magnitude + total.bound <= limit))
        total.bound = HUGE_VAL;
    if (total.value == 0 && total.bound == 0)
        return total;
    total.bound += n * (flushes ? LEAST_NORMAL : wide == DTYPE_F32 ? 0x1p-149 : 0x1p-1074);
    return result == wide ? reference_rounded(total, wide, 0) : reference_rounded(total, result, 1);
}

/* ---- reductions ---- */

static bounded sum_row(const double *x, const double *e, int64_t n, dtype wide, dtype type) {
    double magnitude = 0, carried = 0;
    for (int64_t i = 0; i < n; i++) {
        magnitude += fabs(x[i]);
        carried += e[i];
    }
    if (!isfinite(magnitude + carried)) {
        oddities o = {.nan = false};
        for (int64_t i = 0; i < n; i++)
            note(&o, (bounded){x[i], e[i]});
        return odd_sum(&o, interp_lanes64_f64(x, n), wide, type);
    }
    return accumulated(interp_lanes64_f64(x, n), magnitude, carried, (double)n + 1, wide, type,
                       false);
}

/* The bound of the greatest is the greatest bound; no rounding. */
static bounded extreme_row(const double *x, const double *e, int64_t n, double sign) {
    bounded best = {-HUGE_VAL, 0};
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        double v = sign * x[i];
        nan |= reference_is_nan((bounded){x[i], e[i]});
        best.bound = fmax(best.bound, e[i]);
        if (v > best.value || (v == best.value && !signbit(v)))
            best.value = v;
    }
    return nan ? (bounded){NAN, 0} : reference_settled((bounded){sign * best.value, best.bound});
}

bool reference_reduce(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_reduce, st);
    const tensor *in[] = {&s->in[0]->value}, *errors[] = {&s->in[0]->bound};
    interp_step values = {s->m, s->op, s->opcode, in, 1, &s->out->value};
    interp_step bounds = {s->m, s->op, s->opcode, errors, 1, &s->out->bound};
    tensor x = {0}, e = {0};
    int64_t length, count = tensor_count(&s->out->value);
    const char *kind = interp_text(&values, "kind");
    bool ok = interp_reduce_rows(&values, &x, &length, st) &&
              interp_reduce_rows(&bounds, &e, &length, st);
    for (int64_t i = 0; ok && i < count; i++) {
        const double *row = (const double *)x.data + i * length,
                     *error = (const double *)e.data + i * length;
        bounded r = strcmp(kind, "sum") == 0
                        ? sum_row(row, error, length, accumulator(s), s->type)
                        : extreme_row(row, error, length, strcmp(kind, "max") == 0 ? 1 : -1);
        if (length == 0 && !dtype_format_of(s->type)->infinity)
            r = reference_saturated(r, s->type, 0);
        ((double *)s->out->value.data)[i] = r.value;
        ((double *)s->out->bound.data)[i] = r.bound;
    }
    tensor_release(&x);
    tensor_release(&e);
    return ok;
}

/* ---- running sums ---- */

/* Each is the sum of the elements so far, which other orders may add anew. */
static void running_row(const reference_step *s, const scan_rows *rows, int64_t start) {
    const double *x = s->in[0]->value.data, *e = s->in[0]->bound.data;
    double sum = 0, magnitude = 0, carried = 0;
    dtype wide = accumulator(s);
    oddities o = {.nan = false};
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t at = start + i * rows->stride;
        sum = i == 0 ? x[at] : sum + x[at];
        magnitude += fabs(x[at]);
        carried += e[at];
        note(&o, (bounded){x[at], e[at]});
        bounded r = !isfinite(magnitude + carried)
                        ? odd_sum(&o, sum, wide, s->type)
                        : accumulated(sum, magnitude, carried, (double)i, wide, s->type, false);
        ((double *)s->out->value.data)[at] = r.value;
        ((double *)s->out->bound.data)[at] = r.bound;
    }
}

bool reference_scan(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_scan, st);
    const tensor *in[] = {&s->in[0]->value};
    interp_step values = {s->m, s->op, s->opcode, in, 1, &s->out->value};
    scan_rows rows = interp_scan_rows(&values);
    for (int64_t row = 0; row < rows.count; row++)
        running_row(s, &rows, interp_scan_start(&rows, row));
    return true;
}

/* ---- contractions ---- */

/* One side, permuted: numbers, and bounds where any is not 0. */
typedef struct factor {
    tensor value, bound;
    bool exact;
} factor;

/* Beyond strict, a unit for tf32 rounds the operands of a product, which are kept as f32, and one
 * for bf16 takes subnormals for 0. */
static double misread(const matrix_unit *unit, dtype type, double x) {
    if (unit)
        return reference_unit_misread(unit, unit_order_format(type), x);
    if (type == DTYPE_TF32)
        return reference_roundoff(type) * fabs(x);
    return type == DTYPE_BF16 && fabs(x) < LEAST_NORMAL ? fabs(x) : 0;
}

static bool permute(const reference_value *v, const matrix_unit *unit, dtype type,
                    const int64_t *axes, factor *out, status *st) {
    if (!interp_permute(&v->value, axes, &out->value, st) ||
        !interp_permute(&v->bound, axes, &out->bound, st))
        return false;
    out->exact = true;
    int64_t count = tensor_count(&out->bound);
    const double *values = out->value.data;
    bool narrow = unit || type == DTYPE_TF32 || type == DTYPE_BF16;
    for (int64_t i = 0; narrow && i < count; i++)
        ((double *)out->bound.data)[i] += misread(unit, type, values[i]);
    for (int64_t i = 0; i < count; i++)
        out->exact &= ((const double *)out->bound.data)[i] == 0;
    return true;
}

static void release(factor *f) {
    tensor_release(&f->value);
    tensor_release(&f->bound);
}

/* Sums of one row of results, by column. */
typedef struct sums {
    double *value, *magnitude, *carried;
} sums;

static void add_products(const sums *r, double x, const double *y, int64_t n) {
    double magnitude = fabs(x);
    for (int64_t j = 0; j < n; j++) {
        r->value[j] += x * y[j];
        r->magnitude[j] += magnitude * fabs(y[j]);
    }
}

/* Of a product. What may be anything, an infinity too, gives a NaN with 0. */
static double product_bound(bounded x, double y, double e) {
    if (isinf(x.bound) || isinf(e))
        return HUGE_VAL;
    return reference_product(fabs(x.value), e) + reference_product(x.bound, fabs(y) + e);
}

/* The same in a matrix unit's weights. What y may be is at most its magnitude and its bound. */
static void add_weights(const sums *r, const matrix_unit *unit, const binary_format *format,
                        bounded x, const double *y, const double *e, int64_t n) {
    double weight = reference_unit_weight(unit, format, fabs(x.value) + x.bound, x.bound == 0);
    for (int64_t j = 0; j < n; j++) {
        r->value[j] += x.value * y[j];
        r->magnitude[j] +=
            weight * reference_unit_weight(unit, format, fabs(y[j]) + e[j], e[j] == 0);
    }
}

static void add_errors(const sums *r, bounded x, const double *y, const double *e, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        r->carried[j] += product_bound(x, y[j], e[j]);
}

typedef struct dot_job {
    const reference_step *s;
    dot_plan p;
    factor x, y;
    sums r;
    const window_plan *windows; /* of a convolve */
    const matrix_unit *unit;    /* whose order it is, or NULL */
} dot_job;

/* The element of x in step k of a row; false: that step does not happen. */
static bool left_element(const dot_job *d, int64_t row, int64_t k, int64_t *at) {
    const window_plan *w = d->windows;
    *at = row * d->p.k + k;
    if (!w)
        return true;
    bool inside = interp_window_place(w, row, k / w->channels, at);
    *at += k % w->channels;
    return inside;
}

/* The products of one result, one by one: slow, for where they are no numbers. */
static bounded odd_product(const dot_job *d, int64_t row, int64_t b, int64_t j, int64_t steps,
                           dtype wide) {
    oddities o = {.nan = false};
    double sum = 0;
    for (int64_t k = 0; k < steps; k++) {
        int64_t left, right = (b * d->p.k + k) * d->p.n + j;
        if (!left_element(d, row, k, &left))
            continue;
        bounded x = {((const double *)d->x.value.data)[left],
                     ((const double *)d->x.bound.data)[left]};
        bounded y = {((const double *)d->y.value.data)[right],
                     ((const double *)d->y.bound.data)[right]};
        bounded p = {x.value * y.value, product_bound(x, y.value, y.bound)};
        bool nan = reference_is_nan(x) || reference_is_nan(y);
        bool beyond = isinf(p.value) && !isinf(x.value) && !isinf(y.value); /* of f64 */
        bool unknown = !nan && (isinf(x.bound) || isinf(y.bound) || beyond);
        if (nan || unknown)
            p = (bounded){nan ? NAN : p.value, nan ? 0 : HUGE_VAL};
        sum += p.value;
        note(&o, p);
    }
    return odd_sum(&o, sum, wide, d->s->type);
}

static bounded sum_of_products(const dot_job *d, int64_t j, int64_t steps) {
    double value = d->r.value[j], magnitude = d->r.magnitude[j], carried = d->r.carried[j];
    if (!d->unit)
        return accumulated(value, magnitude, carried, (double)steps + 2, accumulator(d->s),
                           d->s->type, d->s->in_type == DTYPE_BF16);
    const unit_sum sum = {value, magnitude, carried, steps};
    *d->s->whole &= magnitude <= ldexp(1, matrix_unit_whole_bits(d->unit));
    return reference_unit_sum(d->unit, &sum, d->s->type);
}

static void dot_row(const dot_job *d, int64_t b, int64_t m, int64_t steps) {
    int64_t n = d->p.n, row = b * d->p.m + m;
    memset(d->r.value, 0, sizeof(double) * 3 * (size_t)n);
    for (int64_t k = 0; k < steps; k++) {
        int64_t at, column = (b * d->p.k + k) * n;
        if (!left_element(d, row, k, &at))
            continue;
        const double *y = (const double *)d->y.value.data + column,
                     *e = (const double *)d->y.bound.data + column;
        bounded x = {((const double *)d->x.value.data)[at], ((const double *)d->x.bound.data)[at]};
        if (d->unit)
            add_weights(&d->r, d->unit, unit_order_format(d->s->in_type), x, y, e, n);
        else
            add_products(&d->r, x.value, y, n);
        if (!d->x.exact || !d->y.exact)
            add_errors(&d->r, x, y, e, n);
    }
    for (int64_t j = 0; j < n; j++) {
        bounded r = !isfinite(d->r.magnitude[j] + d->r.carried[j])
                        ? odd_product(d, row, b, j, steps, accumulator(d->s))
                        : sum_of_products(d, j, steps);
        ((double *)d->s->out->value.data)[row * n + j] = r.value;
        ((double *)d->s->out->bound.data)[row * n + j] = r.bound;
    }
}

static void dot_all(dot_job *d, const interp_step *values) {
    d->r.value = base_malloc(sizeof(double) * 3 * (size_t)(d->p.n + 1));
    d->r.magnitude = d->r.value + d->p.n;
    d->r.carried = d->r.magnitude + d->p.n;
    for (int64_t b = 0; b < d->p.batch; b++)
        for (int64_t m = 0; m < d->p.m; m++)
            dot_row(d, b, m, interp_dot_steps(values, &d->p, m));
    free(d->r.value);
}

bool reference_dot(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_dot, st);
    const tensor *in[3] = {0};
    for (uint32_t i = 0; i < s->in_count && i < 3; i++)
        in[i] = &s->in[i]->value;
    interp_step values = {s->m, s->op, s->opcode, in, s->in_count, &s->out->value};
    window_plan windows;
    dot_job d = {.s = s, .p = interp_dot_plan(&values)};
    if (order_of(s->m, s->op, ORDER_CHUNK512) == ORDER_UNIT)
        d.unit = matrix_unit_find(interp_text(&values, "order"));
    if (s->opcode == GRAPH_CONVOLVE) {
        windows = interp_window_plan(&values);
        d.windows = &windows;
    }
    bool ok = permute(s->in[0], d.unit, s->in_type, d.p.x_axes, &d.x, st) &&
              permute(s->in[1], d.unit, s->in_type, d.p.y_axes, &d.y, st);
    if (ok)
        dot_all(&d, &values);
    release(&d.x);
    release(&d.y);
    return ok;
}
