/* from_tiles_memory.c - memory of the workgroup for tiles of a kernel of tiles: rooms, panels that
 * matrix units read by themselves, and values that are put there. */
#include "schedule/integers.h"
#include "tile/simt/from_tiles.h"
#include "tile/swizzle.h"

enum { LINE_BYTES = 64 };

/* Parameters: a size, and what it and its place are multiples of. */
static ir_value scratch(tiles_lowering *t, ir_builder *b, dtype element, int64_t elements,
                        int64_t unit_bytes) {
    ir_builder top = *b;
    t->scratch_bytes = round_up(t->scratch_bytes, unit_bytes);
    ir_named_attr at = {"offset", ir_attr_int(t->m, t->scratch_bytes)};
    if (t->left)
        tiles_meet(b);
    t->left = false;
    t->scratch_bytes += round_up(elements * (int64_t)dtype_size(element), unit_bytes);
    t->most_bytes = t->scratch_bytes > t->most_bytes ? t->scratch_bytes : t->most_bytes;
    return ir_build1(&top, TILE_SCRATCH, NULL, 0, ir_type_memory(t->m, element), &at, 1);
}

ir_value tiles_scratch(tiles_lowering *t, ir_builder *b, dtype element, int64_t elements) {
    return scratch(t, b, element, elements, LINE_BYTES);
}

static int64_t row_bytes(dtype element, int64_t columns) {
    return round_up(columns * (int64_t)dtype_size(element), SWIZZLE_UNIT);
}

/* The pattern of such rows; 0: they lie as they are. */
static int64_t pattern_of(const tiles_lowering *t, int64_t bytes, ir_value of) {
    return tiles_swizzle_of(t, of) == TILE_SWIZZLE_XOR ? swizzle_of_row(bytes) : 0;
}

int64_t tiles_rows_of_slot(const tiles_lowering *t, dtype element, int64_t rows, int64_t columns,
                           ir_value of) {
    return pattern_of(t, row_bytes(element, columns), of) ? round_up(rows, SWIZZLE_ROWS) : rows;
}

tiles_view tiles_room(tiles_lowering *t, ir_builder *b, dtype element, int64_t rows,
                      int64_t columns, ir_value of) {
    const int64_t size = (int64_t)dtype_size(element), bytes = row_bytes(element, columns),
                  swizzle = pattern_of(t, bytes, of);
    const bool padded = tiles_swizzle_of(t, of) == TILE_SWIZZLE_PAD;
    const int64_t pitch = (padded ? bytes | SWIZZLE_UNIT : bytes) / size;
    tiles_note_rows(t, of, swizzle_of_row(bytes) ? TILES_ROWS_AS_SAID : TILES_ROWS_APART);
    return (tiles_view){
        .memory = scratch(t, b, element, rows * pitch, swizzle ? SWIZZLE_MOST : LINE_BYTES),
        .offset = tile_index(b, 0),
        .rows = rows,
        .columns = columns,
        .row_stride = pitch,
        .column_stride = 1,
        .swizzle = swizzle};
}

/* Parameters: a place in a view, and a size. */
ir_value tiles_take(ir_builder *b, const tiles_view *v, ir_value offset, int64_t rows,
                    int64_t columns) {
    ir_value x = tile_load(b, v->memory, offset, rows, columns, rows > 1 ? v->row_stride : 0,
                           columns > 1 ? v->column_stride : 0);
    if (v->swizzle)
        ir_op_set_attr(b->m, ir_value_get(b->m, x)->op, "swizzle", ir_attr_int(b->m, v->swizzle));
    return x;
}

void tiles_put(ir_builder *b, const tiles_view *v, ir_value offset, ir_value tile) {
    ir_op store = tile_store(b, v->memory, offset, tile, v->row_stride, 1, false);
    if (v->swizzle)
        ir_op_set_attr(b->m, store, "swizzle", ir_attr_int(b->m, v->swizzle));
}

/* Parameters: a tile, how many of them, and the size that comes back. */
tiles_view tiles_panels(tiles_lowering *t, ir_builder *b, dtype element, int64_t slots,
                        int64_t rows, int64_t columns, int64_t *slot) {
    int64_t size = (int64_t)dtype_size(element), panel = SWIZZLE_MOST / size;
    while (columns % panel != 0)
        panel /= 2;
    *slot = round_up(rows * columns, SWIZZLE_ALIGNMENT / size);
    return (tiles_view){.memory = scratch(t, b, element, slots * *slot, SWIZZLE_ALIGNMENT),
                        .offset = tile_index(b, 0),
                        .rows = rows,
                        .columns = columns,
                        .row_stride = panel,
                        .column_stride = 1,
                        .panel = panel,
                        .swizzle = panel * size};
}

