/* bind.c - a case that the source does not have: values for all dimensions and type variables of a
 * kernel, given by name. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/vec.h"
#include "check/cases.h"

/* ---- reading values ---- */

typedef struct value_reader {
    arena *memory;
    VEC(ir_binding) dims;
    VEC(compiler_type_binding) types;
} value_reader;

static bool is_there(const value_reader *r, const char *name) {
    for (size_t i = 0; i < r->dims.count; i++)
        if (strcmp(r->dims.items[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < r->types.count; i++)
        if (strcmp(r->types.items[i].name, name) == 0)
            return true;
    return false;
}

/* The length of the name that `word` begins with; 0: it begins with none. */
static size_t name_length(const char *word) {
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_')
        length++;
    return isdigit((unsigned char)*word) ? 0 : length;
}

static bool number_read(const char *word, int64_t *out) {
    *out = 0;
    for (; isdigit((unsigned char)*word); word++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *word - '0', out))
            return false;
    return *word == '\0';
}

static bool not_a_value(const char *word, status *st) {
    return status_set(st, STATUS_INVALID, "'%.80s' is not NAME=NUMBER or NAME=TYPE", word);
}

/* One NAME=VALUE, without blanks around it. */
static bool value_read(value_reader *r, const char *word, status *st) {
    size_t length = name_length(word);
    const char *value = word + length + 1;
    int64_t number;
    if (length == 0 || word[length] != '=' || !*value)
        return not_a_value(word, st);
    const char *name = arena_strndup(r->memory, word, length);
    if (is_there(r, name))
        return status_set(st, STATUS_INVALID, "%.80s is given twice", name);
    if (number_read(value, &number))
        vec_push(&r->dims, ((ir_binding){name, number}));
    else if (dtype_from_name(value) != DTYPE_NONE)
        vec_push(&r->types, ((compiler_type_binding){name, dtype_from_name(value)}));
    else
        return not_a_value(word, st);
    return true;
}

bool compiler_values_read(const char *words, arena *memory, compiler_values *out, status *st) {
    value_reader r = {.memory = memory};
    bool good = true;
    for (const char *p = words; *p && good;) {
        size_t blanks = strspn(p, " "), length = strcspn(p + blanks, ","), kept = length;
        while (kept > 0 && p[blanks + kept - 1] == ' ')
            kept--;
        good = value_read(&r, arena_strndup(memory, p + blanks, kept), st);
        p += blanks + length;
        p += *p == ',';
    }
    *out = (compiler_values){
        arena_copy(memory, r.dims.items, r.dims.count * sizeof(ir_binding)), (uint32_t)r.dims.count,
        arena_copy(memory, r.types.items, r.types.count * sizeof(compiler_type_binding)),
        (uint32_t)r.types.count};
    vec_release(&r.dims);
    vec_release(&r.types);
    return good;
}

/* ---- values and kernels ---- */

static const ir_binding *dim_named(const compiler_values *v, const char *name) {
    for (uint32_t i = 0; i < v->dim_count; i++)
        if (strcmp(v->dims[i].name, name) == 0)
            return &v->dims[i];
    return NULL;
}

static const compiler_type_binding *type_of(const compiler_values *v, const char *name) {
    for (uint32_t i = 0; i < v->type_count; i++)
        if (strcmp(v->types[i].name, name) == 0)
            return &v->types[i];
    return NULL;
}

static bool all_named(const compiler_values *v, const char *const *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!dim_named(v, names[i]) && !type_of(v, names[i]))
            return false;
    return true;
}

/* No name is there twice on either side, so equal counts leave none over. */
bool compiler_values_fit(const compiler_values *v, const compiler_kernel *kernel) {
    return v->dim_count + v->type_count == kernel->dim_count + kernel->type_count &&
           all_named(v, kernel->dim_names, kernel->dim_count) &&
           all_named(v, kernel->type_names, kernel->type_count);
}

/* ---- the case ---- */

typedef struct binder {
    compiler_source *source;
    const kernel_interface *kernel;
    const compiler_values *values;
    diagnostics *report;
} binder;

static span place_of(const binder *b) {
    return b->kernel->function->at;
}

static bool is_declared(const declared_name *names, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i].name, name) == 0)
            return true;
    return false;
}

static bool name_check(const binder *b, const char *name) {
    const kernel_interface *k = b->kernel;
    if (is_declared(k->symbols, k->symbol_count, name) ||
        is_declared(k->variables, k->variable_count, name))
        return true;
    diagnose_error(b->report, ERROR_CASE_ARGUMENT, place_of(b),
                   "'%.60s' is not a dimension or type variable of '%s'", name, k->function->name);
    return false;
}

static bool names_check(const binder *b) {
    bool good = true;
    for (uint32_t i = 0; i < b->values->dim_count; i++)
        good &= name_check(b, b->values->dims[i].name);
    for (uint32_t i = 0; i < b->values->type_count; i++)
        good &= name_check(b, b->values->types[i].name);
    return good;
}

