/* compare.c - element-wise comparison, and mismatches in words. */
#include "check/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* Error over bound; at most 1 passes. */
static double error_ratio(dtype type, double reference, double bound, double got) {
    if (isinf(bound)) /* nothing is promised, not even a number */
        return 0;
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

bound_check compare_bound(const tensor *reference, const tensor *bound, const tensor *got) {
    bound_check c = {.count = tensor_count(got), .first = -1};
    const double *references = reference->data, *bounds = bound->data;
    for (int64_t i = 0; i < c.count; i++) {
        double ratio = error_ratio(got->type, references[i], bounds[i],
                                   dtype_load(got->type, got->data, (size_t)i));
        uint64_t ulp = isinf(bounds[i]) ? 0 : ulp_from(got, i, references[i]);
        if (ratio > c.worst)
            c.worst = ratio;
        if (ulp > c.max_ulp)
            c.max_ulp = ulp;
        if (ratio <= 1)
            continue;
        if (c.first < 0)
            c.first = i;
        c.beyond++;
    }
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
    range_check c = {0, -1};
    for (int64_t i = tensor_count(got) - 1; i >= 0; i--) {
        double value = dtype_load(got->type, got->data, (size_t)i);
        if (value >= low && value <= high)
            continue;
        c.first = i;
        c.beyond++;
    }
    return c;
}

range_check compare_finite(const tensor *reference, const tensor *got) {
    range_check c = {0, -1};
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

void compare_describe_bound(const char *name, const tensor *reference, const tensor *bound,
                            const tensor *got, const bound_check *c, text *out) {
    const double *references = reference->data, *bounds = bound->data;
    text_printf(out, "output %s", name);
    describe_index(got, c->first, out);
    text_printf(out, ": expected %.17g within %.3g, got ", references[c->first], bounds[c->first]);
    describe_value(got, c->first, out);
    text_printf(out, "; %" PRId64 " of %" PRId64 " are outside their bound, the worst %.3g times",
                c->beyond, c->count, c->worst);
}
