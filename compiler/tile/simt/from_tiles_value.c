/* from_tiles_value.c - operations of a kernel of tiles whose results are in registers: numbers,
 * repetitions, element-wise operations, and rows that become one element each. */
#include <string.h>

#include "schedule/integers.h"
#include "tile/lowering.h"
#include "tile/simt/from_tiles.h"

/* Elements of a thread of rows that are folded, and columns of a block of lanes64. */
enum { MOST_ELEMENTS = 128, MOST_COLUMNS = 4096 };

static ir_value operand(const tiles_lowering *t, ir_op op, uint32_t i) {
    return t->values[ir_op_get(t->g, op)->operands[i]].tile;
}

/* ---- numbers ---- */

static ir_value lower_constant(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_attr_data *bits = ir_attr_get(t->g, ir_op_attr(t->g, op, "value"));
    return tile_constant(b, bits->element, bits->bits);
}

/* One dimension; a product of several is one that is known. */
static ir_value lower_extent(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_attr_data *list = ir_attr_get(t->g, ir_op_attr(t->g, op, "of"));
    ir_value index;
    int64_t number;
    if (list->count != 1 || !tiles_affine(t, b, list->items[0], &index))
        return 0;
    return tile_constant_index(b, index, &number) ? tile_constant(b, DTYPE_I32, (uint32_t)number)
                                                  : tile_from_index(b, index);
}

static ir_value lower_iota(tiles_lowering *t, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(t->g, op)->results[0], base = tile_index(b, 0);
    int64_t rows, columns, axis = ir_op_int(t->g, op, "axis", 0);
    bool down = ir_type_of(t->g, v)->rank == 2 ? axis == 0 : t->is_column[v];
    tiles_shape(t, v, &rows, &columns);
    if (t->cut > 0 && !down && t->cut < columns)
        columns = t->cut;
    return tile_iota(b, base, down, down ? rows : columns);
}

/* ---- moves ---- */

/* A line along the second axis is a row. */
static ir_value lower_broadcast(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value x = d->operands[0];
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(t->g, op, "axes", axes, IR_MAX_RANK);
    bool line = count == 1 && ir_type_of(t->g, d->results[0])->rank == 2 &&
                ir_type_of(t->g, x)->dims[0] > 1;
    if ((line && t->is_column[x] != (axes[0] == 0)) || (count == 2 && axes[0] > axes[1]))
        return 0;
    return operand(t, op, 0);
}

/* Axes of one element come or go. */
static ir_value lower_reshape(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    int64_t before[2], after[2];
    tiles_shape(t, d->operands[0], &before[0], &before[1]);
    tiles_shape(t, d->results[0], &after[0], &after[1]);
    return before[0] == after[0] && before[1] == after[1] ? operand(t, op, 0) : 0;
}

/* A factor of products, and nothing else, is read the other way round. */
static bool lower_transpose(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value v = d->results[0];
    if (t->is_read[v] || ir_type_of(t->g, v)->rank != 2 || ir_op_int(t->g, op, "axes", 0))
        return tiles_refuse(t, op, "it is no factor of a product");
    const tiles_value *from = &t->values[d->operands[0]];
    tiles_view x;
    if (!tiles_view_of(t, b, op, d->operands[0], &x))
        return false;
    t->values[v] = (tiles_value){.view = {.memory = x.memory,
                                          .offset = x.offset,
                                          .rows = x.columns,
                                          .columns = x.rows,
                                          .row_stride = x.column_stride,
                                          .column_stride = x.row_stride,
                                          .panel = x.panel,
                                          .swizzle = x.swizzle},
                                 .rows = from->columns,
                                 .columns = from->rows,
                                 .true_rows = from->true_columns,
                                 .true_columns = from->true_rows,
                                 .zeros = from->zeros};
    return true;
}

static ir_value in_type(ir_builder *b, ir_value x, dtype to) {
    return to && tile_type(b, x)->element != to ? tile_op(b, TILE_CONVERT, &x, 1, to) : x;
}

/* A factor of products, and nothing else, is stored part by part. */
static bool lower_concat(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value v = d->results[0], tiles[LIMIT_OPERANDS];
    tiles_value y = {.zeros = true};
    if (t->is_read[v] || !t->is_factor[v] || ir_op_int(t->g, op, "axis", 0) != 1)
        return tiles_refuse(t, op, "it is no factor of a product");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const tiles_value *x = &t->values[d->operands[i]];
        if (!x->tile || x->columns != TILES_WHOLE || x->true_columns ||
            !(tiles[i] = tiles_whole(t, b, op, d->operands[i])))
            return tiles_refuse(t, op, "a part of it may be cut short");
        if (x->true_rows && !x->zeros)
            tiles[i] = tiles_masked(b, tiles[i], true, x->true_rows, 0);
        tiles[i] = in_type(b, tiles[i], t->wide[v]);
        y.rows = x->rows > y.rows ? x->rows : y.rows;
        y.true_rows = x->true_rows;
    }
    y.view = tiles_put_beside(t, b, v, tiles, d->operand_count);
    t->values[v] = y;
    return true;
}

