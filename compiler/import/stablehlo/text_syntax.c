/* text_syntax.c - short forms of operations, as the column `syntax` of stablehlo.def has them. */
#include <ctype.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

/* Operations of other dialects that are functions of a value: chlo.erf %0 : type -> type. */
static const char unary_form[] = "% :a";

static bool attr_named(const shlo_op_info *info, const char *name, size_t length,
                       shlo_attr_info *out) {
    const char *cursor = info->attrs;
    while (shlo_next_attr(&cursor, out))
        if (strlen(out->name) == length && strncmp(out->name, name, length) == 0)
            return true;
    return false;
}

/* The bare word of an enumeration. */
static const shlo_attr *enum_word(text_reader *r, const char *kind) {
    const char *word;
    const size_t n = reader_word(r, &word);
    shlo_attr *a = reader_attr(r, SHLO_ATTR_ENUM);
    a->string = arena_strndup(&r->m->memory, word, n);
    a->length = n;
    if (shlo_enum_has(kind, a->string))
        return a;
    reader_fail_at(r, word, "'%.40s' is no %.40s", a->string, kind);
    return NULL;
}

static const shlo_attr *integer(text_reader *r, shlo_element e) {
    shlo_attr *a = reader_attr(r, SHLO_ATTR_INTEGER);
    a->type = reader_scalar(r, e);
    return reader_integer(r, &a->integer) ? a : NULL;
}

/* #name: an attribute in the form that its kind has here. */
static bool attribute(text_reader *r, operation_parts *o, const char *name, size_t length) {
    shlo_attr_info info;
    if (!attr_named(o->info, name, length, &info))
        return reader_fail(r, "'%s' has no '%.*s'", o->name, (int)length, name);
    const shlo_attr *a = strcmp(info.kind, "ints") == 0  ? reader_ints(r)
                         : strcmp(info.kind, "i64") == 0 ? integer(r, SHLO_I64)
                         : strcmp(info.kind, "i32") == 0 ? integer(r, SHLO_I32)
                         : shlo_enum_word(info.kind, 1)  ? enum_word(r, info.kind)
                                                         : reader_attribute(r);
    return reader_push(r, &o->attrs, arena_strdup(&r->m->memory, info.name), a);
}

/* ---- types ---- */

static void operands_are(operation_parts *o, const shlo_type *t) {
    while (o->operand_types.count < o->operands.count)
        vec_push(&o->operand_types, t);
}

/* One type for all. */
static bool same_type(text_reader *r, operation_parts *o) {
    const shlo_type *t = reader_type(r);
    if (!t)
        return false;
    operands_are(o, t);
    vec_push(&o->result_types, t);
    return true;
}

/* Types of operands that become results one by one; or of an end, which has none. */
static bool listed_types(text_reader *r, operation_parts *o, bool pairwise) {
    type_list list = {0};
    const bool ends = o->info && o->info->opcode == SHLO_OP_RETURN;
    const bool good = reader_types(r, &list);
    for (size_t i = 0; good && i < list.count; i++) {
        if (pairwise || ends)
            vec_push(&o->operand_types, list.items[i]);
        if (!ends)
            vec_push(&o->result_types, list.items[i]);
    }
    if (good && !pairwise && !ends)
        operands_are(o, list.items[0]);
    vec_release(&list);
    return good;
}

static bool complex_type(text_reader *r, operation_parts *o) {
    const shlo_type *t = reader_type(r);
    if (!t)
        return false;
    const shlo_element part = t->element == SHLO_C64 ? SHLO_F32 : SHLO_F64;
    operands_are(o, reader_tensor(r, part, t->rank, t->dims));
    vec_push(&o->result_types, t);
    return true;
}

/* The condition's, and the others'. */
static bool select_types(text_reader *r, operation_parts *o) {
    const shlo_type *condition = reader_type(r);
    const shlo_type *t = condition && reader_need(r, ",") ? reader_type(r) : NULL;
    if (!t)
        return false;
    vec_push(&o->operand_types, condition);
    operands_are(o, t);
    vec_push(&o->result_types, t);
    return true;
}

static bool tuple_type(text_reader *r, operation_parts *o) {
    const shlo_type *t = reader_type(r);
    for (uint32_t i = 0; t && i < t->count; i++)
        vec_push(&o->operand_types, t->parts[i]);
    vec_push(&o->result_types, t);
    return t != NULL;
}

/* type, type -> type */
static bool arrow_types(text_reader *r, operation_parts *o) {
    if (reader_peek(r, "("))
        return reader_function_types(r, o);
    if (!reader_types(r, &o->operand_types))
        return false;
    if (reader_take(r, "->")) {
        const bool several = reader_take(r, "(");
        return reader_types(r, &o->result_types) && (!several || reader_need(r, ")"));
    }
    vec_push(&o->result_types, o->operand_types.items[0]);
    operands_are(o, o->operand_types.items[0]);
    return true;
}

static bool types(text_reader *r, operation_parts *o, char form) {
    if (reader_take(r, "{") && !reader_attributes(r, "}", &o->attrs))
        return false;
    if (!reader_need(r, ":"))
        return false;
    if (reader_peek(r, "(") && form != 'r' && form != 'a')
        return reader_function_types(r, o);
    switch (form) {
    case 'f':
        return reader_function_types(r, o);
    case 's':
        return same_type(r, o);
    case 'r':
        return listed_types(r, o, false);
    case 'p':
        return listed_types(r, o, true);
    case 'c':
        return complex_type(r, o);
    case 'e':
        return select_types(r, o);
    case 't':
        return tuple_type(r, o);
    default:
        return arrow_types(r, o);
    }
}

