/* tiles.c - the rules of the operations that kernels of tiles are made of. */
#include "ops/tiles.h"

#include <stdio.h>
#include <string.h>

#include "ops/infer.h"

/* ---- load ---- */

bool graph_infer_load(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    ir_dim start[IR_MAX_RANK], size[IR_MAX_RANK], dims[IR_MAX_RANK] = {0};
    int64_t kept[IR_MAX_RANK], shift[IR_MAX_RANK];
    int rank = infer_ints_attr(q, "kept", kept, IR_MAX_RANK);
    bool shifted = infer_attr_of(q, "shift") != 0;
    if (infer_ints_attr(q, "start", start, IR_MAX_RANK) != x->rank ||
        infer_ints_attr(q, "size", size, IR_MAX_RANK) != x->rank ||
        (shifted && infer_ints_attr(q, "shift", shift, IR_MAX_RANK) != x->rank))
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "needs a start and a size for each axis of %s",
                            infer_shape_text(q, 0));
    if (shifted != (infer_attr_of(q, "other") != 0))
        return infer_refuse(q, MISFIT_ARGUMENT, 0, -1, "shift and other go together");
    for (int i = 0; i < rank; i++) {
        if (kept[i] < 0 || kept[i] >= x->rank || (i > 0 && kept[i] <= kept[i - 1]))
            return infer_refuse(q, MISFIT_AXIS, 0, -1, "kept axes stand in order");
        dims[i] = size[kept[i]];
    }
    for (int i = 0; i < x->rank; i++)
        if (!ir_ints_hold(kept, rank, i) && size[i] != 1)
            return infer_refuse(q, MISFIT_SHAPE, 0, -1, "an axis that is not kept has one place");
    return rank >= 0 && infer_give_shape(q, x->element, rank, dims);
}

/* ---- what has a block ---- */

static const ir_op_data *last_of(const ir_module *m, ir_op op) {
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, op, 0));
    return block->last ? ir_op_get(m, block->last) : NULL;
}

static ir_type type_of(const ir_module *m, ir_value v) {
    return ir_value_get(m, v)->type;
}

/* The carried tiles keep their types from before the loop to behind it. */
static bool verify_for(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op), *end = last_of(m, op);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, op, 0));
    bool fits = end && end->opcode == GRAPH_NEXT && end->operand_count == d->operand_count &&
                d->result_count == d->operand_count && block->argument_count == d->operand_count;
    for (uint32_t i = 0; fits && i < d->operand_count; i++) {
        ir_type type = type_of(m, d->operands[i]);
        fits = type_of(m, block->arguments[i]) == type && type_of(m, end->operands[i]) == type &&
               type_of(m, d->results[i]) == type;
    }
    return fits || status_set(st, STATUS_INTERNAL, "what it carries changes its type or number");
}

static bool verify_tiles(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op), *end = last_of(m, op);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, op, 0));
    uint32_t indices = ir_attr_get(m, ir_op_attr(m, op, "indices"))->count;
    bool takes = block->argument_count == d->operand_count;
    for (uint32_t i = 0; i < d->operand_count && takes; i++)
        takes = type_of(m, block->arguments[i]) == type_of(m, d->operands[i]);
    if (!takes)
        return status_set(st, STATUS_INTERNAL, "its block takes other values");
    if (indices != ir_attr_get(m, ir_op_attr(m, op, "counts"))->count)
        return status_set(st, STATUS_INTERNAL, "needs a count for each index");
    return (end && end->opcode == GRAPH_GIVE && end->operand_count == d->result_count) ||
           status_set(st, STATUS_INTERNAL, "does not end in a tile for each result");
}

/* A tile has the axes of its result that are kept, and its element. */
static bool verify_given(const ir_module *m, ir_op op, ir_op tiles, uint32_t number) {
    const ir_op_data *d = ir_op_get(m, op), *t = ir_op_get(m, tiles);
    const ir_type_data *tile = ir_type_get(m, type_of(m, d->operands[number]));
    const ir_type_data *result = ir_type_get(m, type_of(m, t->results[number]));
    const ir_attr_data *start = ir_attr_get(m, ir_op_attr(m, op, "start"));
    const ir_attr_data *kept = ir_attr_get(m, ir_op_attr(m, op, "kept"));
    if (number >= start->count || number >= kept->count)
        return false;
    const ir_attr_data *at = ir_attr_get(m, start->items[number]),
                       *axes = ir_attr_get(m, kept->items[number]);
    if (at->kind != IR_ATTR_ARRAY || axes->kind != IR_ATTR_ARRAY)
        return false;
    int64_t before = -1;
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis = ir_attr_get(m, axes->items[i])->integer;
        if (axis <= before || axis >= result->rank)
            return false;
        before = axis;
    }
    return tile->element == result->element && (int)at->count == result->rank &&
           (int)axes->count == tile->rank;
}

