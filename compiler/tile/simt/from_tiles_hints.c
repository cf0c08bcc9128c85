/* from_tiles_hints.c - what a source says of an operation of tiles, and whether code follows it. */
#include <stdio.h>
#include <string.h>

#include "ops/tiles.h"
#include "tile/simt/from_tiles.h"

int64_t tiles_hint(const tiles_lowering *t, ir_op op, const char *name, int64_t otherwise) {
    const ir_attr_data *hint = tiles_hint_of(t->g, op, name);
    return hint ? hint->integer : otherwise;
}

bool tiles_says(const tiles_lowering *t, ir_op op, const char *name, const char *word) {
    const ir_attr_data *hint = tiles_hint_of(t->g, op, name);
    return hint && hint->string && strcmp(hint->string, word) == 0;
}

/* ---- how rows lie ---- */

static const char swizzle_hint[] = "swizzle";

/* The operation whose hint holds for a value: its own, or the kernel's; 0: nobody says anything. */
static ir_op asker_of(const tiles_lowering *t, ir_value v) {
    ir_op own = v ? ir_value_get(t->g, v)->op : 0;
    if (tiles_hint_of(t->g, own, swizzle_hint))
        return own;
    return tiles_hint_of(t->g, tiles_of(t->g), swizzle_hint) ? tiles_of(t->g) : 0;
}

/* Padding is what costs no instruction. */
tile_swizzle tiles_swizzle_of(const tiles_lowering *t, ir_value v) {
    ir_op op = asker_of(t, v);
    int word = 0;
    while (op && !tiles_says(t, op, swizzle_hint, tile_swizzle_names[word]))
        word++;
    return op ? (tile_swizzle)word : TILE_SWIZZLE_PAD;
}

/* The kernel's is that of no value. */
void tiles_note_rows(tiles_lowering *t, ir_value v, tiles_rows rows) {
    ir_value asker = asker_of(t, v) == tiles_of(t->g) ? 0 : v;
    t->rows[asker] = rows > t->rows[asker] ? rows : t->rows[asker];
}

void tiles_note_panels(tiles_lowering *t, ir_value v) {
    const bool alike = tiles_swizzle_of(t, v) == TILE_SWIZZLE_XOR;
    tiles_note_rows(t, v, alike ? TILES_ROWS_AS_SAID : TILES_ROWS_OF_UNIT);
}

static bool follows(tiles_lowering *t, ir_op op) {
    static const char *const why[TILES_ROWS_COUNT] = {
        [TILES_ROWS_NOWHERE] = "no product reads it in the workgroup's memory",
        [TILES_ROWS_APART] = "8 of its rows are on different banks as they are",
        [TILES_ROWS_OF_UNIT] =
            "a matrix unit reads it by itself, in rows swizzled as \"xor\" does"};
    const ir_op_data *d = ir_op_get(t->g, op);
    tiles_rows rows = t->rows[d->opcode == GRAPH_LOAD ? d->results[0] : 0];
    if (!tiles_hint_of(t->g, op, swizzle_hint) || rows == TILES_ROWS_AS_SAID)
        return true;
    tiles_forbid(t, op, SIMT_REFUSES_HINT, "leave swizzle out", "swizzle changes nothing on %s: %s",
                 t->request->chip, why[rows]);
    return false;
}

bool tiles_follow_hints(tiles_lowering *t) {
    bool all = follows(t, tiles_of(t->g));
    for (ir_walk w = ir_walk_op(t->g, tiles_of(t->g)); all && ir_walk_next(&w);)
        if (ir_op_get(t->g, w.op)->opcode == GRAPH_LOAD)
            all = follows(t, w.op);
    return all;
}
