/* module.c - a module's storage: creation, interning of types, attributes and names. */
#include "ir/internal.h"

#include <string.h>

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size) {
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_word(uint64_t h, uint64_t word) {
    h ^= word;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

ir_module *ir_module_new(void) {
    ir_module *m = base_calloc(1, sizeof *m);
    arena_init(&m->memory);
    map_init(&m->dim_atoms);
    map_init(&m->name_index);
    vec_push(&m->types, ARENA_NEW(&m->memory, ir_type_data, 1));
    vec_push(&m->attrs, ARENA_NEW(&m->memory, ir_attr_data, 1));
    vec_push(&m->ops, ARENA_NEW(&m->memory, ir_op_data, 1));
    vec_push(&m->values, ARENA_NEW(&m->memory, ir_value_data, 1));
    vec_push(&m->regions, ARENA_NEW(&m->memory, ir_region_data, 1));
    vec_push(&m->blocks, ARENA_NEW(&m->memory, ir_block_data, 1));
    vec_push(&m->blocks, ARENA_NEW(&m->memory, ir_block_data, 1));
    m->body = 1;
    return m;
}

void ir_module_free(ir_module *m) {
    if (!m)
        return;
    for (size_t i = 1; i < m->attrs.count; i++)
        if (m->attrs.items[i]->blob)
            ir_blob_drop(m->attrs.items[i]->blob);
    vec_release(&m->types);
    vec_release(&m->attrs);
    vec_release(&m->ops);
    vec_release(&m->values);
    vec_release(&m->blocks);
    vec_release(&m->regions);
    vec_release(&m->dims);
    free(m->type_index.slots);
    free(m->attr_index.slots);
    free(m->dim_index.slots);
    map_release(&m->dim_atoms);
    map_release(&m->name_index);
    arena_release(&m->memory);
    free(m);
}

void ir_fail(ir_module *m, const char *why) {
    if (!m->failure)
        m->failure = arena_strdup(&m->memory, why);
}

const char *ir_failure(const ir_module *m) {
    return m->failure;
}

arena *ir_module_arena(ir_module *m) {
    return &m->memory;
}

ir_block ir_module_body(const ir_module *m) {
    return m->body;
}

ir_op ir_module_kernel(const ir_module *m) {
    return m->blocks.items[m->body]->first;
}

ir_block_data *ir_kernel_body(const ir_module *m) {
    return ir_block_get(m, ir_op_block(m, ir_module_kernel(m), 0));
}

const ir_type_data *ir_type_of(const ir_module *m, ir_value value) {
    return ir_type_get(m, ir_value_get(m, value)->type);
}

const char *ir_intern_name(ir_module *m, const char *name) {
    intptr_t found;
    if (map_get(&m->name_index, name, &found))
        return (const char *)found;
    char *copy = arena_strdup(&m->memory, name);
    map_put(&m->name_index, name, (intptr_t)copy);
    return copy;
}

/* ---- interning ---- */

static void intern_grow(const ir_module *m, intern_table *t, intern_hash hash) {
    intern_table old = *t;
    t->capacity = old.capacity ? old.capacity * 2 : 64;
    t->slots = base_calloc(t->capacity, sizeof *t->slots);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (!old.slots[i])
            continue;
        uint64_t h = hash(m, old.slots[i]);
        while (t->slots[h % t->capacity])
            h++;
        t->slots[h % t->capacity] = old.slots[i];
    }
    free(old.slots);
}

uint32_t *ir_intern_slot(const ir_module *m, intern_table *t, uint64_t h, intern_hash hash,
                         intern_same same, const void *wanted) {
    if ((t->count + 1) * 2 > t->capacity)
        intern_grow(m, t, hash);
    while (t->slots[h % t->capacity] && !same(m, t->slots[h % t->capacity], wanted))
        h++;
    return &t->slots[h % t->capacity];
}

static uint64_t type_data_hash(const ir_type_data *d) {
    uint64_t h =
        hash_word(UINT64_C(0xcbf29ce484222325), (uint64_t)d->kind * 64 + (uint64_t)d->element);
    h = hash_word(h, (uint64_t)d->rank * 1024 + (uint64_t)d->layout.vector);
    h = hash_word(h, (uint64_t)d->layout.row_threads << 32 | d->layout.column_threads);
    h = hash_word(h, (uint64_t)d->layout.row_run << 32 | d->layout.column_run);
    h = hash_word(h, (uint64_t)d->layout.row_groups << 32 | d->layout.column_groups);
    h = hash_word(h, (uint64_t)d->layout.lanes << 32 | (uint64_t)d->layout.fragment << 16 |
                         d->layout.turned);
    for (int i = 0; i < d->rank; i++)
        h = hash_word(h, (uint64_t)d->dims[i]);
    return h;
}

static uint64_t type_hash(const ir_module *m, uint32_t id) {
    return type_data_hash(m->types.items[id]);
}

static bool type_same(const ir_module *m, uint32_t id, const void *wanted) {
    const ir_type_data *a = m->types.items[id], *b = wanted;
    return a->kind == b->kind && a->element == b->element && a->rank == b->rank &&
           memcmp(&a->layout, &b->layout, sizeof a->layout) == 0 &&
           memcmp(a->dims, b->dims, sizeof(ir_dim) * (size_t)a->rank) == 0;
}

static ir_type type_intern(ir_module *m, const ir_type_data *d) {
    uint32_t *slot = ir_intern_slot(m, &m->type_index, type_data_hash(d), type_hash, type_same, d);
    if (*slot)
        return *slot;
    m->type_index.count++;
    *slot = (uint32_t)m->types.count;
    vec_push(&m->types, arena_copy(&m->memory, d, sizeof *d));
    return *slot;
}

ir_type ir_type_scalar(ir_module *m, dtype element) {
    ir_type_data d = {.kind = IR_TYPE_SCALAR, .element = element};
    return type_intern(m, &d);
}

ir_type ir_type_index(ir_module *m) {
    ir_type_data d = {.kind = IR_TYPE_INDEX};
    return type_intern(m, &d);
}

ir_type ir_type_memory(ir_module *m, dtype element) {
    ir_type_data d = {.kind = IR_TYPE_MEMORY, .element = element};
    return type_intern(m, &d);
}

ir_type ir_type_shaped(ir_module *m, ir_type_kind kind, dtype element, int rank,
                       const ir_dim *dims) {
    ir_type_data d = {.kind = kind, .element = element, .rank = rank};
    if (rank > 0)
        memcpy(d.dims, dims, sizeof(ir_dim) * (size_t)rank);
    return type_intern(m, &d);
}

ir_type ir_type_tensor(ir_module *m, dtype element, int rank, const ir_dim *dims) {
    return ir_type_shaped(m, IR_TYPE_TENSOR, element, rank, dims);
}

ir_type ir_type_tile(ir_module *m, dtype element, int64_t rows, int64_t columns) {
    ir_type_data d = {.kind = IR_TYPE_TILE, .element = element, .rank = 2, .dims = {rows, columns}};
    return type_intern(m, &d);
}

ir_type ir_type_laid_out(ir_module *m, ir_type tile, const ir_layout *layout) {
    ir_type_data d = *ir_type_get(m, tile);
    d.layout = *layout;
    return type_intern(m, &d);
}

ir_type ir_type_with_element(ir_module *m, ir_type type, dtype element) {
    ir_type_data d = *ir_type_get(m, type);
    d.element = element;
    return type_intern(m, &d);
}

const ir_type_data *ir_type_get(const ir_module *m, ir_type type) {
    return m->types.items[type];
}

bool ir_type_is_static(const ir_module *m, ir_type type) {
    const ir_type_data *d = ir_type_get(m, type);
    for (int i = 0; i < d->rank; i++)
        if (d->dims[i] < 0)
            return false;
    return true;
}

int64_t ir_type_count(const ir_module *m, ir_type type) {
    const ir_type_data *d = ir_type_get(m, type);
    int64_t count = 1;
    bool beyond = false;
    for (int i = 0; i < d->rank; i++)
        if (d->dims[i] == 0)
            return 0;
    for (int i = 0; i < d->rank; i++)
        beyond |= __builtin_mul_overflow(count, d->dims[i], &count);
    return beyond ? INT64_MAX : count;
}

/* ---- attributes ---- */

static uint64_t attr_data_hash(const ir_attr_data *d) {
    uint64_t h = hash_word(UINT64_C(0xcbf29ce484222325), (uint64_t)d->kind);
    h = hash_word(h, (uint64_t)d->integer);
    h = hash_word(h, d->bits + (uint64_t)d->element);
    h = hash_word(h, ((uint64_t)d->type << 32) + d->count);
    if (d->string)
        h = hash_bytes(h, d->string, strlen(d->string));
    for (uint32_t i = 0; i < d->count; i++) {
        h = hash_word(h, d->items[i]);
        if (d->keys)
            h = hash_bytes(h, d->keys[i], strlen(d->keys[i]));
    }
    return h;
}

static uint64_t attr_hash(const ir_module *m, uint32_t id) {
    return attr_data_hash(m->attrs.items[id]);
}

static bool attr_same(const ir_module *m, uint32_t id, const void *wanted) {
    const ir_attr_data *a = m->attrs.items[id], *b = wanted;
    if (a->kind != b->kind || a->integer != b->integer || a->bits != b->bits ||
        a->element != b->element || a->type != b->type || a->count != b->count ||
        !a->string != !b->string)
        return false;
    if (a->string && strcmp(a->string, b->string) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i] != b->items[i] || (a->keys && strcmp(a->keys[i], b->keys[i]) != 0))
            return false;
    return true;
}

