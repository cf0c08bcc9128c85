/* clone.c - a module is a value: a copy has the same ids, and shares no memory with what it was
 * made from. */
#include "ir/internal.h"

/* The vector `field` of one module for another: the records behind those that it has, as they are,
 * in the order of ids. */
#define COPY_RECORDS(to, from, field)                                                              \
    do {                                                                                           \
        vec_reserve(&(to)->field, (from)->field.count);                                            \
        for (size_t i_ = (to)->field.count; i_ < (from)->field.count; i_++)                        \
            vec_push(&(to)->field, arena_copy(&(to)->memory, (from)->field.items[i_],              \
                                              sizeof *(from)->field.items[i_]));                   \
    } while (0)

/* The index of interned things holds ids, which are the same in the copy. */
static intern_table copy_index(const intern_table *from) {
    intern_table to = *from;
    to.slots = base_malloc(sizeof *to.slots * from->capacity);
    for (uint32_t i = 0; i < from->capacity; i++)
        to.slots[i] = from->slots[i];
    return to;
}

static void own_attr(ir_module *m, ir_attr_data *d) {
    const char *const *keys = d->keys;
    if (d->string)
        d->string = arena_strdup(&m->memory, d->string);
    if (d->blob)
        ir_blob_hold(d->blob);
    if (d->items)
        d->items = arena_copy(&m->memory, d->items, sizeof *d->items * d->count);
    if (!keys)
        return;
    d->keys = ARENA_NEW(&m->memory, const char *, d->count);
    for (uint32_t i = 0; i < d->count; i++)
        d->keys[i] = ir_intern_name(m, keys[i]);
}

static void copy_op(ir_module *m, const ir_op_data *from) {
    ir_op_data *d = ir_op_room(m, from);
    for (uint32_t i = 0; i < d->operand_count; i++)
        d->operands[i] = from->operands[i];
    for (uint32_t i = 0; i < d->result_count; i++)
        d->results[i] = from->results[i];
    for (uint32_t i = 0; i < d->region_count; i++)
        d->regions[i] = from->regions[i];
    for (uint32_t i = 0; i < d->attr_count; i++)
        d->attrs[i] = (ir_named_attr){ir_intern_name(m, from->attrs[i].name), from->attrs[i].value};
    vec_push(&m->ops, d);
}

/* Owns what the copied records still point to in the other module. */
static void own_records(ir_module *m) {
    for (size_t i = 1; i < m->values.count; i++)
        if (m->values.items[i]->name)
            m->values.items[i]->name = ir_intern_name(m, m->values.items[i]->name);
    for (size_t i = 1; i < m->blocks.count; i++) {
        ir_block_data *b = m->blocks.items[i];
        b->argument_capacity = b->argument_count;
        b->arguments =
            arena_copy(&m->memory, b->arguments, sizeof *b->arguments * b->argument_count);
    }
}

ir_module *ir_module_like(const ir_module *m) {
    ir_module *like = ir_module_new();
    COPY_RECORDS(like, m, types);
    COPY_RECORDS(like, m, attrs);
    ir_dim_adopt(like, m);
    like->type_index = copy_index(&m->type_index);
    like->attr_index = copy_index(&m->attr_index);
    for (size_t i = 1; i < like->attrs.count; i++)
        own_attr(like, like->attrs.items[i]);
    return like;
}

ir_module *ir_module_clone(const ir_module *m) {
    ir_module *copy = ir_module_like(m);
    copy->blocks.count = 0; /* its own block, too, is the other's */
    vec_reserve(&copy->ops, m->ops.count);
    for (size_t i = copy->ops.count; i < m->ops.count; i++)
        copy_op(copy, m->ops.items[i]);
    COPY_RECORDS(copy, m, values);
    COPY_RECORDS(copy, m, blocks);
    COPY_RECORDS(copy, m, regions);
    own_records(copy);
    if (m->failure)
        ir_fail(copy, m->failure);
    return copy;
}
