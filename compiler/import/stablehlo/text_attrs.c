/* text_attrs.c - attributes of MLIR's text, those of StableHLO among them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

shlo_attr *reader_attr(text_reader *r, shlo_attr_kind kind) {
    shlo_attr *a = ARENA_NEW(&r->m->memory, shlo_attr, 1);
    a->kind = kind;
    return a;
}

static shlo_attr *of_string(text_reader *r, shlo_attr_kind kind, const char *s, size_t length) {
    shlo_attr *a = reader_attr(r, kind);
    a->string = arena_strndup(&r->m->memory, s, length);
    a->length = length;
    return a;
}

/* ---- lists of names and values ---- */

typedef VEC(const shlo_attr *) item_list;

static void finish_items(text_reader *r, shlo_attr *a, item_list *items) {
    a->count = (uint32_t)items->count;
    a->items = arena_copy(&r->m->memory, items->items, items->count * sizeof *items->items);
    vec_release(items);
}

static const char *part_name(const char *name) {
    return strcmp(name, "handle") == 0 ? "channel_id"
           : strcmp(name, "type") == 0 ? "channel_type"
                                       : name;
}

/* A group without any part, of an outer product: one of its lists is empty, and there. */
static bool push_empty_group(text_reader *r, attr_list *list, const char *word) {
    static const char *const parts[][2] = {{"dot", "lhs_contracting_dimensions"},
                                           {"gather", "offset_dims"},
                                           {"scatter", "update_window_dims"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(word, parts[i][0]) == 0)
            return reader_push(r, list, parts[i][1], reader_attr(r, SHLO_ATTR_ARRAY));
    return true;
}

/* A group stands in the text where its parts stand in the table. */
bool reader_push(text_reader *r, attr_list *list, const char *name, const shlo_attr *value) {
    if (!value)
        return false;
    if (value->kind == SHLO_ATTR_DICT && value->string && value->count == 0)
        return push_empty_group(r, list, value->string);
    if (value->kind == SHLO_ATTR_DICT && value->string) {
        const bool channel = strcmp(value->string, "channel_handle") == 0;
        for (uint32_t i = 0; i < value->count; i++)
            if (!reader_push(r, list, channel ? part_name(value->keys[i]) : value->keys[i],
                             value->items[i]))
                return false;
        return true;
    }
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return reader_fail(r, "'%.60s' is said twice", name);
    shlo_named_attr one = {name, value};
    vec_push(list, one);
    return true;
}

static const char *key(text_reader *r) {
    size_t length;
    const char *word;
    if (reader_peek(r, "\""))
        return reader_string(r, &length);
    length = reader_word(r, &word);
    if (length)
        return arena_strndup(&r->m->memory, word, length);
    reader_fail(r, "expected the name of an attribute");
    return NULL;
}

bool reader_attributes(text_reader *r, const char *close, attr_list *out) {
    if (reader_take(r, close))
        return true;
    do {
        const char *name = key(r);
        const shlo_attr *value =
            name && reader_take(r, "=") ? reader_attribute(r) : reader_attr(r, SHLO_ATTR_UNIT);
        if (r->failed || !reader_push(r, out, name, value))
            return false;
    } while (reader_take(r, ","));
    return reader_need(r, close);
}

static const shlo_attr *dictionary(text_reader *r, const char *close, const char *group) {
    attr_list list = {0};
    shlo_attr *a = reader_attr(r, SHLO_ATTR_DICT);
    const bool good = reader_attributes(r, close, &list);
    const char **keys = ARENA_NEW(&r->m->memory, const char *, list.count + 1);
    item_list items = {0};
    for (size_t i = 0; i < list.count; i++) {
        keys[i] = list.items[i].name;
        vec_push(&items, list.items[i].value);
    }
    a->keys = keys;
    a->string = group;
    finish_items(r, a, &items);
    vec_release(&list);
    return good ? a : NULL;
}

static const shlo_attr *array(text_reader *r) {
    item_list items = {0};
    shlo_attr *a = reader_attr(r, SHLO_ATTR_ARRAY);
    bool good = true;
    if (!reader_take(r, "]")) {
        do {
            const shlo_attr *one = reader_attribute(r);
            good = one != NULL;
            vec_push(&items, one);
        } while (good && reader_take(r, ","));
        good = good && reader_need(r, "]");
    }
    finish_items(r, a, &items);
    return good ? a : NULL;
}

/* ---- #stablehlo... ---- */

/* [b, 0, 1, f], of input, kernel and output: letters are what stands in the table, numbers spatial
 * axes. */
typedef struct dimension_letters {
    const char *prefix;
    char first;
    const char *first_name;
    char second;
    const char *second_name;
} dimension_letters;

static bool convolution_dims(text_reader *r, const dimension_letters *d, attr_list *out) {
    int64_t spatial[SHLO_RANK_MAX], count = 0;
    int64_t place = 0;
    bool good = reader_need(r, "[");
    for (; good && !reader_take(r, "]"); place++) {
        if (place && !reader_need(r, ","))
            return false;
        reader_blanks(r);
        int64_t number;
        if (*r->p == d->first || *r->p == d->second) {
            shlo_attr *a = reader_attr(r, SHLO_ATTR_INTEGER);
            a->integer = place;
            a->type = reader_scalar(r, SHLO_I64);
            const char *name = *r->p == d->first ? d->first_name : d->second_name;
            r->p++;
            good = reader_push(r, out, arena_printf(&r->m->memory, "%s_%s", d->prefix, name), a);
        } else if (reader_take(r, "?")) {
            good = true;
        } else {
            good = reader_integer(r, &number);
            if (good && (number < 0 || number >= SHLO_RANK_MAX))
                return reader_fail(r, "no axis of a convolution");
            if (good) {
                spatial[number] = place;
                count = number >= count ? number + 1 : count;
            }
        }
    }
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, SHLO_I64, 1, &count);
    a->size = (size_t)count * sizeof *spatial;
    a->bytes = arena_copy(&r->m->memory, spatial, a->size);
    return good &&
           reader_push(r, out, arena_printf(&r->m->memory, "%s_spatial_dimensions", d->prefix), a);
}

