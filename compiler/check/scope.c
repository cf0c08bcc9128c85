/* scope.c - names and what they stand for, and how tensors are spoken of in messages. */
#include <string.h>

#include "check/check.h"

entity entity_broken(span at) {
    return (entity){.kind = ENTITY_BROKEN, .at = at};
}

entity entity_integer(checker *c, int64_t value, span at) {
    return (entity){.kind = ENTITY_NUMBER,
                    .at = at,
                    .is_integer = true,
                    .integer = value,
                    .text = arena_printf(&c->memory, "%lld", (long long)value)};
}

entity entity_tensor(ir_value value, span at) {
    return (entity){.kind = ENTITY_TENSOR, .at = at, .value = value};
}

entity entity_dim(checker *c, ir_dim dim, span at) {
    if (ir_dim_is_static(dim))
        return entity_integer(c, dim, at);
    return (entity){.kind = ENTITY_DIM, .at = at, .dim = dim};
}

entity entity_tuple(checker *c, uint32_t count, span at) {
    entity e = {.kind = ENTITY_TUPLE, .at = at, .count = count};
    e.items = ARENA_NEW(&c->memory, entity, count + 1);
    return e;
}

const char *entity_describe(const entity *e) {
    static const char *const words[ENTITY_KIND_COUNT] = {
        [ENTITY_BROKEN] = "nothing",
        [ENTITY_TENSOR] = "a tensor",
        [ENTITY_NUMBER] = "a number",
        [ENTITY_BOOL] = "a bool",
        [ENTITY_DIM] = "a dimension",
        [ENTITY_TUPLE] = "a tuple",
        [ENTITY_STRING] = "a string",
        [ENTITY_TYPE] = "a type",
        [ENTITY_NONE] = "None",
        [ENTITY_SCHEDULE] = "a schedule",
        [ENTITY_RECORD] = "a record",
        [ENTITY_CONTEXT] = "the program instance",
        [ENTITY_BLOCK] = "a block",
        [ENTITY_RANGE] = "a range of blocks",
        [ENTITY_MEMORY] = "a tensor in memory, of which tile.load() takes a tile",
        [ENTITY_OUTPUT] = "a result, which tile.store() gives",
        [ENTITY_ENDED] = "a name of a loop that has ended",
        [ENTITY_TILE_SCHEDULE] = "a Schedule of tiles",
        [ENTITY_MESH] = "a mesh",
        [ENTITY_SPEC] = "a PartitionSpec",
        [ENTITY_SHARDING] = "a sharding",
        [ENTITY_FUNCTION] = "a function",
    };
    return words[e->kind];
}

/* ---- names ---- */

static local_name *find_in(name_scope *s, const char *name) {
    intptr_t index;
    return map_get(&s->names, name, &index) ? &s->locals.items[index] : NULL;
}

local_name *scope_find_own(checker *c, const char *name) {
    return find_in(&c->scope, name);
}

/* Its own names, then the constants and weights of its file. */
local_name *scope_find(checker *c, const char *name) {
    local_name *found = find_in(&c->scope, name);
    if (found || !c->module)
        return found;
    found = find_in(&c->constants[c->module->number], name);
    return found ? found : scope_find_weight(c, name);
}

local_name *scope_find_weight(checker *c, const char *name) {
    const source_module *from = c->module ? module_of_name(c->module, &name) : NULL;
    return from && weight_is_one(module_constant(from, name)) ? find_in(&c->weights, name) : NULL;
}

void scope_init(name_scope *s) {
    *s = (name_scope){.locals = {0}};
    map_init(&s->names);
}

void scope_release(name_scope *s) {
    vec_release(&s->locals);
    map_release(&s->names);
}

void scope_define(checker *c, const char *name, entity value, span at, const char *fixed) {
    scope_define_in(c, &c->scope, name, value, at, fixed);
}

void scope_define_in(checker *c, name_scope *s, const char *name, entity value, span at,
                     const char *fixed) {
    local_name *old = find_in(s, name);
    if (old) {
        *old = (local_name){old->name, value, at, fixed};
    } else {
        local_name one = {name, value, at, fixed};
        map_put(&s->names, name, (intptr_t)s->locals.count);
        vec_push(&s->locals, one);
    }
    if (value.kind == ENTITY_TENSOR)
        scope_name_value(c, value.value, name, at);
}

