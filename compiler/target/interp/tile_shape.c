/* tile_shape.c - operations of tile_run that move elements within tiles, and those that put them
 * together: folds, scans, and products of groups. */
#include <math.h>
#include <string.h>

#include "target/interp/tile_walk.h"

static char *element(const tensor *t, int64_t r, int64_t c) {
    return (char *)t->data + (size_t)(r * t->dims[1] + c) * dtype_size(t->type);
}

/* A part of a tile, as a tile of its own. */
static bool part_of(const tensor *x, int64_t first, int64_t columns, tensor *out, status *st) {
    const int64_t dims[] = {x->dims[0], columns};
    if (!tensor_init(out, x->type, 2, dims, st))
        return false;
    for (int64_t r = 0; r < dims[0]; r++)
        memcpy(element(out, r, 0), element(x, r, first), (size_t)columns * dtype_size(x->type));
    return true;
}

static void copy_columns(const tensor *x, tensor *out, int64_t first) {
    for (int64_t r = 0; r < x->dims[0]; r++)
        memcpy(element(out, r, first), element(x, r, 0), (size_t)x->dims[1] * dtype_size(x->type));
}

static void fill(tensor *t, uint64_t bits) {
    for (int64_t i = 0; i < tensor_count(t); i++)
        memcpy((char *)t->data + (size_t)i * dtype_size(t->type), &bits, dtype_size(t->type));
}

static uint64_t value_bits(const tile_walker *w, ir_op op) {
    return ir_attr_get(w->m, ir_op_attr(w->m, op, "value"))->bits;
}

/* ---- put together ---- */

/* The parts side by side, halved until one column is left. */
static bool fold(tile_walker *w, ir_op op, tensor *out) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const char *kind = ir_op_string(w->m, op, "kind", "");
    int64_t columns = 0, first = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        columns += tile_operand(w, d, i)->tile.dims[1];
    const int64_t dims[] = {out->dims[0], columns};
    tensor all;
    if ((columns & (columns - 1)) != 0 || !tensor_init(&all, out->type, 2, dims, w->st))
        return tile_unavailable(w, op);
    for (uint32_t i = 0; i < d->operand_count; first += tile_operand(w, d, i)->tile.dims[1], i++)
        copy_columns(&tile_operand(w, d, i)->tile, &all, first);
    bool ok = true;
    for (int64_t half = columns / 2; half > 0 && ok; half /= 2) {
        tensor low = {0}, high = {0}, sum = {0};
        ok = part_of(&all, 0, half, &low, w->st) && part_of(&all, half, half, &high, w->st) &&
             part_of(&all, 0, half, &sum, w->st) && tile_together(w, op, kind, &low, &high, &sum);
        tensor_release(&low);
        tensor_release(&high);
        tensor_release(&all);
        all = sum;
    }
    if (ok)
        memcpy(out->data, all.data, tensor_bytes(out));
    tensor_release(&all);
    return ok;
}

/* Along each row, from its column of `before` on; the second result is the last of each. */
static bool scan(tile_walker *w, ir_op op, tensor *out) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const char *kind = ir_op_string(w->m, op, "kind", "");
    const tensor *x = &tile_operand(w, d, 0)->tile, *before = &tile_operand(w, d, 1)->tile;
    const int64_t dims[] = {x->dims[0], 1};
    tensor *last = tile_result(w, d, 1), running;
    if (!last || tensor_count(before) != dims[0] || tensor_count(last) != dims[0] ||
        !tensor_init(&running, x->type, 2, dims, w->st))
        return tile_unavailable(w, op);
    memcpy(running.data, before->data, tensor_bytes(&running));
    bool ok = true;
    for (int64_t c = 0; c < x->dims[1] && ok; c++) {
        tensor one = {0}, sum = {0};
        ok = part_of(x, c, 1, &one, w->st) && part_of(x, c, 1, &sum, w->st) &&
             tile_together(w, op, kind, &running, &one, &sum);
        if (ok)
            copy_columns(&sum, out, c);
        tensor_release(&one);
        tensor_release(&running);
        running = sum;
    }
    if (ok)
        memcpy(last->data, running.data, tensor_bytes(last));
    tensor_release(&running);
    return ok;
}