/* ---- element by element ---- */

/* Narrow floats are computed with as f32, and rounded once (graph/widen.c). */
static ir_value widened(ir_builder *b, ir_value x) {
    return dtype_is_narrow(tile_type(b, x)->element) ? tile_op(b, TILE_CONVERT, &x, 1, DTYPE_F32)
                                                     : x;
}

static ir_value rounded(ir_builder *b, ir_value x, dtype to) {
    return tile_type(b, x)->element == to ? x : tile_op(b, TILE_CONVERT, &x, 1, to);
}

/* Has each operand one row or as many as the others, and columns likewise? */
static bool meet(const ir_builder *b, const ir_value *operands, uint32_t count) {
    int64_t most[2] = {1, 1};
    bool alike = true;
    for (uint32_t i = 0; i < count; i++)
        for (int axis = 0; axis < 2; axis++) {
            int64_t n = tile_type(b, operands[i])->dims[axis];
            alike = alike && (n == 1 || most[axis] == 1 || n == most[axis]);
            most[axis] = n > most[axis] ? n : most[axis];
        }
    return alike;
}

static ir_value lower_elementwise(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value operands[4];
    const bool computes = d->opcode != GRAPH_CONVERT && d->opcode != GRAPH_SELECT;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        operands[i] = operand(t, op, i);
        if (tile_type(b, operands[i])->element == DTYPE_I4)
            return 0;
        operands[i] = computes ? widened(b, operands[i]) : operands[i];
    }
    if (!meet(b, operands, d->operand_count))
        return 0;
    if (d->opcode == GRAPH_COMPARE)
        return tile_compare(b, ir_op_string(t->g, op, "predicate", "eq"), operands[0], operands[1]);
    dtype to = ir_type_of(t->g, d->results[0])->element;
    ir_value y = tile_of_graph(b, d->opcode, operands, d->operand_count, to);
    static const char *const numbers[] = {"seed", "stream", "site"};
    ir_op made = ir_value_get(b->m, y)->op;
    if (ir_op_int(t->g, op, "saturate", 0))
        ir_op_set_attr(b->m, made, "saturate", ir_attr_bool(b->m, true));
    for (int i = 0; i < 3; i++)
        if (ir_op_attr(t->g, op, numbers[i]))
            ir_op_set_attr(b->m, made, numbers[i],
                           ir_attr_int(b->m, ir_op_int(t->g, op, numbers[i], 0)));
    return rounded(b, y, to);
}

/* ---- what there is of a shorter tile ---- */

ir_value tiles_masked(ir_builder *b, ir_value x, bool rows, int64_t count, uint64_t bits) {
    const ir_type_data d = *tile_type(b, x);
    ir_value number = tile_iota(b, tile_index(b, 0), rows, d.dims[rows ? 0 : 1]);
    ir_value there = tile_compare(b, "lt", number, tile_constant(b, DTYPE_I32, (uint64_t)count));
    ir_value operands[] = {there, x, tile_constant(b, d.element, bits)};
    return tile_op(b, TILE_SELECT, operands, 3, DTYPE_NONE);
}

/* ---- rows ---- */

static ir_value padded(ir_builder *b, ir_value x, const char *kind, int64_t columns) {
    const ir_type_data *d = tile_type(b, x);
    ir_named_attr attr = {"value",
                          ir_attr_bits(b->m, d->element, reduction_neutral(kind, d->element))};
    if (d->dims[1] == columns)
        return x;
    return ir_build1(b, TILE_PAD, &x, 1, ir_type_tile(b->m, d->element, d->dims[0], columns), &attr,
                     1);
}

static ir_value joined(ir_builder *b, const char *kind, ir_value x, ir_value y) {
    return tile_op(b, reduction_opcode(kind), (ir_value[]){x, y}, 2, DTYPE_NONE);
}

/* The lanes of a row: 64 columns after 64 are added to them; of other orders they are joined. A
 * ragged end is filled with the neutral element, which is whole rounds of threads in any layout. */
static ir_value lanes_of(ir_builder *b, ir_value x, const char *kind, bool lanes) {
    const ir_type_data type = *tile_type(b, x);
    const int64_t columns = round_up(type.dims[1], LANES);
    ir_value sum = 0;
    x = padded(b, x, kind, columns);
    if (lanes) {
        ir_value zero = tile_constant(b, type.element, reduction_start(kind, type.element));
        sum = tile_broadcast(b, zero, type.dims[0], LANES);
    }
    for (int64_t first = 0; first < columns; first += LANES) {
        ir_value part = tile_columns(b, x, first, LANES);
        sum = sum ? joined(b, kind, sum, part) : part;
    }
    return sum;
}

static bool can_fold(const tiles_lowering *t, ir_op op, const char *order) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const ir_type_data *x = ir_type_of(t->g, d->operands[0]);
    int64_t axis = -1;
    return ir_op_ints(t->g, op, "axes", &axis, 1) == 1 && axis == 1 && x->rank == 2 &&
           t->values[d->operands[0]].columns != TILES_CUT && x->dims[0] > 1 &&
           x->dims[1] <= MOST_COLUMNS && x->dims[0] * x->dims[1] <= MOST_ELEMENTS * t->threads &&
           graph_accumulate_type(t->g, op) != DTYPE_F64 && x->element != DTYPE_I4 &&
           (order_find(order) == ORDER_LANES64 || order_find(order) == ORDER_ANY);
}

