/* interface.c - annotations: Tensor["M", "2*D", f32] into ranks, dimension expressions, symbols and
 * type variables. */
#include <string.h>

#include "base/map.h"
#include "check/modules.h"
#include "source/parser.h"

/* ---- names that annotations mention ---- */

static void mention(declared_names *list, const char *name, span at) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return;
    declared_name one = {name, at};
    vec_push(list, one);
}

static bool mentioned(const declared_names *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

dtype type_named(const char *name, span at, diagnostics *d) {
    static const char *const names[] = {
#define X(text_name, ...) text_name,
        DTYPE_LIST(X)
#undef X
    };
    dtype found = dtype_from_name(name);
    if (found == DTYPE_NONE) {
        diagnose_error(d, ERROR_UNKNOWN_TYPE, at, "'%.60s' is not an element type", name);
        if (!diagnose_nearest(d, name, names, sizeof(names) / sizeof(names[0]))) {
            diagnose_help(d, "f64, f32, tf32, f16, bf16, f8e4m3fn, f8e5m2, i64, i32, i16, i8, i4, "
                             "u64, u32, u16, u8, bool, "
                             "or a quoted type variable such as \"T\"");
        }
    }
    return found;
}

/* ---- dimensions ---- */

static bool is_dim_operator(uint32_t symbol) {
    return symbol == SYMBOL1('+') || symbol == SYMBOL1('-') || symbol == SYMBOL1('*') ||
           symbol == SYMBOL2('/', '/');
}

static bool symbol_check(const node *n, declared_names *symbols, diagnostics *d) {
    if (strlen(n->text) > LIMIT_SYMBOL_BYTES || strcmp(n->text, "floordiv") == 0) {
        diagnose_error(d, ERROR_DIMENSION_NAME, n->at, "a dimension cannot have this name");
        diagnose_help(d, "any name of at most %d characters but floordiv will do",
                      LIMIT_SYMBOL_BYTES);
        return false;
    }
    mention(symbols, n->text, n->at);
    return true;
}

static bool dim_check(const node *n, declared_names *symbols, diagnostics *d) {
    switch (n->kind) {
    case NODE_INT:
        return true;
    case NODE_NAME:
        return symbol_check(n, symbols, d);
    case NODE_BINARY:
        if (is_dim_operator(n->symbol)) {
            bool left = dim_check(n->left, symbols, d);
            return dim_check(n->right, symbols, d) && left;
        }
        diagnose_error(d, ERROR_DIMENSION_EXPRESSION, n->symbol_at,
                       "this operator cannot be part of a dimension");
        diagnose_help(d, "dimensions are made with + - * and //");
        return false;
    default:
        diagnose_error(d, ERROR_DIMENSION_EXPRESSION, n->at, "this cannot be part of a dimension");
        diagnose_help(d,
                      "write names and integers with + - * and //, such as \"H*D\" or \"M + 1\"");
        return false;
    }
}

static node *dim_read(compiler_source *s, node *n, declared_names *symbols, diagnostics *d) {
    if (n->kind == NODE_INT)
        return n;
    if (n->kind == NODE_QUOTED)
        return dim_check(n->left, symbols, d) ? n->left : NULL;
    if (n->kind == NODE_BROKEN)
        return NULL;
    if (n->kind == NODE_NAME) {
        diagnose_error(d, ERROR_UNQUOTED_DIMENSION, n->at,
                       "a dimension's name is written in quotes");
        diagnose_help(
            d, "write \"%s\"; a dimension that is fixed is a number or a constant of the file",
            n->text);
        return NULL;
    }
    if (n->kind != NODE_STRING) {
        diagnose_error(d, ERROR_DIMENSION_EXPRESSION, n->at,
                       "expected a dimension: an integer or a quoted expression");
        return NULL;
    }
    if (n->at.end - n->at.start != strlen(n->text) + 2) {
        diagnose_error(d, ERROR_DIMENSION_EXPRESSION, n->at,
                       "write this dimension as one plain string, such as \"M\"");
        return NULL;
    }
    span part = {n->at.start + 1, n->at.end - 1};
    if (part.start == part.end) {
        diagnose_error(d, ERROR_DIMENSION_EXPRESSION, n->at, "this dimension is empty");
        return NULL;
    }
    node *parsed = parse_quoted(&s->text, part, &s->memory, d);
    return parsed && dim_check(parsed, symbols, d) ? parsed : NULL;
}

static dim_result dim_combine(uint32_t symbol, int64_t a, int64_t b, int64_t *out) {
    bool overflow = false;
    switch (symbol) {
    case SYMBOL1('+'):
        overflow = __builtin_add_overflow(a, b, out);
        break;
    case SYMBOL1('-'):
        overflow = __builtin_sub_overflow(a, b, out);
        break;
    case SYMBOL1('*'):
        overflow = __builtin_mul_overflow(a, b, out);
        break;
    case SYMBOL2('/', '/'):
        if (b <= 0)
            return DIM_OVERFLOW;
        *out = a / b - (a % b < 0);
        break;
    default:
        return DIM_NOT_AN_EXPRESSION;
    }
    return overflow ? DIM_OVERFLOW : DIM_VALUE;
}

dim_result dim_evaluate(const node *n, const ir_binding *bindings, uint32_t count, int64_t *out) {
    if (n->kind == NODE_INT) {
        *out = n->integer;
        return DIM_VALUE;
    }
    if (n->kind == NODE_NAME) {
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(bindings[i].name, n->text) == 0) {
                *out = bindings[i].value;
                return DIM_VALUE;
            }
        }
        return DIM_UNBOUND;
    }
    if (n->kind != NODE_BINARY)
        return DIM_NOT_AN_EXPRESSION;
    int64_t a = 0, b = 0;
    dim_result left = dim_evaluate(n->left, bindings, count, &a);
    dim_result right = left == DIM_VALUE ? dim_evaluate(n->right, bindings, count, &b) : left;
    return right == DIM_VALUE ? dim_combine(n->symbol, a, b, out) : right;
}

