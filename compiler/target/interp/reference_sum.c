/* reference_sum.c - reductions and contractions with bounds that hold for every order of
 * accumulation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "ops/unit_order.h"
#include "target/interp/reference_enclosure.h"
#include "target/interp/reference_matrix_unit.h"
#include "target/interp/reference_products.h"
#include "tile/mma.h"

/* Narrow types accumulate in f32, where nothing else was said. */
static dtype accumulator(const reference_step *s) {
    interp_step step = {.m = s->m, .op = s->op};
    return s->in_type == DTYPE_F64 || interp_accumulates_f64(&step) ? DTYPE_F64 : DTYPE_F32;
}

/* Terms of a sum that are no numbers, and the magnitude of the numbers beside them. */
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

/* `n` roundings of partial sums that are at most `magnitude`; `carried` comes from the operands.
 * Parameters: the terms of one formula. */
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

/* Like reference_value, with the reduced axes last. */
static bool rows_of(const reference_step *s, reference_value *rows, int64_t *length, status *st) {
    const reference_value *v = s->in[0];
    tensor parts[3], moved;
    double *room;
    const tensor *in[] = {&v->value}, *errors[] = {&v->bound}, *part[1];
    interp_step values = {s->m, s->op, s->opcode, in, 1, &s->out->value};
    interp_step bounds = {s->m, s->op, s->opcode, errors, 1, &s->out->bound};
    bool ok = interp_reduce_rows(&values, &rows->value, length, st) &&
              interp_reduce_rows(&bounds, &rows->bound, length, st);
    if (!ok || !v->limits)
        return ok;
    enclosure_views(v, parts, &room);
    enclosure_allocate(rows);
    for (int k = 0; k < 3 && ok; k++) {
        interp_step step = {s->m, s->op, s->opcode, part, 1, &s->out->bound};
        part[0] = &parts[k];
        ok = interp_reduce_rows(&step, &moved, length, st);
        size_t bytes = tensor_bytes(&rows->bound);
        if (ok)
            memcpy((char *)rows->limits + (size_t)k * bytes, moved.data, bytes);
        tensor_release(&moved);
    }
    return ok;
}

static enclosure enclosed_sum(const reference_value *rows, int64_t start, int64_t n, dtype wide,
                              dtype type) {
    enclosure_sum sum = enclosure_sum_begin();
    for (int64_t i = 0; i < n; i++)
        enclosure_sum_add(&sum, enclosure_at(rows, start + i));
    return enclosure_sum_end(&sum, wide, type);
}

static enclosure enclosed_extreme(const reference_value *rows, int64_t start, int64_t n,
                                  int opcode) {
    enclosure best = enclosure_at(rows, start);
    for (int64_t i = 1; i < n; i++) {
        enclosure pair[] = {best, enclosure_at(rows, start + i)};
        best = enclosure_operate(opcode, pair, false, DTYPE_F64);
    }
    return best;
}

static void put_row(const reference_step *s, const reference_value *rows, int64_t i, int64_t n,
                    bounded r) {
    interp_step values = {.m = s->m, .op = s->op};
    const char *kind = interp_text(&values, "kind");
    bool finite = true, kept = false, product = strcmp(kind, "prod") == 0;
    for (int64_t k = i * n; k < (i + 1) * n && !reference_is_unlimited(); k++) {
        finite &= !isinf(((const double *)rows->bound.data)[k]);
        kept |= enclosure_kept(rows, k);
    }
    ((double *)s->out->value.data)[i] = r.value;
    ((double *)s->out->bound.data)[i] = r.bound;
    if (reference_is_unlimited() || product || n == 0 || (!kept && !isinf(r.bound)))
        return;
    int opcode = strcmp(kind, "max") == 0 ? GRAPH_MAXIMUM : GRAPH_MINIMUM;
    enclosure e = strcmp(kind, "sum") == 0 ? enclosed_sum(rows, i * n, n, accumulator(s), s->type)
                                           : enclosed_extreme(rows, i * n, n, opcode);
    enclosure_put(s->out, i, r, e, finite);
}

bool reference_reduce(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_reduce, st);
    interp_step values = {.m = s->m, .op = s->op};
    reference_value rows = {0};
    int64_t length = 0, count = tensor_count(&s->out->value);
    const char *kind = interp_text(&values, "kind");
    bool ok = rows_of(s, &rows, &length, st);
    for (int64_t i = 0; ok && i < count; i++) {
        const double *row = (const double *)rows.value.data + i * length,
                     *error = (const double *)rows.bound.data + i * length;
        bounded r = strcmp(kind, "sum") == 0 ? sum_row(row, error, length, accumulator(s), s->type)
                    : strcmp(kind, "prod") == 0
                        ? reference_product_row(row, error, length, accumulator(s), s->type)
                        : extreme_row(row, error, length, strcmp(kind, "max") == 0 ? 1 : -1);
        if (length == 0 && !dtype_format_of(s->type)->infinity)
            r = reference_saturated(r, s->type, 0);
        put_row(s, &rows, i, length, r);
    }
    tensor_release(&rows.value);
    tensor_release(&rows.bound);
    free(rows.limits);
    return ok;
}

