/* value_type.c - annotations of functions and records: Tensor[...], words of tiles, records, and
 * tuples and lists of them. */
#include <string.h>

#include "check/check.h"

/* Kinds of a value, as a word says them. */
static const struct {
    const char *word, *meaning;
    entity_kind kinds[3];
} words[] = {
    {"Tile", "a tile", {ENTITY_TENSOR}},
    {"Tensor", "a tensor", {ENTITY_TENSOR}},
    {"KTile", "a tensor in memory", {ENTITY_MEMORY}},
    {"Block", "a block", {ENTITY_BLOCK}},
    {"float", "a number", {ENTITY_NUMBER, ENTITY_DIM}},
    {"int", "a number", {ENTITY_NUMBER, ENTITY_DIM}},
    {"bool", "True or False", {ENTITY_BOOL}},
    {"str", "a string", {ENTITY_STRING}},
};
enum { WORD_COUNT = sizeof words / sizeof *words };

static int word_of(const node *n) {
    for (int i = 0; n->kind == NODE_NAME && i < WORD_COUNT; i++)
        if (strcmp(n->text, words[i].word) == 0)
            return i;
    return -1;
}

bool value_type_is_word(const node *n) {
    return word_of(n) >= 0;
}

static const char *describe(const value_type *t) {
    switch (t->kind) {
    case VALUE_WORD:
        return words[t->word].meaning;
    case VALUE_TENSOR:
        return "a tensor";
    case VALUE_RECORD:
        return "a record";
    case VALUE_TUPLE:
    case VALUE_LIST:
        return "a tuple or a list";
    default:
        return "anything";
    }
}

bool value_type_is_constant(const value_type *t) {
    return t->kind == VALUE_WORD &&
           (words[t->word].kinds[0] == ENTITY_NUMBER || words[t->word].kinds[0] == ENTITY_BOOL ||
            words[t->word].kinds[0] == ENTITY_STRING);
}

bool value_type_is_tile(const value_type *t) {
    return t->kind == VALUE_WORD && t->word == 0;
}

/* ---- reading ---- */

static bool read_tensor(compiler_source *s, node *n, value_type *out, diagnostics *d) {
    declared_names symbols = {0}, variables = {0};
    out->kind = VALUE_TENSOR;
    bool good = annotation_read(s, n, &out->tensor, &symbols, &variables, d);
    vec_release(&symbols);
    vec_release(&variables);
    return good;
}

static bool read_items(compiler_source *s, source_module *m, const node *n, uint32_t count,
                       value_type *out, diagnostics *d) {
    bool good = true;
    out->items = ARENA_NEW(&s->memory, value_type, count + 1);
    for (uint32_t i = 0; i < count; i++)
        good &= value_type_read(s, m, n->items[i], &out->items[i], d);
    return good;
}

/* The length of list[X, 4]; 0: none is said. */
static bool read_length(const node *n, uint32_t *out, diagnostics *d) {
    const node *length = n->count > 1 ? n->items[1] : NULL;
    bool fits = length && length->kind == NODE_INT && length->integer <= LIMIT_PARAMETERS;
    *out = fits ? (uint32_t)length->integer : 0;
    if (n->count == 1 || (n->count == 2 && *out > 0))
        return true;
    if (length && length->kind == NODE_BROKEN)
        return false;
    diagnose_error(d, ERROR_VALUE_TYPE, n->at, "a list says what it holds, and how many: 1 to %d",
                   LIMIT_PARAMETERS);
    diagnose_help(d, "write list[Block, 4], or list[Block, LAYERS] with a constant of the file");
    return false;
}

static bool read_record(compiler_source *s, source_module *m, const node *n, value_type *out,
                        diagnostics *d) {
    record_type *r = record_named(m, n);
    if (!r) {
        diagnose_error(d, ERROR_VALUE_TYPE, n->at, "this annotation has no meaning here");
        diagnose_help(d, "write Tensor[\"M\", \"N\", f32], a record's name, tuple[...], "
                         "list[Block, 4], float, int, bool or str; in functions of tiles Tile, "
                         "KTile and Block");
        return false;
    }
    out->kind = VALUE_RECORD;
    out->record = record_instance(s, m, r, n, d);
    return out->record != NULL;
}

bool value_type_read(compiler_source *s, source_module *m, const node *n, value_type *out,
                     diagnostics *d) {
    *out = (value_type){.kind = VALUE_ANY};
    if (!n)
        return true;
    if (n->kind == NODE_BROKEN)
        return false;
    out->at = n->at;
    out->node = n;
    out->word = record_named(m, n) ? -1 : word_of(n); /* a record may be called Block */
    if (out->word >= 0) {
        out->kind = VALUE_WORD;
        return true;
    }
    if (interface_is_shaped(n, "Tensor"))
        return read_tensor(s, (node *)n, out, d);
    if (interface_is_shaped(n, "tuple") || n->kind == NODE_TUPLE) {
        out->kind = VALUE_TUPLE;
        out->count = n->count;
        return read_items(s, m, n, n->count, out, d);
    }
    if (interface_is_shaped(n, "list")) {
        out->kind = VALUE_LIST;
        return read_length(n, &out->count, d) && read_items(s, m, n, 1, out, d);
    }
    return read_record(s, m, n, out, d);
}

