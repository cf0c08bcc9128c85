/* from_tiles_shift.c - loads whose elements lie beside the tile's places: what of them is inside of
 * the tensor is loaded, and stored in the workgroup's memory where the tile has it, beside another
 * number for what is not. No place outside is touched. */
#include "ops/graph.h"
#include "tile/dims.h"
#include "tile/simt/from_tiles.h"

/* Rows or columns of the tile. */
typedef struct side {
    int64_t size;
    int64_t most;  /* places before the first that is inside, at most */
    ir_value low;  /* ... as an index; 0: none */
    ir_value some; /* places from there on that are inside; 0: all */
} side;

typedef struct shifted {
    tiles_lowering *t;
    ir_op op;
    int64_t shift[IR_MAX_RANK];
    ir_value far;   /* of the first element that is inside */
    ir_value there; /* 1, or 0 where an axis that is not the tile's is outside; 0: it cannot be */
    side sides[2];  /* rows, columns */
} shifted;

static ir_value clamped(ir_builder *b, ir_value x, int64_t low, int64_t high) {
    return tile_index_clamp(b, x, tile_index(b, low), tile_index(b, high));
}

/* constant - x - y; y may be 0. */
static ir_value less(ir_builder *b, int64_t constant, ir_value x, ir_value y) {
    ir_value parts[] = {x, y};
    int64_t back[] = {-1, -1};
    return tile_affine(b, constant, parts, back, y ? 2 : 1);
}

static ir_value least_of(ir_builder *b, ir_value x, ir_value y) {
    return !x ? y : !y ? x : tile_index_min(b, x, y);
}

/* An axis of the tile that begins at `at`. What an edge cuts off stays cut off. */
static void cut_side(side *s, ir_builder *b, ir_value at, int64_t shift, int64_t extent) {
    ir_value before_edge = s->some;
    if (shift < 0) {
        s->most = -shift < s->size ? -shift : s->size;
        s->low = clamped(b, less(b, 0, at, 0), 0, s->most);
    }
    s->some = clamped(b, less(b, extent, at, s->low), 0, s->size);
    if (s->low || before_edge) {
        ir_value most = before_edge ? before_edge : tile_index(b, s->size);
        most = s->low ? tile_index_sub(b, most, s->low) : most;
        s->some = tile_index_max(b, tile_index_min(b, s->some, most), tile_index(b, 0));
    }
}

/* 1 where a place is inside of an axis that is not the tile's, else 0. */
static ir_value is_inside(ir_builder *b, ir_value at, int64_t extent) {
    return tile_index_min(b, clamped(b, tile_index_plus(b, at, 1), 0, 1),
                          clamped(b, less(b, extent, at, 0), 0, 1));
}

/* The tile's side that an axis is; NULL: it is neither. */
static side *side_of(shifted *s, int axis) {
    int64_t kept[IR_MAX_RANK];
    const uint32_t axes = ir_op_ints(s->t->g, s->op, "kept", kept, IR_MAX_RANK);
    const bool column = axes == 1 && s->t->is_column[ir_op_get(s->t->g, s->op)->results[0]];
    for (uint32_t i = 0; i < axes; i++)
        if (kept[i] == axis)
            return &s->sides[axes == 1 ? !column : i];
    return NULL;
}

static bool find_inside(shifted *s, ir_builder *b) {
    ir_module *g = s->t->g;
    const ir_type_data *x = ir_type_of(g, ir_op_get(g, s->op)->operands[0]);
    const ir_attr_data *starts = ir_attr_get(g, ir_op_attr(g, s->op, "start"));
    int64_t stride = 1;
    for (int i = x->rank; i-- > 0; stride *= x->dims[i]) {
        ir_value at, parts[] = {s->far, 0};
        int64_t factors[] = {1, stride};
        if (s->shift[i] == 0)
            continue;
        if (!tiles_affine(s->t, b, starts->items[i], &at))
            return tiles_refuse(s->t, s->op, "where it begins is no multiple of the indices");
        at = tile_index_plus(b, at, s->shift[i]);
        side *along = side_of(s, i);
        if (along)
            cut_side(along, b, at, s->shift[i], x->dims[i]);
        else
            s->there = least_of(b, s->there, is_inside(b, at, x->dims[i]));
        parts[1] = along && along->low ? along->low : tile_index(b, 0);
        s->far = tile_affine(b, s->shift[i] * stride, parts, factors, 2);
    }
    if (s->there)
        s->sides[0].some =
            least_of(b, s->sides[0].some, tile_affine(b, 0, &s->there, &s->sides[0].size, 1));
    return true;
}

