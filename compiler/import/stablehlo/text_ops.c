/* text_ops.c - operations and regions of MLIR's text, functions, and whole files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

/* ---- regions ---- */

typedef VEC(struct named_argument {
    const char *name;
    size_t length;
    const shlo_type *type;
    const shlo_attr *attrs;
}) argument_list;

/* %a: type {attributes} loc(...) up to the closing token, which is taken. A declaration has no
 * names. */
static bool arguments(text_reader *r, const char *close, argument_list *out) {
    const shlo_location *ignored;
    if (reader_take(r, close))
        return true;
    do {
        struct named_argument a = {0};
        reader_blanks(r);
        if (*r->p == '%' && (!(a.length = reader_new_name(r, &a.name)) || !reader_need(r, ":")))
            return false;
        if (!(a.type = reader_type(r)))
            return false;
        if (reader_peek(r, "{") && !(a.attrs = reader_attribute(r)))
            return false;
        if (!reader_location(r, &ignored))
            return false;
        vec_push(out, a);
    } while (reader_take(r, ","));
    return reader_need(r, close);
}

static shlo_block *block_of(text_reader *r, const argument_list *list) {
    shlo_block *block = shlo_block_new(r->m, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        block->arguments[i].type = list->items[i].type;
        if (!reader_define_word(r, list->items[i].name, list->items[i].length,
                                &block->arguments[i]))
            return NULL;
    }
    return block;
}

static shlo_block *entry_block(text_reader *r) {
    const char *word;
    argument_list list = {0};
    shlo_block *block = NULL;
    if (!reader_take(r, "^"))
        return shlo_block_new(r->m, 0);
    reader_word(r, &word);
    if ((!reader_take(r, "(") || arguments(r, ")", &list)) && reader_need(r, ":"))
        block = block_of(r, &list);
    vec_release(&list);
    return block;
}

static bool operations(text_reader *r, shlo_block *block) {
    while (!reader_peek(r, "}")) {
        if (r->p >= r->end)
            return reader_need(r, "}");
        if (reader_peek(r, "^"))
            return reader_fail(r, "regions of several blocks are not read");
        if (!reader_operation(r, block))
            return false;
    }
    return reader_need(r, "}");
}

shlo_block *reader_region(text_reader *r, shlo_op *parent, shlo_block *block) {
    const size_t outer = r->names.count;
    if (!reader_need(r, "{") || !reader_deeper(r))
        return NULL;
    if (!block)
        block = entry_block(r);
    if (block)
        block->parent = parent;
    const bool good = block && operations(r, block);
    reader_leave(r, outer);
    reader_higher(r);
    return good ? block : NULL;
}

/* ---- the generic form ---- */

static bool regions(text_reader *r, operation_parts *o) {
    do {
        shlo_block *block = reader_region(r, NULL, NULL);
        if (!block)
            return false;
        vec_push(&o->regions, block);
    } while (reader_take(r, ","));
    return reader_need(r, ")");
}

bool reader_function_types(text_reader *r, operation_parts *o) {
    const shlo_type *t = reader_function_type(r);
    for (uint32_t i = 0; t && i < t->count; i++)
        if (i < t->inputs)
            vec_push(&o->operand_types, t->parts[i]);
        else
            vec_push(&o->result_types, t->parts[i]);
    return t != NULL;
}

static bool generic_form(text_reader *r, operation_parts *o) {
    if (!reader_need(r, "(") || !reader_operands(r, &o->operands) || !reader_need(r, ")"))
        return false;
    if (reader_peek(r, "["))
        return reader_fail(r, "successors of blocks are not read");
    if (reader_take(r, "<") &&
        !(reader_need(r, "{") && reader_attributes(r, "}", &o->attrs) && reader_need(r, ">")))
        return false;
    if (reader_take(r, "(") && !regions(r, o))
        return false;
    if (reader_take(r, "{") && !reader_attributes(r, "}", &o->attrs))
        return false;
    return reader_need(r, ":") && reader_function_types(r, o);
}

/* ---- functions and modules in short form ---- */

static void push_string(text_reader *r, operation_parts *o, const char *name, const char *value) {
    shlo_attr *a = reader_attr(r, SHLO_ATTR_STRING);
    a->string = value;
    a->length = strlen(value);
    reader_push(r, &o->attrs, name, a);
}

