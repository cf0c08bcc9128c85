/* text_print.c - a module as text: operations in generic form, which every reader of StableHLO
 * takes and which says all attributes; functions and the module in their short form. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/stablehlo/table.h"

typedef struct printer {
    text *out;
    uint32_t values; /* with a number, so far */
    int depth;
} printer;

static void print_attr(printer *p, const shlo_attr *a, const char *kind);

static void new_line(printer *p) {
    text_append_char(p->out, '\n');
    for (int i = 0; i < p->depth; i++)
        text_append(p->out, "  ");
}

/* ---- names and strings ---- */

static void print_string(text *out, const char *s, size_t length) {
    text_append_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
            text_printf(out, "\\%02X", c);
        else
            text_append_char(out, (char)c);
    }
    text_append_char(out, '"');
}

static bool is_plain(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("_$.-", *name))
            return false;
    return true;
}

static void print_symbol(text *out, const char *name) {
    text_append_char(out, '@');
    if (is_plain(name))
        text_append(out, name);
    else
        print_string(out, name, strlen(name));
}

static void print_value(printer *p, const shlo_value *v) {
    const bool many = v->op && v->op->result_count > 1;
    text_append(p->out, v->op ? "%" : "%a");
    text_append_integer(p->out, many ? v->op->results[0].number : v->number);
    if (many) {
        text_append_char(p->out, '#');
        text_append_integer(p->out, v->index);
    }
}

/* ---- attributes ---- */

/* Lists of lists of words, which all readers of bits take alike. */
static void print_flags(text *out, const shlo_attr *a, uint32_t axis, int64_t *at) {
    if (axis == a->type->rank) {
        text_append(out, a->bytes[(*at)++] ? "true" : "false");
        return;
    }
    text_append_char(out, '[');
    for (int64_t i = 0; i < a->type->dims[axis]; i++) {
        text_append(out, i ? ", " : "");
        print_flags(out, a, axis + 1, at);
    }
    text_append_char(out, ']');
}

/* Bytes in hexadecimal, which hold each element as it is. */
static void print_dense(text *out, const shlo_attr *a) {
    const int64_t count = shlo_type_count(a->type);
    int64_t at = 0;
    text_append(out, "dense<");
    if (a->type->element == SHLO_BOOL && a->splat) {
        text_append(out, *a->bytes ? "true" : "false");
    } else if (a->type->element == SHLO_BOOL && count > 0) {
        print_flags(out, a, 0, &at);
    } else if (count > 0) {
        text_append(out, "\"0x");
        for (size_t i = 0; i < a->size; i++)
            text_printf(out, "%02X", a->bytes[i]);
        text_append_char(out, '"');
    }
    text_append(out, "> : ");
    shlo_type_print(a->type, out);
}

static void print_integers(text *out, const shlo_attr *a, const char *open, const char *close) {
    VEC(int64_t) values = {0};
    const uint32_t count = shlo_ints(a, NULL, 0);
    vec_reserve(&values, count + 1);
    shlo_ints(a, values.items, count);
    text_append(out, open);
    for (uint32_t i = 0; i < count; i++)
        text_printf(out, "%s%" PRId64, i ? ", " : "", values.items[i]);
    text_append(out, close);
    vec_release(&values);
}

/* array<i64: 1, 2>, array<i1: true> */
static void print_list(text *out, const shlo_attr *a, bool flags) {
    const uint32_t count = shlo_ints(a, NULL, 0);
    if (!flags) {
        print_integers(out, a, count ? "array<i64: " : "array<i64", ">");
        return;
    }
    text_append(out, count ? "array<i1: " : "array<i1");
    for (uint32_t i = 0; i < count; i++)
        text_printf(out, "%s%s", i ? ", " : "", a->bytes[a->splat ? 0 : i] ? "true" : "false");
    text_append_char(out, '>');
}

static void print_float(text *out, const shlo_attr *a) {
    const shlo_element_info *e = shlo_element_get(a->type->element);
    text_printf(out, "0x%0*" PRIX64 " : %s", 2 * e->bytes, a->bits, e->name);
}

