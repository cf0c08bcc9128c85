/* export_composite.c - an operation that StableHLO has not, as a composite of its name and
 * attributes, with a decomposition in a private function. Equal ones share it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ops/build.h"
#include "target/stablehlo/export.h"

/* Types and attributes are interned, so their numbers say all that a decomposition depends on. */
static void key_of(const shlo_writer *w, ir_op op, text *key) {
    const ir_op_data *d = ir_op_get(w->m, op);
    text_printf(key, "%d", d->opcode);
    for (uint32_t i = 0; i < d->operand_count; i++)
        text_printf(key, " %u", ir_value_get(w->m, d->operands[i])->type);
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (graph_attr_is_argument(d->attrs[i].name) || strcmp(d->attrs[i].name, "accumulate") == 0)
            text_printf(key, " %s=%u", d->attrs[i].name, d->attrs[i].value);
}

/* ---- attributes ---- */

static const shlo_attr *attribute(shlo_writer *w, const ir_attr_data *a) {
    int64_t items[IR_MAX_RANK];
    uint64_t bits = 0;
    shlo_attr *made = ARENA_NEW(&w->out->memory, shlo_attr, 1);
    shlo_type *t = ARENA_NEW(&w->out->memory, shlo_type, 1);
    switch (a->kind) {
    case IR_ATTR_BOOL:
        return out_bool(w, a->integer != 0);
    case IR_ATTR_INT:
    case IR_ATTR_DIM:
        return out_int(w, a->integer);
    case IR_ATTR_STRING:
        return out_word(w, SHLO_ATTR_STRING, a->string);
    case IR_ATTR_BITS:
        bits = a->bits;
        *t = (shlo_type){.kind = SHLO_TYPE_SCALAR, .element = out_element(a->element)};
        *made = (shlo_attr){.kind = SHLO_ATTR_FLOAT, .bits = bits, .type = t};
        return made;
    case IR_ATTR_TYPE:
        *t = (shlo_type){.kind = SHLO_TYPE_SCALAR,
                         .element = out_element(ir_type_get(w->m, a->type)->element)};
        *made = (shlo_attr){.kind = SHLO_ATTR_TYPE, .type = t};
        return made;
    case IR_ATTR_ARRAY:
        for (uint32_t i = 0; i < a->count && i < IR_MAX_RANK; i++)
            items[i] = ir_attr_get(w->m, a->items[i])->integer;
        return out_ints(w, a->count, items);
    default:
        return NULL;
    }
}

/* Operands that are tf32, and f32 here: which orders a product has depends on it. */
static const shlo_attr *tf32_operands(shlo_writer *w, const ir_op_data *d) {
    int64_t which[LIMIT_OPERANDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (ir_type_of(w->m, d->operands[i])->element == DTYPE_TF32)
            which[count++] = i;
    return count ? out_ints(w, count, which) : NULL;
}

static const shlo_attr *dictionary(shlo_writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    arena *memory = &w->out->memory;
    const char **keys = ARENA_NEW(memory, const char *, d->attr_count + 2);
    const shlo_attr **items = ARENA_NEW(memory, const shlo_attr *, d->attr_count + 2);
    const shlo_attr *tf32 = tf32_operands(w, d);
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->attr_count; i++) {
        const shlo_attr *a = strcmp(d->attrs[i].name, "id") == 0
                                 ? NULL
                                 : attribute(w, ir_attr_get(w->m, d->attrs[i].value));
        if (!a)
            continue;
        keys[count] = arena_strdup(memory, d->attrs[i].name);
        items[count++] = a;
    }
    if (tf32) {
        keys[count] = SHLO_TF32_OPERANDS;
        items[count++] = tf32;
    }
    shlo_attr *made = ARENA_NEW(memory, shlo_attr, 1);
    *made = (shlo_attr){.kind = SHLO_ATTR_DICT, .count = count, .keys = keys, .items = items};
    return made;
}

/* ---- decompositions ---- */

/* "softmax.impl", "softmax.impl_1", ... */
static const char *free_name(const shlo_writer *w, const char *name) {
    char words[128];
    snprintf(words, sizeof words, "%s.impl", name);
    for (int i = 1; shlo_function_named(w->out, words); i++)
        snprintf(words, sizeof words, "%s.impl_%d", name, i);
    return arena_strdup(&w->out->memory, words);
}

