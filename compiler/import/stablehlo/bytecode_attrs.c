/* bytecode_attrs.c - attributes of VHLO, and those of MLIR's own dialect that occur beside them.
 * Those of other dialects are known by their names alone. */
#include <inttypes.h>
#include <string.h>

#include "import/stablehlo/bytecode.h"

enum {
    VHLO_ARRAY = 1,
    VHLO_BOOL,
    VHLO_DICTIONARY = 6,
    VHLO_FLOAT = 8,
    VHLO_INTEGER,
    VHLO_ALIAS,
    VHLO_STRING = 14,
    VHLO_TENSOR,
    VHLO_TYPE = 17,
    VHLO_BOUNDS,
    VHLO_ACCURACY = 20,
    VHLO_SUB_AXIS,
    VHLO_MESH = 25,
};

/* The enumerations, by their codes. */
static const char *const enumerations[] = {[3] = "comparison_direction", [4] = "comparison_type",
                                           [5] = "api_version",          [7] = "fft_type",
                                           [11] = "precision",           [12] = "rng_algorithm",
                                           [13] = "rng_distribution",    [16] = "transpose",
                                           [19] = "result_accuracy_mode"};
enum { ENUMERATIONS = sizeof enumerations / sizeof *enumerations };

enum {
    BUILTIN_ARRAY,
    BUILTIN_DICTIONARY,
    BUILTIN_STRING,
    BUILTIN_STRING_OF_TYPE,
    BUILTIN_SYMBOL,
    BUILTIN_TYPE = 6,
    BUILTIN_UNIT,
    BUILTIN_INTEGER,
    BUILTIN_FLOAT,
    BUILTIN_LIST = 17,
    BUILTIN_TENSOR
};

static const shlo_attr *new_attr(bytecode *r, shlo_attr a) {
    shlo_attr *out = BYTECODE_NEW(r, shlo_attr, 1);
    *out = a;
    return out;
}

static const shlo_attr *other(bytecode *r, const char *what) {
    return new_attr(r,
                    (shlo_attr){.kind = SHLO_ATTR_OTHER, .string = what, .length = strlen(what)});
}

/* ---- with parts ---- */

static const shlo_attr *read_array(bytecode *r, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "attributes");
    const shlo_attr **items = BYTECODE_NEW(r, const shlo_attr *, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        items[i] = bytecode_take_attr(r, c);
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_ARRAY, .count = count, .items = items});
}

const char *bytecode_take_word(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_attr *a = bytecode_take_attr(r, c);
    if (a && a->kind == SHLO_ATTR_STRING)
        return a->string;
    bytecode_fail(r->st, at, "this attribute must be a string");
    return NULL;
}

static const shlo_attr *read_dictionary(bytecode *r, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "attributes");
    const shlo_attr **items = BYTECODE_NEW(r, const shlo_attr *, count);
    const char **keys = BYTECODE_NEW(r, const char *, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        keys[i] = bytecode_take_word(r, c);
        items[i] = bytecode_take_attr(r, c);
    }
    return new_attr(
        r, (shlo_attr){.kind = SHLO_ATTR_DICT, .count = count, .items = items, .keys = keys});
}

static const shlo_attr *read_symbol(bytecode *r, bytecode_cursor *c) {
    const char *name = bytecode_take_word(r, c);
    return new_attr(
        r,
        (shlo_attr){.kind = SHLO_ATTR_SYMBOL, .string = name, .length = name ? strlen(name) : 0});
}

/* ---- numbers ---- */

static int64_t with_sign(uint64_t value, shlo_element e) {
    const shlo_element_info *info = shlo_element_get(e);
    const int unused = 64 - info->bits;
    const bool is_signed = (e >= SHLO_I2 && e <= SHLO_I64) || e == SHLO_INDEX;
    return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)(value << unused >> unused);
}

