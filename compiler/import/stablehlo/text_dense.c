/* text_dense.c - constants in text: dense<...> of numbers, lists of lists, or hexadecimal bytes,
 * and array<i64: ...>. The elements' type stands behind them, so it is read first. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

typedef VEC(uint8_t) byte_list;

typedef struct dense {
    text_reader *r;
    const shlo_type *type;
    const shlo_element_info *e;
    byte_list bytes;
    int64_t count;                   /* elements so far */
    int64_t dims[SHLO_RANK_MAX + 1]; /* of the lists; -1: not known yet */
    int depth;                       /* of the lists; -1: not known yet */
} dense;

static void push_bits(dense *d, uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; i++)
        vec_push(&d->bytes, (uint8_t)(bits >> (8 * i)));
}

/* ---- one number ---- */

static bool fits(shlo_element type, int64_t value, bool negative) {
    const int bits = shlo_element_get(type)->bits;
    if (bits >= 64)
        return true;
    const int64_t span = (int64_t)1 << bits;
    /* MLIR takes -1 for the greatest of a type without a sign, and 255 for the last of i8. */
    return negative ? value >= -(span / 2) : value >= 0 && value < span;
}

static bool integer_element(dense *d) {
    text_reader *r = d->r;
    int64_t value;
    reader_blanks(r);
    const char *place = r->p;
    if (reader_take(r, "true") || reader_take(r, "false")) {
        push_bits(d, *place == 't', d->e->bytes);
        return true;
    }
    if (!reader_integer(r, &value))
        return false;
    if (!fits(d->type->element, value, *place == '-'))
        return reader_fail_at(r, place, "the number does not fit %s", d->e->name);
    push_bits(d, (uint64_t)value, d->e->bytes);
    return true;
}

/* A decimal, which is rounded to f64 first as MLIR has it, or the bits of one in hexadecimal. */
static bool float_of(dense *d, dtype type, int bytes) {
    text_reader *r = d->r;
    uint64_t bits = 0;
    char *end;
    reader_blanks(r);
    if (r->p[0] == '0' && r->p[1] == 'x') {
        errno = 0;
        bits = strtoull(r->p, &end, 16);
        if (errno || (bytes < 8 && bits >> (8 * bytes)))
            return reader_fail(r, "more bits than %s has", d->e->name);
    } else {
        const double value = strtod(r->p, &end);
        const char *digits = r->p + (*r->p == '-');
        if (end == r->p || !isdigit((unsigned char)*digits))
            return reader_fail(r, "expected a number");
        dtype_store(type, &bits, 0, value);
    }
    r->p = end;
    push_bits(d, bits, bytes);
    return true;
}

static bool element(dense *d) {
    text_reader *r = d->r;
    d->count++;
    if (shlo_element_is_complex(d->type->element)) {
        const dtype part = d->type->element == SHLO_C64 ? DTYPE_F32 : DTYPE_F64;
        const int bytes = d->e->bytes / 2;
        return reader_need(r, "(") && float_of(d, part, bytes) && reader_need(r, ",") &&
               float_of(d, part, bytes) && reader_need(r, ")");
    }
    if (!shlo_element_is_float(d->type->element))
        return integer_element(d);
    if (d->e->type == DTYPE_NONE)
        return reader_fail(r, "constants of %s are not read", d->e->name);
    return float_of(d, d->e->type, d->e->bytes);
}

/* ---- lists ---- */

static bool list(dense *d, int depth) {
    text_reader *r = d->r;
    int64_t count = 0;
    if (!reader_peek(r, "[")) {
        if (d->depth < 0)
            d->depth = depth;
        if (d->depth != depth)
            return reader_fail(r, "lists of different depths");
        return element(d);
    }
    if (depth >= SHLO_RANK_MAX)
        return reader_fail(r, "too many lists in each other");
    reader_take(r, "[");
    if (!reader_peek(r, "]"))
        do {
            if (!list(d, depth + 1))
                return false;
            count++;
        } while (reader_take(r, ","));
    if (d->dims[depth] >= 0 && d->dims[depth] != count)
        return reader_fail(r, "lists of different lengths");
    d->dims[depth] = count;
    return reader_need(r, "]");
}

