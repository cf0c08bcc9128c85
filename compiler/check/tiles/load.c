/* load.c - tile.load(): which part of a tensor in memory a tile is. */
#include "check/tiles/tiles.h"

enum { X, ROWS, COLUMNS, AT, SHIFT, OTHER };

typedef struct load {
    const ir_type_data *x;
    int rank, lead; /* of the tile; of what stands before it: batches, or places that `at` names */
    ir_dim start[IR_MAX_RANK], size[IR_MAX_RANK];
    int64_t shift[IR_MAX_RANK];
    bool shifted;
} load;

static bool refuse_place(checker *c, const entity *at, const load *l, int axis, const char *help) {
    diagnose_error(c->report, ERROR_TILE_PLACE, at->at,
                   "which of the %s places of axis %d is not known",
                   arena_strdup(&c->memory, ir_dim_text(c->m, l->x->dims[axis])), axis);
    diagnose_help(c->report, "%s", help);
    return false;
}

static bool place_block(checker *c, const entity *e, load *l, int axis) {
    if (e->block->extent != l->x->dims[axis]) {
        diagnose_error(c->report, ERROR_TILE_PLACE, e->at,
                       "these are blocks of %s places, and axis %d has %s",
                       arena_strdup(&c->memory, ir_dim_text(c->m, e->block->extent)), axis,
                       arena_strdup(&c->memory, ir_dim_text(c->m, l->x->dims[axis])));
        diagnose_help(c->report,
                      "tile.range_n goes over the last axis but one, tile.range_k over the last");
        return false;
    }
    l->start[axis] = tiles_start(c, e->block);
    l->size[axis] = e->block->size;
    return true;
}

/* A block; nothing, for all of the axis; or a size: that of the axis, or of the instance's block
 * of rows. Of columns it is the first so many. */
static bool place_axis(checker *c, const call_arguments *a, int argument, load *l, int axis) {
    const entity *e = &a->values[argument];
    const tile_state *t = c->tiles;
    ir_dim size = l->x->dims[axis];
    l->start[axis] = 0;
    l->size[axis] = size;
    if (!a->given[argument] || e->kind == ENTITY_NONE)
        return true;
    if (e->kind == ENTITY_BLOCK)
        return place_block(c, e, l, axis);
    if (!argument_dim(c, e, &size))
        return false;
    bool own = argument == ROWS && size == t->rows.size && l->x->dims[axis] == t->rows.extent;
    if (own)
        l->start[axis] = tiles_start(c, tiles_rows(c));
    l->size[axis] = size;
    return own || size == l->x->dims[axis] || argument == COLUMNS ||
           refuse_place(c, e, l, axis,
                        "give a block: T.rows of tile.context(), or the index of a loop over "
                        "blocks");
}

/* One place of each axis before the tile's; where there is none, every batch has the same tile. */
static bool place_lead(checker *c, const call_arguments *a, load *l) {
    const tile_state *t = c->tiles;
    const entity *at = &a->values[AT];
    bool batches = !a->given[AT] && (l->lead == t->batch_rank || l->lead == 0);
    for (int i = 0; batches && i < l->lead; i++)
        batches = l->x->dims[i] == t->batch[i];
    if (!batches && (!a->given[AT] || at->kind != ENTITY_TUPLE || (int)at->count != l->lead)) {
        return refuse_place(c, a->given[AT] ? at : &a->values[X], l, 0,
                            "axes before the last two are the result's batches; of others say the "
                            "place: at=(0, 1)");
    }
    for (int i = 0; i < l->lead; i++) {
        l->size[i] = 1;
        l->start[i] = t->batch_index[i];
        if (!batches && !argument_dim(c, &at->items[i], &l->start[i]))
            return false;
    }
    return true;
}

static bool read_shift(checker *c, const call_arguments *a, load *l) {
    const entity *e = &a->values[SHIFT];
    l->shifted = a->given[SHIFT] && e->kind != ENTITY_NONE;
    if (!l->shifted)
        return true;
    if (e->kind != ENTITY_TUPLE || e->count > (uint32_t)l->x->rank) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "shift is a distance for each of the last axes: (-1, 0)");
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        int axis = l->x->rank - (int)e->count + (int)i;
        if (!argument_int(c, &e->items[i], "shift", &l->shift[axis]))
            return false;
    }
    return true;
}

static bool read_other(checker *c, const call_arguments *a, const load *l, uint64_t *bits) {
    const entity *e = &a->values[OTHER];
    *bits = 0;
    if (!a->given[OTHER])
        return true;
    if (!l->shifted) {
        diagnose_error(c->report, ERROR_TILE_PLACE, e->at,
                       "'other' is what stands outside of a tensor, where only shift leads");
        return false;
    }
    return number_bits(c, e, l->x->element, bits);
}

static entity build(checker *c, const call_arguments *a, const load *l, uint64_t other,
                    ir_attr hints) {
    int64_t kept[IR_MAX_RANK];
    uint32_t rank = (uint32_t)l->x->rank, count = 0;
    for (int i = 0; i < l->rank; i++)
        kept[i] = l->lead + i;
    ir_named_attr attrs[6] = {
        {"start", ir_attr_dim_array(c->m, l->start, rank)},
        {"size", ir_attr_dim_array(c->m, l->size, rank)},
        {"kept", ir_attr_int_array(c->m, kept, (uint32_t)l->rank)},
    };
    count = 3;
    if (l->shifted) {
        attrs[count++] = (ir_named_attr){"shift", ir_attr_int_array(c->m, l->shift, rank)};
        attrs[count++] = (ir_named_attr){"other", ir_attr_bits(c->m, l->x->element, other)};
    }
    if (hints)
        attrs[count++] = (ir_named_attr){"hints", hints};
    entity x = a->values[X];
    x.kind = ENTITY_TENSOR;
    return emit_one(c, GRAPH_LOAD, &x, 1, attrs, count, a->at);
}

entity tiles_load(checker *c, const call_arguments *a) {
    const entity *x = &a->values[X];
    load l = {.x = NULL};
    uint64_t other = 0;
    ir_attr hints = 0;
    if (x->kind != ENTITY_MEMORY) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, x->at,
                       "tile.load() takes a parameter that is a KTile, not %s", entity_describe(x));
        return entity_broken(a->at);
    }
    l.x = tensor_type(c, x);
    bool flat = l.x->rank == 1 || (a->given[AT] && a->values[AT].kind == ENTITY_TUPLE &&
                                   (int)a->values[AT].count == l.x->rank - 1);
    l.rank = flat ? 1 : 2;
    l.lead = l.x->rank - l.rank;
    bool good = l.x->rank > 0 && place_lead(c, a, &l) && place_axis(c, a, ROWS, &l, l.lead) &&
                (flat || place_axis(c, a, COLUMNS, &l, l.lead + 1)) && read_shift(c, a, &l) &&
                read_other(c, a, &l, &other) && tiles_hints(c, a, x->value, &hints);
    return good ? build(c, a, &l, other, hints) : entity_broken(a->at);
}