static const shlo_attr *read_integer(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_type *type = bytecode_take_type(r, c);
    if (type && type->kind == SHLO_TYPE_OTHER) {
        c->at = c->end;
        return other(r, "an integer of a width that StableHLO has not");
    }
    const shlo_element e = type && type->kind == SHLO_TYPE_SCALAR ? type->element : SHLO_NO_ELEMENT;
    if (e == SHLO_NO_ELEMENT || shlo_element_is_float(e) || shlo_element_is_complex(e)) {
        bytecode_fail(r->st, at, "an integer cannot have this type");
        return NULL;
    }
    const uint64_t bits = bytecode_bits(c, shlo_element_get(e)->bits);
    if (e == SHLO_BOOL)
        return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_BOOL, .integer = bits & 1});
    return new_attr(
        r, (shlo_attr){.kind = SHLO_ATTR_INTEGER, .integer = with_sign(bits, e), .type = type});
}

static const shlo_attr *read_float(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_type *type = bytecode_take_type(r, c);
    if (!type || type->kind != SHLO_TYPE_SCALAR || !shlo_element_is_float(type->element)) {
        bytecode_fail(r->st, at, "a floating-point number cannot have this type");
        return NULL;
    }
    const int bits = shlo_element_get(type->element)->bits;
    const uint64_t value = bytecode_bits(c, bits);
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_FLOAT,
                                   .bits = value << (64 - bits) >> (64 - bits),
                                   .type = type});
}

static const shlo_attr *read_enum(bytecode *r, bytecode_cursor *c, const char *kind) {
    const size_t at = c->at;
    const uint64_t number = bytecode_varint(c);
    const char *word = shlo_enum_word(kind, number);
    if (!word) {
        bytecode_fail(r->st, at, "%" PRIu64 " is no %s", number, kind);
        return NULL;
    }
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_ENUM, .string = word, .length = strlen(word)});
}

static const shlo_attr *read_accuracy(bytecode *r, bytecode_cursor *c) {
    const uint64_t atol = bytecode_bits(c, 64), rtol = bytecode_bits(c, 64);
    shlo_attr a = {.kind = SHLO_ATTR_ACCURACY, .integer = bytecode_signed(c)};
    const size_t at = c->at;
    const shlo_attr *mode = bytecode_take_attr(r, c);
    if (!mode || mode->kind != SHLO_ATTR_ENUM ||
        !shlo_enum_has("result_accuracy_mode", mode->string)) {
        bytecode_fail(r->st, at, "this attribute must be a mode of accuracy");
        return NULL;
    }
    memcpy(&a.numbers[0], &atol, sizeof atol);
    memcpy(&a.numbers[1], &rtol, sizeof rtol);
    a.string = mode->string;
    a.length = mode->length;
    return new_attr(r, a);
}

/* ---- tensors ---- */

/* i1 stands in memory as a byte each; in the file eight share a byte. One splat byte of the file is
 * 0 or 255. */
static const uint8_t *unpack(bytecode *r, const uint8_t *bytes, uint64_t size, uint64_t count,
                             uint64_t *out_size) {
    const bool is_splat = size == 1 && (bytes[0] == 0xFF || count > 8);
    const bool is_packed = !is_splat && size == (count + 7) / 8 && size != count;
    *out_size = is_splat ? 1 : is_packed ? count : size;
    uint8_t *out = BYTECODE_NEW(r, uint8_t, *out_size);
    for (uint64_t i = 0; i < *out_size; i++)
        out[i] = (uint8_t)(is_packed ? bytes[i / 8] >> (i % 8) & 1 : bytes[i] != 0);
    return out;
}

/* The file has the low bits of small integers, and memory their value. */
static const uint8_t *extend(bytecode *r, const uint8_t *bytes, size_t size, shlo_element e) {
    uint8_t *out = BYTECODE_NEW(r, uint8_t, size);
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)with_sign(bytes[i], e);
    return out;
}

static const uint8_t *keep(bytecode *r, const uint8_t *bytes, uint64_t *size, uint64_t count,
                           shlo_element e) {
    if (e == SHLO_BOOL && *size)
        return unpack(r, bytes, *size, count, size);
    if (shlo_element_get(e)->bits < 8 && !shlo_element_is_float(e))
        return extend(r, bytes, (size_t)*size, e);
    return arena_copy(&r->module->memory, bytes, (size_t)*size);
}

