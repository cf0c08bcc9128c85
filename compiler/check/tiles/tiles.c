/* tiles.c - a kernel made of tiles: its program instance, and what that gives. */
#include "check/tiles/tiles.h"

#include <string.h>

static bool is_symbol(const checker *c, const char *name) {
    const kernel_interface *kernels[] = {c->kernel, c->caller};
    bool found = false;
    for (int k = 0; k < 2 && kernels[k]; k++)
        for (uint32_t i = 0; i < kernels[k]->symbol_count; i++)
            found |= strcmp(kernels[k]->symbols[i].name, name) == 0;
    return found;
}

const char *tiles_index_name(checker *c) {
    const char *name = arena_printf(&c->memory, "tile%u", c->tiles->indices++);
    while (is_symbol(c, name))
        name = arena_printf(&c->memory, "%s_", name);
    return name;
}

entity tiles_block_entity(checker *c, entity_kind kind, tile_block block, span at) {
    return (entity){.kind = kind, .at = at, .block = arena_copy(&c->memory, &block, sizeof block)};
}

ir_dim tiles_start(checker *c, const tile_block *b) {
    return ir_dim_mul(c->m, b->number, b->size);
}

static ir_dim blocks_of(checker *c, ir_dim places, ir_dim size) {
    return ir_dim_floordiv(c->m, ir_dim_add(c->m, places, ir_dim_sub(c->m, size, 1)), size);
}

ir_dim tiles_block_count(checker *c, const tile_block *b) {
    ir_dim all = blocks_of(c, b->extent, b->size);
    return !b->stops ? all : ir_dim_least(c->m, all, blocks_of(c, b->stop, b->size));
}

ir_dim tiles_block_first(checker *c, const tile_block *b) {
    return blocks_of(c, b->from, b->size);
}

/* ---- the program instance ---- */

static ir_dim new_index(checker *c, ir_dim count) {
    tile_state *t = c->tiles;
    t->grid_names[t->grid] = tiles_index_name(c);
    t->counts[t->grid] = count;
    return ir_dim_symbol(c->m, t->grid_names[t->grid++]);
}

static const tile_block *stand_along(checker *c, tile_block *b, bool *used) {
    if (!*used)
        b->number = new_index(c, tiles_block_count(c, b));
    *used = true;
    return b;
}

const tile_block *tiles_rows(checker *c) {
    return stand_along(c, &c->tiles->rows, &c->tiles->has_rows);
}

const tile_block *tiles_columns(checker *c) {
    return stand_along(c, &c->tiles->columns, &c->tiles->has_columns);
}

static void read_sizes(checker *c) {
    enum { SIZE = 64 };
    tile_state *t = c->tiles;
    const annotation *first = c->kernel->parameters;
    while (!first->in_tiles)
        first++;
    for (int i = 0; i < TILE_SIZES; i++) {
        int64_t said = tile_knob_value(c->kernel, c->given, i);
        t->sizes[i] = said ? said : SIZE;
    }
    if (!tile_knob_value(c->kernel, c->given, TILE_KNOB_D) && first->rank) {
        ir_type type = kernel_annotated_type(c, first);
        t->sizes[TILE_KNOB_D] = type ? ir_type_get(c->m, type)->dims[first->rank - 1] : SIZE;
    }
}

bool tiles_begin(checker *c) {
    ir_type *types = ARENA_NEW(&c->memory, ir_type, c->kernel->result_count + 1);
    tile_state *t = c->tiles = ARENA_NEW(&c->memory, tile_state, 1);
    t->stored = ARENA_NEW(&c->memory, entity, c->kernel->result_count + 1);
    for (uint32_t i = 0; i < c->kernel->result_count; i++) {
        types[i] = kernel_annotated_type(c, &c->kernel->results[i]);
        if (!types[i])
            return false;
    }
    const ir_type_data *result = ir_type_get(c->m, types[0]);
    if (result->rank == 0) {
        diagnose_error(c->report, ERROR_TILE_PLACE, c->kernel->results[0].at,
                       "program instances need an axis of the result to stand along");
        return false;
    }
    read_sizes(c);
    t->batch_rank = result->rank > 2 ? result->rank - 2 : 0;
    for (int i = 0; i < t->batch_rank; i++) {
        t->batch[i] = result->dims[i];
        t->batch_index[i] = new_index(c, result->dims[i]);
    }
    t->rows = (tile_block){.size = t->sizes[TILE_KNOB_M], .extent = result->dims[t->batch_rank]};
    t->columns =
        (tile_block){.size = t->sizes[TILE_KNOB_N], .extent = result->dims[result->rank - 1]};
    t->outside = c->builder.block;
    ir_attr none = ir_attr_array(c->m, NULL, 0);
    const ir_named_attr attrs[] = {{"indices", none}, {"counts", none}};
    t->op = ir_build(&c->builder, &(ir_op_spec){.opcode = GRAPH_TILES,
                                                .results = types,
                                                .result_count = c->kernel->result_count,
                                                .attrs = attrs,
                                                .attr_count = 2,
                                                .region_count = 1});
    c->builder.block = ir_op_block(c->m, t->op, 0);
    return true;
}