static bool dim_take(const binder *b, const declared_name *symbol, ir_binding *out) {
    const ir_binding *given = dim_named(b->values, symbol->name);
    if (!given && !type_of(b->values, symbol->name)) {
        diagnose_error(b->report, ERROR_CASE_BINDING, place_of(b), "dimension '%s' has no value",
                       symbol->name);
        return false;
    }
    if (!given || given->value > limit_dimension) {
        diagnose_error(b->report, ERROR_CASE_DIMENSION, symbol->at,
                       "'%s' is a dimension, an integer between 0 and %" PRId64, symbol->name,
                       limit_dimension);
        return false;
    }
    *out = (ir_binding){symbol->name, given->value};
    return true;
}

static bool type_take(const binder *b, const declared_name *variable, compiler_type_binding *out) {
    const compiler_type_binding *given = type_of(b->values, variable->name);
    if (given) {
        *out = (compiler_type_binding){variable->name, given->type};
        return true;
    }
    diagnose_error(b->report, ERROR_CASE_BINDING,
                   dim_named(b->values, variable->name) ? variable->at : place_of(b),
                   "type variable '%s' has no type", variable->name);
    diagnose_help(b->report, "give it one: %s=f32", variable->name);
    return false;
}

static bool values_take(const binder *b, compiler_case *out) {
    const kernel_interface *k = b->kernel;
    arena *memory = &b->source->memory;
    ir_binding *dims = ARENA_NEW(memory, ir_binding, k->symbol_count + 1);
    compiler_type_binding *types = ARENA_NEW(memory, compiler_type_binding, k->variable_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < k->symbol_count; i++)
        good &= dim_take(b, &k->symbols[i], &dims[i]);
    for (uint32_t i = 0; i < k->variable_count; i++)
        good &= type_take(b, &k->variables[i], &types[i]);
    out->dims = dims;
    out->dim_count = k->symbol_count;
    out->types = types;
    out->type_count = k->variable_count;
    return good;
}

/* "M128-D2_64-T_bf16": no name runs into its value. */
static void name_append(text *out, const char *name, const char *value) {
    bool apart = !isdigit((unsigned char)*value) || isdigit((unsigned char)name[strlen(name) - 1]);
    text_printf(out, "%s%s%s%s", out->length ? "-" : "", name, apart ? "_" : "", value);
}

/* Ends a name that is too long in the digest of the whole. */
static const char *name_keep(const text *name, arena *memory) {
    enum { DIGITS = 12 };
    char hex[65];
    if (name->length <= LIMIT_CASE_NAME_BYTES)
        return arena_strdup(memory, name->length ? name->data : "fixed");
    sha256 digest = sha256_of(name->data, name->length);
    sha256_hex(&digest, hex);
    return arena_printf(memory, "%.*s.%.*s", LIMIT_CASE_NAME_BYTES - DIGITS - 1, name->data, DIGITS,
                        hex);
}

static void case_name(const binder *b, compiler_case *c) {
    text name, bound;
    text_init(&name);
    text_init(&bound);
    for (uint32_t i = 0; i < c->dim_count; i++) {
        char value[24];
        snprintf(value, sizeof value, "%" PRId64, c->dims[i].value);
        name_append(&name, c->dims[i].name, value);
        text_printf(&bound, "%s%s=%s", bound.length ? "," : "", c->dims[i].name, value);
    }
    for (uint32_t i = 0; i < c->type_count; i++) {
        const char *value = dtype_name(c->types[i].type);
        name_append(&name, c->types[i].name, value);
        text_printf(&bound, "%s%s=%s", bound.length ? "," : "", c->types[i].name, value);
    }
    c->name = name_keep(&name, &b->source->memory);
    c->bound = arena_strdup(&b->source->memory, bound.data);
    text_release(&name);
    text_release(&bound);
}

static void inputs_take(const binder *b, compiler_case *c) {
    const kernel_interface *k = b->kernel;
    compiler_input *inputs = ARENA_NEW(&b->source->memory, compiler_input, k->parameter_count + 1);
    for (uint32_t i = 0; i < k->parameter_count; i++)
        inputs[i] = default_input(parameter_type(k, i, c));
    c->inputs = inputs;
}

static bool bind(const binder *b, compiler_case *c) {
    if (!names_check(b) || !values_take(b, c))
        return false;
    case_name(b, c);
    inputs_take(b, c);
    if (!case_shapes_check(b->kernel, c, place_of(b), b->report))
        return false;
    if (!has_all_constants(b->kernel, c)) /* they are said later, or missed then */
        return true;
    ir_module *m = kernel_check(b->source, b->kernel, c, b->report);
    if (m) {
        instance_check(b->source, m, c, b->report);
        ir_module_free(m);
    }
    return m && b->report->errors == 0;
}

const compiler_case *compiler_case_bind(compiler_source *source, const compiler_kernel *kernel,
                                        const compiler_values *values, text *out) {
    compiler_case *c = ARENA_NEW(&source->memory, compiler_case, 1);
    diagnostics d;
    if (!source_has_kernel(source, kernel, out))
        return NULL;
    diagnostics_init(&d, &source->text, source->colour, out);
    *c = (compiler_case){.line = kernel->line};
    binder b = {source, &source->interfaces[kernel - source->kernels], values, &d};
    bool good = bind(&b, c);
    diagnostics_release(&d);
    return good ? c : NULL;
}
