/* bytecode_types.c - types of VHLO, and those of MLIR's own dialect that occur beside them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/stablehlo/bytecode.h"

/* Codes of VHLO's types that are more than an element. */
enum {
    VHLO_COMPLEX = 1,
    VHLO_FUNCTION = 8,
    VHLO_TENSOR = 20,
    VHLO_TENSOR_WITH_ENCODING,
    VHLO_TOKEN,
    VHLO_TUPLE,
    VHLO_QUANTIZED,
    VHLO_UNRANKED,
    VHLO_WITNESS,
    VHLO_QUANTIZED_PER_AXIS = 30,
    VHLO_NONE = 33,
    VHLO_BUFFER = 41,
    VHLO_FUTURE
};

/* ... of MLIR's own. */
enum {
    BUILTIN_INTEGER,
    BUILTIN_INDEX,
    BUILTIN_FUNCTION,
    BUILTIN_BF16,
    BUILTIN_F16,
    BUILTIN_F32,
    BUILTIN_F64,
    BUILTIN_COMPLEX = 9,
    BUILTIN_NONE = 12,
    BUILTIN_TENSOR,
    BUILTIN_TUPLE = 15
};

static const shlo_type *new_type(bytecode *r, shlo_type type) {
    shlo_type *out = BYTECODE_NEW(r, shlo_type, 1);
    *out = type;
    return out;
}

const shlo_type *bytecode_type_other(bytecode *r, const char *words) {
    return new_type(r, (shlo_type){.kind = SHLO_TYPE_OTHER, .text = words});
}

static const shlo_type *scalar(bytecode *r, shlo_element e) {
    return new_type(r, (shlo_type){.kind = SHLO_TYPE_SCALAR, .element = e});
}

static const shlo_type *simple(bytecode *r, shlo_type_kind kind) {
    return new_type(r, (shlo_type){.kind = kind});
}

/* ---- with elements ---- */

/* Takes a type that must be a scalar one; SHLO_NO_ELEMENT behind an error. */
static shlo_element take_element(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_type *t = bytecode_take_type(r, c);
    if (t && t->kind == SHLO_TYPE_SCALAR && !t->quantized)
        return t->element;
    bytecode_fail(r->st, at, "this type cannot stand here: it is no number");
    return SHLO_NO_ELEMENT;
}

static const shlo_type *read_complex(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_element part = take_element(r, c);
    if (part == SHLO_F32 || part == SHLO_F64)
        return scalar(r, part == SHLO_F32 ? SHLO_C64 : SHLO_C128);
    bytecode_fail(r->st, at, "complex numbers have parts of f32 or f64");
    return NULL;
}

static const int64_t *take_dims(bytecode *r, bytecode_cursor *c, uint32_t *rank) {
    const size_t at = c->at;
    *rank = bytecode_count(c, "extents");
    if (*rank > SHLO_RANK_MAX) {
        bytecode_fail(r->st, at, "a tensor has %" PRIu32 " axes, and %d are the most", *rank,
                      SHLO_RANK_MAX);
        *rank = 0;
    }
    int64_t *dims = BYTECODE_NEW(r, int64_t, *rank);
    for (uint32_t i = 0; i < *rank; i++) {
        dims[i] = bytecode_signed(c);
        if (dims[i] < 0)
            dims[i] = SHLO_DYNAMIC;
    }
    return dims;
}

static const shlo_type *read_tensor(bytecode *r, bytecode_cursor *c) {
    shlo_type t = {.kind = SHLO_TYPE_TENSOR};
    t.dims = take_dims(r, c, &t.rank);
    const size_t at = c->at;
    const shlo_type *element = bytecode_take_type(r, c);
    if (element && element->kind == SHLO_TYPE_OTHER)
        return element;
    if (!element || element->kind != SHLO_TYPE_SCALAR) {
        bytecode_fail(r->st, at, "a tensor cannot have elements of this type");
        return NULL;
    }
    t.element = element->element;
    t.quantized = element->quantized;
    return new_type(r, t);
}

/* Bounds of extents that are not known: the type is kept as its text. */
static const shlo_type *read_bounded(bytecode *r, bytecode_cursor *c) {
    const shlo_attr *bounds = bytecode_take_attr(r, c);
    const shlo_type *t = read_tensor(r, c);
    text out;
    if (!bounds || !t)
        return NULL;
    text_init(&out);
    if (t->kind == SHLO_TYPE_TENSOR && !t->quantized)
        shlo_type_print(t, &out);
    else
        text_append(&out, "tensor<...>");
    out.data[--out.length] = '\0';
    text_printf(&out, ", %.200s>", bounds->string ? bounds->string : "...");
    t = bytecode_type_other(r, arena_strdup(&r->module->memory, out.data));
    text_release(&out);
    return t;
}

