/* interface.c - what the head of a kernel of tiles says beside its tensors: records,
 * constants that are given by a decorator, and the sizes of tiles. */
#include <string.h>

#include "check/modules.h"

/* ---- KTile, KVCache ---- */

/* The sharding behind the '@' has been read (entries.c). */
bool interface_is_sharded(const node *n) {
    return n->kind == NODE_BINARY && n->symbol == SYMBOL1('@') && n->right->kind == NODE_STRING;
}

bool interface_is_shaped(const node *n, const char *name) {
    n = interface_is_sharded(n) ? n->left : n;
    return n->kind == NODE_SUBSCRIPT && n->left->kind == NODE_NAME &&
           strcmp(n->left->text, name) == 0;
}

bool interface_is_cache(const node *n) {
    return interface_is_shaped(n, "KVCache") ||
           (n->kind == NODE_NAME && strcmp(n->text, "KVCache") == 0);
}

bool interface_is_tile(const node *n) {
    return interface_is_shaped(n, "KTile") || interface_is_cache(n);
}

annotation interface_cache_like(compiler_source *s, const annotation *like, span at,
                                declared_names *symbols) {
    static const char length[] = "S_kv";
    annotation out = *like;
    node *own = ARENA_NEW(&s->memory, node, 1);
    *own = (node){.kind = NODE_NAME, .at = at, .text = length, .depth = 1};
    out.at = at;
    out.policies = (policy_set){.accum = DTYPE_NONE};
    out.dims[out.rank - 2] = own;
    for (size_t i = 0; i < symbols->count; i++)
        if (strcmp(symbols->items[i].name, length) == 0)
            return out;
    declared_name one = {length, at};
    vec_push(symbols, one);
    return out;
}

/* ---- parameters ---- */

static node *constant_given(const ast_function *f, const char *name) {
    for (uint32_t i = 0; i < f->decorator_count; i++) {
        const node *n = f->decorators[i];
        bool is_list = n->kind == NODE_CALL && n->left->kind == NODE_NAME &&
                       strcmp(n->left->text, "constants") == 0;
        for (uint32_t k = 0; is_list && k < n->count; k++)
            if (n->items[k]->kind == NODE_KEYWORD && strcmp(n->items[k]->text, name) == 0)
                return n->items[k]->left;
    }
    return NULL;
}

static ast_parameter field_of(compiler_source *s, const ast_parameter *record, const char *field) {
    ast_parameter out = *record;
    out.name = arena_printf(&s->memory, "%s_%s", record->name, field);
    return out;
}

/* KTile[...] @ out */
static bool is_result(const ast_parameter *p) {
    const node *n = p->keyword_only ? NULL : p->annotation;
    return n && n->kind == NODE_BINARY && n->symbol == SYMBOL1('@') &&
           n->right->kind == NODE_NAME && strcmp(n->right->text, "out") == 0;
}

/* Beside a KTile, KVCache is memory that tiles are loaded from; else it is a state. */
static bool has_tile(const ast_function *f) {
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const node *n = f->parameters[i].annotation;
        if (n && n->kind == NODE_BINARY && n->symbol == SYMBOL1('@'))
            n = n->left;
        if (n && interface_is_shaped(n, "KTile"))
            return true;
    }
    return false;
}

/* One that is a result, or several tensors, or itself. */
static bool unfold_one(compiler_source *s, const ast_function *f, uint32_t i, kernel_interface *k,
                       ast_parameters *out, diagnostics *d) {
    ast_parameter p = f->parameters[i];
    const bool taken = !p.keyword_only && p.annotation;
    parameter_record record = {p.name, p.at, (uint32_t)out->count, NULL};
    if (taken && interface_is_cache(p.annotation) && has_tile(f)) {
        k->records[k->record_count++] = record;
        vec_push(out, field_of(s, &p, "K"));
        vec_push(out, field_of(s, &p, "V"));
        return true;
    }
    if (is_result(&p)) {
        k->stores[k->store_count++] = (parameter_result){p.name, p.at, p.annotation->left};
        return true;
    }
    if (taken && unfold_is_compound(s->main, p.annotation)) {
        value_type *type = ARENA_NEW(&s->memory, value_type, 1);
        record.type = type;
        k->records[k->record_count++] = record;
        return unfold_parameter(s, &p, out, type, d);
    }
    node *given = p.keyword_only ? constant_given(f, p.name) : NULL;
    p.fallback = given ? given : p.fallback;
    vec_push(out, p);
    return true;
}

const ast_function *interface_unfold(compiler_source *s, const ast_function *f, kernel_interface *k,
                                     diagnostics *d) {
    ast_function *out = ARENA_NEW(&s->memory, ast_function, 1);
    ast_parameters list = {0};
    *out = *f;
    k->stores = ARENA_NEW(&s->memory, parameter_result, f->parameter_count + 1);
    k->records = ARENA_NEW(&s->memory, parameter_record, f->parameter_count + 1);
    for (uint32_t i = 0; i < f->parameter_count; i++)
        k->broken |= !unfold_one(s, f, i, k, &list, d);
    k->first_weight = (uint32_t)list.count;
    weights_find(s, f, &list);
    out->parameter_count = (uint32_t)list.count;
    out->parameters = ARENA_NEW(&s->memory, ast_parameter, list.count + 1);
    if (list.count)
        memcpy(out->parameters, list.items, list.count * sizeof *list.items);
    vec_release(&list);
    return out;
}

