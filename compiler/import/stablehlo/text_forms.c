/* text_forms.c - short forms that are said in no few words: constants, slices, contractions,
 * convolutions, reductions, loops. */
#include <ctype.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

static bool push_ints(text_reader *r, operation_parts *o, const char *name, const int64_t *values,
                      int64_t count) {
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, SHLO_I64, 1, &count);
    a->size = (size_t)count * sizeof *values;
    a->bytes = arena_copy(&r->m->memory, values, a->size);
    return reader_push(r, &o->attrs, name, a);
}

static bool constant(text_reader *r, operation_parts *o) {
    if (reader_take(r, "{") && !reader_attributes(r, "}", &o->attrs))
        return false;
    const shlo_attr *value = reader_attribute(r);
    if (!value || !value->type)
        return reader_fail(r, "expected the value of a constant");
    vec_push(&o->result_types, value->type);
    return reader_push(r, &o->attrs, "value", value);
}

/* [1:4, 0:8:2] */
static bool slice(text_reader *r, operation_parts *o) {
    int64_t start[SHLO_RANK_MAX], limit[SHLO_RANK_MAX], stride[SHLO_RANK_MAX];
    int64_t n = 0;
    if (!reader_need(r, "["))
        return false;
    if (!reader_peek(r, "]"))
        do {
            if (n == SHLO_RANK_MAX)
                return reader_fail(r, "a slice of too many axes");
            stride[n] = 1;
            if (!reader_integer(r, &start[n]) || !reader_need(r, ":") ||
                !reader_integer(r, &limit[n]) ||
                (reader_take(r, ":") && !reader_integer(r, &stride[n])))
                return false;
            n++;
        } while (reader_take(r, ","));
    return reader_need(r, "]") && push_ints(r, o, "start_indices", start, n) &&
           push_ints(r, o, "limit_indices", limit, n) && push_ints(r, o, "strides", stride, n);
}

static bool pair(text_reader *r, operation_parts *o, const char *left, const char *right) {
    return reader_need(r, "=") && reader_push(r, &o->attrs, left, reader_ints(r)) &&
           reader_need(r, "x") && reader_push(r, &o->attrs, right, reader_ints(r));
}

/* batching_dims = [0] x [0], contracting_dims = [2] x [1] */
static bool dot(text_reader *r, operation_parts *o) {
    if (!reader_take(r, "batching_dims"))
        return reader_need(r, "contracting_dims") &&
               pair(r, o, "lhs_contracting_dimensions", "rhs_contracting_dimensions");
    return pair(r, o, "lhs_batching_dimensions", "rhs_batching_dimensions") &&
           (!reader_take(r, ",") ||
            (reader_need(r, "contracting_dims") &&
             pair(r, o, "lhs_contracting_dimensions", "rhs_contracting_dimensions")));
}

/* , precision = [DEFAULT, HIGH], algorithm = <...> */
static bool precisions(text_reader *r, operation_parts *o) {
    VEC(const shlo_attr *) items = {0};
    bool good = reader_need(r, "=") && reader_need(r, "[");
    if (good && !reader_take(r, "]")) {
        do {
            const char *word;
            const size_t n = reader_word(r, &word);
            shlo_attr *a = reader_attr(r, SHLO_ATTR_ENUM);
            a->string = arena_strndup(&r->m->memory, word, n);
            a->length = n;
            good = shlo_enum_has("precision", a->string) ||
                   reader_fail_at(r, word, "'%.40s' is no precision", a->string);
            vec_push(&items, a);
        } while (good && reader_take(r, ","));
        good = good && reader_need(r, "]");
    }
    shlo_attr *list = reader_attr(r, SHLO_ATTR_ARRAY);
    list->count = (uint32_t)items.count;
    list->items = arena_copy(&r->m->memory, items.items, items.count * sizeof *items.items);
    vec_release(&items);
    return good && reader_push(r, &o->attrs, "precision_config", list);
}

static bool precision(text_reader *r, operation_parts *o) {
    while (reader_take(r, ",")) {
        if (reader_take(r, "algorithm")) {
            if (!reader_need(r, "=") || !reader_need(r, "<") ||
                !reader_attributes(r, ">", &o->attrs))
                return false;
        } else if (!reader_need(r, "precision") || !precisions(r, o)) {
            return false;
        }
    }
    return true;
}

/* stride = [2, 2], pad = [[0, 0], [1, 1]], lhs_dilate = [..], rhs_dilate = [..], reverse = [false]
 */
static const struct window_word {
    const char *word, *name;
} window_words[] = {{"stride", "window_strides"},
                    {"pad", "padding"},
                    {"lhs_dilate", "lhs_dilation"},
                    {"rhs_dilate", "rhs_dilation"},
                    {"reverse", "window_reversal"}};