/* ---- values ---- */

static const value_type *item_type(const value_type *t, uint32_t i) {
    return t->kind == VALUE_LIST ? &t->items[0] : &t->items[i];
}

static void bind_tensor(checker *c, const annotation *a, const entity *e) {
    if (e->kind != ENTITY_TENSOR)
        return;
    const ir_type_data *type = tensor_type(c, e);
    if (a->variable && !scope_find_own(c, a->variable)) {
        entity element = {.kind = ENTITY_TYPE, .at = a->at, .type = type->element};
        scope_define(c, a->variable, element, a->at, "a type variable");
    }
    for (int i = 0; type->rank == a->rank && i < a->rank; i++) {
        const node *n = a->dims[i];
        if (n->kind == NODE_NAME && !scope_find_own(c, n->text))
            scope_define(c, n->text, entity_dim(c, type->dims[i], n->at), n->at, "a dimension");
    }
}

void value_type_bind(checker *c, const value_type *t, const entity *e) {
    if (t->kind == VALUE_TENSOR)
        bind_tensor(c, &t->tensor, e);
    bool fields =
        t->kind == VALUE_RECORD && e->kind == ENTITY_RECORD && record_is_same(e->record, t->record);
    bool tuple = (t->kind == VALUE_TUPLE && e->kind == ENTITY_TUPLE && e->count == t->count) ||
                 (t->kind == VALUE_LIST && e->kind == ENTITY_TUPLE);
    for (uint32_t i = 0; (fields || tuple) && i < e->count; i++)
        value_type_bind(c, fields ? &t->record->fields[i] : item_type(t, i), &e->items[i]);
}

static bool refuse(checker *c, const value_type *t, const entity *e, const char *what) {
    if (e->kind == ENTITY_BROKEN)
        return false;
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "%s is %s, but its annotation says %s",
                   what, entity_describe(e),
                   t->kind == VALUE_RECORD ? t->record->ast->name : describe(t));
    diagnose_note(c->report, t->at, "annotated here");
    if (e->kind == ENTITY_MEMORY)
        diagnose_help(c->report, "load a tile of it: tile.load(x, T.rows)");
    return false;
}

static bool fits_word(const value_type *t, const entity *e) {
    for (int i = 0; i < 3; i++)
        if (words[t->word].kinds[i] == e->kind)
            return true;
    return false;
}

static bool fit_items(checker *c, const value_type *t, entity *e, const char *what) {
    bool good = e->kind == ENTITY_TUPLE || refuse(c, t, e, what);
    if (good && e->count != t->count && (t->kind == VALUE_TUPLE || t->count)) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "%s holds %u, but its annotation says %u", what, e->count, t->count);
        diagnose_note(c->report, t->at, "annotated here");
        good = false;
    }
    if (!good)
        return false;
    for (uint32_t i = 0; i < e->count; i++)
        good &= value_type_fit(c, item_type(t, i), &e->items[i],
                               arena_printf(&c->memory, "%s[%u]", what, i));
    return good;
}

/* A field that need not be there: is it as the annotation says? */
static bool fit_absent(checker *c, const value_type *t, const entity *e, uint32_t i,
                       const char *what) {
    if (e->items[i].kind == ENTITY_NONE)
        return true;
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "%s has '%s', and its annotation has not",
                   what, e->names[i]);
    diagnose_note(c->report, t->at, "annotated here");
    diagnose_help(c->report, "write @ %s behind it", e->names[i]);
    return false;
}

/* A record with parameters says what they are of its tensors. */
static bool fit_fields(checker *c, const value_type *t, entity *e, const char *what) {
    bool good = true;
    for (uint32_t i = 0; t->record->of && i < e->count; i++)
        if (t->record->absent[i])
            good &= fit_absent(c, t, e, i, what);
        else if (!value_type_is_constant(&t->record->fields[i]))
            good &= value_type_fit(c, &t->record->fields[i], &e->items[i],
                                   arena_printf(&c->memory, "'%s' of %s", e->names[i], what));
    return good;
}

bool value_type_fit(checker *c, const value_type *t, entity *e, const char *what) {
    switch (t->kind) {
    case VALUE_WORD:
        return fits_word(t, e) || refuse(c, t, e, what);
    case VALUE_TENSOR:
        return e->kind == ENTITY_TENSOR ? kernel_type_matches(c, e, &t->tensor, what)
                                        : refuse(c, t, e, what);
    case VALUE_RECORD:
        return e->kind == ENTITY_RECORD && record_is_same(e->record, t->record)
                   ? fit_fields(c, t, e, what)
                   : refuse(c, t, e, what);
    case VALUE_TUPLE:
    case VALUE_LIST:
        return fit_items(c, t, e, what);
    default:
        return e->kind != ENTITY_BROKEN;
    }
}
