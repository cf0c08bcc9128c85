/* compare.c - element-wise comparison, and mismatches in words. */
#include "check/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tessera/compiler.h"

comparison compare_bits(const tensor *expected, const tensor *got) {
    comparison c = {.count = tensor_count(got), .first = -1};
    if (memcmp(expected->data, got->data, tensor_bytes(got)) == 0)
        return c;
    for (int64_t i = 0; i < c.count; i++) {
        uint64_t a = dtype_load_bits(expected->type, expected->data, (size_t)i);
        uint64_t b = dtype_load_bits(got->type, got->data, (size_t)i);
        if (a == b)
            continue;
        if (c.first < 0)
            c.first = i;
        c.differing++;
        uint64_t ulp = dtype_ulp_distance(got->type, a, b);
        if (ulp > c.max_ulp)
            c.max_ulp = ulp;
    }
    return c;
}

static double largest_finite(dtype type) {
    const dtype_format *f = dtype_format_of(type);
    return f && type != DTYPE_F64 ? f->largest : INFINITY;
}

static bool is_bounded(double bound) {
    return !isinf(bound) && !isnan(bound);
}

/* Error over a finite bound; at most 1 passes. */
static double error_ratio(dtype type, double reference, double bound, double got) {
    if (isnan(reference) || isnan(got))
        return isnan(reference) && isnan(got) ? 0 : INFINITY;
    if (reference == got)
        return 0;
    if (isinf(got) && fabs(reference) + bound >= largest_finite(type) &&
        (got > 0) == (reference > 0))
        return 0;
    /* A reference beyond the type's range stands for an infinity of its sign. */
    if (isinf(got) || isinf(reference))
        return INFINITY;
    double error = fabs(got - reference);
    return bound > 0 ? error / bound : INFINITY;
}

/* From the reference, rounded once to the type. */
static uint64_t ulp_from(const tensor *got, int64_t i, double reference) {
    uint64_t nearest = 0;
    dtype_store(got->type, &nearest, 0, reference);
    uint64_t ulp =
        dtype_ulp_distance(got->type, nearest, dtype_load_bits(got->type, got->data, (size_t)i));
    return ulp == UINT64_MAX ? 0 : ulp;
}

static const double *limits_at(const bound_reference *r, int64_t i) {
    return r->limits && r->limits->data ? (const double *)r->limits->data + i * COMPILER_LIMITS
                                        : NULL;
}

static bool has_strict_bits(const bound_reference *r, const tensor *got, int64_t i) {
    return r->strict && dtype_load_bits(got->type, r->strict->data, (size_t)i) ==
                            dtype_load_bits(got->type, got->data, (size_t)i);
}

/* Is there a bound that says something of such a value? Elsewhere, `excluded` tells whether the
 * limits do not allow it. */
static bool is_judged(const bound_reference *r, int64_t i, double value, bool *excluded) {
    double bound = ((const double *)r->bounds->data)[i];
    const double *limits = limits_at(r, i);
    bool nan_comes = limits && limits[COMPILER_LIMIT_NAN] != 0;
    *excluded = false;
    if (isnan(value))
        return is_bounded(bound) ? !nan_comes : (*excluded = limits && !nan_comes, false);
    if (is_bounded(bound))
        return true;
    *excluded =
        limits && !(value >= limits[COMPILER_LIMIT_LOW] && value <= limits[COMPILER_LIMIT_HIGH]);
    return false;
}

double compare_scale(const tensor *values) {
    const double *v = values->data;
    double sum = 0, count = 0;
    for (int64_t i = 0; i < tensor_count(values); i++)
        if (isfinite(v[i])) {
            sum += v[i] * v[i];
            count++;
        }
    return count > 0 && isfinite(sum) ? sqrt(sum / count) : 0;
}

static bool is_tolerated(const bound_reference *r, double reference, double value) {
    return r->tolerated > 0 && isfinite(reference) && isfinite(value) &&
           fabs(value - reference) <= r->tolerated * fmax(fabs(reference), r->scale);
}

static void judge(const bound_reference *r, const tensor *got, int64_t i, bound_check *c) {
    double reference = ((const double *)r->values->data)[i],
           value = dtype_load(got->type, got->data, (size_t)i), ratio = 0;
    bool excluded;
    if (is_judged(r, i, value, &excluded)) {
        ratio = error_ratio(got->type, reference, ((const double *)r->bounds->data)[i], value);
        uint64_t ulp = ulp_from(got, i, reference);
        c->max_ulp = ulp > c->max_ulp ? ulp : c->max_ulp;
    } else if (!has_strict_bits(r, got, i)) {
        ratio = excluded ? INFINITY : 0;
        c->unjudged += !excluded;
    }
    c->worst = fmax(c->worst, ratio);
    if (ratio <= 1)
        return;
    if (is_tolerated(r, reference, value)) {
        c->tolerated++;
        return;
    }
    if (c->first < 0)
        c->first = i;
    c->beyond++;
}