static float flushed(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static uint32_t pair_sum(uint32_t x, uint32_t y, uint32_t sum) {
    float s = flushed(f32_from_bits(sum));
    for (int half = 1; half >= 0; half--) {
        const float a = flushed(bf16_to_f32((uint16_t)(x >> 16 * half))),
                    b = flushed(bf16_to_f32((uint16_t)(y >> 16 * half)));
        s = flushed(fmaf(a, b, s));
    }
    return f32_bits(s);
}

static uint32_t byte_sum(uint32_t x, uint32_t y, uint32_t sum, bool is_unsigned) {
    for (int i = 0; i < 4; i++) {
        const int32_t a = is_unsigned ? (uint8_t)(x >> 8 * i) : (int8_t)(x >> 8 * i);
        sum += (uint32_t)(a * (int8_t)(y >> 8 * i));
    }
    return sum;
}

static bool group_dot(tile_walker *w, ir_op op, tensor *out) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const dtype of =
        ir_type_get(w->m, ir_attr_get(w->m, ir_op_attr(w->m, op, "of"))->type)->element;
    const bool is_unsigned = ir_op_int(w->m, op, "unsigned", 0) != 0;
    tensor in[3] = {{0}};
    bool ok = of == DTYPE_I8 || of == DTYPE_BF16;
    for (uint32_t i = 0; i < 3 && ok; i++)
        ok = tile_repeat(&tile_operand(w, d, i)->tile, out, &in[i], w->st);
    for (int64_t i = 0; ok && i < tensor_count(out); i++) {
        const uint32_t x = ((uint32_t *)in[0].data)[i], y = ((uint32_t *)in[1].data)[i],
                       sum = ((uint32_t *)in[2].data)[i];
        ((uint32_t *)out->data)[i] =
            of == DTYPE_I8 ? byte_sum(x, y, sum, is_unsigned) : pair_sum(x, y, sum);
    }
    tensor_release_all(in, 3);
    return ok || tile_unavailable(w, op);
}

/* ---- moves ---- */

static void group(const tensor *x, tensor *out) {
    const size_t size = dtype_size(x->type);
    for (int64_t c = 0; c < out->dims[1]; c++)
        for (int64_t r = 0; r < x->dims[0]; r++)
            memcpy(element(out, 0, c) + (size_t)r * size, element(x, r, c), size);
}

static void iota(const tile_walker *w, ir_op op, tensor *out) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const int64_t base = tile_operand(w, d, 0)->index, rows = ir_op_int(w->m, op, "row_step", 0),
                  columns = ir_op_int(w->m, op, "column_step", 0);
    for (int64_t r = 0; r < out->dims[0]; r++)
        for (int64_t c = 0; c < out->dims[1]; c++)
            ((int32_t *)out->data)[r * out->dims[1] + c] = (int32_t)(base + r * rows + c * columns);
}

static bool move(tile_walker *w, ir_op op, tensor *out) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const tensor *x = d->operand_count ? &tile_operand(w, d, 0)->tile : NULL;
    tensor part;
    switch (d->opcode) {
    case TILE_CONSTANT:
        fill(out, value_bits(w, op));
        return true;
    case TILE_IOTA:
        iota(w, op, out);
        return true;
    case TILE_ROW:
        memcpy(out->data, element(x, ir_op_int(w->m, op, "number", 0), 0), tensor_bytes(out));
        return true;
    case TILE_COLUMNS:
        if (!part_of(x, ir_op_int(w->m, op, "first", 0), out->dims[1], &part, w->st))
            return false;
        memcpy(out->data, part.data, tensor_bytes(out));
        tensor_release(&part);
        return true;
    case TILE_PAD:
        fill(out, value_bits(w, op));
        copy_columns(x, out, 0);
        return true;
    case TILE_BROADCAST:
        if (!tile_repeat(x, out, &part, w->st))
            return false;
        memcpy(out->data, part.data, tensor_bytes(out));
        tensor_release(&part);
        return true;
    default:
        group(x, out);
        return true;
    }
}

bool tile_shape_op(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    tensor *out = tile_result(w, d, 0);
    if (!out)
        return false;
    switch (d->opcode) {
    case TILE_FOLD:
        return fold(w, op, out);
    case TILE_SCAN:
        return scan(w, op, out);
    case TILE_GROUP_DOT:
        return group_dot(w, op, out);
    default:
        return move(w, op, out);
    }
}