bool reader_convolution(text_reader *r, attr_list *out) {
    static const dimension_letters input = {"input", 'b', "batch_dimension", 'f',
                                            "feature_dimension"};
    static const dimension_letters kernel = {"kernel", 'i', "input_feature_dimension", 'o',
                                             "output_feature_dimension"};
    static const dimension_letters output = {"output", 'b', "batch_dimension", 'f',
                                             "feature_dimension"};
    return convolution_dims(r, &input, out) && reader_need(r, "x") &&
           convolution_dims(r, &kernel, out) && reader_need(r, "->") &&
           convolution_dims(r, &output, out);
}

static const shlo_attr *convolution(text_reader *r) {
    attr_list list = {0};
    item_list items = {0};
    shlo_attr *a = reader_attr(r, SHLO_ATTR_DICT);
    const bool good = reader_convolution(r, &list) && reader_need(r, ">");
    const char **keys = ARENA_NEW(&r->m->memory, const char *, list.count + 1);
    for (size_t i = 0; i < list.count; i++) {
        keys[i] = list.items[i].name;
        vec_push(&items, list.items[i].value);
    }
    a->keys = keys;
    a->string = "conv";
    finish_items(r, a, &items);
    vec_release(&list);
    return good ? a : NULL;
}

/* <atol = 1.0, rtol = 0.0, ulps = 5, mode = #stablehlo.result_accuracy_mode<TOLERANCE>> */
static const shlo_attr *accuracy(text_reader *r) {
    shlo_attr *a = reader_attr(r, SHLO_ATTR_ACCURACY);
    a->string = "DEFAULT";
    do {
        if (reader_take(r, "atol") || reader_take(r, "rtol")) {
            const int which = r->p[-4] == 'r';
            if (!reader_need(r, "=") || !reader_number(r, &a->numbers[which]))
                return NULL;
        } else if (reader_take(r, "ulps")) {
            if (!reader_need(r, "=") || !reader_integer(r, &a->integer))
                return NULL;
        } else {
            const shlo_attr *mode =
                reader_need(r, "mode") && reader_need(r, "=") ? reader_attribute(r) : NULL;
            if (!mode || !mode->string)
                return NULL;
            a->string = mode->string;
        }
    } while (reader_take(r, ","));
    return reader_need(r, ">") ? a : NULL;
}

/* #stablehlo<precision DEFAULT> and #stablehlo.result_accuracy_mode<DEFAULT>. */
static const shlo_attr *enumeration(text_reader *r, const char *kind, size_t length) {
    const char *word, *name = arena_strndup(&r->m->memory, kind, length);
    const size_t n = reader_word(r, &word);
    const shlo_attr *a = of_string(r, SHLO_ATTR_ENUM, word, n);
    if (!shlo_enum_has(name, a->string)) {
        reader_fail_at(r, word, "'%.*s' is no %.40s", (int)n, word, name);
        return NULL;
    }
    return reader_need(r, ">") ? a : NULL;
}

static const shlo_attr *other(text_reader *r, const char *start) {
    if (reader_peek(r, "<") && !reader_skip_brackets(r))
        return NULL;
    return of_string(r, SHLO_ATTR_OTHER, start, (size_t)(r->p - start));
}