/* ---- walking the form ---- */

/* The name behind # or !. */
static size_t name_length(const char *p) {
    size_t n = 0;
    while (isalpha((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

/* Could what may be missing begin here? */
static bool optional_begins(text_reader *r, const char *form) {
    const char token[2] = {*form, 0};
    return reader_peek(r, token);
}

/* One piece of the form; the place behind it, NULL when reported. */
static const char *piece(text_reader *r, operation_parts *o, const char *form) {
    const size_t n = name_length(form + 1);
    switch (*form) {
    case ' ':
        return form + 1;
    case '%':
        return reader_operands(r, &o->operands) ? form + 1 : NULL;
    case '#':
        return attribute(r, o, form + 1, n) ? form + 1 + n : NULL;
    case '!':
        return reader_special(r, o, form + 1, n) ? form + 1 + n : NULL;
    case ':':
        return types(r, o, form[1]) ? form + 2 : NULL;
    default:
        break;
    }
    if (isalpha((unsigned char)*form)) {
        const size_t length = name_length(form);
        return reader_need(r, arena_strndup(&r->m->memory, form, length)) ? form + length : NULL;
    }
    const char token[2] = {*form, 0};
    return reader_need(r, token) ? form + 1 : NULL;
}

/* sdy.mesh @mesh = <...>, which is kept as it is. */
static bool mesh_form(text_reader *r) {
    const char *begin = r->p, *before = r->m->meshes;
    if (!reader_symbol(r) || !reader_need(r, "=") || !reader_skip_brackets(r))
        return false;
    const char *end = r->p;
    if (reader_peek(r, "{") && !reader_skip_brackets(r))
        return false;
    r->m->meshes = arena_printf(&r->m->memory, "%s%ssdy.mesh%.*s", before ? before : "",
                                before ? "\n" : "", (int)(end - begin), begin);
    return true;
}

/* Shardy's attributes are kept as their text, in the form that they have by themselves. */
static bool kept_brackets(text_reader *r, operation_parts *o, const char *name, const char *before,
                          const char *behind) {
    reader_blanks(r);
    const char *begin = r->p;
    if (!reader_skip_brackets(r))
        return false;
    shlo_attr *a = reader_attr(r, SHLO_ATTR_OTHER);
    a->string = arena_printf(&r->m->memory, "%s%.*s%s", before, (int)(r->p - begin), begin, behind);
    a->length = strlen(a->string);
    return reader_push(r, &o->attrs, name, a);
}

/* sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%a: type)
 * {...} : (type) -> type */
static bool manual_form(text_reader *r, operation_parts *o) {
    static const char shardings[] = "#sdy.sharding_per_value<";
    if (!reader_need(r, "(") || !reader_operands(r, &o->operands) || !reader_need(r, ")") ||
        !reader_need(r, "in_shardings") || !reader_need(r, "=") ||
        !kept_brackets(r, o, "in_shardings", shardings, ">") || !reader_need(r, "out_shardings") ||
        !reader_need(r, "=") || !kept_brackets(r, o, "out_shardings", shardings, ">") ||
        !reader_need(r, "manual_axes") || !reader_need(r, "=") ||
        !kept_brackets(r, o, "manual_axes", "#sdy<manual_axes", ">"))
        return false;
    shlo_block *block = reader_headed_region(r);
    vec_push(&o->regions, block);
    return block && types(r, o, 'f');
}

/* sdy.return %0, %1 : type, type */
static bool manual_end_form(text_reader *r, operation_parts *o) {
    return reader_operands(r, &o->operands) &&
           (o->operands.count == 0 || (reader_need(r, ":") && reader_types(r, &o->operand_types)));
}

/* Says something of a value's place: sdy.reshard %0 <...> : type. */
static bool place_form(text_reader *r, operation_parts *o) {
    return reader_operands(r, &o->operands) &&
           (!reader_peek(r, "<") || kept_brackets(r, o, "sharding", "#sdy.sharding", "")) &&
           types(r, o, 'p');
}

static bool partitioner_form(text_reader *r, operation_parts *o) {
    return strcmp(o->name, "sdy.mesh") == 0                 ? mesh_form(r)
           : strcmp(o->name, "sdy.manual_computation") == 0 ? manual_form(r, o)
           : strcmp(o->name, "sdy.return") == 0             ? manual_end_form(r, o)
                                                            : place_form(r, o);
}

bool reader_short_form(text_reader *r, operation_parts *o) {
    if (strncmp(o->name, "sdy.", strlen("sdy.")) == 0)
        return partitioner_form(r, o);
    const char *form = o->info ? o->info->syntax : unary_form, *start = form;
    if (o->info && !*form)
        return reader_fail_at(r, o->place, "'%s' is written in generic form, in quotes", o->name);
    while (form && *form)
        if (form[0] == '?' && form[1] == '(')
            form = optional_begins(r, form + 2) ? form + 2 : strchr(form, ')') + 1;
        else if (*form == ')' && (form[1] == '\0' || form[1] == ' ') && strchr(start, '?'))
            form++; /* the end of what could be missing */
        else
            form = piece(r, o, form);
    return form != NULL;
}
