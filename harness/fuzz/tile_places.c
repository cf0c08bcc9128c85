/* tile_places.c - statements of tiles that know where their elements are: dropout, and groups. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/tile_kernel.h"

/* The block that an axis is in each instance; NULL: it is whole. */
static const char *block_of(const tile_kernel *k, int axis) {
    return axis == AXIS_ROWS ? "T.rows" : axis == AXIS_COLUMNS && k->by_columns ? "T.cols" : NULL;
}

/* Every batch has a mask of its own, also of what is the same for all. */
bool fuzz_tile_dropout(tile_kernel *k) {
    static const char *const chances[] = {"0.5", "0.1", "0.999", "0.0"};
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    bool placed = x && dtype_is_float(x->type);
    for (int i = 0; placed && i < x->rank; i++)
        placed = block_of(k, x->axes[i]) != NULL;
    if (!placed)
        return false;
    char words[80], tile[192], plain[TILE_TEXT + 120], places[60] = "";
    tile_value like = *x;
    like.batched = k->batches > 0;
    tile_pair shape;
    tile_shape_text(k, &like, &shape);
    snprintf(words, sizeof words, "p=%s, seed=%u, step=%u", chances[choose_below(k->c, 4)],
             choose_below(k->c, 3), choose_below(k->c, 2));
    for (int i = 0; i < x->rank; i++)
        snprintf(places + strlen(places), sizeof places - strlen(places), ", %s=%s",
                 i ? "cols" : "rows", block_of(k, x->axes[i]));
    snprintf(tile, sizeof tile, "tile.dropout(%s, %s%s)", x->name, words, places);
    if (like.batched == x->batched)
        snprintf(plain, sizeof plain, "dropout(%s, %s)", x->name, words);
    else
        snprintf(plain, sizeof plain, "dropout(broadcast_to(%s, %.*s), %s)", x->name, TILE_TEXT - 1,
                 shape.tensor, words);
    return tile_let(k, like, tile, plain) != NULL;
}

/* The last axis in groups, each without its greatest element. */
bool fuzz_tile_groups(tile_kernel *k) {
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    int64_t size = INT64_C(1) << choose_below(k->c, 5);
    if (!x)
        return false;
    int axis = x->axes[x->rank - 1];
    int64_t length = tile_axis_length(k, axis);
    const char *block = block_of(k, axis);
    bool seen = block ? k->block[axis] % size == 0 : k->numbers;
    if (length % size || !seen)
        return false;
    char tile[200], plain[3 * TILE_TEXT], group[TILE_TEXT + 60];
    tile_pair shape;
    tile_shape_text(k, x, &shape);
    /* "(3, 70, 32, )": the last entry becomes two. */
    char end[32];
    int before = (int)strlen(shape.tensor) - snprintf(end, sizeof end, "%" PRId64 ", )", length);
    snprintf(group, sizeof group, "reshape(%s, %.*s%" PRId64 ", %" PRId64 "))", x->name, before,
             shape.tensor, length / size, size);
    snprintf(tile, sizeof tile,
             "tile.ungroup(tile.group(%s, %" PRId64 ") - tile.reduce(tile.group(%s, %" PRId64
             "), \"max\", keepdims=True))",
             x->name, size, x->name, size);
    int room = snprintf(plain, sizeof plain, "reshape(%s - max(%s, axis=-1, keepdims=True), %s)",
                        group, group, shape.tensor);
    return room < (int)sizeof plain && tile_let(k, *x, tile, plain) != NULL;
}
