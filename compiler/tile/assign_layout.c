/* assign_layout.c - gives every tile the CPU layout rows<W>: a row is cut into vectors of W
 * elements, whatever the element type, so that a conversion maps vector to vector. */
#include "tile/tile.h"

static ir_type laid_out(ir_module *m, ir_type type, int lanes) {
    const ir_type_data *d = ir_type_get(m, type);
    return d->kind == IR_TYPE_TILE ? ir_type_tile(m, d->element, d->dims[0], d->dims[1], lanes)
                                   : type;
}

static void assign(ir_module *m, ir_op op, void *context) {
    int lanes = *(const int *)context;
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_value_data *v = ir_value_get(m, d->results[i]);
        v->type = laid_out(m, v->type, lanes);
    }
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, r));
        for (uint32_t i = 0; i < b->argument_count; i++) {
            ir_value_data *v = ir_value_get(m, b->arguments[i]);
            v->type = laid_out(m, v->type, lanes);
        }
    }
}

bool tile_assign_layout(ir_module *m, int lanes, status *st) {
    if (lanes < 1)
        return status_set(st, STATUS_INTERNAL, "a layout needs at least one lane");
    ir_walk(m, ir_module_kernel(m), assign, &lanes);
    return true;
}
