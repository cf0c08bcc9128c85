/* layout.c - see layout.h. */
#include "relations/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { OFFSET_ELEMENTS = 3, GAP_ELEMENTS = 5, EVERY = 3 };

const char *layout_name(layout_kind kind) {
    static const char *const names[] = {"dense tensors", "tensors behind an offset",
                                        "rows of larger tensors", "transposed tensors"};
    return names[kind];
}

/* Axis by axis, the last of `order` being the innermost; the innermost has `step`, and is followed
 * by `gap` elements. */
static void stride(implementation_layout *out, const struct compiler_buffer *b, const int *order,
                   int64_t step, int64_t gap) {
    int64_t next = step;
    for (int i = b->rank - 1; i >= 0; i--) {
        out->strides[order[i]] = next;
        next = next * b->dims[order[i]] + (i == b->rank - 1 ? gap : 0);
    }
}

layout layout_of(layout_kind kind, const struct compiler_buffer *b) {
    const int64_t size = (int64_t)dtype_size(b->type);
    layout l = {.told = {.byte_offset = kind == LAYOUT_OFFSET ? OFFSET_ELEMENTS * size : 0}};
    int64_t last = 0;
    int order[TENSOR_MAX_RANK];
    bool rows = kind == LAYOUT_ROWS;
    for (int i = 0; i < b->rank; i++)
        order[i] = kind == LAYOUT_COLUMNS ? b->rank - 1 - i : i;
    stride(&l.told, b, order, rows && b->rank == 1 ? EVERY : 1, rows ? GAP_ELEMENTS : 0);
    for (int i = 0; i < b->rank; i++)
        last += b->dims[i] > 0 ? (b->dims[i] - 1) * l.told.strides[i] : 0;
    l.bytes = (size_t)(l.told.byte_offset + (last + 1 + (rows ? GAP_ELEMENTS : 0)) * size);
    return l;
}

/* The byte of element `flat`, row-major, of these dimensions. */
static size_t place(const layout *l, int rank, const int64_t *dims, size_t size, int64_t flat) {
    int64_t at = 0;
    for (int axis = rank - 1; axis >= 0; axis--) {
        at += flat % dims[axis] * l->told.strides[axis];
        flat /= dims[axis];
    }
    return (size_t)l->told.byte_offset + (size_t)at * size;
}

void layout_scatter(const layout *l, const tensor *from, unsigned char *buffer) {
    size_t size = dtype_size(from->type);
    for (int64_t e = 0; e < tensor_count(from); e++)
        memcpy(buffer + place(l, from->rank, from->dims, size, e),
               (const char *)from->data + (size_t)e * size, size);
}

void layout_gather(const layout *l, const unsigned char *buffer, tensor *to) {
    size_t size = dtype_size(to->type);
    for (int64_t e = 0; e < tensor_count(to); e++)
        memcpy((char *)to->data + (size_t)e * size, buffer + place(l, to->rank, to->dims, size, e),
               size);
}

int64_t layout_first_written(const layout *l, const struct compiler_buffer *b,
                             const unsigned char *buffer, unsigned char filled) {
    unsigned char *used = base_calloc(l->bytes + 1, 1);
    int64_t elements = 1, found = -1;
    size_t size = dtype_size(b->type);
    for (int axis = 0; axis < b->rank; axis++)
        elements *= b->dims[axis];
    for (int64_t e = 0; e < elements; e++)
        memset(used + place(l, b->rank, b->dims, size, e), 1, size);
    for (size_t i = 0; i < l->bytes && found < 0; i++)
        if (!used[i] && buffer[i] != filled)
            found = (int64_t)i;
    free(used);
    return found;
}