static void print_items(printer *p, const shlo_attr *a, const char *kind) {
    text_append_char(p->out, '[');
    for (uint32_t i = 0; i < a->count; i++) {
        if (i)
            text_append(p->out, ", ");
        print_attr(p, a->items[i], kind);
    }
    text_append_char(p->out, ']');
}

static void print_named(printer *p, const char *name, const shlo_attr *value) {
    if (is_plain(name))
        text_append(p->out, name);
    else
        print_string(p->out, name, strlen(name));
    if (value->kind == SHLO_ATTR_UNIT)
        return;
    text_append(p->out, " = ");
    print_attr(p, value, "");
}

static void print_dictionary(printer *p, const shlo_attr *a) {
    text_append_char(p->out, '{');
    for (uint32_t i = 0; i < a->count; i++) {
        text_append(p->out, i ? ", " : "");
        print_named(p, a->keys[i], a->items[i]);
    }
    text_append_char(p->out, '}');
}

static void print_accuracy(text *out, const shlo_attr *a) {
    text_append(out, "#stablehlo.result_accuracy<");
    if (a->numbers[0] != 0)
        text_printf(out, "atol = %.17e, ", a->numbers[0]);
    if (a->numbers[1] != 0)
        text_printf(out, "rtol = %.17e, ", a->numbers[1]);
    if (a->integer)
        text_printf(out, "ulps = %" PRId64 ", ", a->integer);
    text_printf(out, "mode = #stablehlo.result_accuracy_mode<%s>>", a->string);
}

/* An enumeration of a custom call is a number in text. */
static void print_enum(text *out, const shlo_attr *a, const char *kind) {
    if (strcmp(kind, "api_version") != 0) {
        text_printf(out, "#stablehlo<%s %s>", *kind ? kind : "precision", a->string);
        return;
    }
    uint64_t number = 0;
    while (shlo_enum_word(kind, number) && strcmp(shlo_enum_word(kind, number), a->string) != 0)
        number++;
    text_printf(out, "%" PRIu64 " : i32", number);
}

static void print_attr(printer *p, const shlo_attr *a, const char *kind) {
    text *out = p->out;
    switch (a->kind) {
    case SHLO_ATTR_UNIT:
        text_append(out, "unit");
        break;
    case SHLO_ATTR_BOOL:
        text_append(out, a->integer ? "true" : "false");
        break;
    case SHLO_ATTR_INTEGER:
        text_printf(out, "%" PRId64 " : ", a->integer);
        shlo_type_print(a->type, out);
        break;
    case SHLO_ATTR_FLOAT:
        print_float(out, a);
        break;
    case SHLO_ATTR_STRING:
        if (strcmp(kind, "symbol") == 0)
            print_symbol(out, a->string);
        else
            print_string(out, a->string, a->length);
        break;
    case SHLO_ATTR_SYMBOL:
        print_symbol(out, a->string);
        break;
    case SHLO_ATTR_TYPE:
        shlo_type_print(a->type, out);
        break;
    case SHLO_ATTR_ENUM:
        print_enum(out, a, kind);
        break;
    case SHLO_ATTR_ARRAY:
        print_items(p, a, strcmp(kind, "precisions") == 0 ? "precision" : "");
        break;
    case SHLO_ATTR_DICT:
        print_dictionary(p, a);
        break;
    case SHLO_ATTR_TENSOR:
        if (strcmp(kind, "ints") == 0 || strcmp(kind, "bools") == 0)
            print_list(out, a, *kind == 'b');
        else
            print_dense(out, a);
        break;
    case SHLO_ATTR_ACCURACY:
        print_accuracy(out, a);
        break;
    case SHLO_ATTR_OTHER:
        text_append(out, a->string);
        break;
    }
}

/* ---- attributes of an operation ---- */

/* A part of a group: a bare list, number, type or word. */
static void print_part(printer *p, const shlo_attr *a, const char *kind) {
    if (strcmp(kind, "ints") == 0)
        print_integers(p->out, a, "[", "]");
    else if (a->kind == SHLO_ATTR_INTEGER)
        text_printf(p->out, "%" PRId64, a->integer);
    else
        print_attr(p, a, kind);
}