static ir_value lower_rows(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const char *kind = ir_op_string(t->g, op, "kind", "sum"),
               *order = ir_op_string(t->g, op, "order", order_info_of(ORDER_ANY)->name);
    if (!can_fold(t, op, order))
        return 0;
    t->needs_carried |= t->values[d->operands[0]].columns == TILES_CARRIED;
    ir_value whole = tiles_whole(t, b, op, d->operands[0]);
    if (!whole)
        return 0;
    whole = widened(b, whole);
    const int64_t there = t->values[d->operands[0]].true_columns;
    if (there)
        whole = tiles_masked(b, whole, false, there,
                             reduction_neutral(kind, tile_type(b, whole)->element));
    const ir_type_data type = *tile_type(b, whole);
    ir_value x = lanes_of(b, whole, kind, order_find(order) == ORDER_LANES64);
    ir_named_attr attr = {"kind", ir_attr_string(b->m, kind)};
    ir_value y =
        ir_build1(b, TILE_FOLD, &x, 1, ir_type_tile(b->m, type.element, type.dims[0], 1), &attr, 1);
    tiles_mark(t, ir_value_get(b->m, y)->op, order,
               tiles_number(t, kind, order, type.dims[1], type.dims[0]));
    return rounded(b, y, ir_type_of(t->g, d->results[0])->element);
}

/* ---- all of them ---- */

static bool has_registers(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!t->values[d->operands[i]].tile)
            return false;
    return true;
}

static ir_value lowered(tiles_lowering *t, ir_builder *b, ir_op op) {
    switch (ir_op_get(t->g, op)->opcode) {
    case GRAPH_CONSTANT:
        return lower_constant(t, b, op);
    case GRAPH_EXTENT:
        return lower_extent(t, b, op);
    case GRAPH_IOTA:
        return lower_iota(t, b, op);
    case GRAPH_BROADCAST:
        return lower_broadcast(t, op);
    case GRAPH_RESHAPE:
        return lower_reshape(t, op);
    case GRAPH_REDUCE:
        return lower_rows(t, b, op);
    default:
        return lower_elementwise(t, b, op);
    }
}

static tiles_extent worse(tiles_extent x, tiles_extent y) {
    return x > y ? x : y;
}

/* It is cut where an operand is, as far as it has that axis. */
static tiles_value result_of(const tiles_lowering *t, ir_op op, ir_value tile) {
    const ir_op_data *d = ir_op_get(t->g, op);
    tiles_value y = {.tile = tile};
    int64_t rows, columns;
    bool guessed = d->opcode == GRAPH_IOTA && t->cut, told = false;
    tiles_shape(t, d->results[0], &rows, &columns);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const tiles_value *x = &t->values[d->operands[i]];
        y.rows = worse(y.rows, rows > 1 ? x->rows : TILES_WHOLE);
        y.columns = worse(y.columns, columns > 1 ? x->columns : TILES_WHOLE);
        guessed |= x->guessed;
        told |= !x->guessed && x->tile && ir_type_of(t->m, x->tile)->dims[1] > 1;
        if (rows > 1 && !y.true_rows)
            y.true_rows = x->true_rows;
        if (columns > 1 && !y.true_columns)
            y.true_columns = x->true_columns;
        y.unit = y.unit ? y.unit : rows > 1 && columns > 1 ? x->unit : NULL;
    }
    y.guessed = guessed && !told;
    return y;
}

bool tiles_lower_value(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data d = *ir_op_get(t->g, op);
    bool elementwise = graph_op_class(d.opcode) == GRAPH_CLASS_ELEMENTWISE;
    static const int others[] = {GRAPH_CONSTANT,  GRAPH_EXTENT,  GRAPH_IOTA,
                                 GRAPH_BROADCAST, GRAPH_RESHAPE, GRAPH_REDUCE};
    if (d.opcode == GRAPH_TRANSPOSE)
        return lower_transpose(t, b, op);
    if (d.opcode == GRAPH_CONCAT)
        return lower_concat(t, b, op);
    if (tiles_widens(t, op) && !t->is_read[d.results[0]])
        return true; /* products read what it is of */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        elementwise |= d.opcode == others[i];
    if (!elementwise || d.result_count != 1)
        return tiles_refuse(t, op, "it is none that tiles of a workgroup have");
    for (uint32_t i = 0; i < d.result_count; i++)
        if (ir_type_of(t->g, d.results[i])->rank > 2)
            return tiles_refuse(t, op, "a tile of more than two axes");
    ir_value y = has_registers(t, op) ? lowered(t, b, op) : 0;
    t->values[d.results[0]] = result_of(t, op, y);
    return y || tiles_refuse(t, op, "of these types, or along these axes");
}