static const shlo_attr *attrs_of(text_reader *r, const argument_list *list) {
    const shlo_attr **items = ARENA_NEW(&r->m->memory, const shlo_attr *, list->count);
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i].attrs ? list->items[i].attrs : reader_attr(r, SHLO_ATTR_DICT);
    shlo_attr *a = reader_attr(r, SHLO_ATTR_ARRAY);
    a->items = items;
    a->count = (uint32_t)list->count;
    return a;
}

static const shlo_attr *type_of(text_reader *r, const argument_list *in, const argument_list *out) {
    shlo_type *t = ARENA_NEW(&r->m->memory, shlo_type, 1);
    const shlo_type **parts = ARENA_NEW(&r->m->memory, const shlo_type *, in->count + out->count);
    for (size_t i = 0; i < in->count; i++)
        parts[i] = in->items[i].type;
    for (size_t i = 0; i < out->count; i++)
        parts[in->count + i] = out->items[i].type;
    *t = (shlo_type){.kind = SHLO_TYPE_FUNCTION,
                     .count = (uint32_t)(in->count + out->count),
                     .inputs = (uint32_t)in->count,
                     .parts = parts};
    shlo_attr *a = reader_attr(r, SHLO_ATTR_TYPE);
    a->type = t;
    return a;
}

static bool function_results(text_reader *r, argument_list *out) {
    if (!reader_take(r, "->"))
        return true;
    if (reader_take(r, "("))
        return arguments(r, ")", out);
    struct named_argument one = {.type = reader_type(r)};
    vec_push(out, one);
    return one.type != NULL;
}

static bool function_body(text_reader *r, operation_parts *o, const argument_list *in) {
    if (!reader_peek(r, "{"))
        return true;
    const size_t outer = r->names.count;
    shlo_block *block = block_of(r, in);
    block = reader_region(r, NULL, block);
    reader_leave(r, outer);
    vec_push(&o->regions, block);
    return block != NULL;
}

shlo_block *reader_headed_region(text_reader *r) {
    argument_list in = {0};
    const size_t outer = r->names.count;
    shlo_block *block = NULL;
    if (reader_need(r, "(") && arguments(r, ")", &in) && (block = block_of(r, &in)))
        block = reader_region(r, NULL, block);
    reader_leave(r, outer);
    vec_release(&in);
    return block;
}

static bool function_form(text_reader *r, operation_parts *o) {
    argument_list in = {0}, out = {0};
    bool is_private = reader_take(r, "private");
    if (!is_private && !reader_take(r, "public"))
        reader_take(r, "nested");
    const char *name = reader_symbol(r);
    bool good = name && reader_need(r, "(") && arguments(r, ")", &in) && function_results(r, &out);
    if (good) {
        push_string(r, o, "sym_name", name);
        push_string(r, o, "sym_visibility", is_private ? "private" : "public");
        reader_push(r, &o->attrs, "arg_attrs", attrs_of(r, &in));
        reader_push(r, &o->attrs, "res_attrs", attrs_of(r, &out));
        reader_push(r, &o->attrs, "function_type", type_of(r, &in, &out));
    }
    good = good &&
           (!reader_take(r, "attributes") ||
            (reader_need(r, "{") && reader_attributes(r, "}", &o->attrs))) &&
           function_body(r, o, &in);
    vec_release(&in);
    vec_release(&out);
    return good;
}

static bool module_form(text_reader *r, operation_parts *o) {
    if (reader_peek(r, "@")) {
        const char *name = reader_symbol(r);
        if (!name)
            return false;
        push_string(r, o, "sym_name", name);
    }
    if (reader_take(r, "attributes") &&
        !(reader_need(r, "{") && reader_attributes(r, "}", &o->attrs)))
        return false;
    shlo_block *block = reader_region(r, NULL, NULL);
    vec_push(&o->regions, block);
    return block != NULL;
}

static bool call_form(text_reader *r, operation_parts *o) {
    shlo_attr *callee = reader_attr(r, SHLO_ATTR_SYMBOL);
    callee->string = reader_symbol(r);
    return callee->string && reader_push(r, &o->attrs, "callee", callee) && generic_form(r, o);
}

