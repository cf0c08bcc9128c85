/* interp_convert.c - between tensors and working arrays, and the conversions between element types.
 */
#include <math.h>
#include <string.h>

#include "target/interp/interp.h"

/* ---- tensor to working array ---- */

void interp_load_f32(const tensor *t, int64_t first, int64_t count, float *out) {
    if (dtype_stored_as(t->type) == DTYPE_F32) {
        memcpy(out, (const float *)t->data + first, sizeof *out * (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = narrow_to_f32(t->type,
                               (uint32_t)dtype_load_bits(t->type, t->data, (size_t)(first + i)));
}

void interp_load_f64(const tensor *t, int64_t first, int64_t count, double *out) {
    if (t->type == DTYPE_F64) {
        memcpy(out, (const double *)t->data + first, sizeof *out * (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = dtype_load(t->type, t->data, (size_t)(first + i));
}

void interp_load_i64(const tensor *t, int64_t first, int64_t count, int64_t *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = dtype_integer(t->type, dtype_load_bits(t->type, t->data, (size_t)(first + i)));
}

/* ---- working array to tensor ---- */

void interp_store_f32(tensor *t, int64_t first, int64_t count, const float *in) {
    if (dtype_stored_as(t->type) == DTYPE_F32) {
        memcpy((float *)t->data + first, in, sizeof *in * (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)(first + i), (double)in[i]);
}

void interp_store_f64(tensor *t, int64_t first, int64_t count, const double *in) {
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)(first + i), in[i]);
}

void interp_store_i64(tensor *t, int64_t first, int64_t count, const int64_t *in) {
    size_t size = dtype_size(t->type);
    unsigned char *out = (unsigned char *)t->data + (size_t)first * size;
    for (int64_t i = 0; i < count; i++, out += size) {
        uint64_t bits = dtype_wrap(t->type, in[i]);
        memcpy(out, &bits, size);
    }
}

/* ---- conversion ---- */

/* A double that rounds to any float type as `value` itself would: beyond 53 bits, rounded to odd.
 */
static double widened(dtype type, int64_t value) {
    const int64_t last = INT64_C(1) << 53;
    if (value < last && value > (dtype_is_unsigned(type) ? -1 : -last))
        return (double)value;
    int64_t high = dtype_is_unsigned(type) ? (int64_t)((uint64_t)value >> 11) : value >> 11;
    return (double)(high | ((value & 2047) != 0)) * 2048.0;
}

static int64_t clamped(dtype from, int64_t value, dtype type) {
    int64_t lowest = dtype_lowest(type), highest = dtype_highest(type);
    if (value < 0 && !dtype_is_unsigned(from))
        return value < lowest ? lowest : value;
    return (uint64_t)value > (uint64_t)highest ? highest : value;
}

static void convert_integer(const tensor *in, tensor *out, int64_t i, bool saturate) {
    int64_t value;
    interp_load_i64(in, i, 1, &value);
    if (!dtype_is_float(out->type)) {
        value = saturate ? clamped(in->type, value, out->type) : value;
        interp_store_i64(out, i, 1, &value);
        return;
    }
    double wide =
        out->type == DTYPE_F64 ? dtype_integer_value(in->type, value) : widened(in->type, value);
    (saturate ? dtype_store_saturated : dtype_store)(out->type, out->data, (size_t)i, wide);
}

static void convert_float(const tensor *in, tensor *out, int64_t i, bool saturate) {
    double value = dtype_load(in->type, in->data, (size_t)i);
    (saturate ? dtype_store_saturated : dtype_store)(out->type, out->data, (size_t)i, value);
}

void interp_convert(const tensor *in, tensor *out, bool saturate) {
    int64_t count = tensor_count(in);
    bool from_float = dtype_is_float(in->type);
    for (int64_t i = 0; i < count; i++)
        (from_float ? convert_float : convert_integer)(in, out, i, saturate);
}

/* Every NaN becomes the quiet NaN of its type (docs/numerics.md). */
void interp_canonical(tensor *t) {
    const dtype_format *f = dtype_format_of(t->type);
    size_t size = dtype_size(t->type);
    int64_t count = f ? tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++)
        if (dtype_is_nan(t->type, dtype_load_bits(t->type, t->data, (size_t)i)))
            memcpy((unsigned char *)t->data + (size_t)i * size, &f->nan, size);
}