/* The name that the text has for a part. */
static const char *part_name(const shlo_attr_info *info) {
    if (strcmp(info->group, "channel_handle") != 0)
        return info->name;
    return strcmp(info->name, "channel_id") == 0 ? "handle" : "type";
}

static bool is_empty_list(const shlo_attr *a) {
    return a->kind == SHLO_ATTR_TENSOR && shlo_type_count(a->type) == 0;
}

static bool is_absent(const shlo_attr *a) {
    return !a || is_empty_list(a) || (a->kind == SHLO_ATTR_TYPE && a->type->kind == SHLO_TYPE_NONE);
}

/* [b, 0, 1, f] of one of input, kernel and output. */
static void print_letters(printer *p, const shlo_op *op, const char *prefix, const char *letters) {
    int64_t spatial[SHLO_RANK_MAX];
    char name[64];
    static const char *const plain[] = {"batch_dimension", "feature_dimension"};
    static const char *const kernel[] = {"input_feature_dimension", "output_feature_dimension"};
    const char *const *names = *prefix == 'k' ? kernel : plain;
    snprintf(name, sizeof name, "%s_spatial_dimensions", prefix);
    const uint32_t count = shlo_op_ints(op, name, spatial, SHLO_RANK_MAX);
    text_append_char(p->out, '[');
    for (uint32_t place = 0; place < count + 2; place++) {
        text_append(p->out, place ? ", " : "");
        for (int i = 0; i < 2; i++) {
            snprintf(name, sizeof name, "%s_%s", prefix, names[i]);
            if (shlo_op_int(op, name, -1) == place)
                text_append_char(p->out, letters[i]);
        }
        for (uint32_t i = 0; i < count && i < SHLO_RANK_MAX; i++)
            if (spatial[i] == place)
                text_printf(p->out, "%u", i);
    }
    text_append_char(p->out, ']');
}

static void print_convolution(printer *p, const shlo_op *op) {
    print_letters(p, op, "input", "bf");
    text_append_char(p->out, 'x');
    print_letters(p, op, "kernel", "io");
    text_append(p->out, "->");
    print_letters(p, op, "output", "bf");
}

static void print_group(printer *p, const shlo_op *op, const char *word, bool *first) {
    const shlo_group *group = shlo_group_named(word, strlen(word));
    const char *cursor = op->info->attrs;
    shlo_attr_info info;
    bool begun = false;
    const bool letters = strcmp(word, "conv") == 0;
    while (shlo_next_attr(&cursor, &info)) {
        const shlo_attr *a = shlo_op_attr(op, info.name);
        if (strcmp(info.group, word) != 0 || (is_absent(a) && !letters))
            continue;
        if (!begun)
            text_printf(p->out, "%s%s = #stablehlo.%s<", *first ? "" : ", ", group->attribute,
                        word);
        *first = false;
        if (letters) {
            print_convolution(p, op);
            text_append_char(p->out, '>');
            return;
        }
        text_printf(p->out, "%s%s = ", begun ? ", " : "", part_name(&info));
        print_part(p, a, info.kind);
        begun = true;
    }
    if (begun)
        text_append_char(p->out, '>');
    else if (strcmp(word, "dot") == 0 || strcmp(word, "gather") == 0 ||
             strcmp(word, "scatter") == 0) {
        text_printf(p->out, "%s%s = #stablehlo.%s<>", *first ? "" : ", ", group->attribute, word);
        *first = false;
    }
}

static bool group_is_printed(const shlo_op *op, const shlo_attr_info *info) {
    const char *cursor = op->info->attrs;
    shlo_attr_info other;
    while (shlo_next_attr(&cursor, &other) && strcmp(other.name, info->name) != 0)
        if (strcmp(other.group, info->group) == 0)
            return true;
    return false;
}

