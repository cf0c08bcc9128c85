/* derivative.h - the rules of derivatives: one for each operation that graph.def names one for.
 *
 * A rule serves both directions. Of an element-wise operation it says by what the tangent of each
 * operand is multiplied (`factor`); the tangent of the result is the sum of these in the order of
 * the operands, and the cotangent of an operand is that of the result by the same factor. A linear
 * operation needs a `transpose` alone: its tangent is the operation itself, of the tangents. Others
 * have a `forward` too. Rules build operations at the builder's place, which stands behind the
 * operation, and may read its operands and its result.
 *
 * The bits of a derivative are what the rules here build: docs/derivatives.md lists them. */
#ifndef TESSERA_OPS_DERIVATIVES_DERIVATIVE_H
#define TESSERA_OPS_DERIVATIVES_DERIVATIVE_H

#include "ops/build.h"

enum { ELEMENT_OPERANDS = 4 };

/* An element-wise operation; of f16 and bf16, everything is an f32 here. */
typedef struct element {
    ir_builder *b;
    ir_op op;
    ir_value x[ELEMENT_OPERANDS], y;
} element;

typedef enum factor_kind {
    FACTOR_NONE, /* nothing flows */
    FACTOR_ONE,
    FACTOR_MINUS,
    FACTOR_TIMES,
    FACTOR_OVER,
    FACTOR_WHERE, /* where `by`, a bool, holds; else 0 */
    FACTOR_WHERE_NOT
} factor_kind;

typedef struct factor {
    factor_kind kind;
    ir_value by;
} factor;

typedef struct derivative {
    bool zero;   /* nothing flows through it */
    bool linear; /* in its float operands together: a missing tangent is 0 */
    bool each;   /* linear in each of its float operands by itself */
    /* Is the operation derived as the loop that it is? NULL: none of this kind is. */
    bool (*by_turns)(const ir_module *m, ir_op op);
    bool sized; /* it has none of dimensions that are not known */
    factor (*factor)(const element *e, uint32_t operand);
    /* Tangents by operand, 0: it has none; gives that of the result. */
    ir_value (*forward)(ir_builder *b, ir_op op, const ir_value *tangents);
    /* Fills `out`, which is 0, for each operand that is `wanted`. */
    void (*transpose)(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                      ir_value *out);
} derivative;

/* Rules by name: derivatives.def. NULL: it has none of its own. */
const derivative *derivative_of(int opcode);

/* ---- what rules are made of ---- */

/* A number of the element type and shape of `like`, rounded once. */
ir_value build_number(ir_builder *b, double value, ir_value like);
/* The zero of a type. */
ir_value build_zero(ir_builder *b, ir_type type);
/* x with `before` and `after` zeros along an axis; x itself where there are none. */
ir_value build_pad(ir_builder *b, ir_value x, int axis, ir_dim before, ir_dim after);
/* step - 1 zeros behind each element along an axis. */
ir_value build_spread_out(ir_builder *b, ir_value x, int axis, ir_dim step);
/* Operations that are built from now on are computed anew, though an equal operation stands before
 * it: as the rules of composites do with values that would be kept for the derivative else. */
void build_anew(ir_builder *b);
/* Sums over these axes, in the order lanes64; x itself where there are none. */
ir_value build_sums(ir_builder *b, ir_value x, const int64_t *axes, uint32_t count);
/* The operation again, of other operands. */
ir_value build_again(ir_builder *b, ir_op op, const ir_value *operands);
/* From the last place along an axis to the first. */
ir_value build_turned(ir_builder *b, ir_value x, int axis);
/* x as an f32 where it is of a narrower float. */
ir_value build_wide(ir_builder *b, ir_value x);
/* A tessera.loop of values of which the first `carried` are carried, and all others have a part for
 * each turn along axis 0; its turns stack parts of the types `stacked`. The block is still to be
 * filled by `inner`: its arguments are the turn, and what it takes of each value. */
typedef struct turn_loop {
    const ir_value *values;
    uint32_t count, carried;
    const ir_type *stacked;
    uint32_t stacked_count;
    ir_dim turns;
} turn_loop;
ir_op build_turns(ir_builder *b, const turn_loop *t, ir_builder *inner);
/* `zeros` with updates added, one after the other, at i32 indices along an axis; those of no place
 * of it are left out. Updates have the shape of the indices. */
ir_value build_scatter_add(ir_builder *b, ir_value zeros, ir_value indices, ir_value updates,
                           int axis);
/* `x` with updates put at i32 indices along an axis, the last one of a place; likewise. */
ir_value build_scatter_set(ir_builder *b, ir_value x, ir_value indices, ir_value updates, int axis);

#endif
