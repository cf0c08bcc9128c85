/* describe.c - counts, the first difference, the histogram. */
#include "diff/describe.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "diff/array.h"

void describe_index(int rank, const int64_t *dims, int64_t flat, text *out) {
    int64_t index[TENSOR_MAX_RANK];
    elements_index(rank, dims, flat, index);
    text_append_char(out, '[');
    for (int axis = 0; axis < rank; axis++)
        text_show(out, "%s%" PRId64, axis ? ", " : "", index[axis]);
    text_append_char(out, ']');
}

void describe_value(dtype type, uint64_t bits, text *out) {
    if (type == DTYPE_U64)
        text_show(out, "%" PRIu64, bits);
    else if (dtype_is_integer(type))
        text_show(out, "%" PRId64, dtype_integer(type, bits));
    else
        text_show(out, type == DTYPE_F64 ? "%.17g" : "%.9g", dtype_load(type, &bits, 0));
}

void describe_bits(dtype type, uint64_t bits, text *out) {
    text_show(out, "0x%0*" PRIx64, (int)dtype_size(type) * 2, bits);
}

static void side(const element_pair *p, const char *name, uint64_t bits, const char *indent,
                 text *out) {
    size_t a = strlen(p->a_name), b = strlen(p->b_name);
    text value;
    text_init(&value);
    describe_value(p->type, bits, &value);
    text_show(out, "%s  %-*s  %-24s ", indent, (int)(a > b ? a : b), name, value.data);
    describe_bits(p->type, bits, out);
    text_append_char(out, '\n');
    text_release(&value);
}

static bool is_infinite(dtype type, uint64_t a, uint64_t b) {
    return dtype_is_float(type) && isinf(dtype_load(type, &a, 0) - dtype_load(type, &b, 0));
}

static void distance(dtype type, uint64_t a, uint64_t b, text *out) {
    uint64_t ulp = dtype_ulp_distance(type, a, b);
    if (dtype_is_float(type) && ulp == UINT64_MAX)
        text_append(out, "a NaN against a number");
    else if (dtype_is_float(type) && ulp == 0)
        text_append(out, "zeros of different sign");
    else
        text_show(out, "%" PRIu64 "%s apart%s", ulp, dtype_is_float(type) ? " ULP" : "",
                  is_infinite(type, a, b) ? ", an infinite difference" : "");
}

static void first_difference(const element_pair *p, const char *indent, text *out) {
    const element_diff *d = p->found;
    text_show(out, "%sfirst difference at ", indent);
    describe_index(p->rank, p->dims, d->first, out);
    text_show(out, " (element %" PRId64 "): ", d->first);
    distance(p->type, d->first_a, d->first_b, out);
    text_append_char(out, '\n');
    side(p, p->a_name, d->first_a, indent, out);
    side(p, p->b_name, d->first_b, indent, out);
}

static void greatest(const element_pair *p, text *out) {
    const element_diff *d = p->found;
    if (d->max_ulp_at < 0)
        return;
    text_show(out, "; at most %" PRIu64 "%s", d->max_ulp, dtype_is_float(p->type) ? " ULP" : "");
    if (d->max_ulp_at != d->first) {
        text_append(out, " at ");
        describe_index(p->rank, p->dims, d->max_ulp_at, out);
    }
    if (dtype_is_float(p->type) && !d->infinite)
        text_show(out, ", %.3g absolute", d->max_absolute);
    if (d->infinite)
        text_show(out, "; %" PRId64 " infinite difference%s, else %.3g absolute", d->infinite,
                  d->infinite == 1 ? "" : "s", d->max_absolute);
}

static void indented(const text *lines, const char *indent, text *out) {
    for (const char *line = lines->data; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        text_append(out, indent);
        text_append_bytes(out, line, length);
        line += length;
    }
}

void describe_first(const element_pair *p, const char *indent, text *out) {
    const element_diff *d = p->found;
    text_append(out, indent);
    array_describe_shape(p->type, p->rank, p->dims, out);
    if (d->count == 0) {
        text_append(out, ": equal, no elements\n");
    } else if (d->differing == 0) {
        text_show(out, ": equal, all %" PRId64 " elements\n", d->count);
    } else {
        text_show(out, ": %" PRId64 " of %" PRId64 " elements differ (%.3g %%)", d->differing,
                  d->count, 100 * (double)d->differing / (double)d->count);
        greatest(p, out);
        text_append_char(out, '\n');
        first_difference(p, indent, out);
    }
    if (d->nan_payloads)
        text_show(out, "%s%" PRId64 " pair%s of NaN with other bits; a NaN equals any NaN\n",
                  indent, d->nan_payloads, d->nan_payloads == 1 ? "" : "s");
}

void describe_elements(const element_pair *p, const char *indent, text *out) {
    text bars;
    describe_first(p, indent, out);
    text_init(&bars);
    histogram_draw(p->found->histogram, dtype_is_float(p->type), &bars);
    indented(&bars, indent, out);
    text_release(&bars);
}

/* ---- JSON ---- */

static json_t *value_json(dtype type, uint64_t bits) {
    double value = dtype_load(type, &bits, 0);
    text hex;
    text_init(&hex);
    describe_bits(type, bits, &hex);
    json_t *number = isfinite(value) ? json_real(value) : json_null();
    if (!dtype_is_float(type)) {
        json_decref(number);
        number = type == DTYPE_U64 && bits > INT64_MAX
                     ? json_real(value)
                     : json_integer((json_int_t)dtype_integer(type, bits));
    }
    json_t *object = json_pack("{s:o, s:s}", "value", number, "bits", hex.data);
    text_release(&hex);
    return object;
}

/* Distances above 2^63 exist between integers only. */
static json_t *ulp_json(const element_diff *d) {
    if (d->max_ulp_at < 0)
        return json_null();
    return d->max_ulp > INT64_MAX ? json_real((double)d->max_ulp)
                                  : json_integer((json_int_t)d->max_ulp);
}

static json_t *first_json(const element_pair *p) {
    const element_diff *d = p->found;
    if (d->first < 0)
        return json_null();
    int64_t index[TENSOR_MAX_RANK];
    elements_index(p->rank, p->dims, d->first, index);
    json_t *list = json_array();
    for (int axis = 0; axis < p->rank; axis++)
        json_array_append_new(list, json_integer(index[axis]));
    return json_pack("{s:o, s:I, s:o, s:o}", "index", list, "flat", (json_int_t)d->first, "a",
                     value_json(p->type, d->first_a), "b", value_json(p->type, d->first_b));
}

json_t *describe_elements_json(const element_pair *p) {
    const element_diff *d = p->found;
    json_t *shape = json_array(), *buckets = json_object();
    for (int axis = 0; axis < p->rank; axis++)
        json_array_append_new(shape, json_integer(p->dims[axis]));
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        text label;
        text_init(&label);
        histogram_label(i, &label);
        if (d->histogram[i])
            json_object_set_new(buckets, label.data, json_integer((json_int_t)d->histogram[i]));
        text_release(&label);
    }
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o}", "type",
                     dtype_name(p->type), "shape", shape, "elements", (json_int_t)d->count,
                     "differing", (json_int_t)d->differing, "nan_payloads",
                     (json_int_t)d->nan_payloads, "max_ulp", ulp_json(d), "max_absolute",
                     d->infinite ? json_null() : json_real(d->max_absolute), "infinite_differences",
                     (json_int_t)d->infinite, "first", first_json(p), "histogram", buckets);
}