static bool pads(text_reader *r, operation_parts *o) {
    int64_t values[2 * SHLO_RANK_MAX], count = 0;
    if (!reader_need(r, "["))
        return false;
    if (!reader_peek(r, "]"))
        do {
            if (count == SHLO_RANK_MAX)
                return reader_fail(r, "a padding of too many axes");
            if (!reader_need(r, "[") || !reader_integer(r, &values[2 * count]) ||
                !reader_need(r, ",") || !reader_integer(r, &values[2 * count + 1]) ||
                !reader_need(r, "]"))
                return false;
            count++;
        } while (reader_take(r, ","));
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, SHLO_I64, 2, (int64_t[]){count, 2});
    a->size = (size_t)count * 2 * sizeof *values;
    a->bytes = arena_copy(&r->m->memory, values, a->size);
    return reader_need(r, "]") && reader_push(r, &o->attrs, "padding", a);
}

static bool reversals(text_reader *r, operation_parts *o) {
    uint8_t values[SHLO_RANK_MAX];
    int64_t count = 0;
    if (!reader_need(r, "["))
        return false;
    if (!reader_peek(r, "]"))
        do {
            if (count == SHLO_RANK_MAX)
                return reader_fail(r, "too many axes");
            values[count] = reader_take(r, "true") || reader_take(r, "1");
            if (!values[count++] && !reader_take(r, "false") && !reader_need(r, "0"))
                return false;
        } while (reader_take(r, ","));
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TENSOR);
    a->type = reader_tensor(r, SHLO_BOOL, 1, &count);
    a->size = (size_t)count;
    a->bytes = arena_copy(&r->m->memory, values, a->size);
    return reader_need(r, "]") && reader_push(r, &o->attrs, "window_reversal", a);
}

static bool window(text_reader *r, operation_parts *o) {
    if (reader_peek(r, "}"))
        return true;
    do {
        const char *word, *name = NULL;
        const size_t n = reader_word(r, &word);
        for (size_t i = 0; i < sizeof window_words / sizeof *window_words; i++)
            if (strlen(window_words[i].word) == n && strncmp(word, window_words[i].word, n) == 0)
                name = window_words[i].name;
        if (!name)
            return reader_fail_at(r, word, "'%.*s' is no part of a window", (int)n, word);
        if (!reader_need(r, "="))
            return false;
        const bool good = strcmp(name, "padding") == 0 ? pads(r, o)
                          : strcmp(name, "window_reversal") == 0
                              ? reversals(r, o)
                              : reader_push(r, &o->attrs, name, reader_ints(r));
        if (!good)
            return false;
    } while (reader_take(r, ","));
    return true;
}

/* e5m10 */
static bool format(text_reader *r, operation_parts *o) {
    int64_t numbers[2];
    static const char *const letters[] = {"e", "m"};
    static const char *const names[] = {"exponent_bits", "mantissa_bits"};
    reader_blanks(r);
    for (int i = 0; i < 2; i++) {
        shlo_attr *a = reader_attr(r, SHLO_ATTR_INTEGER);
        if (*r->p != *letters[i])
            return reader_fail(r, "expected a format such as e5m10");
        r->p++;
        if (!isdigit((unsigned char)*r->p) || !reader_integer(r, &numbers[i]))
            return reader_fail(r, "expected a format such as e5m10");
        a->integer = numbers[i];
        a->type = reader_scalar(r, SHLO_I32);
        if (!reader_push(r, &o->attrs, names[i], a))
            return false;
    }
    return true;
}

static bool target(text_reader *r, operation_parts *o) {
    const char *name = reader_symbol(r);
    if (!name)
        return false;
    shlo_attr *a = reader_attr(r, SHLO_ATTR_STRING);
    a->string = name;
    a->length = strlen(name);
    return reader_push(r, &o->attrs, "call_target_name", a);
}

/* ---- reductions ---- */

/* (%a init: %b), (%c init: %d): tensors first, then what they begin with. */
static bool reduced(text_reader *r, operation_parts *o) {
    value_list tensors = {0}, inits = {0};
    bool good;
    do
        good = reader_need(r, "(") && reader_operands(r, &tensors) && reader_need(r, "init") &&
               reader_need(r, ":") && reader_operands(r, &inits) && reader_need(r, ")");
    while (good && reader_take(r, ","));
    for (size_t i = 0; i < tensors.count; i++)
        vec_push(&o->operands, tensors.items[i]);
    for (size_t i = 0; i < inits.count; i++)
        vec_push(&o->operands, inits.items[i]);
    vec_release(&tensors);
    vec_release(&inits);
    return good;
}

/* `applies stablehlo.add`: a body of this one operation. */
static shlo_block *applied(text_reader *r, const char *name, const shlo_type *scalar) {
    shlo_block *block = shlo_block_new(r->m, 2);
    shlo_op *op = shlo_op_new(r->m, block, name, 2, 1, 0, 0);
    shlo_op *end = shlo_op_new(r->m, block, "stablehlo.return", 1, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        block->arguments[i].type = scalar;
        op->operands[i] = &block->arguments[i];
    }
    op->results[0].type = scalar;
    end->operands[0] = &op->results[0];
    op->location = end->location = r->unknown;
    return block;
}

/* reducer(%a: t, %b: t) (%c: t, %d: t) { ... }: pairs of each tensor; the block takes what there is
 * so far of all, then the elements of all. */
