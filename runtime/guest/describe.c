/* describe.c - reads the description of an implementation. */
#include <string.h>

#include "base/arena.h"
#include "guest/guest.h"

DLDataType guest_dl_type(dtype type) {
    static const uint8_t codes[DTYPE_COUNT] = {[DTYPE_F64] = TSR_DL_FLOAT,
                                               [DTYPE_F32] = TSR_DL_FLOAT,
                                               [DTYPE_TF32] = TSR_DL_FLOAT,
                                               [DTYPE_F16] = TSR_DL_FLOAT,
                                               [DTYPE_BF16] = TSR_DL_BFLOAT,
                                               [DTYPE_F8E4M3FN] = TSR_DL_FLOAT8_E4M3FN,
                                               [DTYPE_F8E5M2] = TSR_DL_FLOAT8_E5M2,
                                               [DTYPE_I64] = TSR_DL_INT,
                                               [DTYPE_I32] = TSR_DL_INT,
                                               [DTYPE_I16] = TSR_DL_INT,
                                               [DTYPE_I8] = TSR_DL_INT,
                                               [DTYPE_I4] = TSR_DL_INT,
                                               [DTYPE_U64] = TSR_DL_UINT,
                                               [DTYPE_U32] = TSR_DL_UINT,
                                               [DTYPE_U16] = TSR_DL_UINT,
                                               [DTYPE_U8] = TSR_DL_UINT,
                                               [DTYPE_BOOL] = TSR_DL_BOOL};
    return (DLDataType){codes[type], (uint8_t)(8 * dtype_size(type)), 1};
}

static bool describe_strides(guest_function *s, uint32_t i, const json_t *one) {
    const json_t *strides = json_object_get(one, "strides");
    DLTensor *t = &s->tensors[i];
    if (!strides)
        return true;
    if (json_array_size(strides) != (size_t)t->ndim)
        return false;
    for (int axis = 0; axis < t->ndim; axis++)
        s->strides[i][axis] = json_integer_value(json_array_get(strides, (size_t)axis));
    t->strides = s->strides[i];
    t->byte_offset = (uint64_t)json_integer_value(json_object_get(one, "byte_offset"));
    return true;
}

static bool describe_tensor(guest_function *s, uint32_t i, const json_t *one) {
    const json_t *shape = json_object_get(one, "shape");
    const char *type = json_string_value(json_object_get(one, "dtype"));
    s->names[i] = json_string_value(json_object_get(one, "name"));
    if (!s->names[i] || !type || !json_is_array(shape) ||
        json_array_size(shape) > TENSOR_MAX_RANK || dtype_from_name(type) == DTYPE_NONE)
        return false;
    s->types[i] = dtype_from_name(type);
    for (size_t axis = 0; axis < json_array_size(shape); axis++)
        s->shapes[i][axis] = json_integer_value(json_array_get(shape, axis));
    s->tensors[i] = (DLTensor){.device = {1, 0}, /* kDLCPU */
                               .ndim = (int32_t)json_array_size(shape),
                               .dtype = guest_dl_type(s->types[i]),
                               .shape = s->shapes[i]};
    s->pointers[i] = &s->tensors[i];
    return describe_strides(s, i, one);
}

static void make_room(guest_function *s) {
    size_t count = (size_t)s->count + 1;
    s->types = base_calloc(count, sizeof *s->types);
    s->names = base_calloc(count, sizeof *s->names);
    s->tensors = base_calloc(count, sizeof *s->tensors);
    s->pointers = base_calloc(count, sizeof *s->pointers);
    s->shapes = base_calloc(count, sizeof *s->shapes);
    s->strides = base_calloc(count, sizeof *s->strides);
}

bool guest_describe(guest_function *s, const char *json, size_t size_bytes, status *st) {
    json_error_t error;
    *s = (guest_function){.description = json_loadb(json, size_bytes, 0, &error)};
    const json_t *root = s->description, *tensors = json_object_get(root, "tensors");
    s->kind = json_string_value(json_object_get(root, "kind"));
    s->path = json_string_value(json_object_get(root, "path"));
    s->symbol = json_string_value(json_object_get(root, "symbol"));
    s->kernel = json_string_value(json_object_get(root, "kernel"));
    s->threads = (uint32_t)json_integer_value(json_object_get(root, "threads"));
    s->inputs = (uint32_t)json_integer_value(json_object_get(root, "inputs"));
    s->count = (uint32_t)json_array_size(tensors);
    bool ok = s->kind && s->path && s->symbol && s->kernel && s->count <= GUEST_TENSORS_MAX &&
              s->inputs <= s->count;
    if (ok)
        make_room(s);
    for (uint32_t i = 0; i < s->count && ok; i++)
        ok = describe_tensor(s, i, json_array_get(tensors, i));
    return ok || status_set(st, STATUS_CORRUPT, "the description of an implementation is damaged");
}
