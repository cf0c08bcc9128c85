/* window.c - loads, gathers and stores of tiles: their strides, and how much of a tile is there. */
#include <string.h>

#include "tile/tile.h"

static const char *const more_names[TILE_MORE_COUNT] = {"row_stride", "column_stride", "stride",
                                                        "valid_rows", "valid_columns"};

/* Appends the indices; returns the attribute that names them, 0 where there are none. */
static ir_attr add_more(ir_builder *b, const tile_window *w, ir_value *operands, uint32_t *count) {
    ir_attr names[TILE_MORE_COUNT];
    uint32_t n = 0;
    for (int i = 0; i < TILE_MORE_COUNT; i++)
        if (w->more[i]) {
            operands[(*count)++] = w->more[i];
            names[n++] = ir_attr_string(b->m, more_names[i]);
        }
    return n ? ir_attr_array(b->m, names, n) : 0;
}

static ir_value build_window(ir_builder *b, int opcode, const ir_value *first, uint32_t count,
                             const tile_window *w, dtype element) {
    ir_value operands[3 + TILE_MORE_COUNT];
    memcpy(operands, first, sizeof *first * count);
    ir_named_attr attrs[4] = {{"row_stride", ir_attr_int(b->m, w->row_stride)},
                              {"column_stride", ir_attr_int(b->m, w->column_stride)}};
    uint32_t attr_count = 2;
    if (opcode == TILE_GATHER)
        attrs[attr_count++] = (ir_named_attr){"stride", ir_attr_int(b->m, w->stride)};
    ir_attr more = add_more(b, w, operands, &count);
    if (more)
        attrs[attr_count++] = (ir_named_attr){"more", more};
    ir_type type = ir_type_tile(b->m, element, w->rows, w->columns);
    return ir_build1(b, opcode, operands, count, type, attrs, attr_count);
}

ir_value tile_load_window(ir_builder *b, ir_value memory, ir_value offset, const tile_window *w) {
    return build_window(b, TILE_LOAD, (ir_value[]){memory, offset}, 2, w,
                        tile_type(b, memory)->element);
}

ir_value tile_load_group(ir_builder *b, ir_value memory, ir_value offset, const tile_window *w) {
    return build_window(b, TILE_LOAD_GROUP, (ir_value[]){memory, offset}, 2, w, DTYPE_I32);
}

ir_value tile_gather_window(ir_builder *b, ir_value memory, ir_value offset, ir_value indices,
                            const tile_window *w) {
    return build_window(b, TILE_GATHER, (ir_value[]){memory, offset, indices}, 3, w,
                        tile_type(b, memory)->element);
}

/* A store of the first `count` operands; of numbers where to, or canonical. */
static ir_op build_store(ir_builder *b, int opcode, const ir_value *first, uint32_t count,
                         const tile_window *w, ir_named_attr own) {
    ir_value operands[4 + TILE_MORE_COUNT];
    memcpy(operands, first, sizeof *first * count);
    ir_named_attr attrs[4] = {{"row_stride", ir_attr_int(b->m, w->row_stride)},
                              {"column_stride", ir_attr_int(b->m, w->column_stride)}};
    uint32_t attr_count = 2;
    ir_attr more = add_more(b, w, operands, &count);
    if (more)
        attrs[attr_count++] = (ir_named_attr){"more", more};
    if (own.name)
        attrs[attr_count++] = own;
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands,
                       .operand_count = count,
                       .attrs = attrs,
                       .attr_count = attr_count};
    return ir_build(b, &spec);
}

ir_op tile_store_window(ir_builder *b, ir_value memory, ir_value offset, ir_value x,
                        const tile_window *w, bool canonical) {
    ir_named_attr own = {NULL, 0};
    if (canonical)
        own = (ir_named_attr){"canonical", ir_attr_bool(b->m, true)};
    return build_store(b, TILE_STORE, (ir_value[]){memory, offset, x}, 3, w, own);
}

ir_op tile_scatter_window(ir_builder *b, ir_value memory, ir_value offset, ir_value x,
                          ir_value indices, const tile_window *w) {
    const ir_named_attr own = {"stride", ir_attr_int(b->m, w->stride)};
    return build_store(b, TILE_SCATTER, (ir_value[]){memory, offset, x, indices}, 4, w, own);
}

/* Parameters: a tile_window without a mask, in one expression. */
ir_value tile_load(ir_builder *b, ir_value memory, ir_value offset, int64_t rows, int64_t columns,
                   int64_t row_stride, int64_t column_stride) {
    tile_window w = {rows, columns, row_stride, column_stride, 0, {0}};
    return tile_load_window(b, memory, offset, &w);
}

/* Parameters: a tile_window without a mask, in one expression. */
ir_op tile_store(ir_builder *b, ir_value memory, ir_value offset, ir_value x, int64_t row_stride,
                 int64_t column_stride, bool canonical) {
    tile_window w = {.row_stride = row_stride, .column_stride = column_stride};
    return tile_store_window(b, memory, offset, x, &w, canonical);
}

/* ---- reading them ---- */

static uint32_t first_more(const ir_module *m, ir_op op) {
    int opcode = ir_op_get(m, op)->opcode;
    return opcode == TILE_LOAD || opcode == TILE_LOAD_GROUP ? 2 : opcode == TILE_SCATTER ? 4 : 3;
}

ir_value tile_more_of(const ir_module *m, ir_op op, tile_more which) {
    ir_attr attr = ir_op_attr(m, op, "more");
    const ir_attr_data *names = attr ? ir_attr_get(m, attr) : NULL;
    for (uint32_t i = 0; names && i < names->count; i++)
        if (strcmp(ir_attr_get(m, names->items[i])->string, more_names[which]) == 0)
            return ir_op_get(m, op)->operands[first_more(m, op) + i];
    return 0;
}

bool tile_is_in_panels(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    return d->opcode == TILE_STORE && ir_op_int(m, op, "swizzle", 0) &&
           ir_type_of(m, d->operands[2])->dims[1] > ir_op_int(m, op, "row_stride", 0);
}

bool tile_more_fits(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_attr attr = ir_op_attr(m, op, "more");
    const ir_attr_data *names = attr ? ir_attr_get(m, attr) : NULL;
    uint32_t count = names ? names->count : 0, known = 0;
    if (d->operand_count != first_more(m, op) + count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        ir_value v = d->operands[first_more(m, op) + i];
        if (ir_type_of(m, v)->kind != IR_TYPE_INDEX ||
            ir_attr_get(m, names->items[i])->kind != IR_ATTR_STRING)
            return false;
    }
    for (int i = 0; i < TILE_MORE_COUNT; i++)
        known += tile_more_of(m, op, (tile_more)i) != 0;
    return known == count;
}
