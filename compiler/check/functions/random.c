/* random.c - dropout: which elements are kept is drawn for their places
 * (docs/numerics.md, "Dropout"). */
#include <math.h>

#include "check/tiles/tiles.h"

enum { X, CHANCE, SEED, STEP, ROWS, COLUMNS };

typedef struct dropout_chance {
    uint32_t threshold; /* words below it drop their element */
    double scale;
    int64_t seed;
    bool none; /* nothing is dropped */
} dropout_chance;

static bool read_chance(checker *c, const entity *e, dropout_chance *d) {
    double p = e->kind == ENTITY_NUMBER ? number_value(e) : NAN;
    if (e->kind == ENTITY_BROKEN)
        return false;
    if (!(p >= 0 && p < 1)) {
        diagnose_error(c->report, ERROR_DROPOUT_CHANCE, e->at,
                       "p is the chance that an element is dropped: a number from 0 on, below 1");
        return false;
    }
    d->none = p == 0;
    d->threshold = (uint32_t)floor(ldexp(p, 32));
    d->scale = 1 / (1 - p);
    return true;
}

static bool read_seed(checker *c, const call_arguments *a, dropout_chance *d) {
    const entity *e = &a->values[SEED];
    if (a->given[SEED] && !argument_int(c, e, "seed", &d->seed))
        return false;
    if (d->seed < 0) {
        diagnose_error(c->report, ERROR_OPERATION_ARGUMENT, e->at,
                       "a seed is an integer from 0 on, and this is %lld", (long long)d->seed);
        return false;
    }
    return true;
}

/* ---- the index of each element ---- */

static entity combined(checker *c, int opcode, entity x, entity y, span at) {
    entity both[] = {x, y};
    return emit_elementwise(c, opcode, both, 2, NULL, 0, at);
}

static bool said_place(checker *c, const call_arguments *a, int axis, ir_dim length,
                       tile_place *out) {
    const entity *e = &a->values[ROWS + axis];
    if (a->count <= ROWS || !a->given[ROWS + axis] || e->kind == ENTITY_NONE)
        return true;
    if (e->kind != ENTITY_BLOCK || e->block->size != length) {
        diagnose_error(c->report, ERROR_TILE_PLACE, e->at,
                       "the tile has %s %s, and this is no block of so many",
                       ir_dim_text(c->m, length), axis ? "columns" : "rows");
        note_tensor(c, &a->values[X]);
        return false;
    }
    *out = (tile_place){PLACE_ONE, tiles_start(c, e->block), e->block->extent};
    return true;
}

static bool place_axis(checker *c, const call_arguments *a, int axis, tile_place *out) {
    ir_dim length = tensor_type(c, &a->values[X])->dims[axis];
    if (!said_place(c, a, axis, length, out))
        return false;
    if (out->kind != PLACE_ONE && length == 1)
        *out = (tile_place){PLACE_ONE, 0, 1};
    if (out->kind == PLACE_ONE)
        return true;
    diagnose_error(c->report, ERROR_TILE_PLACE, a->at,
                   out->kind == PLACE_NONE
                       ? "what is dropped depends on places, and those of the tile's %s do not "
                         "follow from its loads"
                       : "what is dropped depends on places, and the tile's %s are at several",
                   axis ? "columns" : "rows");
    note_tensor(c, &a->values[X]);
    diagnose_help(c->report, "say them: tile.dropout(x, p, rows=T.rows, cols=T.cols)");
    return false;
}

/* ((batch * rows + row) * columns + column), for the places of the tile. */
static entity tile_index(checker *c, const call_arguments *a) {
    const tile_state *t = c->tiles;
    const ir_type_data type = *tensor_type(c, &a->values[X]);
    tile_place places[IR_MAX_RANK];
    if (type.rank < 1 || type.rank > 2) {
        diagnose_error(c->report, ERROR_TILE_PLACE, a->at,
                       "dropout takes a tile of one or two axes, not %s",
                       entity_type_text(c, ir_value_get(c->m, a->values[X].value)->type));
        return entity_broken(a->at);
    }
    tiles_places(c, a->values[X].value, places);
    entity index = entity_integer(c, 0, a->at);
    index = emit_constant(c, &index, DTYPE_I32, a->at);
    for (int i = 0; i < t->batch_rank; i++) {
        index = combined(c, GRAPH_MUL, index, tiles_dim_value(c, t->batch[i], a->at), a->at);
        index = combined(c, GRAPH_ADD, index, tiles_dim_value(c, t->batch_index[i], a->at), a->at);
    }
    for (int i = 0; i < type.rank; i++) {
        if (!place_axis(c, a, i, &places[i]))
            return entity_broken(a->at);
        entity along = tiles_axis_index(c, places[i].start, type.dims[i], a->at);
        if (i) {
            const ir_dim column[] = {type.dims[0], 1};
            index = emit_reshape(c, &index, 2, column, a->at);
        }
        index = combined(c, GRAPH_MUL, index, tiles_dim_value(c, places[i].extent, a->at), a->at);
        index = combined(c, GRAPH_ADD, index, along, a->at);
    }
    return index;
}

