/* control.h - branches and loops of Graph IR: tessera.if, tessera.while, tessera.loop.
 *
 * Their blocks are like functions: they see their arguments alone, whose types are those of the
 * operands, and end in tessera.next. So a block can be compiled by itself, and a pass that knows a
 * block knows all that it depends on. */
#ifndef TESSERA_OPS_CONTROL_H
#define TESSERA_OPS_CONTROL_H

#include "base/vec.h"
#include "ops/graph.h"

bool graph_is_control(int opcode);
bool control_verify(const ir_module *m, ir_op op, status *st);

/* Operands of a loop, and its block's arguments behind the turn, in this order. */
typedef struct loop_shape {
    uint32_t carried, sliced, whole;
    uint32_t stacked; /* results behind those that are carried */
    ir_dim count;     /* turns */
} loop_shape;
loop_shape loop_shape_of(const ir_module *m, ir_op loop);

/* The kernel's block, and those of the branches and loops in it: outer before inner. */
typedef VEC(ir_block) control_block_list;
void control_blocks(const ir_module *m, control_block_list *out);
/* Those of the branches and loops that stand in a block itself. */
void control_blocks_of(const ir_module *m, ir_block block, control_block_list *out);
/* Calls `visit` with each of these blocks, as long as it returns true. */
bool control_each_block(ir_module *m, bool (*visit)(ir_module *m, ir_block block, void *context),
                        void *context);

#endif
