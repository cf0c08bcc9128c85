/* random.c - random words that are drawn for the places of elements, and dropout
 * (docs/numerics.md, "Random numbers", "Dropout"). */
#include "check/functions/random.h"

#include <math.h>
#include <string.h>

#include "check/tiles/tiles.h"
#include "ops/build.h"

enum { X, CHANCE };

typedef struct dropout_chance {
    uint32_t threshold; /* words below it drop their element */
    double scale;
    bool none; /* nothing is dropped */
} dropout_chance;

/* An argument that the call was given; NULL: it was not. */
static const entity *given(const call_arguments *a, const char *name) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->names[i], name) == 0)
            return a->given[i] ? &a->values[i] : NULL;
    return NULL;
}

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

static bool read_seed(checker *c, const call_arguments *a, int64_t *seed) {
    const entity *e = given(a, "seed");
    if (e && !argument_int(c, e, "seed", seed))
        return false;
    if (*seed < 0) {
        diagnose_error(c->report, ERROR_OPERATION_ARGUMENT, e->at,
                       "a seed is an integer from 0 on, and this is %lld", (long long)*seed);
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
    const entity *e = given(a, axis ? "cols" : "rows");
    if (!e || e->kind == ENTITY_NONE)
        return true;
    if (e->kind != ENTITY_BLOCK || e->block->size != length) {
        diagnose_error(c->report, ERROR_TILE_PLACE, e->at,
                       "the tile has %s %s, and this is no block of so many",
                       ir_dim_text(c->m, length), axis ? "columns" : "rows");
        return false;
    }
    *out = (tile_place){PLACE_ONE, tiles_start(c, e->block), e->block->extent};
    return true;
}

static bool place_axis(checker *c, const call_arguments *a, const entity *like, int axis,
                       tile_place *out) {
    ir_dim length = tensor_type(c, like)->dims[axis];
    if (!said_place(c, a, axis, length, out))
        return false;
    if (out->kind != PLACE_ONE && length == 1)
        *out = (tile_place){PLACE_ONE, 0, 1};
    if (out->kind == PLACE_ONE)
        return true;
    diagnose_error(c->report, ERROR_TILE_PLACE, a->at,
                   out->kind == PLACE_NONE
                       ? "what is drawn depends on places, and those of the tile's %s do not "
                         "follow from its loads"
                       : "what is drawn depends on places, and the tile's %s are at several",
                   axis ? "columns" : "rows");
    note_tensor(c, like);
    diagnose_help(c->report, "say them: tile.%s(..., rows=T.rows, cols=T.cols)", a->function);
    return false;
}

/* ((batch * rows + row) * columns + column), for the places of the tile. */
static entity tile_index(checker *c, const call_arguments *a, const entity *like) {
    const tile_state *t = c->tiles;
    const ir_type_data type = *tensor_type(c, like);
    tile_place places[IR_MAX_RANK];
    if (type.rank < 1 || type.rank > 2) {
        diagnose_error(c->report, ERROR_TILE_PLACE, a->at,
                       "%s draws for a tile of one or two axes, not for %s", a->function,
                       entity_type_text(c, ir_value_get(c->m, like->value)->type));
        return entity_broken(a->at);
    }
    tiles_places(c, like->value, places);
    entity index = entity_integer(c, 0, a->at);
    index = emit_constant(c, &index, DTYPE_I32, a->at);
    for (int i = 0; i < t->batch_rank; i++) {
        index = combined(c, GRAPH_MUL, index, tiles_dim_value(c, t->batch[i], a->at), a->at);
        index = combined(c, GRAPH_ADD, index, tiles_dim_value(c, t->batch_index[i], a->at), a->at);
    }
    for (int i = 0; i < type.rank; i++) {
        if (!place_axis(c, a, like, i, &places[i]))
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

/* Does the value change from turn to turn of the loop that is being written? */
static bool turns_with_loop(const checker *c, ir_value v) {
    const ir_value_data *d = ir_value_get(c->m, v);
    ir_block block = d->op ? ir_op_get(c->m, d->op)->block : d->block;
    for (ir_op op; block; block = ir_op_get(c->m, op)->block) {
        op = ir_block_parent(c->m, block);
        if (!op || op == c->random.turning)
            return op != 0;
    }
    return false;
}

static entity step_of(checker *c, const call_arguments *a) {
    const entity *said = given(a, "step");
    entity e = said ? *said : entity_integer(c, 0, a->at);
    bool scalar = e.kind == ENTITY_TENSOR && tensor_type(c, &e)->rank == 0 &&
                  tensor_type(c, &e)->element == DTYPE_I32;
    if (c->random.turning && e.kind != ENTITY_BROKEN && !(scalar && turns_with_loop(c, e.value))) {
        diagnose_error(c->report, ERROR_DRAWN_AGAIN, a->at,
                       "each turn of the loop around this draws the same numbers");
        diagnose_help(c->report,
                      "give it a step that counts the turns: for i in range(N): ... "
                      "%s(..., step=i)",
                      a->function);
        return entity_broken(a->at);
    }
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

/* An i32 tensor, a dimension, or an integer. */
static entity whole_number(checker *c, const entity *e, const char *what) {
    const bool fits = (e->kind == ENTITY_NUMBER && e->is_integer) ||
                      (e->kind == ENTITY_TENSOR && tensor_type(c, e)->element == DTYPE_I32);
    if (e->kind == ENTITY_DIM)
        return tiles_dim_value(c, e->dim, e->at);
    if (fits)
        return e->kind == ENTITY_TENSOR ? *e : emit_constant(c, e, DTYPE_I32, e->at);
    if (e->kind != ENTITY_BROKEN)
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "%s is an integer, a dimension, or a tensor of i32", what);
    return entity_broken(e->at);
}

entity special_fold_in(checker *c, const call_arguments *a) {
    entity step = whole_number(c, &a->values[0], "step"), i = whole_number(c, &a->values[1], "i");
    if (step.kind == ENTITY_BROKEN || i.kind == ENTITY_BROKEN)
        return entity_broken(a->at);
    c->builder.location = checker_location(c, a->at);
    step = entity_tensor(build_step_word(&c->builder, step.value), a->at);
    return combined(c, GRAPH_ADD, step, i, a->at);
}

/* ---- words ---- */

bool random_begin(checker *c, const call_arguments *a, const entity *like, random_draw *out) {
    *out = (random_draw){.at = a->at};
    if (!read_seed(c, a, &out->seed))
        return false;
    out->step = step_of(c, a);
    if (out->step.kind != ENTITY_BROKEN)
        out->index = c->tiles ? tile_index(c, a, like) : emit_element_index(c, like, a->at);
    return out->step.kind != ENTITY_BROKEN && out->index.kind != ENTITY_BROKEN;
}

entity random_word(checker *c, const random_draw *d) {
    const ir_named_attr attrs[] = {{"seed", ir_attr_int(c->m, d->seed)},
                                   {"site", ir_attr_int(c->m, c->random.sites++)}};
    entity operands[] = {d->index, d->step};
    return emit_elementwise(c, GRAPH_RANDOM_BITS, operands, 2, attrs, 2, d->at);
}

/* ---- dropout ---- */

/* Words are compared as unsigned numbers: both with the highest bit turned over. */
static entity kept_elements(checker *c, const dropout_chance *d, const random_draw *draw) {
    entity turn = entity_integer(c, INT32_MIN, draw->at),
           least = entity_integer(c, (int32_t)(d->threshold ^ UINT32_C(0x80000000)), draw->at);
    entity word = combined(c, GRAPH_XOR, random_word(c, draw), turn, draw->at);
    return word.kind == ENTITY_BROKEN ? word : emit_compare(c, "ge", &word, &least, draw->at);
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
    dropout_chance d = {0};
    random_draw draw;
    int64_t seed = 0;
    if (!takes_floats(c, a) || !read_chance(c, &a->values[CHANCE], &d))
        return entity_broken(a->at);
    if (d.none) {
        bool good = read_seed(c, a, &seed);
        c->random.sites++;
        return good ? entity_tensor(a->values[X].value, a->at) : entity_broken(a->at);
    }
    if (!random_begin(c, a, &a->values[X], &draw))
        return entity_broken(a->at);
    entity kept = kept_elements(c, &d, &draw);
    return kept.kind == ENTITY_BROKEN ? kept : scaled(c, a, &d, &kept);
}