/* ---- sizes of tiles ---- */

bool interface_is_kernel_word(const node *n) {
    const node *word = n->kind == NODE_CALL ? n->left : n;
    static const char *const words[] = {"autotune", "schedule", "auto"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word->kind == NODE_ATTRIBUTE && word->left->kind == NODE_NAME &&
            strcmp(word->left->text, "kernel") == 0 && strcmp(word->text, words[i]) == 0)
            return true;
    return false;
}

static tile_knob *knob_named(tile_space *t, const char *name) {
    for (int i = 0; i < TILE_KNOBS; i++)
        if (strcmp(tile_knob_names[i].name, name) == 0)
            return &t->knobs[i];
    return NULL;
}

/* BM=[64, 128]: the first is what the kernel is made of unless another is chosen. */
static void size_read(tile_space *t, const node *keyword, diagnostics *d) {
    tile_knob *out = knob_named(t, keyword->text);
    if (!out) {
        diagnose_error(d, ERROR_TILE_SIZE, keyword->at, "a space of tiles has no '%.60s'",
                       keyword->text);
        diagnose_help(d, "there are BM, BN, BK, BD, warps, stages and vector");
        return;
    }
    tile_knob_read(keyword->left, (int)(out - t->knobs), out, d);
}

static void space_read(tile_space *t, const node *n, diagnostics *d) {
    bool is_dict =
        n->kind == NODE_CALL && n->left->kind == NODE_NAME && strcmp(n->left->text, "dict") == 0;
    if (!is_dict) {
        diagnose_error(d, ERROR_TILE_SIZE, n->at, "a space is dict(BM=[64, 128], ...)");
        return;
    }
    for (uint32_t i = 0; i < n->count; i++)
        if (n->items[i]->kind == NODE_KEYWORD)
            size_read(t, n->items[i], d);
        else
            diagnose_error(d, ERROR_TILE_SIZE, n->items[i]->at, "sizes have names: BM=[64, 128]");
}

/* ---- what its tuning is told ---- */

static bool metric_read(tile_space *t, const node *value) {
    (void)t;
    return value->kind == NODE_STRING && strcmp(value->text, "latency_ms") == 0;
}

static bool budget_read(tile_space *t, const node *value) {
    t->budget_ms = (uint64_t)value->integer;
    return value->kind == NODE_INT && value->integer > 0 && value->integer <= 1000000000;
}

static bool cache_read(tile_space *t, const node *value) {
    t->cache = value->text;
    return value->kind == NODE_STRING && *value->text;
}

/* False: there is no such word. What is wrong with its value is reported. */
static bool word_read(tile_space *t, const node *keyword, diagnostics *d) {
    static const struct {
        const char *name;
        bool (*read)(tile_space *t, const node *value);
        const char *wanted;
    } words[] = {{"metric", metric_read, "metric is \"latency_ms\", the time of one launch"},
                 {"budget_ms", budget_read, "budget_ms is a number of milliseconds, from 1 on"},
                 {"cache", cache_read, "cache is the path of a file"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, keyword->text) != 0)
            continue;
        if (!words[i].read(t, keyword->left))
            diagnose_error(d, ERROR_TILE_TUNING, keyword->left->at, "%s", words[i].wanted);
        return true;
    }
    return false;
}

/* @kernel.auto leaves the sizes to the compiler: those of a kernel without a space, and others for
 * the tuner. */
static void auto_read(tile_space *t) {
    static const int64_t sizes[] = {64, 16, 32, 128};
    for (int i = TILE_KNOB_M; i <= TILE_KNOB_K; i++) {
        memcpy(t->knobs[i].values, sizes, sizeof sizes);
        t->knobs[i].count = sizeof sizes / sizeof *sizes;
    }
}

void interface_tiles_read(compiler_source *s, kernel_interface *k, const node *n, diagnostics *d) {
    bool is_schedule = n->kind == NODE_CALL && strcmp(n->left->text, "schedule") == 0;
    const node *decorator = n->kind == NODE_CALL ? n->left : n;
    if (strcmp(decorator->text, "auto") == 0)
        auto_read(k->space);
    for (uint32_t i = 0; n->kind == NODE_CALL && i < n->count; i++) {
        const node *word = n->items[i];
        if (is_schedule && n->count == 1 && word->kind != NODE_KEYWORD) {
            tile_schedule_read(s, word, k->space, d);
        } else if (!is_schedule && word->kind == NODE_KEYWORD && strcmp(word->text, "space") == 0) {
            space_read(k->space, word->left, d);
        } else if (word->kind != NODE_KEYWORD || !word_read(k->space, word, d)) {
            diagnose_error(d, ERROR_TILE_SIZE, word->at, "@kernel.%s does not take this",
                           n->left->text);
            diagnose_help(d, "write @kernel.autotune(space=dict(BM=[64, 128], BN=[64])) or "
                             "@kernel.schedule(Schedule(block=(64, 64)))");
        }
    }
}