/* Is the attribute what it is where the text leaves it out? */
static bool is_fallback(const shlo_attr *a, const char *fallback) {
    const uint32_t count = shlo_ints(a, NULL, 0);
    bool same = a->kind != SHLO_ATTR_TENSOR || count > 0;
    int64_t *values;
    switch (a->kind) {
    case SHLO_ATTR_BOOL:
        return strcmp(fallback, a->integer ? "true" : "false") == 0;
    case SHLO_ATTR_INTEGER:
        return a->integer == strtoll(fallback, NULL, 10);
    case SHLO_ATTR_ENUM:
        return strcmp(a->string, fallback) == 0;
    case SHLO_ATTR_ARRAY:
        for (uint32_t i = 0; i < a->count; i++)
            same &=
                a->items[i]->kind == SHLO_ATTR_ENUM && strcmp(a->items[i]->string, fallback) == 0;
        return same;
    case SHLO_ATTR_TENSOR:
        values = base_calloc((size_t)count + 1, sizeof *values);
        shlo_ints(a, values, count);
        for (uint32_t i = 0; i < count; i++)
            same &= values[i] == (strcmp(fallback, "false") == 0 ? 0 : strtoll(fallback, NULL, 10));
        free(values);
        return same;
    default:
        return false;
    }
}

/* Left out where the text has nothing for it: empty strings and lists that bytecode must have, and
 * what is meant anyway. */
static bool is_left_out(const shlo_op *op, const shlo_attr_info *info, const shlo_attr *a) {
    if (!a)
        return true;
    if (op->info->opcode == SHLO_OP_CUSTOM_CALL &&
        ((a->kind == SHLO_ATTR_ARRAY && a->count == 0) ||
         (a->kind == SHLO_ATTR_STRING && a->length == 0)))
        return true;
    if (a->kind == SHLO_ATTR_ACCURACY)
        return strcmp(a->string, "DEFAULT") == 0;
    return *info->fallback && is_fallback(a, info->fallback);
}

static void print_known_attrs(printer *p, const shlo_op *op, bool *first) {
    const char *cursor = op->info->attrs;
    shlo_attr_info info;
    while (shlo_next_attr(&cursor, &info)) {
        const shlo_attr *a = shlo_op_attr(op, info.name);
        if (*info.group) {
            if (!group_is_printed(op, &info))
                print_group(p, op, info.group, first);
        } else if (!is_left_out(op, &info, a)) {
            text_printf(p->out, "%s%s = ", *first ? "" : ", ", info.name);
            print_attr(p, a, info.kind);
            *first = false;
        }
    }
}

static bool is_known(const shlo_op *op, const char *name) {
    const char *cursor = op->info ? op->info->attrs : NULL;
    shlo_attr_info info;
    while (shlo_next_attr(&cursor, &info))
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

static void print_attrs(printer *p, const shlo_op *op) {
    bool first = true;
    const size_t before = p->out->length;
    text_append(p->out, " {");
    if (op->info)
        print_known_attrs(p, op, &first);
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (!is_known(op, op->attrs[i].name)) {
            text_append(p->out, first ? "" : ", ");
            print_named(p, op->attrs[i].name, op->attrs[i].value);
            first = false;
        }
    if (first) {
        p->out->length = before;
        p->out->data[before] = '\0';
    } else {
        text_append_char(p->out, '}');
    }
}

/* ---- operations ---- */

static void print_operations(printer *p, const shlo_block *block);

static void number_values(printer *p, shlo_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        values[i].number = p->values;
    p->values += count > 0;
}

static void print_argument(printer *p, shlo_value *v) {
    v->number = p->values++;
    text_printf(p->out, "%%a%u: ", v->number);
    shlo_type_print(v->type, p->out);
}

static void print_region(printer *p, const shlo_block *block) {
    text_append_char(p->out, '{');
    if (block->argument_count) {
        new_line(p);
        text_append(p->out, "^bb0(");
        for (uint32_t i = 0; i < block->argument_count; i++) {
            text_append(p->out, i ? ", " : "");
            print_argument(p, &block->arguments[i]);
        }
        text_append(p->out, "):");
    }
    p->depth++;
    print_operations(p, block);
    p->depth--;
    new_line(p);
    text_append_char(p->out, '}');
}

static void print_signature(printer *p, const shlo_op *op) {
    text_append(p->out, " : (");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        text_append(p->out, i ? ", " : "");
        shlo_type_print(op->operands[i]->type, p->out);
    }
    text_append(p->out, op->result_count == 1 ? ") -> " : ") -> (");
    for (uint32_t i = 0; i < op->result_count; i++) {
        text_append(p->out, i ? ", " : "");
        shlo_type_print(op->results[i].type, p->out);
    }
    if (op->result_count != 1)
        text_append_char(p->out, ')');
}