/* ---- running sums ---- */

/* Each is the sum of the elements so far, which other orders may add anew. */
static void running_row(const reference_step *s, const scan_rows *rows, int64_t start) {
    const double *x = s->in[0]->value.data, *e = s->in[0]->bound.data;
    double sum = 0, magnitude = 0, carried = 0;
    dtype wide = accumulator(s);
    oddities o = {.nan = false};
    enclosure_sum sum_of = enclosure_sum_begin();
    bool kept = false, finite = true;
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
        if (reference_is_unlimited())
            continue;
        enclosure_sum_add(&sum_of, enclosure_at(s->in[0], at));
        kept |= enclosure_kept(s->in[0], at);
        finite &= !isinf(e[at]);
        if (kept || isinf(r.bound))
            enclosure_put(s->out, at, r, enclosure_sum_end(&sum_of, wide, s->type), finite);
    }
}

static void running_extreme(const reference_step *s, const scan_rows *rows, int64_t start,
                            double sign) {
    const double *x = s->in[0]->value.data, *e = s->in[0]->bound.data;
    bounded best = {-HUGE_VAL, 0};
    bool nan = false;
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t at = start + i * rows->stride;
        double v = sign * x[at];
        nan |= reference_is_nan((bounded){x[at], e[at]});
        best.bound = fmax(best.bound, e[at]);
        if (v > best.value || (v == best.value && !signbit(v)) || i == 0)
            best.value = v;
        ((double *)s->out->value.data)[at] = nan ? NAN : sign * best.value;
        ((double *)s->out->bound.data)[at] = nan ? 0 : best.bound;
    }
}

static void running(const reference_step *s, const scan_rows *rows, int64_t start) {
    const char *kind = ir_op_string(s->m, s->op, "kind", "sum");
    if (strcmp(kind, "sum") == 0)
        running_row(s, rows, start);
    else if (strcmp(kind, "prod") == 0)
        reference_running_product(s, rows, start, accumulator(s));
    else
        running_extreme(s, rows, start, strcmp(kind, "max") == 0 ? 1 : -1);
}

bool reference_scan(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_scan, st);
    const tensor *in[] = {&s->in[0]->value};
    interp_step values = {s->m, s->op, s->opcode, in, 1, &s->out->value};
    scan_rows rows = interp_scan_rows(&values);
    for (int64_t row = 0; row < rows.count; row++)
        running(s, &rows, interp_scan_start(&rows, row));
    return true;
}

/* ---- contractions ---- */

/* The matrix units whose sums a bound has to hold for. */
enum { MOST_UNITS = 32 };
typedef struct unit_list {
    const matrix_unit *units[MOST_UNITS];
    uint32_t count;
    dtype factor;   /* what they multiply */
    bool asked_for; /* the one whose order it is; else those that may take the place of any order */
} unit_list;

/* Type of a factor in memory: it is read as it lies there, and not as what it is widened to. */
static dtype type_in_memory(const ir_module *m, ir_value factor) {
    const ir_value_data *v = ir_value_get(m, factor);
    while (v->op) {
        const ir_op_data *op = ir_op_get(m, v->op);
        if (op->opcode != GRAPH_CONVERT && graph_op_class(op->opcode) != GRAPH_CLASS_MOVE)
            break;
        factor = op->operands[0];
        v = ir_value_get(m, factor);
        if (op->opcode == GRAPH_CONVERT)
            break;
    }
    return ir_type_of(m, factor)->element;
}

static unit_list units_of(const reference_step *s, const interp_step *values, dtype wide) {
    const ir_value *factors = ir_op_get(s->m, s->op)->operands;
    dtype type = mma_read_as(type_in_memory(s->m, factors[0]));
    unit_list list = {.factor = s->in_type};
    const mma_unit *code;
    uint32_t all = mma_units(&code);
    if (order_of(s->m, s->op, ORDER_CHUNK512) == ORDER_UNIT)
        return (unit_list){{matrix_unit_find(interp_text(values, "order"))}, 1, s->in_type, true};
    if (wide != DTYPE_F32 || type != mma_read_as(type_in_memory(s->m, factors[1])))
        return list;
    for (uint32_t i = 0; i < all && list.count < MOST_UNITS; i++)
        if (mma_unit_stands_in(&code[i]) && !mma_unit_is_chain(&code[i]) && code[i].factor == type)
            list.units[list.count++] = matrix_unit_find(code[i].name);
    list.factor = type;
    return list;
}

