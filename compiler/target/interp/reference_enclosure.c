/* reference_enclosure.c - interval arithmetic that knows of roundings, infinities and NaNs. */
#include "target/interp/reference_enclosure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

enum { PARTS = 3 }; /* low, high, nan */

enclosure enclosure_unknown(void) {
    return (enclosure){-HUGE_VAL, HUGE_VAL, true};
}

static enclosure nothing(bool nan) {
    return (enclosure){HUGE_VAL, -HUGE_VAL, nan};
}

static bool is_empty(enclosure x) {
    return x.low > x.high;
}

static bool holds_zero(enclosure x) {
    return x.low <= 0 && x.high >= 0;
}

static bool holds_infinity(enclosure x) {
    return !is_empty(x) && (isinf(x.low) || isinf(x.high));
}

/* Neither below 0 nor -0. */
static bool is_positive(enclosure x) {
    return x.low > 0 || (x.low == 0 && !signbit(x.low));
}

static enclosure with_zero(enclosure x, bool positive) {
    if (x.low == 0)
        x.low = positive ? 0.0 : -0.0;
    return x;
}

enclosure enclosure_of(bounded x) {
    if (reference_is_nan(x))
        return nothing(true);
    if (isnan(x.bound) || isinf(x.bound))
        return enclosure_unknown();
    enclosure e = {x.value, x.value, false};
    if (x.bound > 0)
        e = (enclosure){nextafter(x.value - x.bound, -HUGE_VAL),
                        nextafter(x.value + x.bound, HUGE_VAL), false};
    return with_zero(e, false);
}

enclosure enclosure_hull(enclosure a, enclosure b) {
    enclosure e = {fmin(a.low, b.low), fmax(a.high, b.high), a.nan || b.nan};
    return with_zero(e, is_positive(a) && is_positive(b));
}

enclosure enclosure_meet(enclosure a, enclosure b) {
    enclosure e = {fmax(a.low, b.low), fmin(a.high, b.high), b.nan};
    if (is_empty(e))
        e = (enclosure){a.low, a.high, b.nan};
    return with_zero(e, is_positive(a) || is_positive(b));
}

bool enclosure_is_finite(enclosure x) {
    return isfinite(x.low) && isfinite(x.high);
}

/* ---- roundings ---- */

enclosure enclosure_rounded(enclosure x, dtype type, double roundings, bool saturate) {
    const dtype_format *f = dtype_format_of(type);
    double u = roundings * reference_roundoff(type), h = roundings * f->spacing;
    double limit = type == DTYPE_F64 ? DBL_MAX : f->largest;
    bool clamps = saturate || !f->infinity;
    enclosure e = x;
    if (is_empty(x))
        return x;
    if (isfinite(x.low))
        e.low -= u * fabs(x.low) + h;
    if (isfinite(x.high))
        e.high += u * fabs(x.high) + h;
    if (x.low >= 0 && !(e.low > 0))
        e.low = x.low == 0 ? x.low : 0;
    if (x.high <= 0 && !(e.high < 0))
        e.high = 0;
    if (x.low != HUGE_VAL || clamps)
        e.low = e.low > limit ? limit : e.low < -limit ? clamps ? -limit : -HUGE_VAL : e.low;
    if (x.high != -HUGE_VAL || clamps)
        e.high = e.high < -limit ? -limit : e.high > limit ? clamps ? limit : HUGE_VAL : e.high;
    return e;
}

/* ---- arithmetic ---- */

static enclosure negated(enclosure x) {
    return is_empty(x) ? x : with_zero((enclosure){-x.high, -x.low, x.nan}, false);
}

static enclosure added(enclosure a, enclosure b) {
    bool nan = a.nan || b.nan;
    if (is_empty(a) || is_empty(b))
        return nothing(nan);
    bool opposed =
        (a.high == HUGE_VAL && b.low == -HUGE_VAL) || (a.low == -HUGE_VAL && b.high == HUGE_VAL);
    enclosure e = {a.low + b.low, a.high + b.high, nan || opposed};
    if (isnan(e.low))
        e.low = -HUGE_VAL;
    if (isnan(e.high))
        e.high = HUGE_VAL;
    return e;
}

static void widen(enclosure *e, double value) {
    if (isnan(value))
        return;
    e->low = fmin(e->low, value);
    e->high = fmax(e->high, value);
}

static enclosure multiplied(enclosure a, enclosure b) {
    bool nan = a.nan || b.nan;
    if (is_empty(a) || is_empty(b))
        return nothing(nan);
    nan |= (holds_zero(a) && holds_infinity(b)) || (holds_zero(b) && holds_infinity(a));
    enclosure e = nothing(nan);
    widen(&e, reference_product(a.low, b.low));
    widen(&e, reference_product(a.low, b.high));
    widen(&e, reference_product(a.high, b.low));
    widen(&e, reference_product(a.high, b.high));
    return with_zero(e, is_positive(a) && is_positive(b));
}

static enclosure magnitude(enclosure x) {
    if (is_empty(x))
        return x;
    double low = fabs(x.low), high = fabs(x.high);
    return (enclosure){holds_zero(x) ? 0.0 : fmin(low, high), fmax(low, high), x.nan};
}

