/* dims.c - dimensions and indices as operations of a phase. */
#include "tile/dims.h"

#include <string.h>

void dim_values_begin(dim_values *d, ir_builder *in) {
    ir_value anchor = tile_index(in, 1);
    d->known.count = 0;
    d->top = (ir_builder){in->m, in->block, ir_value_get(in->m, anchor)->op, in->location};
}

ir_value tile_index_step(ir_builder *b, ir_value low, ir_value x, int64_t factor,
                         int64_t constant) {
    ir_value parts[] = {low, x};
    int64_t factors[] = {1, factor};
    return tile_affine(b, constant, parts, factors, 2);
}

ir_value tile_index_add(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_step(b, x, y, 1, 0);
}

ir_value tile_index_sub(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_step(b, x, y, -1, 0);
}

ir_value tile_index_mul(ir_builder *b, ir_value x, ir_value y) {
    int64_t factor;
    if (tile_constant_index(b, y, &factor))
        return tile_affine(b, 0, &x, &factor, 1);
    if (tile_constant_index(b, x, &factor))
        return tile_affine(b, 0, &y, &factor, 1);
    return ir_build1(b, TILE_INDEX_MUL, (ir_value[]){x, y}, 2, ir_type_index(b->m), NULL, 0);
}

ir_value tile_index_min(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_op(b, TILE_INDEX_MIN, x, y);
}

ir_value tile_index_max(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_op(b, TILE_INDEX_MAX, x, y);
}

ir_value tile_index_clamp(ir_builder *b, ir_value x, ir_value low, ir_value high) {
    return tile_index_min(b, tile_index_max(b, x, low), high);
}

ir_value tile_index_floor(ir_builder *b, ir_value x, int64_t multiple) {
    int64_t value;
    if (multiple == 1)
        return x;
    if (tile_constant_index(b, x, &value) && value >= 0)
        return tile_index(b, value / multiple * multiple);
    ir_value whole = tile_index_by(b, TILE_INDEX_DIV, x, multiple);
    return tile_affine(b, 0, &whole, &multiple, 1);
}

ir_value tile_index_whole(ir_builder *b, ir_value low, ir_value high, int64_t step) {
    return tile_index_add(b, low, tile_index_floor(b, tile_index_sub(b, high, low), step));
}

ir_value tile_index_quotient(ir_builder *b, ir_value x, ir_value y) {
    int64_t by;
    if (tile_constant_index(b, y, &by))
        return by == 1 ? x : tile_index_by(b, TILE_INDEX_DIV, x, by);
    return ir_build1(b, TILE_INDEX_QUOTIENT, (ir_value[]){x, y}, 2, ir_type_index(b->m), NULL, 0);
}

/* ---- dimensions ---- */

static uint32_t fold_constant(void *context, int64_t value) {
    return tile_index(&((dim_values *)context)->top, value);
}

static uint32_t fold_symbol(void *context, const char *name) {
    dim_values *s = context;
    const ir_attr_data *names = ir_attr_get(s->top.m, s->names);
    uint32_t number = 0;
    while (number < names->count &&
           strcmp(ir_attr_get(s->top.m, names->items[number])->string, name) != 0)
        number++;
    if (number == names->count)
        s->missing = name;
    ir_named_attr attr = {"number", ir_attr_int(s->top.m, (int64_t)number)};
    return ir_build1(&s->top, TILE_DIM, NULL, 0, ir_type_index(s->top.m), &attr, 1);
}

/* x / y rounded down, where x may be negative on the way to a dimension that is not. */
static ir_value floored(ir_builder *b, ir_value x, ir_value y) {
    ir_value zero = tile_index(b, 0);
    ir_value up = tile_index_step(b, tile_index_max(b, tile_index_sub(b, zero, x), zero), y, 1, -1);
    ir_value above = tile_index_quotient(b, tile_index_max(b, x, zero), y);
    return tile_index_sub(b, above, tile_index_quotient(b, up, y));
}

static uint32_t fold_combine(void *context, char operation, uint32_t x, uint32_t y) {
    dim_values *s = context;
    if (operation == '+')
        return tile_index_add(&s->top, x, y);
    if (operation == '*')
        return tile_index_mul(&s->top, x, y);
    return operation == '<' ? tile_index_min(&s->top, x, y) : floored(&s->top, x, y);
}

ir_value dim_values_get(dim_values *s, ir_dim dim) {
    if (ir_dim_is_static(dim))
        return tile_index(&s->top, dim);
    for (size_t i = 0; i < s->known.count; i++)
        if (s->known.items[i].dim == dim)
            return s->known.items[i].index;
    const ir_dim_fold fold = {s, fold_constant, fold_symbol, fold_combine};
    dim_value made = {dim, ir_dim_fold_with(s->of, dim, &fold)};
    vec_push(&s->known, made);
    return made.index;
}