/* One side, permuted: numbers, bounds where any is not 0, and the greatest weights of the units. */
typedef struct factor {
    tensor value, bound, weight, nan; /* nan: not 0 where a NaN may come beside a finite bound */
    bool exact, has_nan;
} factor;

/* Beyond strict, a unit for tf32 rounds the operands of a product, which are kept as f32, and one
 * for bf16 takes subnormals for 0. */
static double misread(const unit_list *list, dtype type, double x) {
    double most = 0;
    if (!list->asked_for && type == DTYPE_TF32)
        most = reference_roundoff(type) * fabs(x);
    if (!list->asked_for && type == DTYPE_BF16 && fabs(x) < LEAST_NORMAL)
        most = fabs(x);
    for (uint32_t i = 0; i < list->count; i++)
        most =
            fmax(most, reference_unit_misread(list->units[i], unit_order_format(list->factor), x));
    return most;
}

static double greatest_weight(const unit_list *list, double x, double error) {
    double most = 0;
    for (uint32_t i = 0; i < list->count; i++)
        most = fmax(most, reference_unit_weight(list->units[i], unit_order_format(list->factor),
                                                fabs(x) + error, error == 0));
    return most;
}

/* The marks of NaNs that may come. */
static bool permute_nans(const reference_value *v, const int64_t *axes, factor *out, status *st) {
    int64_t count = tensor_count(&v->bound);
    tensor marks, order = v->bound;
    for (int64_t i = 0; v->limits && i < count; i++)
        out->has_nan |= enclosure_kept(v, i) && enclosure_at(v, i).nan;
    if (!out->has_nan)
        return true;
    if (!tensor_init(&marks, DTYPE_F64, order.rank, order.dims, st))
        return false;
    for (int64_t i = 0; i < count; i++)
        ((double *)marks.data)[i] = enclosure_kept(v, i) && enclosure_at(v, i).nan;
    bool ok = interp_permute(&marks, axes, &out->nan, st);
    tensor_release(&marks);
    return ok;
}

static bool permute(const reference_value *v, const unit_list *list, dtype type,
                    const int64_t *axes, factor *out, status *st) {
    if (!interp_permute(&v->value, axes, &out->value, st) ||
        !interp_permute(&v->bound, axes, &out->bound, st) ||
        (list->count && !interp_permute(&v->value, axes, &out->weight, st)) ||
        !permute_nans(v, axes, out, st))
        return false;
    out->exact = true;
    int64_t count = tensor_count(&out->bound);
    const double *values = out->value.data;
    double *errors = out->bound.data;
    bool narrow = list->count || type == DTYPE_TF32 || type == DTYPE_BF16;
    for (int64_t i = 0; narrow && i < count; i++)
        errors[i] += misread(list, type, values[i]);
    for (int64_t i = 0; i < count; i++)
        out->exact &= errors[i] == 0;
    for (int64_t i = 0; list->count && i < count; i++)
        ((double *)out->weight.data)[i] = greatest_weight(list, values[i], errors[i]);
    return true;
}

static void release(factor *f) {
    tensor_release(&f->value);
    tensor_release(&f->bound);
    tensor_release(&f->weight);
    tensor_release(&f->nan);
}

/* Sums of one row of results, by column. */
typedef struct sums {
    double *value, *magnitude, *carried, *weight;
} sums;
enum { SUMS = 4 };

/* Columns in blocks whose length the compiler knows, so that it takes vectors for them: element by
 * element, and the same bits. */
enum { ABREAST = 16 };
typedef void (*add_products_fn)(double *restrict values, double *restrict magnitudes, double x,
                                const double *restrict y, int64_t n);

__attribute__((always_inline)) static inline void products(double *restrict values,
                                                           double *restrict magnitudes, double x,
                                                           const double *restrict y, int64_t n) {
    double magnitude = fabs(x);
    int64_t j = 0;
    for (; j + ABREAST <= n; j += ABREAST)
        for (int i = 0; i < ABREAST; i++) {
            values[j + i] += x * y[j + i];
            magnitudes[j + i] += magnitude * fabs(y[j + i]);
        }
    for (; j < n; j++) {
        values[j] += x * y[j];
        magnitudes[j] += magnitude * fabs(y[j]);
    }
}

