/* tile_memory.c - loads and stores of tile_run, each element within the memory that it names. */
#include <string.h>

#include "target/interp/tile_walk.h"

typedef struct access {
    const tile_value *memory;
    int64_t offset, row_stride, column_stride, stride, rows, columns;
    size_t size; /* of an element of the memory */
} access;

/* Indices behind the usual operands stand for attributes. */
static void take_more(const tile_walker *w, ir_op op, uint32_t first, access *a) {
    const ir_attr list = ir_op_attr(w->m, op, "more");
    const ir_attr_data *names = list ? ir_attr_get(w->m, list) : NULL;
    const ir_op_data *d = ir_op_get(w->m, op);
    for (uint32_t i = 0; names && i < names->count && first + i < d->operand_count; i++) {
        const char *name = ir_attr_get(w->m, names->items[i])->string;
        const int64_t value = tile_operand(w, d, first + i)->index;
        int64_t *place = strcmp(name, "row_stride") == 0      ? &a->row_stride
                         : strcmp(name, "column_stride") == 0 ? &a->column_stride
                         : strcmp(name, "stride") == 0        ? &a->stride
                         : strcmp(name, "valid_rows") == 0    ? &a->rows
                                                              : &a->columns;
        *place = value;
    }
}

static access access_of(const tile_walker *w, ir_op op, const tensor *t, uint32_t operands) {
    const ir_op_data *d = ir_op_get(w->m, op);
    access a = {.memory = tile_operand(w, d, 0),
                .offset = tile_operand(w, d, 1)->index,
                .row_stride = ir_op_int(w->m, op, "row_stride", 0),
                .column_stride = ir_op_int(w->m, op, "column_stride", 0),
                .stride = ir_op_int(w->m, op, "stride", 0),
                .rows = t->dims[0],
                .columns = t->dims[1],
                .size = dtype_size(ir_type_of(w->m, d->operands[0])->element)};
    take_more(w, op, operands, &a);
    return a;
}

/* The address of `bytes` there; NULL with a status. */
static char *address(tile_walker *w, const access *a, int64_t element, size_t bytes) {
    char *at = a->memory->memory + element * (int64_t)a->size;
    if (at >= a->memory->begin && at + bytes <= a->memory->memory + a->memory->bytes)
        return at;
    status_set(w->st, STATUS_INVALID, "an access is outside of its memory");
    return NULL;
}

static int64_t element_of(const access *a, const tensor *indices, int64_t r, int64_t c) {
    int64_t element = a->offset + r * a->row_stride + c * a->column_stride;
    if (indices) {
        const int64_t row = indices->dims[0] == 1 ? 0 : r, column = indices->dims[1] == 1 ? 0 : c;
        element +=
            a->stride * dtype_integer(indices->type,
                                      dtype_load_bits(indices->type, indices->data,
                                                      (size_t)(row * indices->dims[1] + column)));
    }
    return element;
}

static bool each(tile_walker *w, const access *a, const tensor *indices, tensor *t, bool store) {
    const size_t size = dtype_size(t->type);
    for (int64_t r = 0; r < t->dims[0] && r < a->rows; r++)
        for (int64_t c = 0; c < t->dims[1] && c < a->columns; c++) {
            char *memory = address(w, a, element_of(a, indices, r, c), size);
            char *element = (char *)t->data + (size_t)(r * t->dims[1] + c) * size;
            if (!memory)
                return false;
            memcpy(store ? memory : element, store ? element : memory, size);
        }
    return true;
}

static bool is_plain(const tile_walker *w, ir_op op) {
    return ir_op_int(w->m, op, "swizzle", 0) == 0;
}

static bool load(tile_walker *w, ir_op op, uint32_t operands) {
    const ir_op_data *d = ir_op_get(w->m, op);
    tensor *out = tile_result(w, d, 0);
    const access a = out ? access_of(w, op, out, operands) : (access){.memory = NULL};
    return out && each(w, &a, operands > 2 ? &tile_operand(w, d, 2)->tile : NULL, out, false);
}

static void canonical(tensor *t) {
    for (int64_t i = 0; dtype_is_float(t->type) && i < tensor_count(t); i++)
        if (dtype_is_nan(t->type, dtype_load_bits(t->type, t->data, (size_t)i)))
            dtype_store(t->type, t->data, (size_t)i, (double)__builtin_nan(""));
}

static bool store(tile_walker *w, ir_op op, uint32_t operands) {
    const ir_op_data *d = ir_op_get(w->m, op);
    tensor *x = &tile_operand(w, d, 2)->tile;
    const access a = access_of(w, op, x, operands);
    tensor plain;
    if (!tile_repeat(x, x, &plain, w->st))
        return false;
    if (ir_op_int(w->m, op, "canonical", 0))
        canonical(&plain);
    bool ok = each(w, &a, operands > 3 ? &tile_operand(w, d, 3)->tile : NULL, &plain, true);
    tensor_release(&plain);
    return ok;
}

bool tile_memory_op(tile_walker *w, ir_op op) {
    if (!is_plain(w, op))
        return tile_unavailable(w, op);
    switch (ir_op_get(w->m, op)->opcode) {
    case TILE_LOAD:
    case TILE_LOAD_GROUP:
        return load(w, op, 2);
    case TILE_GATHER:
        return load(w, op, 3);
    case TILE_STORE:
        return store(w, op, 3);
    default:
        return store(w, op, 4);
    }
}
