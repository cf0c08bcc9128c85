/* store.c - results that are parameters: y: KTile["M", "N", f32] @ out, given by
 * tile.store(y, value) instead of a return. */
#include <string.h>

#include "check/tiles/tiles.h"

void tiles_define_outputs(checker *c) {
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->store_count; i++) {
        entity e = {.kind = ENTITY_OUTPUT, .at = k->stores[i].at, .integer = i};
        e.value = ir_op_result(c->m, c->tiles->op, i);
        scope_define(c, k->stores[i].name, e, k->stores[i].at, "a result");
    }
}

/* Rows and columns can be said, and are those of the instance. */
static bool own_block(checker *c, const call_arguments *a, int argument, const tile_block *own,
                      bool used) {
    const entity *e = &a->values[argument];
    if (!a->given[argument] || e->kind == ENTITY_NONE ||
        (e->kind == ENTITY_BLOCK && used && e->block->number == own->number &&
         e->block->extent == own->extent && e->block->size == own->size))
        return true;
    diagnose_error(c->report, ERROR_TILE_STORE, e->at,
                   "an instance stores at its own %s of the results, and these are others",
                   argument == 2 ? "T.rows" : "T.cols");
    return false;
}

entity tiles_store(checker *c, const call_arguments *a) {
    enum { OUT, VALUE, ROWS, COLUMNS };
    tile_state *t = c->tiles;
    const entity *out = &a->values[OUT];
    if (out->kind != ENTITY_OUTPUT) {
        diagnose_error(c->report, ERROR_TILE_STORE, out->at,
                       "tile.store() gives a result, and this is %s", entity_describe(out));
        diagnose_help(c->report, "a parameter is a result as y: KTile[\"M\", \"N\", f32] @ out");
        return entity_broken(a->at);
    }
    entity *kept = &t->stored[out->integer];
    if (c->builder.block != ir_op_block(c->m, t->op, 0) || kept->kind == ENTITY_TENSOR) {
        diagnose_error(c->report, ERROR_TILE_STORE, a->at,
                       kept->kind == ENTITY_TENSOR
                           ? "'%s' is stored twice, and an instance gives each result once"
                           : "'%s' is stored in a loop, and an instance gives each result once",
                       c->kernel->stores[out->integer].name);
        diagnose_help(c->report, "store behind the loop what it has carried");
        return entity_broken(a->at);
    }
    if (!argument_tensor(c, &a->values[VALUE], "value") ||
        !own_block(c, a, ROWS, &t->rows, t->has_rows) ||
        !own_block(c, a, COLUMNS, &t->columns, t->has_columns))
        return entity_broken(a->at);
    *kept = a->values[VALUE];
    return (entity){.kind = ENTITY_NONE, .at = a->at};
}

bool tiles_stored(checker *c, entity *out) {
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->store_count; i++) {
        out[i] = c->tiles->stored[i];
        if (out[i].kind != ENTITY_TENSOR) {
            diagnose_error(c->report, ERROR_TILE_STORE, k->stores[i].at,
                           "nothing is stored to '%s'", k->stores[i].name);
            diagnose_help(c->report, "write tile.store(%s, value)", k->stores[i].name);
            return false;
        }
    }
    return true;
}