static void products_plain(double *restrict values, double *restrict magnitudes, double x,
                           const double *restrict y, int64_t n) {
    products(values, magnitudes, x, y, n);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void products_avx2(double *restrict values,
                                                          double *restrict magnitudes, double x,
                                                          const double *restrict y, int64_t n) {
    products(values, magnitudes, x, y, n);
}

static add_products_fn find_add_products(void) {
    return __builtin_cpu_supports("avx2") ? products_avx2 : products_plain;
}
#else
static add_products_fn find_add_products(void) {
    return products_plain;
}
#endif

/* Bound of a product. What may be anything, an infinity too, gives a NaN with 0. */
static double product_bound(bounded x, double y, double e) {
    if (isinf(x.bound) || isinf(e))
        return HUGE_VAL;
    return reference_product(fabs(x.value), e) + reference_product(x.bound, fabs(y) + e);
}

static void add_weights(const sums *r, double x, const double *y, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        r->weight[j] += x * y[j];
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
    add_products_fn add_products;
    const window_plan *windows; /* of a convolve */
    unit_list list;
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
    const unit_sum sum = {d->r.value[j], d->r.weight[j], d->r.carried[j], steps};
    bounded widest = {sum.value, 0};
    if (!d->list.asked_for)
        widest = accumulated(sum.value, d->r.magnitude[j], sum.carried, (double)steps + 2,
                             accumulator(d->s), d->s->type, d->s->in_type == DTYPE_BF16);
    for (uint32_t i = 0; i < d->list.count; i++) {
        const matrix_unit *unit = d->list.units[i];
        bounded one = reference_unit_sum(unit, &sum, d->s->type);
        *d->s->whole &= sum.weight <= ldexp(1, matrix_unit_whole_bits(unit));
        widest = (bounded){one.value, fmax(widest.bound, one.bound)};
    }
    return widest;
}

/* May a factor of result (row, j) be a NaN? */
static bool meets_nan(const dot_job *d, int64_t row, int64_t b, int64_t j, int64_t steps) {
    bool meets = false;
    for (int64_t k = 0; k < steps && !meets && (d->x.has_nan || d->y.has_nan); k++) {
        int64_t left, right = (b * d->p.k + k) * d->p.n + j;
        if (left_element(d, row, k, &left))
            meets = (d->x.has_nan && ((const double *)d->x.nan.data)[left] != 0) ||
                    (d->y.has_nan && ((const double *)d->y.nan.data)[right] != 0);
    }
    return meets;
}

static void dot_row(const dot_job *d, int64_t b, int64_t m, int64_t steps) {
    int64_t n = d->p.n, row = b * d->p.m + m;
    memset(d->r.value, 0, sizeof(double) * SUMS * (size_t)n);
    for (int64_t k = 0; k < steps; k++) {
        int64_t at, column = (b * d->p.k + k) * n;
        if (!left_element(d, row, k, &at))
            continue;
        const double *y = (const double *)d->y.value.data + column,
                     *e = (const double *)d->y.bound.data + column;
        bounded x = {((const double *)d->x.value.data)[at], ((const double *)d->x.bound.data)[at]};
        d->add_products(d->r.value, d->r.magnitude, x.value, y, n);
        if (d->list.count)
            add_weights(&d->r, ((const double *)d->x.weight.data)[at],
                        (const double *)d->y.weight.data + column, n);
        if (!d->x.exact || !d->y.exact)
            add_errors(&d->r, x, y, e, n);
    }
    for (int64_t j = 0; j < n; j++) {
        bounded r = !isfinite(d->r.magnitude[j] + d->r.carried[j] + d->r.weight[j])
                        ? odd_product(d, row, b, j, steps, accumulator(d->s))
                        : sum_of_products(d, j, steps);
        ((double *)d->s->out->value.data)[row * n + j] = r.value;
        ((double *)d->s->out->bound.data)[row * n + j] = r.bound;
        if (!isinf(r.bound) && meets_nan(d, row, b, j, steps)) {
            enclosure e = enclosure_of(r);
            e.nan = true;
            enclosure_put(d->s->out, row * n + j, r, e, false);
        }
    }
}

static void dot_all(dot_job *d, const interp_step *values) {
    d->r.value = base_malloc(sizeof(double) * SUMS * (size_t)(d->p.n + 1));
    d->r.magnitude = d->r.value + d->p.n;
    d->r.carried = d->r.magnitude + d->p.n;
    d->r.weight = d->r.carried + d->p.n;
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
    dot_job d = {.s = s, .p = interp_dot_plan(&values), .add_products = find_add_products()};
    d.list = units_of(s, &values, accumulator(s));
    if (s->opcode == GRAPH_CONVOLVE) {
        windows = interp_window_plan(&values);
        d.windows = &windows;
    }
    bool ok = permute(s->in[0], &d.list, s->in_type, d.p.x_axes, &d.x, st) &&
              permute(s->in[1], &d.list, s->in_type, d.p.y_axes, &d.y, st);
    if (ok)
        dot_all(&d, &values);
    release(&d.x);
    release(&d.y);
    return ok;
}
