/* generic_index.c - dimensions and offsets as index operations of a phase. */
#include <string.h>

#include "tile/generic.h"

ir_value generic_step(ir_builder *b, ir_value low, ir_value x, int64_t factor, int64_t constant) {
    ir_value parts[] = {low, x};
    int64_t factors[] = {1, factor};
    return tile_affine(b, constant, parts, factors, 2);
}

ir_value generic_add(ir_builder *b, ir_value x, ir_value y) {
    return generic_step(b, x, y, 1, 0);
}

ir_value generic_sub(ir_builder *b, ir_value x, ir_value y) {
    return generic_step(b, x, y, -1, 0);
}

static bool constant_of(const ir_builder *b, ir_value x, int64_t *value) {
    ir_op op = ir_value_get(b->m, x)->op;
    if (!op || ir_op_get(b->m, op)->opcode != TILE_INDEX)
        return false;
    *value = ir_op_int(b->m, op, "value", 0);
    return true;
}

ir_value generic_mul(ir_builder *b, ir_value x, ir_value y) {
    int64_t factor;
    if (constant_of(b, y, &factor))
        return tile_affine(b, 0, &x, &factor, 1);
    if (constant_of(b, x, &factor))
        return tile_affine(b, 0, &y, &factor, 1);
    return ir_build1(b, TILE_INDEX_MUL, (ir_value[]){x, y}, 2, ir_type_index(b->m), NULL, 0);
}

ir_value generic_min(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_op(b, TILE_INDEX_MIN, x, y);
}

ir_value generic_max(ir_builder *b, ir_value x, ir_value y) {
    return tile_index_op(b, TILE_INDEX_MAX, x, y);
}

ir_value generic_floor(ir_builder *b, ir_value x, int64_t multiple) {
    if (multiple == 1)
        return x;
    ir_value whole = tile_index_by(b, TILE_INDEX_DIV, x, multiple);
    return tile_affine(b, 0, &whole, &multiple, 1);
}

/* Quotient or remainder of a non-negative index. */
static ir_value divided(ir_builder *b, int opcode, ir_value x, ir_value y) {
    int64_t by;
    if (constant_of(b, y, &by))
        return by == 1 && opcode == TILE_INDEX_QUOTIENT
                   ? x
                   : tile_index_by(
                         b, opcode == TILE_INDEX_QUOTIENT ? TILE_INDEX_DIV : TILE_INDEX_REM, x, by);
    return ir_build1(b, opcode, (ir_value[]){x, y}, 2, ir_type_index(b->m), NULL, 0);
}

/* ---- dimensions ---- */

static uint32_t fold_constant(void *context, int64_t value) {
    return tile_index(&((generic *)context)->top, value);
}

static uint32_t fold_symbol(void *context, const char *name) {
    generic *s = context;
    const ir_attr_data *names = ir_attr_get(s->m, s->names);
    uint32_t number = 0;
    while (number < names->count &&
           strcmp(ir_attr_get(s->m, names->items[number])->string, name) != 0)
        number++;
    if (number == names->count)
        generic_fail(s, "dimension %s is in no input's shape", name);
    ir_named_attr attr = {"number", ir_attr_int(s->m, (int64_t)number)};
    return ir_build1(&s->top, TILE_DIM, NULL, 0, ir_type_index(s->m), &attr, 1);
}

/* x / y rounded down, where x may be negative on the way to a dimension that is not. */
static ir_value floored(ir_builder *b, ir_value x, ir_value y) {
    ir_value zero = tile_index(b, 0);
    ir_value up = generic_step(b, generic_max(b, generic_sub(b, zero, x), zero), y, 1, -1);
    ir_value above = divided(b, TILE_INDEX_QUOTIENT, generic_max(b, x, zero), y);
    return generic_sub(b, above, divided(b, TILE_INDEX_QUOTIENT, up, y));
}

static uint32_t fold_combine(void *context, char operation, uint32_t x, uint32_t y) {
    generic *s = context;
    if (operation == '+')
        return generic_add(&s->top, x, y);
    if (operation == '*')
        return generic_mul(&s->top, x, y);
    return floored(&s->top, x, y);
}

ir_value generic_dim_value(generic *s, ir_dim dim) {
    if (ir_dim_is_static(dim))
        return tile_index(&s->top, dim);
    for (size_t i = 0; i < s->dims.count; i++)
        if (s->dims.items[i].dim == dim)
            return s->dims.items[i].index;
    const ir_dim_fold fold = {s, fold_constant, fold_symbol, fold_combine};
    generic_dim made = {dim, ir_dim_fold_with(s->g, dim, &fold)};
    vec_push(&s->dims, made);
    return made.index;
}

/* ---- offsets ---- */

void generic_unravel(generic *s, ir_builder *b, ir_value number, const ir_dim *dims, int n,
                     ir_value *out) {
    int first = 0;
    while (first < n && dims[first] == 1)
        out[first++] = s->zero;
    for (int i = n - 1; i >= first; i--) {
        out[i] = s->zero;
        if (dims[i] == 1)
            continue;
        ir_value dim = generic_dim_value(s, dims[i]);
        out[i] = i == first ? number : divided(b, TILE_INDEX_REMAINDER, number, dim);
        if (i > first)
            number = divided(b, TILE_INDEX_QUOTIENT, number, dim);
    }
}

generic_place generic_offset(generic *s, ir_builder *b, const ir_dim *dims, int rank,
                             const generic_place *index) {
    generic_place offset = {b ? s->zero : 0, 0};
    int64_t stride = 1; /* of axis i; -1: a symbol */
    for (int i = rank - 1; i >= 0; i--) {
        if (index[i].lane && (stride < 0 || offset.lane < 0))
            offset.lane = -1;
        else if (offset.lane >= 0)
            offset.lane += index[i].lane * (index[i].lane ? stride : 0);
        stride = stride < 0 || dims[i] < 0 ? -1 : stride * dims[i];
    }
    for (int i = 0; i < rank && b; i++) {
        offset.at =
            dims[i] == 1 ? offset.at : generic_mul(b, offset.at, generic_dim_value(s, dims[i]));
        offset.at = generic_add(b, offset.at, index[i].at);
    }
    return offset;
}