ir_value tiles_whole(tiles_lowering *t, ir_builder *b, ir_op op, ir_value v) {
    const tiles_value *x = &t->values[v];
    int64_t rows, columns;
    const ir_type_data *d = tile_type(b, x->tile);
    tiles_shape(t, v, &rows, &columns);
    bool same = (d->dims[0] == rows || d->dims[0] > 1) && (d->dims[1] == columns || d->dims[1] > 1);
    if (same && !x->guessed)
        return x->tile;
    if (!t->cut)
        return tile_broadcast(b, x->tile, rows, columns);
    tiles_refuse(t, op, "in the last trip of its loop no load tells how long a tile is");
    return 0;
}

tiles_view tiles_put_down(tiles_lowering *t, ir_builder *b, ir_value tile, ir_value of) {
    const ir_type_data type = *tile_type(b, tile);
    tiles_view view = tiles_room(t, b, type.element, type.dims[0], type.dims[1], of);
    tiles_put(b, &view, view.offset, tile);
    return view;
}

/* ... in panels. */
static tiles_view put_in_panels(tiles_lowering *t, ir_builder *b, ir_value tile) {
    const ir_type_data type = *tile_type(b, tile);
    int64_t slot;
    tiles_view view = tiles_panels(t, b, type.element, 1, type.dims[0], type.dims[1], &slot);
    tiles_put(b, &view, view.offset, tile);
    return view;
}

/* Is a value that threads hold, of so many rows and columns, a factor that units read from memory
 * by themselves? */
static bool is_in_panels(const tiles_lowering *t, ir_value v, int64_t rows, int64_t columns) {
    enum { STEPS = 16 };
    return t->may_stage && t->is_factor[v] && !t->is_plain[v] && !t->is_left[v] &&
           rows % STEPS == 0 && columns % STEPS == 0;
}

bool tiles_view_of(tiles_lowering *t, ir_builder *b, ir_op op, ir_value v, tiles_view *out) {
    tiles_view *view = &t->values[v].view;
    if (!view->memory) {
        ir_value x = tiles_whole(t, b, op, v);
        if (!x)
            return false;
        if (t->wide[v] && t->wide[v] != tile_type(b, x)->element)
            x = tile_op(b, TILE_CONVERT, &x, 1, t->wide[v]);
        const ir_type_data *d = tile_type(b, x);
        const bool panels = is_in_panels(t, v, d->dims[0], d->dims[1]);
        *view = panels ? put_in_panels(t, b, x) : tiles_put_down(t, b, x, v);
        if (panels)
            tiles_note_panels(t, v);
    }
    *out = *view;
    return true;
}

static int64_t common(int64_t x, int64_t y) {
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* Room for tiles side by side, in panels of which each has whole ones; *each: columns that are
 * stored as one. */
static tiles_view room_beside(tiles_lowering *t, ir_builder *b, ir_value v, const ir_value *tiles,
                              uint32_t count, int64_t *each) {
    const ir_type_data type = *tile_type(b, tiles[0]);
    int64_t columns = 0, slot;
    *each = 0;
    for (uint32_t i = 0; i < count; i++) {
        columns += tile_type(b, tiles[i])->dims[1];
        *each = common(*each, tile_type(b, tiles[i])->dims[1]);
    }
    if (!is_in_panels(t, v, type.dims[0], *each))
        return tiles_room(t, b, type.element, type.dims[0], columns, v);
    tiles_note_panels(t, v);
    tiles_view view =
        tiles_panels(t, b, type.element, 1, type.dims[0] * (columns / *each), *each, &slot);
    view.rows = type.dims[0];
    view.columns = columns;
    return view;
}

tiles_view tiles_put_beside(tiles_lowering *t, ir_builder *b, ir_value v, const ir_value *tiles,
                            uint32_t count) {
    int64_t each, first = 0;
    tiles_view view = room_beside(t, b, v, tiles, count, &each);
    const int64_t step = view.panel ? view.rows : 1;
    for (uint32_t i = 0; i < count; i++) {
        tiles_put(b, &view, tile_index_plus(b, view.offset, first * step), tiles[i]);
        first += tile_type(b, tiles[i])->dims[1];
    }
    return view;
}