/* ---- what it gives ---- */

/* In every case. */
static bool is_shorter(ir_dim length, ir_dim extent) {
    return ir_dim_is_static(length) && ir_dim_is_static(extent) && length < extent;
}

static bool refuse_shorter(checker *c, const entity *value, ir_dim length, ir_dim extent) {
    diagnose_error(c->report, ERROR_TILE_NOWHERE, value->at,
                   "the returned tile has the first %lld of %lld places of an axis along which no "
                   "program instances stand",
                   (long long)length, (long long)extent);
    note_tensor(c, value);
    return false;
}

/* Places a tile along an axis of its result: at the instance's block, or it is all of it. */
static bool place_axis(checker *c, const entity *value, ir_dim length, ir_dim extent, bool rows,
                       ir_dim *start) {
    const tile_state *t = c->tiles;
    const tile_block *block = rows ? &t->rows : &t->columns;
    bool blocked = (rows ? t->has_rows : t->has_columns) && extent == block->extent;
    *start = blocked ? tiles_start(c, block) : 0;
    if (blocked ? length == block->size : length == extent || ir_dim_is_static(length))
        return blocked || !is_shorter(length, extent) || refuse_shorter(c, value, length, extent);
    diagnose_error(c->report, ERROR_TILE_PLACE, value->at,
                   "the returned tile has %s %s, and %s of its result's %s are this instance's",
                   arena_strdup(&c->memory, ir_dim_text(c->m, length)), rows ? "rows" : "columns",
                   arena_strdup(&c->memory, ir_dim_text(c->m, blocked ? block->size : extent)),
                   arena_strdup(&c->memory, ir_dim_text(c->m, extent)));
    note_tensor(c, value);
    return false;
}

static bool refuse_rank(checker *c, const entity *value, ir_type result) {
    diagnose_error(c->report, ERROR_TILE_PLACE, value->at,
                   "a tile of %s is not part of %s, of which each instance has one batch",
                   entity_type_text(c, ir_value_get(c->m, value->value)->type),
                   entity_type_text(c, result));
    note_tensor(c, value);
    return false;
}

