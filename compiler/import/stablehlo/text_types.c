/* text_types.c - types of MLIR's text. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

static shlo_type *new_type(text_reader *r, shlo_type_kind kind) {
    shlo_type *t = ARENA_NEW(&r->m->memory, shlo_type, 1);
    t->kind = kind;
    return t;
}

const shlo_type *reader_scalar(text_reader *r, shlo_element e) {
    shlo_type *t = new_type(r, SHLO_TYPE_SCALAR);
    t->element = e;
    return t;
}

const shlo_type *reader_tensor(text_reader *r, shlo_element e, uint32_t rank, const int64_t *dims) {
    shlo_type *t = new_type(r, SHLO_TYPE_TENSOR);
    t->element = e;
    t->rank = rank;
    t->dims = rank ? arena_copy(&r->m->memory, dims, rank * sizeof *dims) : NULL;
    return t;
}

/* ---- quantised elements: !quant.uniform<i8<-128:127>:f32:1, {0.5:3, 0.25}> ---- */

/* i8, or u8 as quantised types write ui8. */
static shlo_element storage_element(text_reader *r) {
    const char *word;
    char name[16];
    const size_t n = reader_word(r, &word);
    snprintf(name, sizeof name, "%s%.*s", n && *word == 'u' && word[1] != 'i' ? "ui" : "",
             (int)(n && *word == 'u' && word[1] != 'i' ? n - 1 : n),
             word + (n && *word == 'u' && word[1] != 'i'));
    const shlo_element e = shlo_element_named(name, strlen(name));
    if (e == SHLO_NO_ELEMENT)
        reader_fail_at(r, word, "'%.*s' is no element type", (int)n, word);
    return e;
}

static void natural_range(shlo_quantization *q) {
    const int bits = shlo_element_get(q->storage)->bits;
    const bool is_signed = q->storage >= SHLO_I2 && q->storage <= SHLO_I64;
    q->high = bits >= 63 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
    q->low = is_signed ? -q->high - 1 : 0;
}

typedef VEC(double) scale_list;
typedef VEC(int64_t) zero_list;

static bool scale(text_reader *r, scale_list *scales, zero_list *zeros) {
    double value;
    int64_t zero = 0;
    if (!reader_number(r, &value) || (reader_take(r, ":") && !reader_integer(r, &zero)))
        return false;
    vec_push(scales, value);
    vec_push(zeros, zero);
    return true;
}

static bool scales(text_reader *r, shlo_quantization *q) {
    scale_list values = {0};
    zero_list zeros = {0};
    bool good, many = q->axis >= 0;
    good = !many || reader_need(r, "{");
    do
        good = good && scale(r, &values, &zeros);
    while (good && many && reader_take(r, ","));
    good = good && (!many || reader_need(r, "}"));
    q->count = (uint32_t)values.count;
    q->scales = arena_copy(&r->m->memory, values.items, values.count * sizeof(double));
    q->zeros = arena_copy(&r->m->memory, zeros.items, zeros.count * sizeof(int64_t));
    vec_release(&values);
    vec_release(&zeros);
    return good;
}

static const shlo_quantization *quantized(text_reader *r) {
    shlo_quantization *q = ARENA_NEW(&r->m->memory, shlo_quantization, 1);
    q->axis = -1;
    if (!reader_need(r, "<") || !(q->storage = storage_element(r)))
        return NULL;
    natural_range(q);
    if (reader_take(r, "<") && !(reader_integer(r, &q->low) && reader_need(r, ":") &&
                                 reader_integer(r, &q->high) && reader_need(r, ">")))
        return NULL;
    if (!reader_need(r, ":") || !(q->expressed = storage_element(r)))
        return NULL;
    if (reader_take(r, ":") && !reader_integer(r, &q->axis))
        return NULL;
    return reader_need(r, ",") && scales(r, q) && reader_need(r, ">") ? q : NULL;
}

/* ---- elements and tensors ---- */

/* Fills element and quantization; false when reported. */
static bool element(text_reader *r, shlo_type *t) {
    const char *place, *word;
    reader_blanks(r);
    place = r->p;
    if (reader_take(r, "!quant.uniform")) {
        t->quantized = quantized(r);
        t->element = t->quantized ? t->quantized->storage : SHLO_NO_ELEMENT;
        return t->quantized != NULL;
    }
    size_t n = reader_word(r, &word);
    if (n == strlen("complex") && strncmp(word, "complex", n) == 0 && reader_take(r, "<")) {
        const char *inner;
        n = reader_word(r, &inner);
        t->element = n == 3 && strncmp(inner, "f64", n) == 0   ? SHLO_C128
                     : n == 3 && strncmp(inner, "f32", n) == 0 ? SHLO_C64
                                                               : SHLO_NO_ELEMENT;
        if (t->element && reader_need(r, ">"))
            return true;
    } else {
        t->element = shlo_element_named(word, n);
    }
    return t->element ? true : reader_fail_at(r, place, "'%.*s' is no element type", (int)n, word);
}

/* The extent before the next x; false: none is next. */
static bool extent(text_reader *r, int64_t *out) {
    const char *p = r->p;
    if (*p == '?' && p[1] == 'x') {
        *out = SHLO_DYNAMIC;
        r->p += 2;
        return true;
    }
    int64_t n = 0;
    while (isdigit((unsigned char)*p)) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
            return reader_fail(r, "an extent that does not fit 63 bits");
        p++;
    }
    if (p == r->p || *p != 'x')
        return false;
    r->p = p + 1;
    *out = n;
    return true;
}