/* ---- operations ---- */

/* %0, %1:2 = */
static bool result_names(text_reader *r, operation_parts *o) {
    reader_blanks(r);
    o->names = *r->p == '%' ? r->p : NULL;
    if (!o->names)
        return true;
    do {
        const char *name;
        int64_t count = 1;
        if (!reader_new_name(r, &name))
            return false;
        if (reader_take(r, ":") && !reader_integer(r, &count))
            return false;
        if (count < 1 || count > UINT16_MAX)
            return reader_fail(r, "no number of results");
        o->result_count += (uint32_t)count;
    } while (reader_take(r, ","));
    return reader_need(r, "=");
}

/* Gives the names that stand before it to the results. */
static bool define_results(text_reader *r, const operation_parts *o, shlo_op *op) {
    const char *p = o->names;
    uint32_t at = 0;
    while (p && at < op->result_count) {
        const char *name = strchr(p, '%');
        const size_t n = strcspn(name, ": ,=\n\t");
        uint32_t count = 1;
        p = name + n;
        p += strspn(p, " \t\n");
        if (*p == ':')
            count = (uint32_t)strtoul(p + 1, (char **)&p, 10);
        for (uint32_t i = 0; i < count && at < op->result_count; i++, at++) {
            char *numbered = arena_printf(&r->m->memory, "%.*s#%u", (int)n, name, i);
            if (i == 0 ? !reader_define_word(r, name, n, &op->results[at])
                       : !reader_define(r, name, numbered, &op->results[at]))
                return false;
        }
    }
    return true;
}

static bool operand_types_fit(text_reader *r, const operation_parts *o) {
    if (o->operand_types.count != o->operands.count)
        return reader_fail_at(r, o->place, "%zu operands, and types of %zu", o->operands.count,
                              o->operand_types.count);
    for (size_t i = 0; i < o->operands.count; i++) {
        if (shlo_type_equal(o->operand_types.items[i], o->operands.items[i]->type))
            continue;
        text here, there;
        text_init(&here);
        text_init(&there);
        shlo_type_print(o->operand_types.items[i], &here);
        shlo_type_print(o->operands.items[i]->type, &there);
        reader_fail_at(r, o->place, "operand %zu is %.120s here, and %.120s where it is made", i,
                       here.data, there.data);
        text_release(&here);
        text_release(&there);
        return false;
    }
    return true;
}

static int compare_attrs(const void *a, const void *b) {
    return strcmp(((const shlo_named_attr *)a)->name, ((const shlo_named_attr *)b)->name);
}

static bool build(text_reader *r, operation_parts *o, shlo_block *block) {
    shlo_module *m = r->m;
    if (!operand_types_fit(r, o))
        return false;
    if (o->names && o->result_count != o->result_types.count)
        return reader_fail_at(r, o->place, "%u names for %zu results", o->result_count,
                              o->result_types.count);
    if (o->info && o->info->regions >= 0 && o->regions.count != (size_t)o->info->regions)
        return reader_fail_at(r, o->place, "'%s' has %d regions, not %zu", o->name,
                              o->info->regions, o->regions.count);
    if (m->operation_count >= SHLO_OPERATIONS_MAX)
        return reader_fail_at(r, o->place, "more than %d operations", SHLO_OPERATIONS_MAX);
    shlo_op *op =
        shlo_op_new(m, block, o->name, (uint32_t)o->operands.count, (uint32_t)o->result_types.count,
                    (uint32_t)o->attrs.count, (uint32_t)o->regions.count);
    op->line = o->line;
    op->column = o->column;
    op->location = r->unknown;
    for (uint32_t i = 0; i < op->operand_count; i++)
        op->operands[i] = o->operands.items[i];
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].type = o->result_types.items[i];
    for (uint32_t i = 0; i < op->region_count; i++) {
        op->regions[i] = o->regions.items[i];
        op->regions[i]->parent = op;
    }
    if (op->attr_count)
        memcpy(op->attrs, o->attrs.items, op->attr_count * sizeof *op->attrs);
    qsort(op->attrs, op->attr_count, sizeof *op->attrs, compare_attrs);
    char lacks[SHLO_ATTR_NAME_BYTES];
    if (shlo_lacks_attr(op, lacks))
        return reader_fail_at(r, o->place, "'%s' needs the attribute '%s'", o->name, lacks);
    return define_results(r, o, op) && reader_location(r, &op->location);
}