bound_check compare_bound(const bound_reference *reference, const tensor *got) {
    bound_check c = {.count = tensor_count(got), .first = -1};
    for (int64_t i = 0; i < c.count; i++)
        judge(reference, got, i, &c);
    return c;
}

static void describe_index(const tensor *t, int64_t flat, text *out) {
    int64_t index[TENSOR_MAX_RANK];
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        index[axis] = flat % t->dims[axis];
        flat /= t->dims[axis];
    }
    text_append_char(out, '[');
    for (int axis = 0; axis < t->rank; axis++)
        text_printf(out, "%s%" PRId64, axis ? ", " : "", index[axis]);
    text_append_char(out, ']');
}

static void describe_value(const tensor *t, int64_t flat, text *out) {
    int digits = (int)dtype_size(t->type) * 2;
    text_printf(out, "%.9g (0x%0*" PRIx64 ")", dtype_load(t->type, t->data, (size_t)flat), digits,
                dtype_load_bits(t->type, t->data, (size_t)flat));
}

/* ---- what is promised ---- */

range_check compare_range(const tensor *got, double low, double high) {
    range_check c = {0, -1, -1, 0};
    for (int64_t i = tensor_count(got) - 1; i >= 0; i--) {
        double value = dtype_load(got->type, got->data, (size_t)i);
        if (value >= low && value <= high)
            continue;
        const double off = value < low ? low - value : value > high ? value - high : INFINITY;
        if (off >= c.distance) {
            c.worst = i;
            c.distance = off;
        }
        c.first = i;
        c.beyond++;
    }
    return c;
}

range_check compare_finite(const tensor *reference, const tensor *got) {
    range_check c = {0, -1, -1, 0};
    const double *references = reference ? reference->data : NULL;
    for (int64_t i = tensor_count(got) - 1; i >= 0; i--) {
        if (isfinite(dtype_load(got->type, got->data, (size_t)i)) ||
            (references && !isfinite(references[i])))
            continue;
        c.first = i;
        c.beyond++;
    }
    return c;
}

void compare_describe_value(const char *name, const tensor *got, int64_t flat, text *out) {
    text_printf(out, "output %s", name);
    describe_index(got, flat, out);
    text_append(out, " is ");
    describe_value(got, flat, out);
}

/* ---- in words ---- */

void compare_describe(const char *name, const tensor *expected, const tensor *got,
                      const comparison *c, text *out) {
    uint64_t ulp = dtype_ulp_distance(
        got->type, dtype_load_bits(expected->type, expected->data, (size_t)c->first),
        dtype_load_bits(got->type, got->data, (size_t)c->first));
    text_printf(out, "output %s", name);
    describe_index(got, c->first, out);
    text_append(out, ": expected ");
    describe_value(expected, c->first, out);
    text_append(out, ", got ");
    describe_value(got, c->first, out);
    if (ulp == UINT64_MAX)
        text_append(out, ", a NaN against a number");
    else
        text_printf(out, ", %" PRIu64 " ULP apart", ulp);
    text_printf(out, "; %" PRId64 " of %" PRId64 " differ", c->differing, c->count);
}

static void describe_expected(const bound_reference *r, int64_t i, text *out) {
    double bound = ((const double *)r->bounds->data)[i];
    const double *limits = limits_at(r, i);
    if (is_bounded(bound) || !limits)
        text_printf(out, "%.17g within %.3g", ((const double *)r->values->data)[i], bound);
    else
        text_printf(out, "from %.9g to %.9g", limits[COMPILER_LIMIT_LOW],
                    limits[COMPILER_LIMIT_HIGH]);
    if (limits && limits[COMPILER_LIMIT_NAN] != 0)
        text_append(out, " or a NaN");
}

void compare_describe_bound(const char *name, const bound_reference *reference, const tensor *got,
                            const bound_check *c, text *out) {
    text_printf(out, "output %s", name);
    describe_index(got, c->first, out);
    text_append(out, ": expected ");
    describe_expected(reference, c->first, out);
    text_append(out, ", got ");
    describe_value(got, c->first, out);
    text_printf(out, "; %" PRId64 " of %" PRId64 " are outside their bound, the worst %.3g times",
                c->beyond, c->count, c->worst);
}