const shlo_attr *bytecode_tensor(bytecode *r, bytecode_cursor *c, const shlo_type *type) {
    const size_t at = c->at;
    uint64_t size = bytecode_varint(c);
    const uint8_t *bytes = bytecode_bytes(c, size);
    const int64_t count = shlo_type_count(type);
    if (!bytes)
        return NULL;
    if (count < 0) {
        bytecode_fail(r->st, at, "a constant's extents are not known, or too large");
        return NULL;
    }
    const uint64_t each = (uint64_t)shlo_element_get(type->element)->bytes;
    bytes = keep(r, bytes, &size, (uint64_t)count, type->element);
    const bool is_whole = size % each == 0 && size / each == (uint64_t)count;
    if (!is_whole && size != each) {
        bytecode_fail(r->st, at,
                      "a constant of %" PRId64 " elements of %" PRIu64 " bytes has %" PRIu64
                      " bytes",
                      count, each, size);
        return NULL;
    }
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_TENSOR,
                                   .type = type,
                                   .bytes = bytes,
                                   .size = (size_t)size,
                                   .splat = !is_whole});
}

static const shlo_attr *read_tensor(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_type *type = bytecode_take_type(r, c);
    if (type && type->kind == SHLO_TYPE_TENSOR)
        return bytecode_tensor(r, c, type);
    bytecode_fail(r->st, at, "a constant must be a tensor");
    return NULL;
}

/* array<i64: 1, 2>: MLIR's own list, which becomes a tensor of one axis. */
static const shlo_attr *read_list(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_type *element = bytecode_take_type(r, c);
    int64_t *dims = BYTECODE_NEW(r, int64_t, 1);
    shlo_type *type = BYTECODE_NEW(r, shlo_type, 1);
    *dims = (int64_t)bytecode_varint(c);
    if (!element || element->kind != SHLO_TYPE_SCALAR || *dims < 0) {
        bytecode_fail(r->st, at, "a list must have elements that are numbers");
        return NULL;
    }
    *type =
        (shlo_type){.kind = SHLO_TYPE_TENSOR, .element = element->element, .rank = 1, .dims = dims};
    return bytecode_tensor(r, c, type);
}

/* ---- kept as their text ---- */

static void put_integers(bytecode_cursor *c, text *out, const char *unknown) {
    const uint32_t count = bytecode_count(c, "integers");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        const int64_t value = bytecode_signed(c);
        text_append(out, i ? ", " : "");
        if (value < 0 && unknown)
            text_append(out, unknown);
        else
            text_printf(out, "%" PRId64, value);
    }
}

static const shlo_attr *taken(bytecode *r, text *out) {
    const char *kept = arena_strdup(&r->module->memory, out->data);
    text_release(out);
    return other(r, kept);
}

static const shlo_attr *read_bounds(bytecode *r, bytecode_cursor *c) {
    text out;
    text_init(&out);
    text_append(&out, "#stablehlo.bounds<");
    put_integers(c, &out, "?");
    text_append(&out, ">");
    return taken(r, &out);
}

static const shlo_attr *read_alias(bytecode *r, bytecode_cursor *c) {
    text out;
    text_init(&out);
    text_append(&out, "#stablehlo.output_operand_alias<output_tuple_indices = [");
    put_integers(c, &out, NULL);
    text_printf(&out, "], operand_index = %" PRId64 ", operand_tuple_indices = [",
                bytecode_signed(c));
    put_integers(c, &out, NULL);
    text_append(&out, "]>");
    return taken(r, &out);
}

/* ---- any ---- */

static const shlo_attr *read_type(bytecode *r, bytecode_cursor *c) {
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_TYPE, .type = bytecode_take_type(r, c)});
}

static const shlo_attr *read_string(bytecode *r, bytecode_cursor *c) {
    const bytecode_string s = bytecode_take_string(r, c);
    return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_STRING, .string = s.data, .length = s.length});
}