/* The name of an operation in short form: those of functions may leave out their dialect. */
static const char *short_name(text_reader *r) {
    static const char *const short_names[] = {"return", "call", "module"};
    const char *word;
    const size_t n = reader_word(r, &word);
    if (n == 0) {
        reader_fail(r, "expected an operation");
        return NULL;
    }
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (strlen(short_names[i]) == n && strncmp(word, short_names[i], n) == 0)
            return arena_printf(&r->m->memory, "%s.%s", i == 2 ? "builtin" : "func",
                                short_names[i]);
    return arena_strndup(&r->m->memory, word, n);
}

static bool short_form(text_reader *r, operation_parts *o) {
    if (!(o->name = short_name(r)))
        return false;
    o->info = shlo_op_named(o->name, strlen(o->name));
    if (strcmp(o->name, "builtin.module") == 0)
        return module_form(r, o);
    if (strcmp(o->name, "func.func") == 0)
        return function_form(r, o);
    if (strcmp(o->name, "func.call") == 0)
        return call_form(r, o);
    return reader_short_form(r, o);
}

static void release(operation_parts *o) {
    vec_release(&o->operands);
    vec_release(&o->attrs);
    vec_release(&o->regions);
    vec_release(&o->operand_types);
    vec_release(&o->result_types);
}

/* Lines are counted from the last operation on. */
static void note_place(text_reader *r, operation_parts *o) {
    o->place = r->p;
    for (const char *end; (end = memchr(r->line, '\n', (size_t)(r->p - r->line)));
         r->line = end + 1)
        r->lines++;
    o->line = r->lines + 1;
    o->column = (uint32_t)(r->p - r->line) + 1;
}

bool reader_operation(text_reader *r, shlo_block *block) {
    operation_parts o = {0};
    size_t length;
    bool good = result_names(r, &o);
    reader_blanks(r);
    note_place(r, &o);
    if (good && reader_peek(r, "\"")) {
        o.name = reader_string(r, &length);
        o.info = o.name ? shlo_op_named(o.name, length) : NULL;
        good = o.name && generic_form(r, &o);
    } else {
        good = good && short_form(r, &o);
    }
    good = good && build(r, &o, block);
    release(&o);
    return good;
}

/* ---- files ---- */

static bool take_functions(text_reader *r, const shlo_block *block);

static const char *place_of(const text_reader *r, const shlo_op *op) {
    const char *line = r->begin;
    for (uint32_t i = 1; i < op->line; i++)
        line = strchr(line, '\n') + 1;
    return line + op->column - 1;
}

/* A dictionary for each of so many; NULL: it says nothing of them. */
static const shlo_attr *const *parts_of(const shlo_op *op, const char *name, uint32_t count) {
    const shlo_attr *a = shlo_op_attr(op, name);
    if (!a || a->kind != SHLO_ATTR_ARRAY || a->count != count)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (a->items[i]->kind != SHLO_ATTR_DICT)
            return NULL;
    return a->items;
}

static bool take_function(text_reader *r, const shlo_op *op) {
    const shlo_attr *type = shlo_op_attr(op, "function_type");
    const char *name = shlo_op_string(op, "sym_name", NULL);
    if (!name || !type || !type->type || type->type->kind != SHLO_TYPE_FUNCTION)
        return reader_fail_at(r, place_of(r, op), "a function without its name or type");
    shlo_function *f = ARENA_NEW(&r->m->memory, shlo_function, 1);
    *f = (shlo_function){
        .name = name,
        .is_private = strcmp(shlo_op_string(op, "sym_visibility", "public"), "private") == 0,
        .type = type->type,
        .argument_attrs = parts_of(op, "arg_attrs", type->type->inputs),
        .result_attrs = parts_of(op, "res_attrs", type->type->count - type->type->inputs),
        .body = op->region_count ? op->regions[0] : NULL,
        .location = op->location,
        .line = op->line,
        .column = op->column};
    if (f->body && (f->body->argument_count != f->type->inputs || !f->body->last))
        return reader_fail_at(r, place_of(r, op),
                              "the body of @%.60s does not take what its type says", name);
    if (f->body)
        f->body->parent = NULL;
    if (!shlo_module_add(r->m, f))
        return reader_fail_at(r, place_of(r, op), "two functions are called @%.60s", name);
    return true;
}