static ir_attr attr_intern(ir_module *m, const ir_attr_data *d) {
    uint32_t *slot = ir_intern_slot(m, &m->attr_index, attr_data_hash(d), attr_hash, attr_same, d);
    if (*slot)
        return *slot;
    ir_attr_data *copy = arena_copy(&m->memory, d, sizeof *d);
    if (d->string)
        copy->string = arena_strdup(&m->memory, d->string);
    if (d->blob)
        ir_blob_hold(d->blob);
    if (d->count) {
        copy->items = arena_copy(&m->memory, d->items, sizeof(ir_attr) * d->count);
        if (d->keys)
            copy->keys = arena_copy(&m->memory, d->keys, sizeof(char *) * d->count);
    }
    m->attr_index.count++;
    *slot = (uint32_t)m->attrs.count;
    vec_push(&m->attrs, copy);
    return *slot;
}

ir_attr ir_attr_unit(ir_module *m) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_UNIT});
}

ir_attr ir_attr_bool(ir_module *m, bool value) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_BOOL, .integer = value});
}

ir_attr ir_attr_int(ir_module *m, int64_t value) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_INT, .integer = value});
}

ir_attr ir_attr_dim(ir_module *m, ir_dim dim) {
    ir_attr_kind kind = dim >= IR_DIM_SYMBOLS ? IR_ATTR_INT : IR_ATTR_DIM;
    return attr_intern(m, &(ir_attr_data){.kind = kind, .integer = dim});
}