static bool verify_give(const ir_module *m, ir_op op, status *st) {
    ir_op tiles = ir_block_parent(m, ir_op_get(m, op)->block);
    if (ir_op_get(m, op)->operand_count != ir_op_get(m, tiles)->result_count)
        return status_set(st, STATUS_INTERNAL, "needs a tile for each result");
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++)
        if (!verify_given(m, op, tiles, i))
            return status_set(st, STATUS_INTERNAL, "tile %u does not fit its result", i);
    return true;
}

bool tiles_verify(const ir_module *m, ir_op op, int around, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    static const struct {
        int opcode, parent;
    } places[] = {{GRAPH_TILES, GRAPH_KERNEL}, {GRAPH_GIVE, GRAPH_TILES}, {GRAPH_NEXT, GRAPH_FOR}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (d->opcode == places[i].opcode && around != places[i].parent &&
            !(d->opcode == GRAPH_NEXT && around == GRAPH_FOLD) && !tiles_are_called(m, op))
            return status_set(st, STATUS_INTERNAL, "stands in the wrong block");
    if (d->opcode == GRAPH_FOR && around == GRAPH_KERNEL)
        return status_set(st, STATUS_INTERNAL, "stands outside of tessera.tiles");
    if ((d->opcode == GRAPH_GIVE || d->opcode == GRAPH_NEXT) && d->next)
        return status_set(st, STATUS_INTERNAL, "is not the last operation of its block");
    return d->opcode == GRAPH_TILES  ? verify_tiles(m, op, st)
           : d->opcode == GRAPH_FOR  ? verify_for(m, op, st)
           : d->opcode == GRAPH_GIVE ? verify_give(m, op, st)
                                     : true;
}

/* ---- which kernels are made of tiles ---- */

bool tiles_are_called(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    return d->opcode == GRAPH_TILES && d->operand_count > 0;
}

ir_op tiles_of(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    ir_op op = kernel ? ir_block_get(m, ir_op_block(m, kernel, 0))->first : 0;
    while (op && (ir_op_get(m, op)->opcode != GRAPH_TILES || tiles_are_called(m, op)))
        op = ir_op_get(m, op)->next;
    return op;
}

typedef struct index_search {
    const char *name;
    bool found;
} index_search;

static void look(const ir_module *m, ir_op op, index_search *s) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == GRAPH_FOR)
        s->found |= strcmp(ir_op_string(m, op, "index", ""), s->name) == 0;
    if (d->opcode != GRAPH_TILES)
        return;
    const ir_attr_data *list = ir_attr_get(m, ir_op_attr(m, op, "indices"));
    for (uint32_t i = 0; i < list->count; i++) {
        const ir_attr_data *name = ir_attr_get(m, list->items[i]);
        s->found |= name->kind == IR_ATTR_STRING && strcmp(name->string, s->name) == 0;
    }
}

bool tiles_has_index(const ir_module *m, const char *name) {
    index_search s = {name, false};
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        look(m, w.op, &s);
    return s.found;
}

/* ---- hints ---- */

const ir_attr_data *tiles_hint_of(const ir_module *m, ir_op op, const char *name) {
    ir_attr attr = op ? ir_op_attr(m, op, "hints") : 0;
    const ir_attr_data *hints = attr ? ir_attr_get(m, attr) : NULL;
    for (uint32_t i = 0; hints && i < hints->count; i++)
        if (strcmp(hints->keys[i], name) == 0)
            return ir_attr_get(m, hints->items[i]);
    return NULL;
}

ir_op tiles_loop_of(const ir_module *m, ir_op load) {
    ir_op op = load;
    while (op && ir_op_get(m, op)->opcode != GRAPH_FOR)
        op = ir_block_parent(m, ir_op_get(m, op)->block);
    return op;
}

ir_op tiles_fetch_asker(const ir_module *m, ir_op load) {
    const ir_op around[] = {load, tiles_loop_of(m, load)};
    for (int i = 0; i < 2; i++)
        if (tiles_hint_of(m, around[i], "prefetch") || tiles_hint_of(m, around[i], "stages"))
            return around[i];
    return 0;
}

const char *const memory_space_names[MEMORY_SPACE_COUNT] = {
#define SPACE(ID, name, what, bytes, chip_what, chip_bytes) name,
#include "ops/spaces.def"
};

const char *const tile_swizzle_names[TILE_SWIZZLE_COUNT] = {"pad", "none", "xor"};

/* ---- results ---- */

/* Parameters: a fault is its kind and three numbers; the last two are the room for the text. */
void tiles_fault_text(const ir_module *m, tile_fault fault, uint32_t number, int axis,
                      int64_t place, char *out, size_t size) {
    static const char *const words[TILE_FAULT_COUNT] = {
        "no program instance writes", "two program instances write", "a program instance writes"};
    const ir_attr_data *names = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "outputs"));
    snprintf(out, size, "%s place %lld of axis %d of '%.80s'%s", words[fault], (long long)place,
             axis, ir_attr_get(m, names->items[number])->string,
             fault == TILE_GIVEN_OUTSIDE ? ", which is outside of it" : "");
}