static bool take_module(text_reader *r, const shlo_op *op) {
    r->m->name = shlo_op_string(op, "sym_name", r->m->name);
    r->m->attrs = op->attrs;
    r->m->attr_count = op->attr_count;
    return op->region_count == 0 || take_functions(r, op->regions[0]);
}

static bool take_functions(text_reader *r, const shlo_block *block) {
    for (const shlo_op *op = block->first; op; op = op->next) {
        if (strcmp(op->name, "func.func") == 0) {
            if (!take_function(r, op))
                return false;
        } else if (strcmp(op->name, "builtin.module") == 0) {
            if (!take_module(r, op))
                return false;
        } else if (op->info) {
            return reader_fail_at(r, place_of(r, op), "'%.60s' stands in no function", op->name);
        }
    }
    return true;
}

static bool file(text_reader *r) {
    shlo_block *top = shlo_block_new(r->m, 0);
    const char *word;
    for (;;) {
        reader_blanks(r);
        if (r->p >= r->end)
            break;
        if (*r->p == '#' || *r->p == '!') { /* an alias, or resources behind {-# */
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        } else if (reader_take(r, "{-#")) {
            const char *behind = strstr(r->p, "#-}");
            if (!behind)
                return reader_fail(r, "resources that do not end in '#-}'");
            r->p = behind + strlen("#-}");
        } else if (*r->p == '%' || *r->p == '"' || reader_word(r, &word)) {
            r->p = *r->p == '%' || *r->p == '"' ? r->p : word;
            if (!reader_operation(r, top))
                return false;
        } else {
            return reader_fail(r, "expected an operation");
        }
    }
    if (!take_functions(r, top))
        return false;
    return r->m->first != NULL || reader_fail_at(r, r->begin, "there is no function in it");
}

shlo_module *shlo_read_text(const char *source, size_t size, status *st) {
    static const shlo_location unknown = {0};
    text_reader r = {.m = shlo_module_new(), .st = st, .unknown = &unknown};
    r.begin = r.p = r.line = arena_strndup(&r.m->memory, source, size);
    r.end = r.begin + size;
    map_init(&r.visible);
    map_init(&r.aliases);
    map_init(&r.known);
    if (memchr(source, '\0', size))
        reader_fail(&r, "a NUL in the text");
    else
        reader_find_aliases(&r);
    const bool good = !r.failed && file(&r);
    if (!good)
        reader_fail(&r, "this is not understood"); /* where nothing better was said */
    map_release(&r.visible);
    map_release(&r.aliases);
    map_release(&r.known);
    vec_release(&r.names);
    if (good)
        return r.m;
    shlo_module_free(r.m);
    return NULL;
}

bool shlo_is_one(const char *data, size_t size) {
    static const char *const begins[] = {"module", "func.func", "\"builtin.module\"",
                                         "\"func.func\""};
    if (shlo_is_bytecode((const uint8_t *)data, size))
        return true;
    const char *p = data, *end = data + size;
    /* Comments, and aliases of locations, stand before it. */
    while (p < end) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        const char *name = p;
        while (name < end && (isalnum((unsigned char)*name) || strchr("#!_.$-", *name)))
            name++;
        const bool alias = name > p + 1 && end - name > 2 && strncmp(name, " =", 2) == 0 &&
                           (*p == '!' || (*p == '#' && p[1] != ' '));
        const bool skipped = alias || (end - p > 2 && strncmp(p, "//", 2) == 0);
        if (!skipped)
            break;
        const char *line = memchr(p, '\n', (size_t)(end - p));
        p = line ? line : end;
    }
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t n = strlen(begins[i]);
        if ((size_t)(end - p) > n && strncmp(p, begins[i], n) == 0 &&
            (isspace((unsigned char)p[n]) || p[n] == '(' || p[n] == '{'))
            return true;
    }
    return false;
}
