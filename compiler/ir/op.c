/* op.c - operations, values, blocks: building, editing and walking. */
#include "ir/internal.h"

#include <assert.h>
#include <string.h>

ir_op_data *ir_op_get(const ir_module *m, ir_op op) {
    assert(op && op < m->ops.count);
    return m->ops.items[op];
}

ir_value_data *ir_value_get(const ir_module *m, ir_value value) {
    assert(value && value < m->values.count);
    return m->values.items[value];
}

ir_block_data *ir_block_get(const ir_module *m, ir_block block) {
    assert(block && block < m->blocks.count);
    return m->blocks.items[block];
}

ir_region_data *ir_region_get(const ir_module *m, ir_region region) {
    assert(region && region < m->regions.count);
    return m->regions.items[region];
}

uint32_t ir_value_count(const ir_module *m) {
    return (uint32_t)m->values.count - 1;
}

uint32_t ir_op_count(const ir_module *m) {
    return (uint32_t)m->ops.count - 1;
}

static ir_value value_new(ir_module *m, ir_value_data data) {
    vec_push(&m->values, arena_copy(&m->memory, &data, sizeof data));
    return (ir_value)(m->values.count - 1);
}

static void link_op(ir_module *m, ir_op op, ir_block block, ir_op before) {
    ir_op_data *d = ir_op_get(m, op);
    ir_block_data *b = ir_block_get(m, block);
    d->block = block;
    d->next = before;
    d->previous = before ? ir_op_get(m, before)->previous : b->last;
    if (d->previous)
        ir_op_get(m, d->previous)->next = op;
    else
        b->first = op;
    if (before)
        ir_op_get(m, before)->previous = op;
    else
        b->last = op;
}

static void unlink_op(ir_module *m, ir_op op) {
    ir_op_data *d = ir_op_get(m, op);
    ir_block_data *b = ir_block_get(m, d->block);
    if (d->previous)
        ir_op_get(m, d->previous)->next = d->next;
    else
        b->first = d->next;
    if (d->next)
        ir_op_get(m, d->next)->previous = d->previous;
    else
        b->last = d->previous;
    d->block = 0;
    d->previous = d->next = 0;
}

static ir_region region_new(ir_module *m, ir_op parent) {
    ir_region region = (ir_region)m->regions.count;
    ir_region_data *r = ARENA_NEW(&m->memory, ir_region_data, 1);
    ir_block_data *b = ARENA_NEW(&m->memory, ir_block_data, 1);
    r->parent = parent;
    r->block = (ir_block)m->blocks.count;
    b->region = region;
    vec_push(&m->regions, r);
    vec_push(&m->blocks, b);
    return region;
}

static void attrs_insert(ir_module *m, ir_op_data *d, ir_named_attr attr) {
    uint32_t at = d->attr_count++;
    for (; at > 0 && strcmp(d->attrs[at - 1].name, attr.name) > 0; at--)
        d->attrs[at] = d->attrs[at - 1];
    d->attrs[at] = (ir_named_attr){ir_intern_name(m, attr.name), attr.value};
}

ir_op_data *ir_op_room(ir_module *m, const ir_op_data *head) {
    const size_t attrs = head->attr_count * sizeof(ir_named_attr);
    const size_t ids = head->operand_count + head->result_count + head->region_count;
    char *memory = arena_alloc(&m->memory, sizeof *head + attrs + ids * sizeof(uint32_t));
    ir_op_data *d = (ir_op_data *)memory;
    *d = *head;
    d->attrs = (ir_named_attr *)(memory + sizeof *head);
    d->operands = (ir_value *)(memory + sizeof *head + attrs);
    d->results = d->operands + d->operand_count;
    d->regions = d->results + d->result_count;
    return d;
}

ir_op ir_build(ir_builder *b, const ir_op_spec *spec) {
    ir_module *m = b->m;
    ir_op_data *d = ir_op_room(m, &(ir_op_data){.opcode = spec->opcode,
                                                .location = b->location,
                                                .operand_count = spec->operand_count,
                                                .result_count = spec->result_count,
                                                .attr_count = spec->attr_count,
                                                .region_count = spec->region_count});
    ir_op op = (ir_op)m->ops.count;
    vec_push(&m->ops, d);
    for (uint32_t i = 0; i < spec->operand_count; i++)
        d->operands[i] = spec->operands[i];
    for (uint32_t i = 0; i < spec->result_count; i++)
        d->results[i] =
            value_new(m, (ir_value_data){.type = spec->results[i], .op = op, .index = i});
    d->attr_count = 0; /* those without a value are left out */
    for (uint32_t i = 0; i < spec->attr_count; i++)
        if (spec->attrs[i].value)
            attrs_insert(m, d, spec->attrs[i]);
    for (uint32_t i = 0; i < spec->region_count; i++)
        d->regions[i] = region_new(m, op);
    link_op(m, op, b->block, b->before);
    return op;
}