static const shlo_type *function_type(shlo_writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    arena *memory = &w->out->memory;
    const shlo_type **parts =
        ARENA_NEW(memory, const shlo_type *, d->operand_count + d->result_count + 1);
    for (uint32_t i = 0; i < d->operand_count; i++)
        parts[i] = out_type(w, ir_value_get(w->m, d->operands[i])->type);
    for (uint32_t i = 0; i < d->result_count; i++)
        parts[d->operand_count + i] = out_result_type(w, op, i);
    shlo_type *t = ARENA_NEW(memory, shlo_type, 1);
    *t = (shlo_type){.kind = SHLO_TYPE_FUNCTION,
                     .count = d->operand_count + d->result_count,
                     .inputs = d->operand_count,
                     .parts = parts};
    return t;
}

/* Parameters: the operation, the name of it, and what writes its decomposition. */
static shlo_function *function_of(shlo_writer *w, ir_op op, const char *name, out_fn decompose) {
    const uint32_t count = ir_op_get(w->m, op)->operand_count;
    const uint32_t given = ir_op_get(w->m, op)->result_count;
    arena *memory = &w->out->memory;
    shlo_function *f = ARENA_NEW(memory, shlo_function, 1);
    shlo_value **in = ARENA_NEW(memory, shlo_value *, count + 1);
    shlo_value **results = ARENA_NEW(memory, shlo_value *, given + 1);
    shlo_block *around = w->block;
    *f = (shlo_function){.name = free_name(w, name),
                         .is_private = true,
                         .type = function_type(w, op),
                         .body = shlo_block_new(w->out, count)};
    shlo_module_add(w->out, f);
    for (uint32_t i = 0; i < count; i++) {
        f->body->arguments[i].type = f->type->parts[i];
        in[i] = &f->body->arguments[i];
    }
    w->block = f->body;
    const bool good = decompose(w, op, in, results);
    if (good)
        out_return(w, results, given);
    w->block = around;
    return good ? f : NULL;
}

/* In a place of its own behind the kernel's operations, with the function's inputs for operands. */
bool out_decomposed(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const ir_op_data d = *ir_op_get(w->m, op);
    ir_value made[LIMIT_OPERANDS];
    ir_builder b = {.m = w->m, .block = ir_module_body(w->m), .location = d.location};
    ir_op holder = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_FUNCTION, .region_count = 1});
    const ir_block block = ir_op_block(w->m, holder, 0);
    ir_value arguments[LIMIT_OPERANDS];
    b.block = block;
    for (uint32_t i = 0; i < d.operand_count; i++) {
        arguments[i] =
            ir_block_add_argument(w->m, block, ir_value_get(w->m, d.operands[i])->type, NULL);
        out_put(w, arguments[i], in[i]);
    }
    ir_op copy = graph_build(&b, d.opcode, arguments, d.operand_count, d.attrs, d.attr_count);
    b.before = copy;
    graph_decompose(&b, copy, made);
    ir_op_erase(w->m, copy);
    b.before = 0;
    ir_build(&b, &(ir_op_spec){
                     .opcode = GRAPH_RETURN, .operands = made, .operand_count = d.result_count});
    if (!out_block(w, block))
        return false;
    for (uint32_t i = 0; i < d.result_count; i++)
        results[i] = out_made(w, made[i]);
    return true;
}

/* ---- composites ---- */

static shlo_function *shared(shlo_writer *w, ir_op op, const char *name, out_fn decompose) {
    intptr_t found;
    text key;
    text_init(&key);
    key_of(w, op, &key);
    shlo_function *f = NULL;
    if (map_get(&w->composites, key.data, &found))
        f = (shlo_function *)found;
    else if ((f = function_of(w, op, name, decompose)))
        map_put(&w->composites, key.data, (intptr_t)f);
    text_release(&key);
    return f;
}

bool out_composite(shlo_writer *w, ir_op op, out_fn decompose, shlo_value *const *in,
                   shlo_value **results) {
    const char *name = op_info_get(ir_op_get(w->m, op)->opcode)->name;
    shlo_function *f = shared(w, op, name + strlen("tessera."), decompose);
    if (!f)
        return false;
    const ir_op_data *d = ir_op_get(w->m, op);
    const shlo_named_attr attrs[] = {{"composite_attributes", dictionary(w, op)},
                                     {"decomposition", out_word(w, SHLO_ATTR_SYMBOL, f->name)},
                                     {"name", out_word(w, SHLO_ATTR_STRING, name)}};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.composite",
                                             .operands = in,
                                             .operand_count = d->operand_count,
                                             .results = f->type->parts + f->type->inputs,
                                             .result_count = d->result_count,
                                             .attrs = attrs,
                                             .attr_count = 3});
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = &made->results[i];
    return true;
}