/* 0 by what may be 0 is 0 or a NaN; anything else by it has the sign of a 0 that is known alone. */
static enclosure divided(enclosure a, enclosure b) {
    bool nan = a.nan || b.nan;
    if (is_empty(a) || is_empty(b))
        return nothing(nan);
    nan |= (holds_infinity(a) && holds_infinity(b)) || (holds_zero(a) && holds_zero(b));
    if (a.low == 0 && a.high == 0)
        return (enclosure){-0.0, 0, nan};
    if (holds_zero(b) && !is_positive(b))
        return (enclosure){-HUGE_VAL, HUGE_VAL, nan};
    enclosure e = nothing(nan);
    widen(&e, a.low / b.low);
    widen(&e, a.low / b.high);
    widen(&e, a.high / b.low);
    widen(&e, a.high / b.high);
    if (holds_zero(a))
        widen(&e, 0);
    return with_zero(e, is_positive(a) && is_positive(b));
}

static enclosure extreme(enclosure a, enclosure b, bool greatest) {
    bool nan = a.nan || b.nan;
    if (is_empty(a) || is_empty(b))
        return nothing(nan);
    enclosure e = greatest ? (enclosure){fmax(a.low, b.low), fmax(a.high, b.high), nan}
                           : (enclosure){fmin(a.low, b.low), fmin(a.high, b.high), nan};
    return with_zero(e, is_positive(a) && is_positive(b));
}

/* The product may be rounded by itself. */
static enclosure fused(const enclosure *x, dtype type) {
    dtype wide = type == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    return added(enclosure_rounded(multiplied(x[0], x[1]), wide, 1, false), x[2]);
}

/* ---- functions ---- */

/* A reciprocal square root falls, and has the sign of the 0 that it is infinite at. */
static enclosure reciprocal_root(enclosure x) {
    if (is_empty(x) || x.high < 0)
        return nothing(true);
    if (!is_positive(x))
        return (enclosure){-HUGE_VAL, HUGE_VAL, x.nan || x.low < 0};
    return (enclosure){1 / sqrt(x.high), 1 / sqrt(x.low), x.nan};
}

static enclosure rising(int opcode, enclosure x) {
    double begin = reference_begin(opcode);
    if (is_empty(x) || x.high < begin)
        return nothing(true);
    enclosure e = {x.low, x.high, x.nan || x.low < begin};
    if (x.low < begin)
        e.low = begin == 0 ? -0.0 : begin;
    e.low = reference_function(opcode, e.low - reference_operand_error(opcode, DTYPE_F32, e.low));
    e.high =
        reference_function(opcode, e.high + reference_operand_error(opcode, DTYPE_F32, e.high));
    if (e.low < reference_flushed_below(opcode, DTYPE_F32))
        e.low = fmin(e.low, 0);
    return isnan(e.low) || isnan(e.high) ? enclosure_unknown() : e;
}

static enclosure wave(enclosure x) {
    return is_empty(x) ? x : (enclosure){-1, 1, x.nan || holds_infinity(x)};
}

/* Monotone in both, from a base of 0 on; by an even number, in the base's magnitude. */
static enclosure power(enclosure x, enclosure y) {
    bool nan = x.nan || y.nan, even = y.low == y.high && fmod(y.low, 2) == 0;
    enclosure e = nothing(nan), base = even ? magnitude(x) : x;
    if (nan || is_empty(x) || is_empty(y) || !is_positive(base))
        return enclosure_unknown();
    widen(&e, pow(base.low, y.low));
    widen(&e, pow(base.low, y.high));
    widen(&e, pow(base.high, y.low));
    widen(&e, pow(base.high, y.high));
    return with_zero(e, true);
}

static enclosure direction(enclosure y, enclosure x) {
    const double half_turn = 0x1.921fb54442d19p1;
    bool nan = x.nan || y.nan;
    return is_empty(x) || is_empty(y) ? nothing(nan) : (enclosure){-half_turn, half_turn, nan};
}

enclosure enclosure_operate(int opcode, const enclosure *x, bool same, dtype type) {
    switch (opcode) {
    case GRAPH_NEG:
        return negated(x[0]);
    case GRAPH_ABS:
        return magnitude(x[0]);
    case GRAPH_ADD:
        return added(x[0], x[1]);
    case GRAPH_SUB:
        return added(x[0], negated(x[1]));
    case GRAPH_MUL:
        return same ? multiplied(magnitude(x[0]), magnitude(x[0])) : multiplied(x[0], x[1]);
    case GRAPH_DIV:
        return divided(x[0], x[1]);
    case GRAPH_MAXIMUM:
    case GRAPH_MINIMUM:
        return extreme(x[0], x[1], opcode == GRAPH_MAXIMUM);
    case GRAPH_FMA:
        return fused(x, type);
    case GRAPH_SIN:
    case GRAPH_COS:
        return wave(x[0]);
    case GRAPH_POW:
        return power(x[0], x[1]);
    case GRAPH_ATAN2:
        return direction(x[0], x[1]);
    case GRAPH_RSQRT:
        return reciprocal_root(x[0]);
    default:
        return rising(opcode, x[0]);
    }
}

