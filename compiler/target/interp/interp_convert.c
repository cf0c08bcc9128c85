/* interp_convert.c - between tensors and working arrays, and the conversions between element types.
 */
#include <math.h>
#include <string.h>

#include "target/interp/interp.h"

/* ---- tensor to working array ---- */

void interp_load_f32(const tensor *t, int64_t first, int64_t count, float *out) {
    const uint16_t *narrow = (const uint16_t *)t->data + first;
    if (t->type == DTYPE_F32)
        memcpy(out, (const float *)t->data + first, sizeof *out * (size_t)count);
    for (int64_t i = 0; t->type == DTYPE_F16 && i < count; i++)
        out[i] = f16_to_f32(narrow[i]);
    for (int64_t i = 0; t->type == DTYPE_BF16 && i < count; i++)
        out[i] = bf16_to_f32(narrow[i]);
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
    int unused = 64 - 8 * (int)dtype_size(t->type);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = dtype_load_bits(t->type, t->data, (size_t)(first + i));
        out[i] = t->type == DTYPE_BOOL ? bits != 0 : (int64_t)(bits << unused) >> unused;
    }
}

/* ---- working array to tensor ---- */

void interp_store_f32(tensor *t, int64_t first, int64_t count, const float *in) {
    if (t->type == DTYPE_F32) {
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
        int64_t value = t->type == DTYPE_BOOL ? in[i] != 0 : in[i];
        memcpy(out, &value, size); /* little endian: the low bytes, which is wrapping */
    }
}

/* ---- conversion ---- */

/* A double that rounds to any float type as `value` itself would: beyond 53 bits, rounded to odd.
 */
static double widened(int64_t value) {
    if (value > -(INT64_C(1) << 53) && value < INT64_C(1) << 53)
        return (double)value;
    int64_t odd = (value >> 11) | ((value & 2047) != 0);
    return (double)odd * 2048.0;
}

static void convert_integer(const tensor *in, tensor *out, int64_t i) {
    int64_t value;
    interp_load_i64(in, i, 1, &value);
    if (!dtype_is_float(out->type))
        interp_store_i64(out, i, 1, &value);
    else if (out->type == DTYPE_F64)
        dtype_store(DTYPE_F64, out->data, (size_t)i, (double)value);
    else
        dtype_store(out->type, out->data, (size_t)i, widened(value));
}

static void convert_float(const tensor *in, tensor *out, int64_t i) {
    double value = dtype_load(in->type, in->data, (size_t)i);
    dtype_store(out->type, out->data, (size_t)i, value);
}

void interp_convert(const tensor *in, tensor *out) {
    int64_t count = tensor_count(in);
    bool from_float = dtype_is_float(in->type);
    for (int64_t i = 0; i < count; i++) {
        if (from_float)
            convert_float(in, out, i);
        else
            convert_integer(in, out, i);
    }
}

/* Every NaN becomes the quiet NaN of its type (docs/numerics.md). */
void interp_canonical(tensor *t) {
    static const struct {
        uint64_t infinity, nan;
    } rows[DTYPE_COUNT] = {[DTYPE_F64] = {0x7ff0000000000000u, 0x7ff8000000000000u},
                           [DTYPE_F32] = {0x7f800000u, 0x7fc00000u},
                           [DTYPE_F16] = {0x7c00u, 0x7e00u},
                           [DTYPE_BF16] = {0x7f80u, 0x7fc0u}};
    size_t size = dtype_size(t->type);
    uint64_t magnitude = (UINT64_C(1) << (8 * size - 1)) - 1, infinity = rows[t->type].infinity;
    int64_t count = infinity ? tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++)
        if ((dtype_load_bits(t->type, t->data, (size_t)i) & magnitude) > infinity)
            memcpy((unsigned char *)t->data + (size_t)i * size, &rows[t->type].nan, size);
}