/* ---- quantised ones ---- */

/* The storage is named without its sign, and a flag has it. */
static shlo_element storage_of(shlo_element e, uint64_t flags) {
    enum { IS_SIGNED = 1 };
    static const shlo_element unsigned_ones[SHLO_ELEMENT_COUNT] = {
        [SHLO_I2] = SHLO_U2,   [SHLO_I4] = SHLO_U4,   [SHLO_I8] = SHLO_U8,
        [SHLO_I16] = SHLO_U16, [SHLO_I32] = SHLO_U32, [SHLO_I64] = SHLO_U64};
    return flags & IS_SIGNED || !unsigned_ones[e] ? e : unsigned_ones[e];
}

static double take_double(bytecode_cursor *c) {
    const uint64_t bits = bytecode_bits(c, 64);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void take_scales(bytecode *r, bytecode_cursor *c, shlo_quantization *q) {
    const size_t at = c->at;
    q->count = bytecode_count(c, "scales");
    double *scales = BYTECODE_NEW(r, double, q->count);
    for (uint32_t i = 0; i < q->count; i++)
        scales[i] = take_double(c);
    if (bytecode_count(c, "zero points") != q->count) {
        bytecode_fail(r->st, at, "there are not as many zero points as scales");
        return;
    }
    int64_t *zeros = BYTECODE_NEW(r, int64_t, q->count);
    for (uint32_t i = 0; i < q->count; i++)
        zeros[i] = bytecode_signed(c);
    q->scales = scales;
    q->zeros = zeros;
}

static const shlo_type *read_quantized(bytecode *r, bytecode_cursor *c, bool has_axis) {
    shlo_quantization *q = BYTECODE_NEW(r, shlo_quantization, 1);
    const uint64_t flags = bytecode_varint(c);
    q->storage = storage_of(take_element(r, c), flags);
    q->expressed = take_element(r, c);
    if (has_axis) {
        q->axis = bytecode_index(c, SHLO_RANK_MAX, "axis");
    } else {
        double *scale = BYTECODE_NEW(r, double, 1);
        int64_t *zero = BYTECODE_NEW(r, int64_t, 1);
        *scale = take_double(c);
        *zero = bytecode_signed(c);
        q->axis = -1;
        q->count = 1;
        q->scales = scale;
        q->zeros = zero;
    }
    q->low = bytecode_signed(c);
    q->high = bytecode_signed(c);
    if (has_axis)
        take_scales(r, c, q);
    return new_type(r,
                    (shlo_type){.kind = SHLO_TYPE_SCALAR, .element = q->storage, .quantized = q});
}

/* ---- with parts ---- */

static uint32_t take_types(bytecode *r, bytecode_cursor *c, const shlo_type ***out) {
    const uint32_t count = bytecode_count(c, "types");
    *out = BYTECODE_NEW(r, const shlo_type *, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        (*out)[i] = bytecode_take_type(r, c);
    return count;
}

static const shlo_type *read_tuple(bytecode *r, bytecode_cursor *c) {
    const shlo_type **parts;
    const uint32_t count = take_types(r, c, &parts);
    return new_type(r, (shlo_type){.kind = SHLO_TYPE_TUPLE, .count = count, .parts = parts});
}

static const shlo_type *read_function(bytecode *r, bytecode_cursor *c) {
    const shlo_type **inputs, **results;
    shlo_type t = {.kind = SHLO_TYPE_FUNCTION};
    t.inputs = take_types(r, c, &inputs);
    const uint32_t result_count = take_types(r, c, &results);
    t.count = t.inputs + result_count;
    const shlo_type **parts = BYTECODE_NEW(r, const shlo_type *, t.count);
    memcpy(parts, inputs, t.inputs * sizeof(const shlo_type *));
    memcpy(parts + t.inputs, results, result_count * sizeof(const shlo_type *));
    t.parts = parts;
    return new_type(r, t);
}

/* ---- any ---- */

static const shlo_type *read_vhlo(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const uint64_t code = bytecode_varint(c);
    switch (code) {
    case VHLO_COMPLEX:
        return read_complex(r, c);
    case VHLO_FUNCTION:
        return read_function(r, c);
    case VHLO_TENSOR:
        return read_tensor(r, c);
    case VHLO_TENSOR_WITH_ENCODING:
        return read_bounded(r, c);
    case VHLO_TOKEN:
        return simple(r, SHLO_TYPE_TOKEN);
    case VHLO_TUPLE:
        return read_tuple(r, c);
    case VHLO_QUANTIZED:
    case VHLO_QUANTIZED_PER_AXIS:
        return read_quantized(r, c, code == VHLO_QUANTIZED_PER_AXIS);
    case VHLO_UNRANKED:
        return bytecode_type_other(r, "tensor<*x...>");
    case VHLO_WITNESS:
        return bytecode_type_other(r, "!shape.witness");
    case VHLO_NONE:
        return simple(r, SHLO_TYPE_NONE);
    case VHLO_BUFFER:
        return bytecode_type_other(r, "memref<...>");
    case VHLO_FUTURE:
        return bytecode_type_other(r, "!stablehlo.future<...>");
    default:
        if (shlo_element_coded(code))
            return scalar(r, shlo_element_coded(code));
        bytecode_fail(r->st, at, "there is no type %" PRIu64 " in VHLO 1.20", code);
        return NULL;
    }
}

/* A width, and whether it has a sign: 0 does not say, 1 yes, 2 no. */
static const shlo_type *read_integer(bytecode *r, bytecode_cursor *c) {
    const uint64_t word = bytecode_varint(c);
    const uint64_t width = word >> 2;
    const bool is_unsigned = (word & 3) == 2;
    char name[24];
    snprintf(name, sizeof name, "%si%" PRIu64, is_unsigned ? "u" : "", width);
    const shlo_element e = shlo_element_named(name, strlen(name));
    return e ? scalar(r, e) : bytecode_type_other(r, arena_strdup(&r->module->memory, name));
}

static const shlo_type *read_builtin(bytecode *r, bytecode_cursor *c) {
    switch (bytecode_varint(c)) {
    case BUILTIN_INTEGER:
        return read_integer(r, c);
    case BUILTIN_INDEX:
        return scalar(r, SHLO_INDEX);
    case BUILTIN_FUNCTION:
        return read_function(r, c);
    case BUILTIN_BF16:
        return scalar(r, SHLO_BF16);
    case BUILTIN_F16:
        return scalar(r, SHLO_F16);
    case BUILTIN_F32:
        return scalar(r, SHLO_F32);
    case BUILTIN_F64:
        return scalar(r, SHLO_F64);
    case BUILTIN_COMPLEX:
        return read_complex(r, c);
    case BUILTIN_NONE:
        return simple(r, SHLO_TYPE_NONE);
    case BUILTIN_TENSOR:
        return read_tensor(r, c);
    case BUILTIN_TUPLE:
        return read_tuple(r, c);
    default:
        return bytecode_type_other(r, "a type of MLIR's");
    }
}

/* Keeps one of a dialect that is not known here, or that is written as text. */
static const shlo_type *read_other(bytecode *r, const bytecode_entry *e) {
    return bytecode_type_other(
        r, e->form == BYTECODE_TEXT
               ? bytecode_words(r, e)
               : arena_printf(&r->module->memory, "!%.64s...", r->dialects[e->dialect]));
}

const shlo_type *bytecode_type(bytecode *r, uint32_t index) {
    bytecode_entry *e = &r->types[index];
    uint64_t outer;
    if (e->type) {
        r->weight += e->weight;
        return e->type;
    }
    if (bytecode_begin(r, e, &outer)) {
        bytecode_cursor c = bytecode_open(r, e);
        const shlo_type *type = e->form == BYTECODE_VHLO      ? read_vhlo(r, &c)
                                : e->form == BYTECODE_BUILTIN ? read_builtin(r, &c)
                                                              : read_other(r, e);
        if (type && type->kind != SHLO_TYPE_OTHER)
            bytecode_end(&c, "this type");
        e->type = bytecode_broken(r) ? NULL : type;
    }
    bytecode_finish(r, e, outer);
    return e->type;
}

const shlo_type *bytecode_take_type(bytecode *r, bytecode_cursor *c) {
    const uint32_t index = bytecode_index(c, r->type_count, "type");
    return bytecode_failed(c) ? NULL : bytecode_type(r, index);
}