/* Parameters: an ir_op_spec with one result, in one expression. */
ir_value ir_build1(ir_builder *b, int opcode, const ir_value *operands, uint32_t operand_count,
                   ir_type result, const ir_named_attr *attrs, uint32_t attr_count) {
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands,
                       .operand_count = operand_count,
                       .results = &result,
                       .result_count = 1,
                       .attrs = attrs,
                       .attr_count = attr_count};
    return ir_op_result(b->m, ir_build(b, &spec), 0);
}

ir_value ir_block_add_argument(ir_module *m, ir_block block, ir_type type, const char *name) {
    ir_block_data *b = ir_block_get(m, block);
    ir_value_data data = {.type = type,
                          .block = block,
                          .index = b->argument_count,
                          .name = name ? ir_intern_name(m, name) : NULL};
    ir_value value = value_new(m, data);
    if (b->argument_count == b->argument_capacity) {
        b->argument_capacity = 2 * b->argument_count + 1;
        ir_value *arguments = ARENA_NEW(&m->memory, ir_value, b->argument_capacity);
        if (b->argument_count)
            memcpy(arguments, b->arguments, sizeof *arguments * b->argument_count);
        b->arguments = arguments;
    }
    b->arguments[b->argument_count++] = value;
    return value;
}

ir_block ir_op_block(const ir_module *m, ir_op op, uint32_t region) {
    return ir_region_get(m, ir_op_get(m, op)->regions[region])->block;
}

ir_op ir_block_parent(const ir_module *m, ir_block block) {
    ir_region region = block ? ir_block_get(m, block)->region : 0;
    return region ? ir_region_get(m, region)->parent : 0;
}

ir_value ir_op_result(const ir_module *m, ir_op op, uint32_t index) {
    assert(index < ir_op_get(m, op)->result_count);
    return ir_op_get(m, op)->results[index];
}

ir_attr ir_op_attr(const ir_module *m, ir_op op, const char *name) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (strcmp(d->attrs[i].name, name) == 0)
            return d->attrs[i].value;
    return 0;
}

void ir_op_remove_attr(ir_module *m, ir_op op, const char *name) {
    ir_op_data *d = ir_op_get(m, op);
    ir_named_attr *attrs = ARENA_NEW(&m->memory, ir_named_attr, d->attr_count + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (strcmp(d->attrs[i].name, name) != 0)
            attrs[kept++] = d->attrs[i];
    d->attrs = attrs;
    d->attr_count = kept;
}

void ir_op_set_attr(ir_module *m, ir_op op, const char *name, ir_attr value) {
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (strcmp(d->attrs[i].name, name) == 0) {
            d->attrs[i].value = value;
            return;
        }
    ir_named_attr *attrs = ARENA_NEW(&m->memory, ir_named_attr, d->attr_count + 1);
    if (d->attr_count)
        memcpy(attrs, d->attrs, sizeof *attrs * d->attr_count);
    d->attrs = attrs;
    attrs_insert(m, d, (ir_named_attr){name, value});
}

int64_t ir_op_int(const ir_module *m, ir_op op, const char *name, int64_t otherwise) {
    ir_attr attr = ir_op_attr(m, op, name);
    return attr ? ir_attr_get(m, attr)->integer : otherwise;
}

const char *ir_op_string(const ir_module *m, ir_op op, const char *name, const char *otherwise) {
    ir_attr attr = ir_op_attr(m, op, name);
    return attr && ir_attr_get(m, attr)->string ? ir_attr_get(m, attr)->string : otherwise;
}

uint32_t ir_op_ints(const ir_module *m, ir_op op, const char *name, int64_t *out, uint32_t limit) {
    ir_attr attr = ir_op_attr(m, op, name);
    if (!attr)
        return 0;
    const ir_attr_data *d = ir_attr_get(m, attr);
    for (uint32_t i = 0; i < d->count && i < limit; i++)
        out[i] = ir_attr_get(m, d->items[i])->integer;
    return d->count;
}

bool ir_ints_hold(const int64_t *list, int64_t count, int64_t item) {
    for (int64_t i = 0; i < count; i++)
        if (list[i] == item)
            return true;
    return false;
}

void ir_op_set_operands(ir_module *m, ir_op op, const ir_value *operands, uint32_t count) {
    ir_op_data *d = ir_op_get(m, op);
    d->operands = arena_copy(&m->memory, operands, sizeof(ir_value) * count);
    d->operand_count = count;
}

void ir_op_erase(ir_module *m, ir_op op) {
    unlink_op(m, op);
}

void ir_op_move_before(ir_module *m, ir_op op, ir_op before) {
    unlink_op(m, op);
    link_op(m, op, ir_op_get(m, before)->block, before);
}

/* ---- uses ---- */

void ir_replace_uses(ir_module *m, ir_value from, ir_value to) {
    for (ir_walk w = ir_walk_block(m, m->body); ir_walk_next(&w);) {
        ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (d->operands[i] == from)
                d->operands[i] = to;
    }
}

uint32_t *ir_count_uses(const ir_module *m) {
    uint32_t *uses = base_calloc(m->values.count, sizeof *uses);
    for (ir_walk w = ir_walk_block(m, m->body); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            uses[d->operands[i]]++;
    }
    return uses;
}