/* ---- sums ---- */

enclosure_sum enclosure_sum_begin(void) {
    return (enclosure_sum){.low = -0.0, .not_negative = true, .not_positive = true};
}

void enclosure_sum_add(enclosure_sum *sum, enclosure x) {
    sum->nan |= x.nan;
    if (is_empty(x))
        return;
    sum->up |= x.high == HUGE_VAL;
    sum->down |= x.low == -HUGE_VAL;
    sum->not_negative &= x.low >= 0;
    sum->not_positive &= x.high <= 0;
    sum->low += x.low;
    sum->high += x.high;
    sum->reach += fmax(fabs(x.low), fabs(x.high));
    sum->count += 1;
}

/* Terms of one sign overflow to that side alone; of both signs, an order may overflow on its way to
 * either, and then meet the other infinity. */
enclosure enclosure_sum_end(const enclosure_sum *sum, dtype wide, dtype result) {
    const dtype_format *f = dtype_format_of(wide);
    double n = sum->count + 1;
    double own = reference_product(reference_gamma(n, reference_roundoff(wide)), sum->reach) +
                 n * f->spacing;
    bool overflows = !(sum->reach + own <= f->largest);
    enclosure e = {sum->low - own, sum->high + own, sum->nan || (sum->up && sum->down)};
    if (overflows && !sum->not_negative && !sum->not_positive)
        return enclosure_unknown();
    if (overflows || isnan(e.low) || isnan(e.high))
        e = (enclosure){sum->not_negative ? fmin(fmax(sum->low - own, 0), f->largest) : -HUGE_VAL,
                        sum->not_positive ? fmax(fmin(sum->high + own, 0), -f->largest) : HUGE_VAL,
                        e.nan};
    if (isnan(e.low) || isnan(e.high))
        return enclosure_unknown();
    if (sum->not_negative && !(e.low > 0))
        e.low = sum->low == 0 ? sum->low : 0;
    if (sum->not_positive && !(e.high < 0))
        e.high = 0;
    return enclosure_rounded(e, result, result == wide ? 0 : 1, false);
}

/* ---- of a tensor's elements ---- */

void enclosure_allocate(reference_value *v) {
    int64_t count = tensor_count(&v->bound);
    v->limits = base_malloc(sizeof(double) * PARTS * (size_t)(count + 1));
    for (int64_t i = 0; i < PARTS * count; i++)
        v->limits[i] = NAN;
}

bool enclosure_kept(const reference_value *v, int64_t i) {
    return v->limits && !isnan(v->limits[i]);
}

enclosure enclosure_at(const reference_value *v, int64_t i) {
    int64_t count = tensor_count(&v->bound);
    double value;
    interp_load_f64(&v->value, i, 1, &value); /* integers are no f64 */
    if (!enclosure_kept(v, i))
        return enclosure_of((bounded){value, ((const double *)v->bound.data)[i]});
    return (enclosure){v->limits[i], v->limits[count + i], v->limits[2 * count + i] != 0};
}

void enclosure_keep(reference_value *v, int64_t i, enclosure x) {
    int64_t count = tensor_count(&v->bound);
    if (!v->limits)
        enclosure_allocate(v);
    v->limits[i] = x.low;
    v->limits[count + i] = x.high;
    v->limits[2 * count + i] = x.nan;
}

void enclosure_forget(reference_value *v, int64_t i) {
    if (v->limits)
        v->limits[i] = NAN;
}

/* Around the reference where that is within, else around the middle: a root of what is 0 but for
 * roundings is no NaN for that a product was below 0. */
static bounded bounded_by(bounded r, enclosure e) {
    double value = r.value >= e.low && r.value <= e.high ? r.value : e.low / 2 + e.high / 2;
    return (bounded){value, fmax(value - e.low, e.high - value)};
}

void enclosure_put(reference_value *v, int64_t i, bounded r, enclosure e, bool may_bound) {
    bool certain = isnan(r.value) && !isinf(r.bound);
    if (isinf(r.bound) && may_bound && enclosure_is_finite(e))
        r = bounded_by(r, e);
    if (isinf(r.bound) && isnan(r.value))
        e.nan = true;
    if (!isinf(r.bound))
        e = enclosure_meet(enclosure_of(r), e);
    bool sign = r.bound > 0 && fabs(r.value) <= r.bound && (e.low >= 0 || e.high <= 0);
    ((double *)v->value.data)[i] = r.value;
    ((double *)v->bound.data)[i] = r.bound;
    if (!certain && (isinf(r.bound) || e.nan || sign))
        enclosure_keep(v, i, e);
}

void enclosure_views(const reference_value *v, tensor views[3], double **room) {
    int64_t count = tensor_count(&v->bound);
    reference_value none = *v;
    *room = NULL;
    if (!v->limits) {
        enclosure_allocate(&none);
        *room = none.limits;
    }
    for (int part = 0; part < PARTS; part++) {
        views[part] = v->bound;
        views[part].data = none.limits + part * count;
    }
}