static bool place_tile(checker *c, const entity *value, uint32_t number, ir_attr *start,
                       ir_attr *kept) {
    const tile_state *t = c->tiles;
    ir_type type = ir_value_get(c->m, ir_op_result(c->m, t->op, number))->type;
    const ir_type_data result = *ir_type_get(c->m, type), tile = *tensor_type(c, value);
    ir_dim starts[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    int batch = result.rank - tile.rank;
    if (batch != t->batch_rank || tile.rank < 1 || tile.rank > 2)
        return refuse_rank(c, value, type);
    for (int i = 0; i < batch; i++) {
        starts[i] = t->batch_index[i];
        if (result.dims[i] != t->batch[i])
            return refuse_rank(c, value, type);
    }
    for (int i = 0; i < tile.rank; i++) {
        axes[i] = batch + i;
        if (!place_axis(c, value, tile.dims[i], result.dims[batch + i], i == 0, &starts[batch + i]))
            return false;
    }
    *start = ir_attr_dim_array(c->m, starts, (uint32_t)result.rank);
    *kept = ir_attr_int_array(c->m, axes, (uint32_t)tile.rank);
    return true;
}

static bool same_element(checker *c, const entity *value, uint32_t number) {
    ir_type result = ir_value_get(c->m, ir_op_result(c->m, c->tiles->op, number))->type;
    if (ir_type_get(c->m, result)->element == tensor_type(c, value)->element)
        return true;
    diagnose_error(c->report, ERROR_ANNOTATION_MISMATCH, value->at,
                   "the returned tile is %s, but the result is %s",
                   entity_type_text(c, ir_value_get(c->m, value->value)->type),
                   entity_type_text(c, result));
    diagnose_note(c->report, c->kernel->results[number].at, "annotated here");
    diagnose_help(c->report, "write tile.cast(..., %s)",
                  dtype_name(ir_type_get(c->m, result)->element));
    return false;
}

/* Puts what was said for targets that have warps and stages. */
static void put_hints(checker *c) {
    const char *names[TILE_KNOBS + 1], *swizzle = c->kernel->space->swizzle;
    ir_attr values[TILE_KNOBS + 1];
    uint32_t count = 0;
    for (int i = TILE_SIZES; i < TILE_KNOBS; i++) {
        int64_t value = tile_knob_value(c->kernel, c->given, i);
        if (value) {
            names[count] = tile_knob_names[i].name;
            values[count++] = ir_attr_int(c->m, value);
        }
    }
    if (swizzle) {
        names[count] = "swizzle";
        values[count++] = ir_attr_string(c->m, swizzle);
    }
    if (count)
        ir_op_set_attr(c->m, c->tiles->op, "hints", ir_attr_dict(c->m, names, values, count));
}

bool tiles_return(checker *c, const entity *values, uint32_t count, ir_value *out) {
    tile_state *t = c->tiles;
    ir_attr *starts = ARENA_NEW(&c->memory, ir_attr, count + 1);
    ir_attr *kept = ARENA_NEW(&c->memory, ir_attr, count + 1);
    ir_attr names[IR_MAX_RANK + 2];
    ir_value *given = ARENA_NEW(&c->memory, ir_value, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (!same_element(c, &values[i], i) || !place_tile(c, &values[i], i, &starts[i], &kept[i]))
            return false;
        given[i] = values[i].value;
        out[i] = ir_op_result(c->m, t->op, i);
    }
    const ir_named_attr attrs[] = {{"start", ir_attr_array(c->m, starts, count)},
                                   {"kept", ir_attr_array(c->m, kept, count)}};
    c->builder.location = checker_location(c, values[0].at);
    ir_build(&c->builder, &(ir_op_spec){.opcode = GRAPH_GIVE,
                                        .operands = given,
                                        .operand_count = count,
                                        .attrs = attrs,
                                        .attr_count = 2});
    for (uint32_t i = 0; i < t->grid; i++)
        names[i] = ir_attr_string(c->m, t->grid_names[i]);
    ir_op_set_attr(c->m, t->op, "indices", ir_attr_array(c->m, names, t->grid));
    ir_op_set_attr(c->m, t->op, "counts", ir_attr_dim_array(c->m, t->counts, t->grid));
    put_hints(c);
    c->builder.block = t->outside;
    return true;
}

/* ---- attributes ---- */

bool tiles_refuse_call(checker *c, const char *function, span at) {
    if (c->tiles)
        diagnose_error(c->report, ERROR_TILE_KERNEL, at,
                       "%s() is for whole tensors, and this is a "
                       "kernel of tiles",
                       function);
    return !c->tiles;
}

bool tiles_has_attributes(const entity *e) {
    return e->kind == ENTITY_CONTEXT || e->kind == ENTITY_BLOCK || e->kind == ENTITY_RECORD;
}

static entity unknown_attribute(checker *c, const entity *base, const node *n,
                                const char *const *known, uint32_t count) {
    diagnose_error(c->report, ERROR_UNKNOWN_ATTRIBUTE, n->symbol_at, "%s has no '%.60s'",
                   entity_describe(base), n->text);
    diagnose_nearest(c->report, n->text, known, count);
    return entity_broken(n->at);
}

static entity context_attribute(checker *c, const entity *base, const node *n) {
    static const char *const known[] = {
#define KNOB(ENUM, name, word, kind) word,
#include "check/tile_knobs.def"
#undef KNOB
        "rows", "cols", "batch"};
    for (int i = 0; i < TILE_KNOBS; i++) {
        int64_t said = tile_knob_value(c->kernel, c->given, i);
        if (strcmp(n->text, known[i]) == 0) {
            return i < TILE_SIZES ? entity_dim(c, c->tiles->sizes[i], n->at)
                                  : entity_integer(c, said ? said : 1, n->at);
        }
    }
    if (strcmp(n->text, "rows") == 0)
        return tiles_block_entity(c, ENTITY_BLOCK, *tiles_rows(c), n->at);
    if (strcmp(n->text, "cols") == 0)
        return tiles_block_entity(c, ENTITY_BLOCK, *tiles_columns(c), n->at);
    if (strcmp(n->text, "batch") == 0) {
        entity out = entity_tuple(c, (uint32_t)c->tiles->batch_rank, n->at);
        for (int i = 0; i < c->tiles->batch_rank; i++)
            out.items[i] = entity_dim(c, c->tiles->batch_index[i], n->at);
        return out;
    }
    return unknown_attribute(c, base, n, known, sizeof known / sizeof *known);
}

static entity block_attribute(checker *c, const entity *base, const node *n) {
    static const char *const known[] = {"start", "size", "number"};
    const tile_block *b = base->block;
    if (strcmp(n->text, known[0]) == 0)
        return entity_dim(c, tiles_start(c, b), n->at);
    if (strcmp(n->text, known[1]) == 0)
        return entity_dim(c, b->size, n->at);
    return strcmp(n->text, known[2]) == 0 ? entity_dim(c, b->number, n->at)
                                          : unknown_attribute(c, base, n, known, 3);
}

entity tiles_attribute(checker *c, const entity *base, const node *n) {
    if (base->kind == ENTITY_CONTEXT)
        return context_attribute(c, base, n);
    if (base->kind == ENTITY_BLOCK)
        return block_attribute(c, base, n);
    if (!state_usable(c, base, n->at))
        return entity_broken(n->at);
    for (uint32_t i = 0; i < base->count; i++) {
        if (strcmp(base->names[i], n->text) == 0) {
            entity e = base->items[i];
            e.at = n->at;
            return e;
        }
    }
    return unknown_attribute(c, base, n, base->names, base->count);
}
