/* combiner.h - a combiner (ops/combine.h) that gives way to operations on whole tensors, and what
 * those are built with. */
#ifndef TESSERA_OPS_COMBINER_H
#define TESSERA_OPS_COMBINER_H

#include "base/vec.h"
#include "ops/build.h"
#include "ops/combine.h"

typedef VEC(ir_value) combiner_values;

typedef struct combiner {
    ir_module *m;
    ir_builder b; /* before the combiner */
    ir_op op;
    combine_shape s;
} combiner;

/* A number for each place along the axis, in the shape of the tensors. */
ir_value combiner_spread(const combiner *c, ir_builder *b, ir_value x);
/* The combiner's block on tensors of one shape instead of scalars: its end's values in `out`. */
void combiner_apply(const combiner *c, ir_builder *b, const ir_value *arguments, ir_value *out);

/* An operation with blocks, whose first `carried` operands have the types of its results; its
 * blocks are empty. */
ir_op combiner_begin(combiner *c, int opcode, const combiner_values *operands, uint32_t carried,
                     const ir_named_attr *attrs, uint32_t attr_count);
/* A counted loop. */
ir_op combiner_begin_loop(combiner *c, const combiner_values *operands, uint32_t carried,
                          uint32_t sliced, ir_dim count);
/* An argument of a block for each value; the turn of a loop. */
void combiner_take(combiner *c, ir_block block, const combiner_values *values, ir_value *out);
ir_value combiner_take_turn(combiner *c, ir_block loop);
/* For so many values; the caller frees it. */
ir_value *combiner_room(size_t count);

#endif