/* "0x..." is the bytes as they lie in memory; bits of i1 may be eight a byte. */
static bool hexadecimal(dense *d) {
    text_reader *r = d->r;
    const char *place = r->p;
    size_t length;
    const char *s = reader_string(r, &length);
    if (!s)
        return false;
    if (length < 2 || strncmp(s, "0x", 2) != 0 || length % 2)
        return reader_fail_at(r, place, "expected \"0x\" and two digits for each byte");
    for (size_t i = 2; i < length; i += 2) {
        const char digits[3] = {s[i], s[i + 1], 0};
        char *end;
        vec_push(&d->bytes, (uint8_t)strtoul(digits, &end, 16));
        if (end != digits + 2)
            return reader_fail_at(r, place, "'%s' is no byte", digits);
    }
    const int64_t count = shlo_type_count(d->type);
    if (d->type->element == SHLO_BOOL && count != (int64_t)d->bytes.count) {
        byte_list packed = d->bytes;
        d->bytes = (byte_list){0};
        for (int64_t i = 0; i < count && (size_t)(i / 8) < packed.count; i++)
            vec_push(&d->bytes, (packed.items[i / 8] >> (i % 8)) & 1);
        vec_release(&packed);
    }
    for (size_t i = 0; d->type->element == SHLO_BOOL && i < d->bytes.count; i++)
        if (d->bytes.items[i] > 1)
            return reader_fail_at(r, place, "a truth value is 0 or 1");
    d->count = d->e->bytes ? (int64_t)d->bytes.count / d->e->bytes : 0;
    return true;
}

static bool has_shape(const dense *d) {
    if (d->depth <= 0)
        return true; /* one element, or none */
    if ((uint32_t)d->depth != d->type->rank)
        return false;
    for (uint32_t i = 0; i < d->type->rank; i++)
        if (d->dims[i] != d->type->dims[i])
            return false;
    return true;
}

static bool elements(dense *d, const char *place) {
    text_reader *r = d->r;
    const int64_t count = shlo_type_count(d->type);
    if (d->type->kind != SHLO_TYPE_TENSOR || count < 0)
        return reader_fail_at(r, place, "a constant has a tensor's type with known extents");
    for (int i = 0; i <= SHLO_RANK_MAX; i++)
        d->dims[i] = -1;
    d->depth = -1;
    d->e = shlo_element_get(d->type->element);
    if (!reader_peek(r, ">") && !(reader_peek(r, "\"") ? hexadecimal(d) : list(d, 0)))
        return false;
    if (!has_shape(d) || (d->count != count && d->count != 1))
        return reader_fail_at(r, place, "%lld elements do not fit the type", (long long)d->count);
    return true;
}

const shlo_attr *reader_dense(text_reader *r) {
    dense d = {.r = r};
    reader_blanks(r);
    const char *inside = r->p + 1, *behind;
    if (!reader_peek(r, "<") || !reader_skip_brackets(r) || !reader_need(r, ":") ||
        !(d.type = reader_type(r))) {
        reader_fail(r, "expected dense<...> and its type");
        return NULL;
    }
    behind = r->p;
    r->p = inside;
    const bool good = elements(&d, inside) && reader_need(r, ">");
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = d.type;
    a->size = d.bytes.count;
    a->bytes = arena_copy(&r->m->memory, d.bytes.items, d.bytes.count);
    a->splat = d.count == 1 && shlo_type_count(d.type) != 1;
    vec_release(&d.bytes);
    r->p = behind;
    return good ? a : NULL;
}

const shlo_attr *reader_dense_array(text_reader *r) {
    dense d = {.r = r};
    const shlo_type *of;
    if (!reader_need(r, "<") || !(of = reader_type(r)))
        return NULL;
    d.type = of;
    d.e = shlo_element_get(of->element);
    bool good = of->kind == SHLO_TYPE_SCALAR;
    if (good && reader_take(r, ":") && !reader_peek(r, ">"))
        do
            good = element(&d);
        while (good && reader_take(r, ","));
    good = good && reader_need(r, ">");
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, of->element, 1, &d.count);
    a->size = d.bytes.count;
    a->bytes = arena_copy(&r->m->memory, d.bytes.items, d.bytes.count);
    vec_release(&d.bytes);
    return good ? a : NULL;
}

/* [1, 2]: a tensor of i64; an extent that is not known is a question mark. */
const shlo_attr *reader_ints(text_reader *r) {
    VEC(int64_t) values = {0};
    bool good = reader_need(r, "[");
    if (good && !reader_peek(r, "]"))
        do {
            int64_t value = SHLO_DYNAMIC;
            good = reader_take(r, "?") || reader_integer(r, &value);
            vec_push(&values, value);
        } while (good && reader_take(r, ","));
    good = good && reader_need(r, "]");
    const int64_t count = (int64_t)values.count;
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, SHLO_I64, 1, &count);
    a->size = values.count * sizeof(int64_t);
    a->bytes = arena_copy(&r->m->memory, values.items, a->size);
    vec_release(&values);
    return good ? a : NULL;
}