/* ---- Tensor[...] ---- */

static bool element_read(const node *entry, annotation *out, declared_names *variables,
                         diagnostics *d) {
    const node *n = policies_strip(entry, &out->policies, d);
    if (!n || n->kind == NODE_BROKEN)
        return false;
    if (n->kind == NODE_NAME) {
        out->type = type_named(n->text, n->at, d);
        return out->type != DTYPE_NONE;
    }
    if (n->kind != NODE_STRING) {
        diagnose_error(d, ERROR_ELEMENT_ENTRY, n->at,
                       "the last entry of Tensor[...] is the element type");
        diagnose_help(d, "write a type such as f32, or a quoted type variable such as \"T\"");
        return false;
    }
    out->type = dtype_from_name(n->text);
    if (out->type != DTYPE_NONE)
        return true;
    for (const char *c = n->text; *c || c == n->text; c++) {
        bool letter = (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') || *c == '_';
        if (!letter && !(c > n->text && *c >= '0' && *c <= '9')) {
            diagnose_error(
                d, ERROR_ELEMENT_ENTRY, n->at,
                "the last entry of Tensor[...] is the element type, and this is no type's name");
            return false;
        }
    }
    out->variable = n->text;
    mention(variables, n->text, n->at);
    return true;
}

bool annotation_read(compiler_source *s, node *n, annotation *out, declared_names *symbols,
                     declared_names *variables, diagnostics *d) {
    if (n->kind == NODE_BROKEN)
        return false;
    *out = (annotation){.at = n->at, .in_tiles = interface_is_tile(n)};
    if (interface_is_sharded(n)) {
        out->sharding = n->right->text;
        n = n->left;
    }
    bool shaped = n->kind == NODE_SUBSCRIPT && n->left->kind == NODE_NAME &&
                  (out->in_tiles || strcmp(n->left->text, "Tensor") == 0);
    if (!shaped) {
        diagnose_error(d, ERROR_TENSOR_ANNOTATION, n->at, "expected Tensor[dimensions..., type]");
        diagnose_help(d, "for example Tensor[\"M\", \"N\", f32]; a scalar is Tensor[f32]");
        return false;
    }
    if (n->count > IR_MAX_RANK + 1) {
        diagnose_error(d, ERROR_RANK_LIMIT, n->at, "a tensor has at most %d dimensions",
                       IR_MAX_RANK);
        return false;
    }
    out->rank = (int)n->count - 1;
    bool good = true;
    for (int i = 0; i < out->rank; i++) {
        out->dims[i] = dim_read(s, n->items[i], symbols, d);
        good &= out->dims[i] != NULL;
    }
    return element_read(n->items[n->count - 1], out, variables, d) && good;
}

/* ---- a whole function ---- */

static bool is_tuple_annotation(const node *n) {
    return n->kind == NODE_TUPLE || (n->kind == NODE_SUBSCRIPT && n->left->kind == NODE_NAME &&
                                     strcmp(n->left->text, "tuple") == 0);
}

/* Without an annotation a kernel of tiles returns what its first KTile is. */
static void result_like_tile(compiler_source *s, kernel_interface *k) {
    uint32_t first = 0;
    while (!k->parameters[first].in_tiles)
        first++;
    k->result_count = k->returned.count = 1;
    k->returned.forms = ARENA_NEW(&s->memory, result_form, 1);
    k->returned.forms[0].count = 1;
    k->results = ARENA_NEW(&s->memory, annotation, 1);
    k->results[0] = k->parameters[first];
    k->results[0].policies = (policy_set){.accum = DTYPE_NONE};
}

static void refuse_stores(kernel_interface *k, span at, const char *what, diagnostics *d) {
    diagnose_error(d, ERROR_TILE_STORE, at, "%s", what);
    k->broken = true;
}

/* Results that are parameters. */
static void stores_read(compiler_source *s, kernel_interface *k, declared_names *symbols,
                        declared_names *variables, diagnostics *d) {
    k->result_count = k->store_count;
    k->results = ARENA_NEW(&s->memory, annotation, k->result_count);
    if (k->function->returns) {
        refuse_stores(k, k->function->returns->at,
                      "a kernel gives its results by tile.store() or by its return", d);
    }
    if (!k->in_tiles && !k->broken)
        refuse_stores(k, k->stores[0].at, "a kernel of tiles has a KTile that it loads from", d);
    for (uint32_t i = 0; i < k->store_count; i++) {
        const parameter_result *p = &k->stores[i];
        bool taken = false;
        for (uint32_t o = 0; o < k->function->parameter_count; o++)
            taken |= strcmp(k->function->parameters[o].name, p->name) == 0;
        for (uint32_t o = 0; o < i; o++)
            taken |= strcmp(k->stores[o].name, p->name) == 0;
        if (taken) {
            diagnose_error(d, ERROR_DUPLICATE_PARAMETER, p->at, "parameter '%s' appears twice",
                           p->name);
        }
        k->broken |= !annotation_read(s, p->annotation, &k->results[i], symbols, variables, d);
        k->broken |= taken;
    }
}

/* The tensors that one of the returned values is made of. */
static bool form_read(compiler_source *s, kernel_interface *k, node *n, ast_parameters *leaves,
                      diagnostics *d) {
    result_form *f = &k->returned.forms[k->returned.count++];
    ast_parameter whole = {.name = "", .at = n->at, .annotation = n};
    value_type *type = ARENA_NEW(&s->memory, value_type, 1);
    *f = (result_form){.first = (uint32_t)leaves->count};
    bool good = true;
    if (unfold_is_compound(s->main, n)) {
        f->type = type;
        good = unfold_parameter(s, &whole, leaves, type, d);
    } else {
        vec_push(leaves, whole);
    }
    f->count = (uint32_t)leaves->count - f->first;
    return good;
}

static void forms_read(compiler_source *s, kernel_interface *k, node *n, declared_names *symbols,
                       declared_names *variables, diagnostics *d) {
    const bool several = is_tuple_annotation(n);
    const uint32_t count = several ? n->count : 1;
    ast_parameters leaves = {0};
    k->returned.forms = ARENA_NEW(&s->memory, result_form, count + 1);
    for (uint32_t i = 0; i < count; i++)
        k->broken |= !form_read(s, k, several ? n->items[i] : n, &leaves, d);
    k->result_count = (uint32_t)leaves.count;
    if (k->result_count == 0 || k->result_count > COMPILER_MAX_PARAMETERS) {
        if (!k->broken)
            diagnose_error(d, ERROR_TENSOR_LIMIT, n->at,
                           "a kernel returns between 1 and %d tensors", COMPILER_MAX_PARAMETERS);
        k->broken = true;
        k->result_count = 0;
    }
    k->results = ARENA_NEW(&s->memory, annotation, k->result_count + 1);
    k->returned.suffixes = ARENA_NEW(&s->memory, const char *, k->result_count + 1);
    for (uint32_t i = 0; i < k->result_count; i++) {
        k->returned.suffixes[i] = leaves.items[i].name;
        k->broken |=
            !annotation_read(s, leaves.items[i].annotation, &k->results[i], symbols, variables, d);
    }
    vec_release(&leaves);
}

static void results_read(compiler_source *s, kernel_interface *k, declared_names *symbols,
                         declared_names *variables, diagnostics *d) {
    node *n = k->function->returns;
    if (k->store_count) {
        stores_read(s, k, symbols, variables, d);
        return;
    }
    if (!n && k->in_tiles && !k->broken) {
        result_like_tile(s, k);
        return;
    }
    k->returned.inferred = !n && !k->contract && !k->graph;
    if (k->returned.inferred)
        return;
    if (!n) {
        diagnose_error(d, ERROR_RESULT_ANNOTATION, k->function->at,
                       "kernel '%s' has no annotation of its results", k->function->name);
        diagnose_help(d, "write -> Tensor[...] before the ':'");
        k->broken = true;
        return;
    }
    size_t types = variables->count;
    forms_read(s, k, n, symbols, variables, d);
    for (size_t i = types; i < variables->count; i++) {
        diagnose_error(d, ERROR_UNBOUND_TYPE_VARIABLE, variables->items[i].at,
                       "type variable '%s' is not in any parameter", variables->items[i].name);
        k->broken = true;
    }
}

/* `seen` has the names in front of it, with their places. */
static bool parameter_check(const kernel_interface *k, uint32_t index, map *seen, diagnostics *d) {
    const ast_function *f = k->function;
    const ast_parameter *p = &f->parameters[index];
    intptr_t first;
    if (map_get(seen, p->name, &first)) {
        diagnose_error(d, ERROR_DUPLICATE_PARAMETER, p->at, "parameter '%s' appears twice",
                       p->name);
        diagnose_note(d, f->parameters[first].at, "first here");
        return false;
    }
    map_put(seen, p->name, index);
    if (!p->keyword_only && p->fallback) {
        diagnose_error(d, ERROR_TENSOR_DEFAULT, p->at, "a tensor parameter has no default");
        diagnose_help(d, "constants come after a bare '*': def f(x: Tensor[...], *, %s=...)",
                      p->name);
        return false;
    }
    if (!p->keyword_only && !p->annotation) {
        diagnose_error(d, ERROR_PARAMETER_ANNOTATION, p->at, "parameter '%s' has no annotation",
                       p->name);
        diagnose_help(d,
                      "write %s: Tensor[\"M\", \"N\", f32]; a function that has no decorator needs "
                      "no annotations",
                      p->name);
        return false;
    }
    return true;
}

/* Parameters: an annotation is read with the two lists of names that it may add to. */
static bool parameter_read(compiler_source *s, const kernel_interface *k, node *n, annotation *out,
                           declared_names *symbols, declared_names *variables, diagnostics *d) {
    if (n->kind != NODE_NAME || !interface_is_cache(n))
        return annotation_read(s, n, out, symbols, variables, d);
    for (uint32_t i = 0; i + 1 < k->parameter_count; i++) {
        if (k->parameters[i].in_tiles && k->parameters[i].rank > 1) {
            *out = interface_cache_like(s, &k->parameters[i], n->at, symbols);
            return true;
        }
    }
    diagnose_error(d, ERROR_TENSOR_ANNOTATION, n->at, "this KVCache has no shape");
    diagnose_help(d, "write KVCache[\"H\", \"S\", \"D\", f32], or put a KTile before it");
    return false;
}

static void parameters_read(compiler_source *s, kernel_interface *k, declared_names *symbols,
                            declared_names *variables, diagnostics *d) {
    const ast_function *f = k->function;
    map seen;
    map_init(&seen);
    k->parameters = ARENA_NEW(&s->memory, annotation, f->parameter_count + 1);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        if (!parameter_check(k, i, &seen, d)) {
            k->broken = true;
        } else if (!f->parameters[i].keyword_only) {
            annotation *out = &k->parameters[k->parameter_count++];
            k->broken |=
                !parameter_read(s, k, f->parameters[i].annotation, out, symbols, variables, d);
            k->in_tiles |= out->in_tiles;
        }
    }
    map_release(&seen);
    if (k->parameter_count > COMPILER_MAX_PARAMETERS) {
        diagnose_error(d, ERROR_TENSOR_LIMIT, f->at, "a kernel has at most %d tensor parameters",
                       COMPILER_MAX_PARAMETERS);
        k->broken = true;
    }
}