/* ---- the step ---- */

static entity step_of(checker *c, const call_arguments *a) {
    entity e = a->given[STEP] ? a->values[STEP] : entity_integer(c, 0, a->at);
    bool scalar = e.kind == ENTITY_TENSOR && tensor_type(c, &e)->rank == 0 &&
                  tensor_type(c, &e)->element == DTYPE_I32;
    if (e.kind == ENTITY_DIM)
        return tiles_dim_value(c, e.dim, a->at);
    if (e.kind == ENTITY_NUMBER && e.is_integer && e.integer >= 0)
        return emit_constant(c, &e, DTYPE_I32, a->at);
    if (!scalar && e.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e.at,
                       "step is an integer from 0 on, or a Tensor[i32] without axes");
        return entity_broken(a->at);
    }
    return e;
}

/* ---- the elements ---- */

/* Words are compared as unsigned numbers: both with the highest bit turned over. */
static entity kept_elements(checker *c, const call_arguments *a, const dropout_chance *d,
                            entity index, entity step) {
    entity turn = entity_integer(c, INT32_MIN, a->at),
           least = entity_integer(c, (int32_t)(d->threshold ^ UINT32_C(0x80000000)), a->at);
    const ir_named_attr attrs[] = {{"seed", ir_attr_int(c->m, d->seed)},
                                   {"site", ir_attr_int(c->m, c->sites++)}};
    entity operands[] = {index, step};
    entity word = emit_elementwise(c, GRAPH_RANDOM_BITS, operands, 2, attrs, 2, a->at);
    word = combined(c, GRAPH_XOR, word, turn, a->at);
    return word.kind == ENTITY_BROKEN ? word : emit_compare(c, "ge", &word, &least, a->at);
}

/* x / (1 - p) where it is kept, else 0; in f32, and in f64 of an f64. */
static entity scaled(checker *c, const call_arguments *a, const dropout_chance *d,
                     const entity *kept) {
    dtype type = tensor_type(c, &a->values[X])->element;
    entity x =
        type == DTYPE_F64 ? a->values[X] : policy_convert(c, &a->values[X], DTYPE_F32, NULL, a->at);
    entity scale = {
        .kind = ENTITY_NUMBER, .at = a->at, .text = arena_printf(&c->memory, "%a", d->scale)};
    entity choice[] = {*kept, combined(c, GRAPH_MUL, x, scale, a->at), entity_integer(c, 0, a->at)};
    entity y = emit_elementwise(c, GRAPH_SELECT, choice, 3, NULL, 0, a->at);
    return y.kind == ENTITY_BROKEN ? y : policy_convert(c, &y, type, NULL, a->at);
}

entity special_dropout(checker *c, const call_arguments *a) {
    dropout_chance d = {.seed = 0};
    if (!takes_floats(c, a) || !read_chance(c, &a->values[CHANCE], &d) || !read_seed(c, a, &d))
        return entity_broken(a->at);
    if (d.none) {
        c->sites++;
        return entity_tensor(a->values[X].value, a->at);
    }
    entity step = step_of(c, a);
    entity index = step.kind == ENTITY_BROKEN ? step
                   : c->tiles                 ? tile_index(c, a)
                                              : emit_element_index(c, &a->values[X], a->at);
    if (index.kind == ENTITY_BROKEN)
        return index;
    entity kept = kept_elements(c, a, &d, index, step);
    return kept.kind == ENTITY_BROKEN ? kept : scaled(c, a, &d, &kept);
}
