/* lower_fill.c - a buffer gets one value everywhere. */
#include "tile/lowering.h"

void lower_fill(lowering *l, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(l->s, op)->operands[0], index;
    int64_t count = lowering_count(l, v), full = count / LANES * LANES;
    ir_value memory = lowering_memory(l, v);
    if (!ir_dim_is_static(count)) {
        lowering_fail(l, "a buffer that is filled has no known size");
        return;
    }
    const ir_attr_data *bits = ir_attr_get(l->s, ir_op_attr(l->s, op, "value"));
    ir_value zero = tile_constant(b, bits->element, bits->bits);
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
