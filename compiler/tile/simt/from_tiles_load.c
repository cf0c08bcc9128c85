/* from_tiles_load.c - tiles of a kernel's inputs and outputs: where they lie, and how many of their
 * rows and columns there are. */
#include <string.h>

#include "ops/tiles.h"
#include "schedule/integers.h"
#include "tile/simt/from_tiles.h"

/* A tile of a kernel's argument: the attributes `start` and `kept` of an operation, and its size.
 */
typedef struct place {
    const ir_type_data *whole;
    const ir_attr_data *start;
    int64_t kept[IR_MAX_RANK], size[IR_MAX_RANK];
    uint32_t axes; /* that are kept */
} place;

/* Number of an axis's places that there are; 0: all. */
static ir_value valid_of(ir_builder *b, ir_value start, int64_t size, int64_t extent) {
    int64_t less = -1;
    return tile_index_op(b, TILE_INDEX_MIN, tile_affine(b, extent, &start, &less, 1),
                         tile_index(b, size));
}

/* Steps of which a shorter tile has a whole number: of matrix units, which multiply beyond strict.
 */
static int64_t unit_steps(const tiles_lowering *t) {
    enum { STEPS = 16 };
    return strcmp(t->request->profile, "strict") == 0 ? 1 : STEPS;
}

/* Finds its place. False where it may begin or end outside along an axis that is not the tile's. */
static bool find_place(tiles_lowering *t, ir_builder *b, ir_op op, place *p, bool column,
                       tiles_view *view) {
    ir_value parts[IR_MAX_RANK], valid[IR_MAX_RANK] = {0};
    int64_t strides[IR_MAX_RANK], there[IR_MAX_RANK] = {0}, stride = 1, least, most;
    for (int i = p->whole->rank; i-- > 0; stride *= p->whole->dims[i]) {
        strides[i] = stride;
        if (!tiles_bounds(t, p->start->items[i], &least, &most) ||
            !tiles_affine(t, b, p->start->items[i], &parts[i]))
            return tiles_refuse(t, op, "where it begins is no multiple of the indices");
        bool over = most + p->size[i] > p->whole->dims[i];
        if (least < 0 || most >= p->whole->dims[i] || (over && !ir_ints_hold(p->kept, p->axes, i)))
            return tiles_refuse(t, op, "it may lie outside");
        if (over && least == most) {
            bool last = tiles_is_of_last(t, p->start->items[i]);
            int64_t left = p->whole->dims[i] - least,
                    steps = last ? round_up(left, unit_steps(t)) : p->size[i];
            there[i] = steps > left && steps <= p->size[i] ? left : 0;
            p->size[i] = there[i] ? steps : left;
            over = there[i] != 0;
        }
        valid[i] = over ? valid_of(b, parts[i], p->size[i], p->whole->dims[i]) : 0;
    }
    view->offset = tile_affine(b, 0, parts, strides, p->whole->rank);
    view->rows = view->columns = 1;
    int64_t along[2] = {0}, at = column ? 0 : 1;
    for (uint32_t k = p->axes; k-- > 0; at--) {
        along[at] = strides[p->kept[k]];
        *(at ? &view->valid_columns : &view->valid_rows) = valid[p->kept[k]];
        *(at ? &view->true_columns : &view->true_rows) = there[p->kept[k]];
        *(at ? &view->columns : &view->rows) = p->size[p->kept[k]];
    }
    view->row_stride = along[0];
    view->column_stride = along[1];
    return true;
}

static tile_window window_of(const tiles_view *view) {
    tile_window w = {.rows = view->rows,
                     .columns = view->columns,
                     .row_stride = view->row_stride,
                     .column_stride = view->column_stride};
    w.more[TILE_MORE_VALID_ROWS] = view->valid_rows;
    w.more[TILE_MORE_VALID_COLUMNS] = view->valid_columns;
    return w;
}

/* In a last trip: how long its shorter tiles are. */
static void note_cut(tiles_lowering *t, ir_value v, const tiles_view *view) {
    int64_t rows, columns;
    tiles_shape(t, v, &rows, &columns);
    if (t->cut == TILES_CUT_UNKNOWN && view->columns < columns)
        t->cut = view->columns;
    if (t->cut == TILES_CUT_UNKNOWN && view->rows < rows)
        t->cut = view->rows;
}

bool tiles_find_load(tiles_lowering *t, ir_builder *b, ir_op op, tiles_view *view) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value x = d->operands[0], v = d->results[0];
    place p = {.whole = ir_type_of(t->g, x),
               .start = ir_attr_get(t->g, ir_op_attr(t->g, op, "start"))};
    p.axes = ir_op_ints(t->g, op, "kept", p.kept, IR_MAX_RANK);
    *view = (tiles_view){.memory = t->values[x].view.memory};
    if (!view->memory || p.axes > 2)
        return tiles_refuse(t, op, "it is not of an input");
    ir_op_ints(t->g, op, "size", p.size, IR_MAX_RANK);
    if (!find_place(t, b, op, &p, p.axes == 1 && t->is_column[v], view))
        return false;
    note_cut(t, v, view);
    t->cuts |= view->valid_columns && !view->true_columns;
    return true;
}