static shlo_block *reducer(text_reader *r, size_t count) {
    shlo_block *block = shlo_block_new(r->m, (uint32_t)(2 * count));
    const shlo_location *ignored;
    const size_t outer = r->names.count;
    for (size_t i = 0; i < count; i++) {
        if (!reader_need(r, "("))
            return NULL;
        for (size_t side = 0; side < 2; side++) {
            const char *name;
            const size_t length = !side || reader_need(r, ",") ? reader_new_name(r, &name) : 0;
            if (!length)
                return NULL;
            shlo_value *argument = &block->arguments[side * count + i];
            if (!reader_define_word(r, name, length, argument) || !reader_need(r, ":") ||
                !(argument->type = reader_type(r)) || !reader_location(r, &ignored))
                return NULL;
        }
        if (!reader_need(r, ")"))
            return NULL;
    }
    block = reader_region(r, NULL, block);
    reader_leave(r, outer);
    return block;
}

static bool reduce(text_reader *r, operation_parts *o) {
    const char *word = NULL;
    size_t n = 0;
    if (!reduced(r, o))
        return false;
    const size_t count = o->operands.count / 2;
    if (reader_take(r, "applies") && (n = reader_word(r, &word)) == 0)
        return reader_fail(r, "expected an operation");
    if (!reader_need(r, "across") || !reader_need(r, "dimensions") || !reader_need(r, "=") ||
        !reader_push(r, &o->attrs, "dimensions", reader_ints(r)) ||
        (reader_take(r, "{") && !reader_attributes(r, "}", &o->attrs)) || !reader_need(r, ":") ||
        !reader_function_types(r, o))
        return false;
    shlo_block *block = NULL;
    if (n && count == 1 && o->operand_types.count == 2)
        block = applied(r, arena_strndup(&r->m->memory, word, n),
                        reader_tensor(r, o->operand_types.items[0]->element, 0, NULL));
    else if (reader_need(r, "reducer"))
        block = reducer(r, count);
    vec_push(&o->regions, block);
    return block != NULL;
}

/* ---- loops ---- */

typedef VEC(struct loop_name {
    const char *name;
    size_t length;
}) loop_names;

static bool loop_values(text_reader *r, operation_parts *o, loop_names *names) {
    if (!reader_need(r, "("))
        return false;
    if (reader_take(r, ")"))
        return true;
    do {
        struct loop_name one = {0};
        one.length = reader_new_name(r, &one.name);
        shlo_value *value = one.length && reader_need(r, "=") ? reader_operand(r) : NULL;
        if (!value)
            return false;
        vec_push(names, one);
        vec_push(&o->operands, value);
    } while (reader_take(r, ","));
    return reader_need(r, ")");
}

static shlo_block *loop_region(text_reader *r, const operation_parts *o, const loop_names *names) {
    const size_t outer = r->names.count;
    shlo_block *block = shlo_block_new(r->m, (uint32_t)names->count);
    for (size_t i = 0; i < names->count; i++) {
        block->arguments[i].type = o->result_types.items[i];
        if (!reader_define_word(r, names->items[i].name, names->items[i].length,
                                &block->arguments[i]))
            return NULL;
    }
    block = reader_region(r, NULL, block);
    reader_leave(r, outer);
    return block;
}

static bool loop_types(text_reader *r, operation_parts *o, size_t count) {
    if (count == 0 && !reader_peek(r, ":"))
        return true;
    if (!reader_need(r, ":") || !reader_types(r, &o->result_types))
        return false;
    if (o->result_types.count != count)
        return reader_fail(r, "%zu types for %zu values of the loop", o->result_types.count, count);
    for (size_t i = 0; i < count; i++)
        vec_push(&o->operand_types, o->result_types.items[i]);
    return true;
}

static bool loop(text_reader *r, operation_parts *o) {
    loop_names names = {0};
    bool good = loop_values(r, o, &names) && loop_types(r, o, names.count) &&
                (!reader_take(r, "attributes") ||
                 (reader_need(r, "{") && reader_attributes(r, "}", &o->attrs)));
    static const char *const words[] = {"cond", "do"};
    for (int i = 0; i < 2 && good; i++) {
        shlo_block *block = reader_need(r, words[i]) ? loop_region(r, o, &names) : NULL;
        vec_push(&o->regions, block);
        good = block != NULL;
    }
    vec_release(&names);
    return good;
}

static bool convolution(text_reader *r, operation_parts *o) {
    return reader_convolution(r, &o->attrs);
}

bool reader_special(text_reader *r, operation_parts *o, const char *word, size_t length) {
    static const struct special {
        const char *word;
        bool (*read)(text_reader *r, operation_parts *o);
    } specials[] = {{"constant", constant},   {"slice", slice},   {"dot", dot},
                    {"precision", precision}, {"window", window}, {"convolution", convolution},
                    {"format", format},       {"target", target}, {"reduce", reduce},
                    {"while", loop}};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strlen(specials[i].word) == length && strncmp(specials[i].word, word, length) == 0)
            return specials[i].read(r, o);
    return reader_fail(r, "'%s' has no short form", o->name);
}
