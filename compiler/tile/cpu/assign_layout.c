/* assign_layout.c - gives every tile the CPU layout rows<W>: a row is cut into vectors of W
 * elements, whatever the element type, so that a conversion maps vector to vector. */
#include "tile/tile.h"

static void lay_out(ir_module *m, ir_value value, const ir_layout *layout) {
    ir_value_data *v = ir_value_get(m, value);
    if (ir_type_get(m, v->type)->kind == IR_TYPE_TILE)
        v->type = ir_type_laid_out(m, v->type, layout);
}

static void assign(ir_module *m, ir_op op, const ir_layout *layout) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        lay_out(m, d->results[i], layout);
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, r));
        for (uint32_t i = 0; i < b->argument_count; i++)
            lay_out(m, b->arguments[i], layout);
    }
}

bool tile_assign_layout(ir_module *m, int lanes, status *st) {
    ir_layout layout = ir_layout_rows(lanes);
    if (lanes < 1)
        return status_set(st, STATUS_INTERNAL, "a layout needs at least one lane");
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        assign(m, w.op, &layout);
    return true;
}