/* A factor that is read where it lies, or is copied, is in no registers. */
static bool stays_in_memory(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_view *far,
                            tiles_view *out) {
    ir_value v = ir_op_get(t->g, op)->results[0];
    if (t->wide[v])
        return false;
    bool there = t->is_factor[v] && !t->is_read[v] && !far->valid_rows && !far->valid_columns &&
                 tiles_says(t, op, "space", memory_space_names[MEMORY_SPACE_REGISTER]);
    *out = *far;
    return there || tiles_copy_now(t, b, op, far, out);
}

/* Read from memory that the workgroup has, where that is asked for. */
static ir_value through_memory(tiles_lowering *t, ir_builder *b, ir_op op, ir_value x) {
    if (!tiles_says(t, op, "space", memory_space_names[MEMORY_SPACE_SHARED]))
        return x;
    tiles_view v = tiles_put_down(t, b, x, ir_op_get(t->g, op)->results[0]);
    return tiles_take(b, &v, v.offset, v.rows, v.columns);
}

static tiles_extent cut(ir_value valid, int64_t there) {
    return valid && !there ? TILES_CUT : TILES_WHOLE;
}

static tiles_value in_memory(const tiles_view *near) {
    return (tiles_value){.view = *near,
                         .true_rows = near->true_rows,
                         .true_columns = near->true_columns,
                         .zeros = true};
}

static bool lower_shifted(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_view *far) {
    ir_value v = ir_op_get(t->g, op)->results[0];
    tiles_view near;
    bool zeros;
    if (t->wide[v])
        return tiles_refuse(t, op, "it is shifted, and widened for a unit");
    if (!tiles_load_shifted(t, b, op, far, &near, &zeros))
        return false;
    t->values[v] = in_memory(&near);
    t->values[v].zeros = zeros;
    t->values[v].rows = cut(far->valid_rows, far->true_rows);
    t->values[v].columns = cut(far->valid_columns, far->true_columns);
    if (t->is_read[v])
        t->values[v].tile = tiles_take(b, &near, near.offset, near.rows, near.columns);
    return true;
}

bool tiles_lower_load(tiles_lowering *t, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(t->g, op)->results[0];
    const tiles_stream *stream = tiles_stream_of(t, op);
    tiles_view view;
    if (stream) {
        t->values[v] = in_memory(&stream->slots);
        return true;
    }
    tiles_view near;
    if (!tiles_find_load(t, b, op, &view))
        return false;
    if (ir_op_attr(t->g, op, "shift"))
        return lower_shifted(t, b, op, &view);
    if (stays_in_memory(t, b, op, &view, &near)) {
        t->values[v] = in_memory(&near);
        return true;
    }
    tile_window w = window_of(&view);
    ir_value x = tile_load_window(b, view.memory, view.offset, &w);
    t->values[v] = (tiles_value){.tile = t->is_read[v] ? through_memory(t, b, op, x) : x,
                                 .rows = cut(view.valid_rows, view.true_rows),
                                 .columns = cut(view.valid_columns, view.true_columns),
                                 .true_rows = view.true_rows,
                                 .true_columns = view.true_columns,
                                 .zeros = true};
    return true;
}

static bool give(tiles_lowering *t, ir_builder *b, ir_op op, uint32_t i) {
    ir_value v = ir_op_get(t->g, op)->operands[i], to = ir_op_get(t->g, tiles_of(t->g))->results[i];
    const ir_attr_data *starts = ir_attr_get(t->g, ir_op_attr(t->g, op, "start")),
                       *kept = ir_attr_get(t->g, ir_op_attr(t->g, op, "kept"));
    const ir_type_data *part = ir_type_of(t->g, v);
    place p = {.whole = ir_type_of(t->g, to), .start = ir_attr_get(t->g, starts->items[i])};
    tiles_view view = {.memory = t->values[to].view.memory};
    kept = ir_attr_get(t->g, kept->items[i]);
    for (int k = 0; k < p.whole->rank; k++)
        p.size[k] = 1;
    for (; p.axes < kept->count; p.axes++) {
        p.kept[p.axes] = ir_attr_get(t->g, kept->items[p.axes])->integer;
        p.size[p.kept[p.axes]] = part->dims[p.axes];
    }
    if (!view.memory || p.axes > 2)
        return tiles_refuse(t, op, "a result is no tile of an output");
    if (!find_place(t, b, op, &p, p.axes == 1 && t->is_column[v], &view))
        return false;
    tile_window w = window_of(&view);
    ir_value x = tile_broadcast(b, t->values[v].tile, view.rows, view.columns);
    tile_store_window(b, view.memory, view.offset, x, &w, dtype_is_float(part->element));
    return true;
}

bool tiles_lower_give(tiles_lowering *t, ir_builder *b, ir_op op) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < ir_op_get(t->g, op)->operand_count; i++)
        ok = give(t, b, op, i);
    return ok;
}