static const shlo_attr *read_bool(bytecode *r, bytecode_cursor *c) {
    return new_attr(
        r, (shlo_attr){.kind = SHLO_ATTR_BOOL, .integer = bytecode_index(c, 2, "truth value")});
}

static const shlo_attr *read_vhlo(bytecode *r, bytecode_cursor *c) {
    const size_t at = c->at;
    const uint64_t code = bytecode_varint(c);
    switch (code) {
    case VHLO_ARRAY:
        return read_array(r, c);
    case VHLO_BOOL:
        return read_bool(r, c);
    case VHLO_DICTIONARY:
        return read_dictionary(r, c);
    case VHLO_FLOAT:
        return read_float(r, c);
    case VHLO_INTEGER:
        return read_integer(r, c);
    case VHLO_ALIAS:
        return read_alias(r, c);
    case VHLO_STRING:
        return read_string(r, c);
    case VHLO_TENSOR:
        return read_tensor(r, c);
    case VHLO_TYPE:
        return read_type(r, c);
    case VHLO_BOUNDS:
        return read_bounds(r, c);
    case VHLO_ACCURACY:
        return read_accuracy(r, c);
    default:
        if (code < ENUMERATIONS && enumerations[code])
            return read_enum(r, c, enumerations[code]);
        if (code >= VHLO_SUB_AXIS && code <= VHLO_MESH)
            return other(r, "a mesh of devices");
        bytecode_fail(r->st, at, "there is no attribute %" PRIu64 " in VHLO 1.20", code);
        return NULL;
    }
}

static const shlo_attr *read_builtin(bytecode *r, bytecode_cursor *c) {
    switch (bytecode_varint(c)) {
    case BUILTIN_ARRAY:
        return read_array(r, c);
    case BUILTIN_DICTIONARY:
        return read_dictionary(r, c);
    case BUILTIN_STRING:
        return read_string(r, c);
    case BUILTIN_STRING_OF_TYPE: {
        const shlo_attr *a = read_string(r, c);
        bytecode_take_type(r, c);
        return a;
    }
    case BUILTIN_SYMBOL:
        return read_symbol(r, c);
    case BUILTIN_TYPE:
        return read_type(r, c);
    case BUILTIN_UNIT:
        return new_attr(r, (shlo_attr){.kind = SHLO_ATTR_UNIT});
    case BUILTIN_INTEGER:
        return read_integer(r, c);
    case BUILTIN_FLOAT:
        return read_float(r, c);
    case BUILTIN_LIST:
        return read_list(r, c);
    case BUILTIN_TENSOR:
        return read_tensor(r, c);
    default:
        return other(r, "an attribute of MLIR's");
    }
}

static const shlo_attr *read_other(bytecode *r, const bytecode_entry *e) {
    return other(r, e->form == BYTECODE_TEXT
                        ? bytecode_words(r, e)
                        : arena_printf(&r->module->memory, "#%.64s...", r->dialects[e->dialect]));
}

const shlo_attr *bytecode_attr(bytecode *r, uint32_t index) {
    bytecode_entry *e = &r->attrs[index];
    uint64_t outer;
    if (e->attr) {
        r->weight += e->weight;
        return e->attr;
    }
    if (bytecode_begin(r, e, &outer)) {
        bytecode_cursor c = bytecode_open(r, e);
        const shlo_attr *attr = e->form == BYTECODE_VHLO      ? read_vhlo(r, &c)
                                : e->form == BYTECODE_BUILTIN ? read_builtin(r, &c)
                                : e->form == BYTECODE_SDY     ? other(r, bytecode_sdy_attr(r, &c))
                                                              : read_other(r, e);
        if (attr && attr->kind != SHLO_ATTR_OTHER)
            bytecode_end(&c, "this attribute");
        e->attr = bytecode_broken(r) ? NULL : attr;
    }
    bytecode_finish(r, e, outer);
    return e->attr;
}

const shlo_attr *bytecode_take_attr(bytecode *r, bytecode_cursor *c) {
    const uint32_t index = bytecode_index(c, r->attr_count, "attribute");
    return bytecode_failed(c) ? NULL : bytecode_attr(r, index);
}
