/* layout.c - where the elements of a tensor stand in memory, and copies from one such order to
 * another; element types. */
#include <stdio.h>
#include <string.h>

#include "pjrt/plugin.h"

static const struct element {
    PJRT_Buffer_Type code;
    const char *name;
    dtype part;
    size_t parts;
    int bits; /* of a part */
} elements[] = {
#define TYPE(theirs, ours, parts, bits)                                                            \
    {PJRT_Buffer_Type_##theirs, #theirs, DTYPE_##ours, parts, bits},
#include "pjrt/types.def"
#undef TYPE
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static const struct element *element_of(PJRT_Buffer_Type code) {
    for (size_t i = 0; i < ELEMENTS; i++)
        if (elements[i].code == code)
            return &elements[i];
    return NULL;
}

size_t type_bytes(PJRT_Buffer_Type code) {
    const struct element *e = element_of(code);
    return e ? dtype_size(e->part) * e->parts : 0;
}

const char *type_name(PJRT_Buffer_Type code) {
    const struct element *e = element_of(code);
    return e ? e->name : "an unknown type";
}

const char *type_word(PJRT_Buffer_Type code, char out[TYPE_WORD_BYTES]) {
    const struct element *e = element_of(code);
    const int bits = e ? e->bits : 0;
    if (!e)
        snprintf(out, TYPE_WORD_BYTES, "none");
    else if (e->parts == 2)
        snprintf(out, TYPE_WORD_BYTES, "complex<f%d>", bits);
    else if (e->part == DTYPE_BOOL)
        snprintf(out, TYPE_WORD_BYTES, "i1");
    else if (e->part == DTYPE_BF16)
        snprintf(out, TYPE_WORD_BYTES, "bf16");
    else if (dtype_is_float(e->part))
        snprintf(out, TYPE_WORD_BYTES, "f%s", e->name + 1);
    else
        snprintf(out, TYPE_WORD_BYTES, "%s%d", *e->name == 'U' ? "ui" : "i", bits);
    return out;
}

PJRT_Buffer_Type type_code(dtype part, int form) {
    for (size_t i = 0; i < ELEMENTS; i++)
        if (elements[i].part == part && elements[i].parts == (form == PROGRAM_COMPLEX ? 2 : 1) &&
            (form <= PROGRAM_COMPLEX || elements[i].bits == form))
            return elements[i].code;
    return PJRT_Buffer_Type_INVALID;
}

bool shape_bytes(const int64_t *dims, size_t rank, size_t element, size_t *bytes) {
    size_t count = element;
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        empty |= dims[i] == 0;
    }
    for (size_t i = 0; i < rank && !empty; i++)
        if (__builtin_mul_overflow(count, (size_t)dims[i], &count) || count > SIZE_MAX / 4)
            return false;
    *bytes = empty ? 0 : count;
    return true;
}

void layout_dense(const int64_t *dims, size_t rank, size_t element, int64_t *strides) {
    int64_t step = (int64_t)element;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = step;
        step *= dims[i] ? dims[i] : 1;
    }
}

bool layout_is_dense(const int64_t *dims, size_t rank, size_t element, const int64_t *strides) {
    int64_t step = (int64_t)element;
    for (size_t i = rank; i-- > 0;) {
        if (dims[i] == 0)
            return true;
        if (dims[i] > 1 && strides[i] != step)
            return false;
        step *= dims[i];
    }
    return true;
}

static PJRT_Error *tiled_strides(const PJRT_Buffer_MemoryLayout_Tiled *t, const int64_t *dims,
                                 size_t rank, size_t element, int64_t *strides) {
    bool seen[PJRT_RANK_MAX] = {0};
    int64_t step = (int64_t)element;
    if (t->num_tiles)
        return error_new(PJRT_Error_Code_UNIMPLEMENTED, "layouts with tiles are not supported");
    if (t->minor_to_major_size != rank)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "a layout orders %zu axes, and the buffer has %zu", t->minor_to_major_size,
                         rank);
    for (size_t i = 0; i < rank; i++) {
        const int64_t axis = t->minor_to_major[i];
        if (axis < 0 || axis >= (int64_t)rank || seen[axis])
            return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                             "a layout's order of axes is no permutation");
        seen[axis] = true;
        strides[axis] = step;
        step *= dims[axis] ? dims[axis] : 1;
    }
    return NULL;
}

PJRT_Error *layout_strides(const PJRT_Buffer_MemoryLayout *layout, const int64_t *dims, size_t rank,
                           size_t element, int64_t *strides) {
    if (!layout) {
        layout_dense(dims, rank, element, strides);
        return NULL;
    }
    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled)
        return tiled_strides(&layout->tiled, dims, rank, element, strides);
    if (layout->strides.num_byte_strides != rank)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "a layout has %zu strides, and the buffer %zu axes",
                         layout->strides.num_byte_strides, rank);
    if (rank)
        memcpy(strides, layout->strides.byte_strides, rank * sizeof *strides);
    return NULL;
}

/* Axes at the end whose elements stand beside each other on both sides are copied in one go. */
void layout_copy(layout_side to, layout_side from, const int64_t *dims, size_t rank,
                 size_t element) {
    int64_t at[PJRT_RANK_MAX] = {0};
    size_t run = element, outer = rank;
    for (size_t i = 0; i < rank; i++)
        if (dims[i] == 0)
            return;
    while (outer > 0 && (dims[outer - 1] == 1 || (to.strides[outer - 1] == (int64_t)run &&
                                                  from.strides[outer - 1] == (int64_t)run)))
        run *= (size_t)dims[--outer];
    for (;;) {
        memcpy(to.data, from.data, run);
        size_t axis = outer;
        while (axis > 0 && ++at[axis - 1] == dims[axis - 1]) {
            axis--;
            at[axis] = 0;
            to.data -= to.strides[axis] * (dims[axis] - 1);
            from.data -= from.strides[axis] * (dims[axis] - 1);
        }
        if (axis == 0)
            return;
        to.data += to.strides[axis - 1];
        from.data += from.strides[axis - 1];
    }
}