static void clashes_check(kernel_interface *k, const declared_names *symbols,
                          const declared_names *variables, diagnostics *d) {
    for (uint32_t i = 0; i < k->function->parameter_count; i++) {
        const ast_parameter *p = &k->function->parameters[i];
        if (mentioned(symbols, p->name) || mentioned(variables, p->name)) {
            diagnose_error(d, ERROR_NAME_CLASH, p->at, "'%s' is a parameter and a %s at once",
                           p->name, mentioned(symbols, p->name) ? "dimension" : "type variable");
            k->broken = true;
        }
    }
    for (size_t i = 0; i < variables->count; i++) {
        if (mentioned(symbols, variables->items[i].name)) {
            diagnose_error(d, ERROR_NAME_CLASH, variables->items[i].at,
                           "'%s' is a dimension and a type variable at once",
                           variables->items[i].name);
            k->broken = true;
        }
    }
}

static declared_name *keep(arena *a, declared_names *list, uint32_t *count) {
    *count = (uint32_t)list->count;
    declared_name *kept =
        list->count ? arena_copy(a, list->items, list->count * sizeof(declared_name)) : NULL;
    vec_release(list);
    return kept;
}

kernel_interface interface_of(compiler_source *s, const ast_function *f, diagnostics *d) {
    const node *graph = graph_text_of(f);
    kernel_interface k = {.function = f,
                          .graph = graph,
                          .contract = !graph && contract_is_one(f),
                          .broken = !f->has_header};
    declared_names symbols = {0}, variables = {0};
    const ast_function *around = s->head;
    s->head = f;
    f = k.function = interface_unfold(s, f, &k, d);
    k.space = ARENA_NEW(&s->memory, tile_space, 1);
    if (strlen(f->name) > LIMIT_NAME_BYTES) {
        diagnose_error(d, ERROR_NAME_LIMIT, f->at, "a kernel's name has at most %d letters",
                       LIMIT_NAME_BYTES);
        k.broken = true;
    }
    if (f->has_header) {
        parameters_read(s, &k, &symbols, &variables, d);
        results_read(s, &k, &symbols, &variables, d);
        clashes_check(&k, &symbols, &variables, d);
    }
    s->head = around;
    k.symbols = keep(&s->memory, &symbols, &k.symbol_count);
    k.variables = keep(&s->memory, &variables, &k.variable_count);
    return k;
}
