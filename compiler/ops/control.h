/* control.h - operations of Graph IR with blocks of their own: branches and loops (tessera.if,
 * tessera.while, tessera.loop), and combiners (combine.h).
 *
 * Their blocks are like functions: they see their arguments alone, whose types are those of the
 * operands, and end in tessera.next. So a block can be compiled by itself, and a pass that knows a
 * block knows all that it depends on. */
#ifndef TESSERA_OPS_CONTROL_H
#define TESSERA_OPS_CONTROL_H

#include "base/vec.h"
#include "ops/graph.h"

bool graph_is_control(int opcode); /* a branch or a loop */
/* These, combiners, and transforms of functions (transforms.h). */
bool control_has_blocks(int opcode);
/* Does it make its kernel a program? What has blocks does, and a constant that has memory. */
bool control_makes_program(int opcode);
bool control_verify(const ir_module *m, ir_op op, status *st);
/* The tessera.next that a block ends in; NULL: it does not. */
const ir_op_data *control_end(const ir_module *m, ir_op op, uint32_t region);

/* Operands of a loop, and its block's arguments behind the turn, in this order. */
typedef struct loop_shape {
    uint32_t carried, sliced, whole;
    uint32_t stacked; /* results behind those that are carried */
    ir_dim count;     /* turns */
} loop_shape;
loop_shape loop_shape_of(const ir_module *m, ir_op loop);
/* A loop to be built, with a block that is still empty. */
typedef struct loop_request {
    const ir_value *operands;
    const ir_type *results;
    uint32_t operand_count, result_count, carried, sliced;
    ir_dim count;
} loop_request;
ir_op control_build_loop(ir_builder *b, const loop_request *r);
/* The type of `count` values like this one, stacked along a new axis 0 (the value has fewer than
 * IR_MAX_RANK axes); of one part of such a stack; and is it one? */
ir_type control_stack_type(ir_module *m, ir_value part, ir_dim count);
ir_type control_part_type(ir_module *m, ir_value stack);
bool control_is_part(const ir_module *m, ir_value part, ir_value stack, ir_dim count);

/* The kernel's block, and those of the operations in it that have blocks: outer before inner. */
typedef VEC(ir_block) control_block_list;
void control_blocks(const ir_module *m, control_block_list *out);
/* Those of the operations that stand in a block itself. */
void control_blocks_of(const ir_module *m, ir_block block, control_block_list *out);
/* Calls `visit` with each of these blocks, as long as it returns true. */
bool control_each_block(ir_module *m, bool (*visit)(ir_module *m, ir_block block, void *context),
                        void *context);

/* A rewrite of one operation: builds before it what stands for its results from there on. */
typedef enum control_rewritten {
    CONTROL_KEPT,
    CONTROL_REPLACED, /* `results` has a value for each of its results */
    CONTROL_STOPPED
} control_rewritten;
typedef control_rewritten (*control_rewrite_fn)(ir_builder *b, ir_op op, ir_value *results,
                                                void *context);
/* Rewrites the operations of these blocks, each with the operands that stand for its own by then;
 * what is built is not rewritten. False: `rewrite` stopped. */
bool control_rewrite(ir_module *m, control_rewrite_fn rewrite, void *context);

#endif
