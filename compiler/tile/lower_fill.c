/* lower_fill.c - a buffer gets one value everywhere. */
#include "tile/lowering.h"

/* Stores as many elements as a launch says: in each step those that are there. */
static void fill_symbolic(ir_builder *b, ir_value memory, ir_value count, ir_value value) {
    ir_value index;
    tile_window w = {.rows = 1, .columns = LANES, .column_stride = 1};
    ir_builder in = tile_for(b, tile_index(b, 0), count, LANES, NULL, 0, NULL, &index);
    w.more[TILE_MORE_VALID_COLUMNS] = tile_index_sub(&in, count, index);
    tile_store_window(&in, memory, index, tile_broadcast(&in, value, 1, LANES), &w, false);
    tile_yield(&in, NULL, 0);
}

void lower_fill(lowering *l, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(l->s, op)->operands[0], index;
    ir_dim count = lowering_count(l, v);
    ir_value memory = lowering_memory(l, v);
    const ir_attr_data *bits = ir_attr_get(l->s, ir_op_attr(l->s, op, "value"));
    ir_value zero = tile_constant(b, bits->element, bits->bits);
    if (!ir_dim_is_static(count)) {
        fill_symbolic(b, memory, lowering_dim(l, b, count), zero);
        return;
    }
    int64_t full = count / LANES * LANES;
    if (full) {
        ir_builder in =
            tile_for(b, tile_index(b, 0), tile_index(b, full), LANES, NULL, 0, NULL, &index);
        tile_store(&in, memory, index, tile_broadcast(&in, zero, 1, LANES), 0, 1, false);
        tile_yield(&in, NULL, 0);
    }
    if (count > full)
        tile_store(b, memory, tile_index(b, full), tile_broadcast(b, zero, 1, count - full), 0, 1,
                   false);
}