ir_attr ir_attr_bits(ir_module *m, dtype element, uint64_t bits) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_BITS, .element = element, .bits = bits});
}

ir_attr ir_attr_string(ir_module *m, const char *string) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_STRING, .string = string});
}

ir_attr ir_attr_type(ir_module *m, ir_type type) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type});
}

ir_attr ir_attr_array(ir_module *m, const ir_attr *items, uint32_t count) {
    return attr_intern(m, &(ir_attr_data){.kind = IR_ATTR_ARRAY, .items = items, .count = count});
}

ir_attr ir_attr_int_array(ir_module *m, const int64_t *items, uint32_t count) {
    ir_attr *attrs = base_malloc(sizeof *attrs * (count + 1));
    for (uint32_t i = 0; i < count; i++)
        attrs[i] = ir_attr_int(m, items[i]);
    ir_attr result = ir_attr_array(m, attrs, count);
    free(attrs);
    return result;
}

ir_attr ir_attr_dim_array(ir_module *m, const ir_dim *items, uint32_t count) {
    ir_attr *attrs = base_malloc(sizeof *attrs * ((size_t)count + 1));
    for (uint32_t i = 0; i < count; i++)
        attrs[i] = ir_attr_dim(m, items[i]);
    ir_attr result = ir_attr_array(m, attrs, count);
    free(attrs);
    return result;
}

ir_attr ir_attr_dict(ir_module *m, const char *const *keys, const ir_attr *values, uint32_t count) {
    const char **names = base_malloc(sizeof *names * (count + 1));
    ir_attr *items = base_malloc(sizeof *items * (count + 1));
    for (uint32_t i = 0; i < count; i++) { /* insertion sort by key: dictionaries are small */
        uint32_t at = i;
        for (; at > 0 && strcmp(names[at - 1], keys[i]) > 0; at--) {
            names[at] = names[at - 1];
            items[at] = items[at - 1];
        }
        names[at] = ir_intern_name(m, keys[i]);
        items[at] = values[i];
    }
    ir_attr result = attr_intern(
        m, &(ir_attr_data){.kind = IR_ATTR_DICT, .items = items, .keys = names, .count = count});
    free(names);
    free(items);
    return result;
}

ir_attr ir_attr_dense(ir_module *m, ir_type type, ir_blob *blob) {
    return attr_intern(
        m,
        &(ir_attr_data){.kind = IR_ATTR_DENSE, .string = blob->name, .type = type, .blob = blob});
}

const ir_attr_data *ir_attr_get(const ir_module *m, ir_attr attr) {
    return m->attrs.items[attr];
}