/* The number behind what is inside. */
static ir_value masked(const shifted *s, ir_builder *b, ir_value x, ir_value other) {
    for (int i = 0; i < 2; i++) {
        const side *along = &s->sides[i];
        if (!along->some)
            continue;
        ir_value number = tile_iota(b, tile_index(b, 0), i == 0, along->size),
                 inside = tile_compare(b, "lt", number, tile_from_index(b, along->some));
        x = tile_select(b, inside, x, other);
    }
    return x;
}

/* Stores the first rows and columns of a tile from a place on. Parameters: the place's row and
 * column, and how many there are; 0: the first, and all. */
static void put_part(ir_builder *b, const tiles_view *room, ir_value x, const ir_value at[2],
                     const ir_value count[2]) {
    ir_value parts[] = {room->offset, at[0] ? at[0] : room->offset, at[1] ? at[1] : room->offset};
    int64_t factors[] = {1, at[0] ? room->row_stride : 0, at[1] ? 1 : 0};
    tile_window w = {.row_stride = room->row_stride, .column_stride = 1};
    w.more[TILE_MORE_VALID_ROWS] = count[0];
    w.more[TILE_MORE_VALID_COLUMNS] = count[1];
    tile_store_window(b, room->memory, tile_affine(b, 0, parts, factors, 3), x, &w, false);
}

/* Each place is stored once. */
static void put_all(const shifted *s, ir_builder *b, const tiles_view *room, ir_value x,
                    ir_value other) {
    const side *rows = &s->sides[0], *columns = &s->sides[1];
    ir_value behind[2];
    for (int i = 0; i < 2; i++)
        behind[i] = s->sides[i].low ? less(b, s->sides[i].size, s->sides[i].low, 0) : 0;
    put_part(b, room, x, (ir_value[]){rows->low, columns->low}, behind);
    if (rows->low)
        put_part(b, room, tile_broadcast(b, other, rows->most, columns->size), (ir_value[]){0, 0},
                 (ir_value[]){rows->low, 0});
    if (columns->low)
        put_part(b, room, tile_broadcast(b, other, rows->size, columns->most),
                 (ir_value[]){rows->low, 0}, (ir_value[]){behind[0], columns->low});
}

bool tiles_load_shifted(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_view *far,
                        tiles_view *near, bool *zeros) {
    const ir_value v = ir_op_get(t->g, op)->results[0];
    const dtype element = ir_type_of(t->g, v)->element;
    const ir_attr other = ir_op_attr(t->g, op, "other");
    const uint64_t bits = other ? ir_attr_get(t->g, other)->bits : 0;
    shifted s = {.t = t,
                 .op = op,
                 .far = far->offset,
                 .sides = {{.size = far->rows, .some = far->valid_rows},
                           {.size = far->columns, .some = far->valid_columns}}};
    ir_op_ints(t->g, op, "shift", s.shift, IR_MAX_RANK);
    if (!find_inside(&s, b))
        return false;
    tile_window w = {.rows = far->rows,
                     .columns = far->columns,
                     .row_stride = far->row_stride,
                     .column_stride = far->column_stride};
    w.more[TILE_MORE_VALID_ROWS] = s.sides[0].some;
    w.more[TILE_MORE_VALID_COLUMNS] = s.sides[1].some;
    ir_value x = tile_load_window(b, far->memory, s.far, &w),
             none = tile_constant(b, element, bits);
    *near = tiles_room(t, b, element, far->rows, far->columns, v);
    near->true_rows = far->true_rows;
    near->true_columns = far->true_columns;
    if (near->swizzle || (t->is_factor[v] && bits && (far->true_rows || far->true_columns)))
        return tiles_refuse(t, op, "it is a shifted factor, cut short or in swizzled rows");
    put_all(&s, b, near, masked(&s, b, x, none), none);
    *zeros = bits == 0;
    return true;
}
