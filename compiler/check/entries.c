/* entries.c - constants of the file in annotations: Tensor[HEADS, "S", TYPE] has their values in
 * its brackets before anything reads them. */
#include <string.h>

#include "check/regions.h"

typedef struct entries {
    checker *c;
    source_module *module;
    const ast_function *function; /* whose names hide those of the file; NULL: none does */
    assigned_names assigned;      /* by the statements that are read */
} entries;

static bool is_hidden(const entries *e, const char *name) {
    for (uint32_t i = 0; e->function && i < e->function->parameter_count; i++)
        if (strcmp(e->function->parameters[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < e->assigned.count; i++)
        if (strcmp(e->assigned.items[i].name, name) == 0)
            return true;
    return dtype_from_name(name) != DTYPE_NONE;
}

/* The value of a constant that the name stands for, and the file that it is of; else NULL. */
static const node *named_value(source_module **m, const char *name) {
    source_module *from = module_of_name(*m, &name);
    const node *value = from ? module_constant(from, name) : NULL;
    *m = value ? from : *m;
    return value && !weight_is_one(value) ? value : NULL;
}

static bool is_constant(const entries *e, const node *n) {
    source_module *m = e->module;
    if (n->kind == NODE_BINARY)
        return n->symbol != SYMBOL1('@') && is_constant(e, n->left) && is_constant(e, n->right);
    return n->kind == NODE_INT ||
           (n->kind == NODE_NAME && !is_hidden(e, n->text) && named_value(&m, n->text));
}

/* The type with its policies, as the last of constants that name each other says it. */
static node type_written(source_module *m, const node *n) {
    const node *value = n;
    for (uint32_t links = 0; links < LIMIT_DEPTH && value->kind == NODE_NAME &&
                             dtype_from_name(value->text) == DTYPE_NONE;
         links++)
        value = named_value(&m, value->text);
    node out = *value;
    out.at = n->at;
    return out;
}

static node *value_of(entries *e, const node *n) {
    entity value = check_constant(e->c, e->module, n);
    node *out = ARENA_NEW(&e->c->source->memory, node, 1);
    *out = (node){.kind = NODE_BROKEN, .at = n->at, .depth = 1};
    if (value.kind == ENTITY_TYPE) {
        *out = type_written(e->module, n);
    } else if (value.kind == ENTITY_NUMBER && value.is_integer && value.integer >= 0) {
        out->kind = NODE_INT;
        out->integer = value.integer;
        out->text = arena_printf(&e->c->source->memory, "%lld", (long long)value.integer);
    } else if (value.kind != ENTITY_BROKEN) {
        bool number = value.kind == ENTITY_NUMBER;
        diagnose_error(e->c->report, ERROR_DIMENSION_EXPRESSION, n->at,
                       "a dimension is an integer from 0 on, and this is %s",
                       number ? value.text : entity_describe(&value));
    }
    return out;
}

/* Is it a word or an entry that an import should give which was reported? */
static bool is_lacking(const entries *e, const node *n) {
    static const char *const words[] = {"KVCache", "tuple", "list", "Like"};
    const node *name = n->kind == NODE_SUBSCRIPT ? n->left : n;
    if (name->kind != NODE_NAME || value_type_is_word(name) || is_hidden(e, name->text))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name->text, words[i]) == 0)
            return false;
    return module_lacks(e->module, name->text);
}

/* Tensor[...] @ sharding(...) has the sharding as text from here on. */
static void put_sharding(entries *e, node *n) {
    const entity value = check_constant(e->c, e->module, n->right);
    node *out = ARENA_NEW(&e->c->source->memory, node, 1);
    *out = (node){.kind = NODE_STRING, .at = n->right->at, .text = "", .depth = 1};
    if (value.kind == ENTITY_SHARDING) {
        out->text = arena_strdup(&e->c->source->memory, value.text);
    } else if (value.kind != ENTITY_BROKEN) {
        diagnose_error(e->c->report, ERROR_MESH, n->right->at,
                       "behind a tensor stands '@' with a sharding, and this is %s",
                       entity_describe(&value));
        diagnose_help(e->c->report, "sharding(mesh(4, \"dp\"), \"dp\")");
    }
    n->right = out;
}

static bool has_sharding(const node *n) {
    return interface_is_shaped(n->left, "Tensor") &&
           (n->right->kind == NODE_CALL || n->right->kind == NODE_NAME ||
            n->right->kind == NODE_ATTRIBUTE);
}

static void put_entry(entries *e, node **slot) {
    node *n = *slot;
    if (is_lacking(e, n)) {
        *slot = ARENA_NEW(&e->c->source->memory, node, 1);
        **slot = (node){.kind = NODE_BROKEN, .at = n->at, .depth = 1};
    } else if (n->kind == NODE_BINARY && n->symbol == SYMBOL1('@')) {
        put_entry(e, &n->left);
        if (has_sharding(n))
            put_sharding(e, n);
    } else if (n->kind == NODE_SUBSCRIPT)
        for (uint32_t i = 0; i < n->count; i++)
            put_entry(e, &n->items[i]);
    else if ((n->kind == NODE_NAME || n->kind == NODE_BINARY) && is_constant(e, n))
        *slot = value_of(e, n);
}

static void put_statement(entries *e, node *n) {
    if (!n)
        return;
    if (n->kind == NODE_ANNOTATED)
        put_entry(e, &n->right);
    for (uint32_t i = 0; n->kind == NODE_BLOCK && i < n->count; i++)
        put_statement(e, n->items[i]);
    if (n->kind == NODE_IF)
        put_statement(e, n->right);
    if (n->kind != NODE_BLOCK)
        put_statement(e, n->third);
}

static void put_parameters(entries *e, ast_parameter *p, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (p[i].annotation)
            put_entry(e, &p[i].annotation);
}

static void put_function(entries e, ast_function *f) {
    e.function = f;
    put_parameters(&e, f->parameters, f->parameter_count);
    if (f->returns)
        put_entry(&e, &f->returns);
    for (uint32_t i = 0; i < f->body_count; i++)
        assigned_collect(f->body[i], &e.assigned);
    for (uint32_t i = 0; i < f->body_count; i++)
        put_statement(&e, f->body[i]);
    vec_release(&e.assigned);
}

void entries_put_constants(checker *c, source_module *m) {
    const ast_module *ast = m->ast;
    entries e = {.c = c, .module = m};
    for (uint32_t i = 0; i < ast->constant_count; i++)
        if (weight_is_one(ast->constants[i]->left))
            put_entry(&e, &ast->constants[i]->left);
    for (uint32_t i = 0; i < ast->function_count; i++)
        put_function(e, &ast->functions[i]);
    for (uint32_t i = 0; i < ast->record_count; i++) {
        ast_record *r = &ast->records[i];
        put_parameters(&e, r->fields, r->field_count);
        for (uint32_t k = 0; k < r->method_count; k++)
            put_function(e, &r->methods[k]);
    }
}