static const shlo_type *new_tensor(text_reader *r) {
    int64_t dims[SHLO_RANK_MAX];
    shlo_type *t = new_type(r, SHLO_TYPE_TENSOR);
    const char *place = r->p;
    if (!reader_need(r, "<"))
        return NULL;
    reader_blanks(r);
    while (t->rank < SHLO_RANK_MAX && extent(r, &dims[t->rank]))
        t->rank++;
    if (r->failed || t->rank == SHLO_RANK_MAX || *r->p == '*') {
        reader_fail_at(r, place, "a tensor of an unknown number of axes, or of more than %d",
                       SHLO_RANK_MAX - 1);
        return NULL;
    }
    t->dims = t->rank ? arena_copy(&r->m->memory, dims, t->rank * sizeof *dims) : NULL;
    if (!element(r, t))
        return NULL;
    if (reader_take(r, ",")) { /* an encoding, such as bounds of dynamic extents */
        reader_take(r, "#");
        const char *word;
        reader_word(r, &word);
        if (reader_peek(r, "<") && !reader_skip_brackets(r))
            return NULL;
    }
    return reader_need(r, ">") ? t : NULL;
}

/* The place for a type whose words are letters and digits alone; NULL: it has others. */
static recent_type *recent_for(text_reader *r, size_t *length) {
    const char *words = r->p + 1;
    uint32_t hash = 2166136261u;
    size_t n = 0;
    for (; *r->p == '<' && isalnum((unsigned char)words[n]); n++)
        hash = (hash ^ (unsigned char)words[n]) * 16777619u;
    *length = n;
    return n && words[n] == '>' ? &r->recent[(hash ^ hash >> 16) % RECENT_TYPES] : NULL;
}

static const shlo_type *tensor(text_reader *r) {
    size_t length;
    const char *words = r->p + 1;
    recent_type *recent = recent_for(r, &length);
    if (recent && recent->length == length && memcmp(recent->text, words, length) == 0) {
        r->p = words + length + 1;
        return recent->type;
    }
    const shlo_type *t = new_tensor(r);
    if (recent && t)
        *recent = (recent_type){words, length, t};
    return t;
}

/* ---- others ---- */

bool reader_types(text_reader *r, type_list *out) {
    do {
        const shlo_type *t = reader_type(r);
        if (!t)
            return false;
        vec_push(out, t);
    } while (reader_take(r, ","));
    return true;
}

static const shlo_type *of_parts(text_reader *r, shlo_type_kind kind, type_list *parts,
                                 size_t inputs) {
    shlo_type *t = new_type(r, kind);
    t->count = (uint32_t)parts->count;
    t->inputs = (uint32_t)inputs;
    t->parts = arena_copy(&r->m->memory, parts->items, parts->count * sizeof *parts->items);
    return t;
}

static const shlo_type *tuple(text_reader *r) {
    type_list parts = {0};
    const shlo_type *t = NULL;
    if (reader_need(r, "<") && (reader_peek(r, ">") || reader_types(r, &parts)) &&
        reader_need(r, ">"))
        t = of_parts(r, SHLO_TYPE_TUPLE, &parts, 0);
    vec_release(&parts);
    return t;
}

const shlo_type *reader_function_type(text_reader *r) {
    type_list parts = {0};
    const shlo_type *t = NULL;
    bool good = reader_need(r, "(") && (reader_peek(r, ")") || reader_types(r, &parts)) &&
                reader_need(r, ")") && reader_need(r, "->");
    const size_t inputs = parts.count;
    if (good && reader_take(r, "(")) {
        good = (reader_peek(r, ")") || reader_types(r, &parts)) && reader_need(r, ")");
    } else if (good) {
        const shlo_type *one = reader_type(r);
        good = one != NULL;
        vec_push(&parts, one);
    }
    if (good)
        t = of_parts(r, SHLO_TYPE_FUNCTION, &parts, inputs);
    vec_release(&parts);
    return t;
}

/* !dialect.name<...>, or an alias. */
static const shlo_type *foreign(text_reader *r) {
    const char *start = r->p++, *word, *back;
    const size_t n = reader_word(r, &word);
    if (!memchr(word, '.', n)) {
        const shlo_type *t = reader_known_alias(r, start, n + 1);
        if (t)
            return t;
        if (!(back = reader_enter_alias(r, start, n + 1)))
            return NULL;
        t = reader_type(r);
        reader_keep_alias(r, start, n + 1, t);
        r->p = back;
        return t;
    }
    if (n == strlen("stablehlo.token") && strncmp(word, "stablehlo.token", n) == 0)
        return new_type(r, SHLO_TYPE_TOKEN);
    if (*r->p == '<' && !reader_skip_brackets(r))
        return NULL;
    shlo_type *t = new_type(r, SHLO_TYPE_OTHER);
    t->text = arena_strndup(&r->m->memory, start, (size_t)(r->p - start));
    return t;
}

static const shlo_type *type_here(text_reader *r) {
    if (reader_peek(r, "("))
        return reader_function_type(r);
    if (reader_take(r, "tensor"))
        return tensor(r);
    if (reader_take(r, "tuple"))
        return tuple(r);
    if (reader_take(r, "none"))
        return new_type(r, SHLO_TYPE_NONE);
    if (reader_peek(r, "!") && !reader_peek(r, "!quant.uniform"))
        return foreign(r);
    shlo_type *t = new_type(r, SHLO_TYPE_SCALAR);
    return element(r, t) ? t : NULL;
}

const shlo_type *reader_type(text_reader *r) {
    if (!reader_deeper(r))
        return NULL;
    const shlo_type *t = type_here(r);
    reader_higher(r);
    return r->failed ? NULL : t;
}
