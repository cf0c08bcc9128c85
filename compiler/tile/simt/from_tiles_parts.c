/* from_tiles_parts.c - an f32 factor beside a narrow one, as parts of the narrow type: a matrix
 * unit multiplies them one after the other.
 *
 * Parts of bf16 have 8 bits each and the range of an f32: three of them are the number. Of f16 two
 * parts, rounded, are it but for half a last place, as far down as an f16 reaches, 2^-24. So only a
 * weight, which is at most 1, is taken, 2^15 times as large: what its parts lack is then at most
 * 2^-40, which times an f16 is less than the least f16. */
#include <string.h>

#include "graph/passes.h"
#include "tile/lowering.h"
#include "tile/simt/from_tiles.h"

static const tiles_parting partings[] = {
    {DTYPE_BF16, TILE_CUT, 3, false, 0, 0},
    {DTYPE_F16, TILE_CONVERT, 2, true, 0x47000000, 0x38000000}, /* 2^15, 2^-15 */
};

/* ---- weights ---- */

static const ir_op_data *made_by(const tiles_lowering *t, ir_value v) {
    ir_op op = ir_value_get(t->g, v)->op;
    return op ? ir_op_get(t->g, op) : NULL;
}

/* The value behind axes that come and go, and repetitions. */
static ir_value unmoved(const tiles_lowering *t, ir_value v) {
    const ir_op_data *d = made_by(t, v);
    while (d && (d->opcode == GRAPH_BROADCAST || d->opcode == GRAPH_RESHAPE)) {
        v = d->operands[0];
        d = made_by(t, v);
    }
    return v;
}

static bool is_lowest(const tiles_lowering *t, ir_value v) {
    enum { MINUS_INFINITY = 0xff800000 };
    ir_op op = ir_value_get(t->g, unmoved(t, v))->op;
    return op && ir_op_get(t->g, op)->opcode == GRAPH_CONSTANT &&
           ir_attr_get(t->g, ir_op_attr(t->g, op, "value"))->bits == (uint32_t)MINUS_INFINITY;
}

/* The value of a choice that takes another one where it is -inf: what is not greater than that is
 * -inf, too. */
static ir_value unless_lowest(const tiles_lowering *t, ir_value v) {
    const ir_op_data *d = made_by(t, v);
    if (!d || d->opcode != GRAPH_SELECT)
        return v;
    const ir_op_data *c = made_by(t, d->operands[0]);
    return c && c->opcode == GRAPH_COMPARE && c->operands[0] == d->operands[2] &&
                   is_lowest(t, c->operands[1])
               ? d->operands[2]
               : v;
}

/* A product of `factor`, where that is not 0; the other factor of it, or 0. */
static ir_value without(const tiles_lowering *t, ir_value v, ir_value factor) {
    const ir_op_data *d = made_by(t, v);
    if (!factor)
        return v;
    if (!d || d->opcode != GRAPH_MUL)
        return 0;
    const int at = unmoved(t, d->operands[1]) == factor;
    return unmoved(t, d->operands[at]) == factor ? unmoved(t, d->operands[1 - at]) : 0;
}

/* Is no element of a row of x, or of x * factor, greater than its `most`? */
static bool is_most(const tiles_lowering *t, ir_value most, ir_value x, ir_value factor) {
    ir_value v = unmoved(t, unless_lowest(t, unmoved(t, most)));
    const ir_op_data *d = made_by(t, v);
    if (d && d->opcode == GRAPH_MAXIMUM)
        return is_most(t, d->operands[0], x, factor) || is_most(t, d->operands[1], x, factor);
    v = without(t, v, factor);
    d = v ? made_by(t, v) : NULL;
    return d && d->opcode == GRAPH_REDUCE && d->operands[0] == x &&
           strcmp(ir_op_string(t->g, ir_value_get(t->g, v)->op, "kind", ""), "max") == 0;
}

/* ... of x times a number by which no product rounds (graph/contract.c). */
static bool is_most_scaled(const tiles_lowering *t, ir_value most, ir_value x, ir_value number) {
    const ir_value factor = graph_power_of_two(t->g, number);
    return factor && is_most(t, most, x, factor);
}

/* Is each element in [0, 1], or a NaN? */
static bool is_weight(const tiles_lowering *t, ir_value v) {
    const ir_op_data *d = made_by(t, v),
                     *less = d && d->opcode == GRAPH_EXP ? made_by(t, d->operands[0]) : NULL;
    if (less && less->opcode == GRAPH_SUB)
        return is_most(t, less->operands[1], less->operands[0], 0);
    const ir_op_data *minus =
        less && less->opcode == GRAPH_FMA ? made_by(t, less->operands[2]) : NULL;
    if (!minus || minus->opcode != GRAPH_NEG)
        return false;
    const ir_value *x = less->operands;
    return is_most_scaled(t, minus->operands[0], x[0], x[1]) ||
           is_most_scaled(t, minus->operands[0], x[1], x[0]);
}

/* ---- parts ---- */

const tiles_parting *tiles_parting_of(const tiles_lowering *t, ir_value left, dtype right,
                                      dtype sum) {
    if (ir_type_of(t->g, left)->element != DTYPE_F32 || sum != DTYPE_F32)
        return NULL;
    for (size_t i = 0; i < sizeof partings / sizeof *partings; i++)
        if (partings[i].to == right && (!partings[i].of_weights || is_weight(t, left)))
            return &partings[i];
    return NULL;
}

static ir_value scaled(ir_builder *b, ir_value x, uint32_t by) {
    return by ? tile_op(b, TILE_MUL, (ir_value[]){x, tile_constant(b, DTYPE_F32, by)}, 2,
                        DTYPE_NONE)
              : x;
}

/* The number without a part: nothing of an infinity, which no weight is. */
static ir_value rest_of(ir_builder *b, ir_value x, ir_value part, bool finite) {
    ir_value high = tile_op(b, TILE_CONVERT, &part, 1, DTYPE_F32),
             rest = tile_op(b, TILE_SUB, (ir_value[]){x, high}, 2, DTYPE_NONE);
    ir_value choice[] = {0, tile_constant(b, DTYPE_F32, 0), rest};
    if (finite)
        return rest;
    choice[0] = tile_compare(b, "eq", x, high);
    return tile_op(b, TILE_SELECT, choice, 3, DTYPE_NONE);
}

void tiles_part(const tiles_lowering *t, ir_builder *b, const tiles_parting *p, ir_value of,
                ir_value x, ir_value parts[TILES_PARTS]) {
    const bool finite = is_weight(t, of);
    x = scaled(b, x, p->scale);
    for (int i = 0; i < p->count; i++) {
        x = i ? rest_of(b, x, parts[i - 1], finite) : x;
        parts[i] = tile_op(b, p->opcode, &x, 1, p->to);
    }
}

ir_value tiles_unscaled(ir_builder *b, const tiles_parting *p, ir_value sum) {
    return scaled(b, sum, p ? p->unscale : 0);
}