/* A function's end, and calls, are of another dialect in text. */
static const char *name_in_text(const shlo_op *op) {
    const bool ends = op->info && op->info->opcode == SHLO_OP_RETURN && op->block->parent == NULL;
    const bool calls = op->info && op->info->opcode == SHLO_OP_CALL;
    return ends ? "func.return" : calls ? "func.call" : op->name;
}

static void print_results(printer *p, const shlo_op *op) {
    text_append_char(p->out, '%');
    text_append_integer(p->out, op->results[0].number);
    if (op->result_count > 1) {
        text_append_char(p->out, ':');
        text_append_integer(p->out, op->result_count);
    }
    text_append(p->out, " = ");
}

static void print_operation(printer *p, shlo_op *op) {
    new_line(p);
    number_values(p, op->results, op->result_count);
    if (op->result_count)
        print_results(p, op);
    text_append_char(p->out, '"');
    text_append(p->out, name_in_text(op));
    text_append(p->out, "\"(");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        text_append(p->out, i ? ", " : "");
        print_value(p, op->operands[i]);
    }
    text_append_char(p->out, ')');
    if (op->region_count) {
        text_append(p->out, " (");
        for (uint32_t i = 0; i < op->region_count; i++) {
            text_append(p->out, i ? ", " : "");
            print_region(p, op->regions[i]);
        }
        text_append_char(p->out, ')');
    }
    print_attrs(p, op);
    print_signature(p, op);
}

static void print_operations(printer *p, const shlo_block *block) {
    for (shlo_op *op = block->first; op; op = op->next)
        print_operation(p, op);
}

/* ---- functions ---- */

static void print_attributes_of(printer *p, const shlo_attr *const *attrs, uint32_t i) {
    if (!attrs || !attrs[i] || attrs[i]->count == 0)
        return;
    text_append_char(p->out, ' ');
    print_dictionary(p, attrs[i]);
}

static void print_function(printer *p, const shlo_function *f) {
    const shlo_type *t = f->type;
    new_line(p);
    text_printf(p->out, "func.func %s ", f->is_private ? "private" : "public");
    print_symbol(p->out, f->name);
    text_append_char(p->out, '(');
    for (uint32_t i = 0; i < t->inputs; i++) {
        text_append(p->out, i ? ", " : "");
        if (f->body)
            print_argument(p, &f->body->arguments[i]);
        else
            shlo_type_print(t->parts[i], p->out);
        print_attributes_of(p, f->argument_attrs, i);
    }
    text_append(p->out, ") -> (");
    for (uint32_t i = t->inputs; i < t->count; i++) {
        text_append(p->out, i > t->inputs ? ", " : "");
        shlo_type_print(t->parts[i], p->out);
        print_attributes_of(p, f->result_attrs, i - t->inputs);
    }
    text_append_char(p->out, ')');
    if (!f->body)
        return;
    text_append(p->out, " {");
    p->depth++;
    print_operations(p, f->body);
    p->depth--;
    new_line(p);
    text_append_char(p->out, '}');
}

void shlo_print(const shlo_module *m, text *out) {
    printer p = {.out = out};
    text_append(out, "module ");
    if (m->name) {
        print_symbol(out, m->name);
        text_append_char(out, ' ');
    }
    bool first = true;
    for (uint32_t i = 0; i < m->attr_count; i++) {
        if (strncmp(m->attrs[i].name, "sym_", strlen("sym_")) == 0)
            continue;
        text_append(out, first ? "attributes {" : ", ");
        print_named(&p, m->attrs[i].name, m->attrs[i].value);
        first = false;
    }
    text_append(out, first ? "{" : "} {");
    p.depth++;
    for (const char *line = m->meshes; line && *line; line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        new_line(&p);
        text_append_bytes(out, line, length);
        line += length;
    }
    for (const shlo_function *f = m->first; f; f = f->next) {
        p.values = 0;
        print_function(&p, f);
    }
    text_append(out, "\n}\n");
}