static const shlo_attr *of_dialect(text_reader *r) {
    static const char own[] = "stablehlo.";
    const char *start = r->p++, *word;
    const size_t n = reader_word(r, &word);
    if (n == strlen(own) - 1 && strncmp(word, own, n) == 0 && reader_take(r, "<")) {
        const char *kind;
        const size_t k = reader_word(r, &kind);
        return enumeration(r, kind, k);
    }
    if (!memchr(word, '.', n) && reader_peek(r, "<"))
        return other(r, start); /* #sdy<...> */
    if (!memchr(word, '.', n)) {
        const shlo_attr *a = reader_known_alias(r, start, n + 1);
        const char *back = a ? NULL : reader_enter_alias(r, start, n + 1);
        if (back) {
            a = reader_attribute(r);
            reader_keep_alias(r, start, n + 1, a);
            r->p = back;
        }
        return a;
    }
    const size_t skip = strlen(own);
    if (n <= skip || strncmp(word, own, skip) != 0 || !reader_peek(r, "<"))
        return other(r, start);
    const char *name = word + skip;
    const shlo_group *group = shlo_group_named(name, n - skip);
    char kind[40];
    snprintf(kind, sizeof kind, "%.*s", (int)(n - skip), name);
    if (strcmp(kind, "result_accuracy") == 0)
        return reader_take(r, "<") ? accuracy(r) : NULL;
    if (strcmp(kind, "result_accuracy_mode") == 0)
        return reader_take(r, "<") ? enumeration(r, kind, strlen(kind)) : NULL;
    if (!group)
        return other(r, start);
    reader_take(r, "<");
    if (strcmp(kind, "conv") == 0 && !reader_take(r, "raw"))
        return convolution(r);
    return dictionary(r, ">", group->word);
}

/* ---- numbers ---- */

static bool looks_like_number(const char *p) {
    return isdigit((unsigned char)*p) || (*p == '-' && isdigit((unsigned char)p[1]));
}

/* Without a type an integer is an i64, and what has a point an f64. */
static const shlo_attr *number(text_reader *r) {
    char *end;
    const char *start = r->p;
    const double value = strtod(start, &end);
    const bool hex = start[*start == '-'] == '0' && start[(*start == '-') + 1] == 'x';
    bool is_float = !hex && memchr(start, '.', (size_t)(end - start)) != NULL;
    int64_t integer = 0;
    if (is_float)
        r->p = end;
    else if (!reader_integer(r, &integer))
        return NULL;
    const shlo_type *type = reader_scalar(r, is_float ? SHLO_F64 : SHLO_I64);
    if (reader_take(r, ":") && !(type = reader_type(r)))
        return NULL;
    is_float |= shlo_element_is_float(type->element);
    shlo_attr *a = reader_attr(r, is_float ? SHLO_ATTR_FLOAT : SHLO_ATTR_INTEGER);
    a->type = type;
    a->integer = integer;
    const dtype stored = shlo_element_get(type->element)->type;
    if (is_float && stored == DTYPE_NONE) {
        reader_fail_at(r, start, "numbers of this type are not read");
        return NULL;
    }
    if (is_float && hex)
        a->bits = (uint64_t)integer;
    else if (is_float)
        dtype_store(stored, &a->bits, 0, value);
    return a;
}

static const shlo_attr *boolean(text_reader *r, bool value) {
    shlo_attr *a = reader_attr(r, SHLO_ATTR_BOOL);
    a->integer = value;
    return a;
}

static const shlo_attr *symbol(text_reader *r) {
    const char *name = reader_symbol(r);
    while (name && reader_take(r, "::"))
        name = reader_symbol(r); /* of a nested one the last */
    return name ? of_string(r, SHLO_ATTR_SYMBOL, name, strlen(name)) : NULL;
}

static const shlo_attr *string(text_reader *r) {
    size_t length;
    const char *s = reader_string(r, &length);
    if (!s || (reader_take(r, ":") && !reader_type(r)))
        return NULL;
    return of_string(r, SHLO_ATTR_STRING, s, length);
}

static const shlo_attr *attribute_here(text_reader *r) {
    reader_blanks(r);
    const char *start = r->p;
    if (looks_like_number(start))
        return number(r);
    switch (*start) {
    case '"':
        return string(r);
    case '@':
        return symbol(r);
    case '#':
        return of_dialect(r);
    case '[':
        r->p++;
        return array(r);
    case '{':
        r->p++;
        return dictionary(r, "}", NULL);
    default:
        break;
    }
    if (reader_take(r, "dense"))
        return reader_dense(r);
    if (reader_take(r, "array"))
        return reader_dense_array(r);
    if (reader_take(r, "true") || reader_take(r, "false"))
        return boolean(r, *start == 't');
    if (reader_take(r, "unit"))
        return reader_attr(r, SHLO_ATTR_UNIT);
    if (reader_take(r, "dense_resource") || reader_take(r, "affine_map") ||
        reader_take(r, "sparse"))
        return other(r, start);
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TYPE);
    a->type = reader_type(r);
    return a->type ? a : NULL;
}

const shlo_attr *reader_attribute(text_reader *r) {
    if (!reader_deeper(r))
        return NULL;
    const shlo_attr *a = attribute_here(r);
    reader_higher(r);
    return r->failed ? NULL : a;
}