bool scope_is_function(const char *name) {
    for (size_t i = 0; i < special_function_count; i++)
        if (strcmp(special_functions[i].name, name) == 0)
            return true;
    for (int op = 0; op < GRAPH_OP_COUNT; op++)
        if (operation_is_function(op) &&
            strcmp(op_info_get(op)->name + strlen("tessera."), name) == 0)
            return true;
    return false;
}

entity scope_function(const checker *c, const char *name, span at) {
    const char *own = name;
    source_module *from = c->module ? module_of_name(c->module, &own) : NULL;
    callable *f = from ? module_function(from, own) : NULL;
    bool known = f || (c->module && scope_is_function(name));
    return (entity){
        .kind = known ? ENTITY_FUNCTION : ENTITY_NONE,
        .at = at,
        .text = name,
        .function =
            f && (!f->is_kernel || from != c->module || !scope_is_function(name)) ? f : NULL};
}

static entity unknown_name(checker *c, const char *name, span at) {
    entity function = scope_function(c, name, at);
    if (function.kind == ENTITY_FUNCTION)
        return function;
    if (c->module && module_lacks(c->module, name))
        return entity_broken(at);
    diagnose_error(c->report, ERROR_UNKNOWN_NAME, at, "unknown name '%.60s'", name);
    const local_names *own = &c->scope.locals, none = {0},
                      *file = c->module ? &c->constants[c->module->number].locals : &none;
    const char **known = ARENA_NEW(&c->memory, const char *, own->count + file->count + 1);
    for (size_t i = 0; i < own->count + file->count; i++)
        known[i] = i < own->count ? own->items[i].name : file->items[i - own->count].name;
    diagnose_nearest(c->report, name, known, own->count + file->count);
    return entity_broken(at);
}

entity scope_lookup(checker *c, const char *name, span at) {
    const local_name *local = scope_find(c, name);
    if (local) {
        entity e = local->value;
        e.at = at;
        return e;
    }
    if (strcmp(name, "inf") == 0 || strcmp(name, "nan") == 0)
        return (entity){.kind = ENTITY_NUMBER, .at = at, .text = name};
    if (strcmp(name, "INF") == 0)
        return (entity){.kind = ENTITY_NUMBER, .at = at, .text = "inf"};
    dtype type = dtype_from_name(name);
    if (type != DTYPE_NONE)
        return (entity){.kind = ENTITY_TYPE, .at = at, .type = type};
    return unknown_name(c, name, at);
}

/* ---- tensors in messages ---- */

void scope_name_value(checker *c, ir_value value, const char *name, span at) {
    if (name[0] == '(') /* none that a source has */
        return;
    while (c->origins.count <= value) {
        value_origin none = {0};
        vec_push(&c->origins, none);
    }
    if (!c->origins.items[value].name)
        c->origins.items[value] = (value_origin){name, at};
}

const ir_type_data *tensor_type(const checker *c, const entity *e) {
    return ir_type_of(c->m, e->value);
}

const char *entity_type_text(checker *c, ir_type type) {
    const ir_type_data *d = ir_type_get(c->m, type);
    text out;
    text_init(&out);
    text_append_char(&out, '[');
    for (int i = 0; i < d->rank; i++)
        text_printf(&out, "%s%.60s", i ? ", " : "", ir_dim_text(c->m, d->dims[i]));
    text_printf(&out, "] %s", dtype_name(d->element));
    const char *kept = arena_strdup(&c->memory, out.data);
    text_release(&out);
    return kept;
}

const char *entity_annotation(checker *c, ir_type type, const char *policies) {
    const ir_type_data *d = ir_type_get(c->m, type);
    text out;
    text_init(&out);
    text_append(&out, "Tensor[");
    for (int i = 0; i < d->rank; i++) {
        const char *quote = ir_dim_is_static(d->dims[i]) ? "" : "\"";
        text_printf(&out, "%s%.60s%s, ", quote, ir_dim_text(c->m, d->dims[i]), quote);
    }
    text_printf(&out, "%s%s]", dtype_name(d->element), policies);
    const char *kept = arena_strdup(&c->memory, out.data);
    text_release(&out);
    return kept;
}

void note_tensor(checker *c, const entity *e) {
    if (e->kind != ENTITY_TENSOR)
        return;
    const char *type = entity_type_text(c, ir_value_get(c->m, e->value)->type);
    if (e->value < c->origins.count && c->origins.items[e->value].name) {
        const value_origin *origin = &c->origins.items[e->value];
        diagnose_note(c->report, origin->at, "'%s' is %s", origin->name, type);
    } else {
        diagnose_note(c->report, e->at, "this is %s", type);
    }
}
